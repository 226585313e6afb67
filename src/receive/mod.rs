//! The doors: listeners that speak OTLP/gRPC and OTLP/HTTP on the same port.

pub mod settings;
