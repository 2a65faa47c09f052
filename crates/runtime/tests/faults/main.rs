//! Models that misbehave, as real servers on loopback, and what whoever asks gets to see of it. Time is tokio's, and leaps
//! as soon as nobody has anything to do.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod advance;
mod pace;
mod scene;
mod sixteen;
