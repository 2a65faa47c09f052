//! The session, driven by hand: no clock, no network, any order of events.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod answers;
mod attempts;
mod calls;
mod children;
mod context;
mod doubts;
mod laws;
mod money;
mod reports;
mod stopping;
mod telemetry;
mod world;
