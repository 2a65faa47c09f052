//! Why a tool call failed, and what can be done about it.

mod advice;
mod facts;
mod fault;
mod ladder;
mod policy;
mod remedy;
mod rules;

pub use advice::{Advice, Form, read_context, read_feedback, read_values};
pub use facts::{Fact, Field, Says, TypeName, as_lines, facts};
pub use fault::{Fate, Fault, Origin, Verdict, judge_failure, judge_reply};
pub use ladder::{Mend, MendEffect, Rung};
pub use policy::{IndependentSteps, LadderPolicy, Learning, Mending, People, Resend, Resolution};
pub use remedy::{Again, Remedy, Used, last_rung, remedy, resend};
pub use rules::{Amendment, Case, Caution, amend, facts_of_problems};
