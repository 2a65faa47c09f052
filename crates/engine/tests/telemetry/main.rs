//! What is told about machines: each name on the path that it belongs to, and on no other.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod contract;
mod names;
mod paths;
mod resuming;
#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "../run/world.rs"]
mod run_world;
#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "../session/world.rs"]
mod session_world;
mod sessions;
mod spans;
mod told;
