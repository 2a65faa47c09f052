//! What became of the calls for one message of the user, and what that says to the verdict about the report.

use reknit_mend::CALL_AGAIN;
use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Outcome, Status, StepReport};
use crate::business_key::UncertainCall;
use crate::report::{Report, ReportStatus};
use crate::synthesis::numbers_in_text::has_words;

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

    /// A call that succeeded makes good an earlier one of the same capability: a read any read, any other call one that has at
    /// least half of its values, or one that has only values of the request if the failed one has none of them. With other
    /// values it is another action, as it is if both values come from the request, or both from results: pay ann and bob.
    pub(super) fn add_success(&mut self, call: &UncertainCall, request: &str, results: &[&str]) {
        let is_requested = |value: &Value| is_stated(value, request);
        let is_result = |value: &Value| results.iter().any(|result| is_stated(value, result));
        let is_another = |own: &Value, value: &Value| {
            let has_same_source = (is_requested(own) && is_requested(value)) || (is_result(own) && is_result(value));
            !is_equal(own, value) && has_same_source
        };
        let is_another_action = |failed: &UncertainCall| {
            failed
                .parameters
                .iter()
                .any(|(name, value)| call.parameters.get(name).is_some_and(|own| is_another(own, value)))
        };
        let is_correction = |failed: &UncertainCall| {
            let is_found =
                || call.parameters.values().all(is_requested) && !failed.parameters.values().any(is_requested);
            !is_another_action(failed) && (has_half_of(&call.parameters, &failed.parameters) || is_found())
        };
        let is_made_good = |failed: &FailedCall| {
            (&failed.call.tool, &failed.call.capability) == (&call.tool, &call.capability)
                && (!failed.changes || is_correction(&failed.call))
        };
        if let Some(at) = self.failed.iter().position(is_made_good) {
            self.failed.remove(at);
        }
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
        let missing = if is_complete { Vec::new() } else { answer.steps.iter().filter_map(step).collect() };
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

/// Whether the request has a value, word by word.
fn is_stated(value: &Value, request: &str) -> bool {
    match value {
        Value::String(text) => has_words(request, text.trim()),
        Value::Number(number) => has_words(request, &number.to_string()),
        _ => false,
    }
}

/// Whether the values of a call are at least half those of another one.
fn has_half_of(values: &Object, others: &Object) -> bool {
    2 * equal_values(values, others) >= others.len()
}

/// Whether two values are the same; a number may be written as text.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(text), number @ Value::Number(_)) | (number @ Value::Number(_), Value::String(text)) => {
            Value::parse(text.trim()).is_ok_and(|read| read == *number)
        }
        _ => one == other,
    }
}

/// How many values of a call another one has, too.
fn equal_values(values: &Object, others: &Object) -> usize {
    others.iter().filter(|(name, value)| values.get(name).is_some_and(|own| is_equal(own, value))).count()
}
