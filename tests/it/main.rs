//! The one integration binary: bytes into a listening server, bytes out of a recording backend.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a panic in a test is a failed test"
)]
// Each boundary uses its own part of the support.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "support is shared by boundaries that use different parts of it"
)]

mod actions;
mod admin;
mod admin_canary;
mod admin_logs;
mod clean_text;
mod cli;
mod config;
mod config_environment;
mod config_sources;
mod coverage;
mod end_to_end;
mod errors;
mod forward;
mod gitleaks;
mod identifiers;
mod image;
mod json;
mod json_properties;
mod json_reply;
mod names_values;
mod packs;
mod payloads;
mod places;
mod process_life;
mod queue;
mod receive_grpc;
mod receive_http;
mod receive_life;
mod receive_limits;
mod receive_support;
mod rules;
mod rules_export;
mod rules_test;
mod schema;
mod seeds;
mod services;
mod support;
mod text;
mod text_cut;
mod text_hostile;
mod text_laws;
mod text_layers;
mod text_notations;
mod text_passwords;
mod text_sieve;
mod text_wrapped;
mod walk;
mod walk_generate;
mod walk_places;
mod walk_policy;
mod walk_properties;
mod walk_reference;
mod walk_stand_in;
