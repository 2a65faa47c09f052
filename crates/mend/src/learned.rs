//! Rules learned from corrections that succeeded: the second occurrence of an error costs no model call.
//!
//! ```text
//! Lesson (a failed call, and what it was corrected to) --propose_rules--> LearnedRule, a proposal with evidence
//!                                                                             |
//!                                      accepted by a person, or by itself (`read` only, after confirmations)
//!                                                                             |
//! FaultyCall -------------------------------------------------apply--> RuleFix, or nothing
//! ```
//!
//! A rule applies to one capability and one kind of error, and changes only the parameters that it names. Its values are
//! expressions over the call, the error, earlier results and the number in the request, or a choice among values that the
//! error or the schema states.

mod apply;
mod candidates;
mod error_pattern;
mod faulty_call;
mod proposals;
mod rule;
mod rule_book;
mod value_forms;

pub use apply::RuleFix;
pub use error_pattern::ErrorPattern;
pub use faulty_call::{FaultyCall, Lesson, PriorResult, ValueOrigin};
pub use proposals::propose_rules;
pub use rule::{AcceptedBy, LearnedRule, RuleEvidence, RuleProblem, RuleState, RuleValue};
pub use rule_book::{BookChange, RuleBook};
