//! The driver at work: real servers on loopback, a real journal, a clock that only moves when the test says so.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod cancelling;
mod gating;
mod learning;
mod leasing;
mod panicking;
mod restoring;
mod scenarios;
mod scenes;
mod sessions;
mod story;
mod telemetry;
mod timing;
mod world;
