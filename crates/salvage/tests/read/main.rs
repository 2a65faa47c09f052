//! Reading, tested through the public API.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper of a test that panics is a test that fails")]

mod hostile;
mod laws;
mod repairs;
mod with_schema;
