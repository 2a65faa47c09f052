//! Reading, tested through the public API.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by a panic in a helper function")]

mod corpus;
mod hostile;
mod laws;
mod repairs;
mod stream;
mod structure;
mod text_calls;
mod with_schema;
