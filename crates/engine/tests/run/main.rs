//! The machine, driven by hand: no clock, no network, any order of events.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod analyses;
mod approving;
mod checks;
mod context;
mod deadlines;
mod doubting;
mod facts;
mod files;
mod gates;
mod history;
mod hostile;
mod interactions;
mod laws;
mod matrices;
mod mending;
mod money;
mod plan_laws;
mod plan_rules;
mod planning;
mod promises;
mod prompts;
mod resolving;
mod stopping;
mod story;
mod world;
