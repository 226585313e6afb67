//! Blackbar: a redacting OTLP proxy.
//!
//! The tree follows the path of a request:
//!
//! ```text
//!   receive ──> pipeline ──> redact ──> forward ──> backend
//!   (gRPC and    (the path,   (bytes in,  (gRPC, HTTP,
//!    HTTP doors)  one fn)      Redacted     file, stdout)
//!        ^                     out)            │
//!        └──────────── respond <───────────────┘
//! ```
//!
//! `redact` and `otlp` are pure: no tokio, sockets, clocks, environment or logging. `forward` takes only
//! [`redact::Redacted`], which only `redact` can make.

pub mod admin;
pub mod app;
pub mod cli;
pub mod config;
mod decompress;
pub mod error;
pub mod forward;
mod offload;
pub mod otlp;
pub mod pipeline;
pub mod queue;
pub mod receive;
pub mod redact;
pub mod respond;
pub mod telemetry;
mod yaml;
