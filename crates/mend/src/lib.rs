//! Why a tool call failed, and what to do about it. Pure code: no I/O, no clock, no model.
//!
//! ```text
//! ToolReply        --classify_reply----.
//! TransportFailure --classify_failure--+--> Verdict: Success | Permanent | Transient | Correctable
//!                                                                  |
//!                               CallFault <------------------------'
//!                                 |
//!                                 |--extract_facts--> Facts --repair_by_rules--> corrected parameters, or nothing
//!                                 |
//!                                 '--choose_remedy--> Remedy: resend, ask a model, ask a person, give up
//! ```
//!
//! A tool that rejects a call usually says why. This example reads the reason and corrects the call without a model:
//!
//! ```
//! use reknit_mend::{
//!     AllowedChanges, RejectedCall, ReplyContext, Verdict, classify_reply, extract_facts, repair_by_rules,
//! };
//! use reknit_protocol::{Object, ReplyBody, SideEffect, ToolReply, Value};
//!
//! let body = Value::parse(r#"{"error": "to must be one of EUR, USD"}"#)?;
//! let reply = ToolReply { status: 422, retry_after_ms: None, body: ReplyBody::Json(body), job: None };
//! let context = ReplyContext::new(SideEffect::Read, 0);
//! let Verdict::Correctable(fault) = classify_reply(&reply, context) else { panic!("another call may work") };
//!
//! let facts = extract_facts(&fault);
//! assert_eq!(facts[0].to_string(), r#"`to`: must be one of "EUR", "USD""#);
//!
//! let repair = repair_by_rules(RejectedCall {
//!     parameters: Object::from([("to", Value::from("Euro"))]),
//!     schema: None,
//!     facts: &facts,
//!     message: &fault.message,
//!     referenced: Vec::new(),
//!     allowed_changes: AllowedChanges::Any,
//!     request: ["convert it to euros", ""],
//!     results: Vec::new(),
//! });
//! assert_eq!(repair.map(|repair| repair.parameters), Some(Object::from([("to", Value::from("EUR"))])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`choose_remedy`], the table of remedies. [`Rung`] lists the steps of the repair ladder, [`Fact`] is what an
//! error states, and [`parse_feedback_advice`] reads what a model advises.

mod advice;
mod facts;
mod fault;
mod ladder;
mod learned;
mod policy;
mod remedy;
mod rules;
mod value_kind;

pub use advice::{Advice, AdviceForm, parse_context_advice, parse_feedback_advice, parse_parameter_values};
pub use facts::{Fact, Field, facts_as_lines};
pub use fault::{CallFault, Fate, FaultOrigin, ReplyContext, Verdict, classify_failure, classify_reply, extract_facts};
pub use ladder::{Mend, MendAction, MendEffect, ModelRung, Rung, applied, tried_in_vain};
pub use learned::{
    AcceptedBy, BookChange, ErrorPattern, FaultyCall, LearnedRule, Lesson, PriorResult, RuleBook, RuleEvidence,
    RuleFix, RuleProblem, RuleState, RuleValue, ValueOrigin, propose_rules,
};
pub use policy::{
    Corrector, ErrorsInSuccess, IndependentSteps, LadderPolicy, Learning, MendingPolicy, PeoplePolicy, ResendPolicy,
    ResolutionPolicy, RuleChanges,
};
pub use remedy::{CALL_AGAIN, Remedy, RepairState, ResendRule, choose_remedy, context_or_give_up, resend_or_give_up};
pub use rules::{
    AllowedChanges, RejectedCall, RuleRepair, facts_from_problems, is_same_value, propose_sum, repair_by_rules,
    schemas_at,
};
pub use value_kind::{ValueKind, names_quantity, value_kind};

use reknit_protocol::{Number, Value};

/// The only item; `None` if there are several.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// A number, also one that is written as a text.
fn number_of(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => Number::parse(text.trim()).ok(),
        _ => None,
    }
}

/// The characters before and after each place of a text inside another one.
fn neighbours<'a>(text: &'a str, inner: &'a str) -> impl Iterator<Item = [Option<char>; 2]> {
    text.match_indices(inner).map(|(at, found)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + found.len()..).unwrap_or_default());
        [before.chars().next_back(), after.chars().next()]
    })
}

/// Whether a character beside a word belongs to it.
fn is_word_part(beside: Option<char>) -> bool {
    beside.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Whether a word is in a list of words with single spaces between them.
fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
