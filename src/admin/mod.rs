//! The admin endpoint: health, readiness, metrics.
