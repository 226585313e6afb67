//! What several boundaries' tests share.

pub mod backend;
pub mod backend_answer;
