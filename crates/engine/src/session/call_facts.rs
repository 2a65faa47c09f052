//! What became of the calls for one message of the user, and what that says to the verdict about the report.

use std::collections::HashSet;

use reknit_mend::{CALL_AGAIN, is_same_value};
use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Outcome, Status, StepReport};
use crate::business_key::UncertainCall;
use crate::gate::StatedText;
use crate::report::{Report, ReportStatus};
use crate::synthesis::used_numbers::is_word_for;

/// What the calls for the last message of the user came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CallFacts {
    pub(super) succeeded: u32,
    /// The calls that failed and that no later call made good.
    pub(super) failed: Vec<FailedCall>,
    /// What the plans and agents that were called did not do.
    pub(super) unfinished: Vec<UnfinishedChild>,
    /// What calls that succeeded were sent although it looks like a placeholder, one sentence each.
    pub(super) placeholders: Vec<String>,
    /// What reads left out although the request states it, one sentence each.
    pub(super) lost_filters: Vec<String>,
    /// How many sentences about uncertain calls earlier messages have left.
    pub(super) in_doubt_before: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FailedCall {
    pub(super) call: UncertainCall,
    /// The turn whose answer contains it.
    #[serde(default)]
    pub(super) turn: u32,
    /// Whether a call that succeeds changes something.
    pub(super) changes: bool,
    pub(super) reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnfinishedChild {
    /// The tool, as the model is shown it.
    pub(super) name: String,
    /// What it did not do, one sentence each.
    pub(super) missing: Vec<String>,
    /// What it states without a source.
    pub(super) doubts: Vec<String>,
    pub(super) is_complete: bool,
}

impl CallFacts {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The last error of a call that fails again counts, also if it is spelt in another way.
    pub(super) fn add_failure(&mut self, failed: FailedCall) {
        let is_same = |earlier: &UncertainCall| {
            (&earlier.tool, &earlier.capability) == (&failed.call.tool, &failed.call.capability)
                && earlier.parameters.len() == failed.call.parameters.len()
                && equal_values(&failed.call.parameters, &earlier.parameters) == earlier.parameters.len()
        };
        self.failed.retain(|earlier| !is_same(&earlier.call));
        self.failed.push(failed);
    }

    /// A call that succeeded makes good the earlier attempts at it, one of each answer: the calls of one answer are different actions.
    pub(super) fn add_success(&mut self, call: &UncertainCall, request: &StatedText, results: &StatedText) {
        let mut turns = HashSet::new();
        self.failed.retain(|failed| !is_attempt_at(call, failed, request, results) || !turns.insert(failed.turn));
    }

    pub(super) fn add_child(&mut self, child: UnfinishedChild) {
        self.unfinished.retain(|earlier| earlier.name != child.name || !child.is_complete && *earlier != child);
        if !child.is_complete || !child.doubts.is_empty() {
            self.unfinished.push(child);
        }
    }

    /// Keeps what a plan that was called did not do.
    pub(super) fn add_plan(&mut self, name: &str, answer: &Answer) {
        let step = |step: &StepReport| match &step.outcome {
            Outcome::Done(_) => None,
            _ if step.replaced => None,
            Outcome::Failed { reason, .. } => Some(format!("step `{}` of a plan failed: {reason}", step.step)),
            Outcome::Skipped { reason } => Some(format!("step `{}` of a plan was skipped: {reason}", step.step)),
            Outcome::Unconfirmed { reason, .. } => {
                Some(format!("step `{}` of a plan is not confirmed: {reason}", step.step))
            }
        };
        let is_complete = answer.status == Status::Complete;
        let mut missing: Vec<String> =
            if is_complete { Vec::new() } else { answer.steps.iter().filter_map(step).collect() };
        if !is_complete && missing.is_empty() {
            missing.push(format!("`{name}`: {}", answer.reason.as_deref().unwrap_or(&answer.text)));
        }
        let doubts = answer.doubts.clone();
        self.add_child(UnfinishedChild { name: name.to_owned(), missing, doubts, is_complete });
    }

    /// Keeps what an agent that was called did not do.
    pub(super) fn add_agent(&mut self, name: &str, report: &Report) {
        let is_complete = report.status == ReportStatus::Success;
        let mut missing: Vec<String> =
            report.shortcomings.not_done.iter().map(|line| format!("agent `{name}`: {line}")).collect();
        if !is_complete && missing.is_empty() {
            missing.push(format!("agent `{name}` reports `{}`", report.status.as_str()));
        }
        let doubts = report.shortcomings.doubts.iter().map(|doubt| format!("agent `{name}`: {doubt}")).collect();
        self.add_child(UnfinishedChild { name: name.to_owned(), missing, doubts, is_complete });
    }

    /// One sentence for each call that failed, and for what called plans and agents did not do.
    pub(super) fn not_done(&self) -> Vec<String> {
        let failed = self.failed.iter().map(|FailedCall { call, reason, .. }| {
            let reason = reason.trim_end_matches(CALL_AGAIN).trim_end_matches("; ");
            format!(
                "`{}` of `{}` with {} failed: {reason}",
                call.capability,
                call.tool,
                Value::from(call.parameters.clone())
            )
        });
        failed.chain(self.unfinished.iter().flat_map(|child| child.missing.clone())).collect()
    }
}

/// Whether a call that failed was an attempt at one of the same capability that succeeded: a read at any read, any other call at one
/// that has at least half of its values, or one that has only values of the request if the failed one has none of them. With other
/// values it is another action, as it is if both values come from the request, or both from results: pay ann and bob.
fn is_attempt_at(call: &UncertainCall, failed: &FailedCall, request: &StatedText, results: &StatedText) -> bool {
    if (&failed.call.tool, &failed.call.capability) != (&call.tool, &call.capability) {
        return false;
    }
    if !failed.changes {
        return true;
    }
    let (own, others) = (NamedValues::of(&call.parameters), NamedValues::of(&failed.call.parameters));
    let is_another = |own: &Value, value: &Value| {
        let has_same_source = (request.has(own) && request.has(value)) || (results.has(own) && results.has(value));
        !is_equal(own, value) && has_same_source
    };
    let is_another_action =
        others.0.iter().any(|(name, value)| own.get(name).is_some_and(|own| is_another(own, value)));
    let has_half = 2 * own.equal(&others) >= others.0.len();
    let is_found = || own.values().all(|value| request.has(value)) && !others.values().any(|value| request.has(value));
    !is_another_action && (has_half || is_found())
}

/// The values of a call by their names, whatever stands around them: a model may have written all of them into one text, or into an
/// object of its own.
struct NamedValues(Vec<(String, Value)>);

impl NamedValues {
    fn of(parameters: &Object) -> Self {
        let mut found = Vec::new();
        for (name, value) in parameters {
            collect_values(name, value, &mut found);
        }
        Self(found)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many values of another call this one has, too.
    fn equal(&self, others: &Self) -> usize {
        others.0.iter().filter(|(name, value)| self.get(name).is_some_and(|own| is_equal(own, value))).count()
    }
}

fn collect_values(name: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    let read =
        value.as_str().filter(|text| text.trim_start().starts_with('{')).and_then(|text| Value::parse(text).ok());
    match read.as_ref().unwrap_or(value) {
        Value::Object(inner) if !inner.is_empty() => {
            inner.iter().for_each(|(name, value)| collect_values(name, value, found));
        }
        value => found.push((name.to_owned(), value.clone())),
    }
}

/// Whether two values are the same in any spelling.
fn is_equal(one: &Value, other: &Value) -> bool {
    let is_same = |one, other| is_same_value(one, other) || is_word_for(one, other);
    let folded = |value: &Value| value.as_str().map(|text| text.trim().to_lowercase());
    is_same(one, other) || is_same(other, one) || folded(one).is_some() && folded(one) == folded(other)
}

/// How many values of a call another one has, too.
fn equal_values(values: &Object, others: &Object) -> usize {
    others.iter().filter(|(name, value)| values.get(name).is_some_and(|own| is_equal(own, value))).count()
}
