//! What several boundaries' tests share.

pub mod backend;
pub mod backend_answer;
pub mod backend_pki;
pub mod backend_proxy;
