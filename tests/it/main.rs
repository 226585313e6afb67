//! The one integration binary: bytes into a listening server, bytes out of a recording backend.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic is a failed test"
)]

mod admin;
mod admin_canary;
mod admin_logs;
