//! A [`RotatingClient`](reknit_runtime::RotatingClient) against faulty models on loopback, with a clock that skips idle time.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic fails the test and shows where"
)]

mod advance;
mod provider_faults;
mod scene;
