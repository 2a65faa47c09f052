//! Telemetry of runs and sessions: each path of a machine produces its signals, and no others.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and says where"
)]

mod contract;
mod interactions;
mod names;
mod paths;
mod resume;
#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "../../../engine/tests/run/world.rs"]
mod run_world;
mod session_lines;
#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "../../../engine/tests/session/driver.rs"]
mod session_world;
mod sessions;
mod signals;
mod spans;
