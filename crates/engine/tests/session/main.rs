//! Tests of the session machine: events are applied by hand, without a clock or a network.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that panics has failed, and says where"
)]

mod answers;
mod attachments;
mod attempts;
mod changed_calls;
mod child_machines;
#[path = "../run/random_worlds/choice_tape.rs"]
mod choice_tape;
mod context_window;
mod cost_limit;
mod driver;
mod events;
mod follow_ups;
mod guard;
mod hostile_sessions;
#[path = "../run/many_worlds.rs"]
mod many_worlds;
mod properties;
mod reports;
mod stop_and_cancel;
mod text_calls;
mod tool_calls;
mod uncertain_calls;
mod untrusted_text;
mod verdicts;
