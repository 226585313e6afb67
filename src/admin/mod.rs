//! The admin endpoint: liveness, readiness and metrics, and the self-canary that decides readiness.
//!
//! [`Health`] is the one place that knows whether this process may take work: the pipeline and the gRPC health
//! service read it, `app` and [`canary`] write it. Nothing here sees a client's payload.

pub mod canary;
mod health;
mod server;

pub use health::{Health, Readiness};
pub use server::{State, serve, serve_metrics};
