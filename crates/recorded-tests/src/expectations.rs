//! The assertions of a test, and where a run differs from them.

mod call_difference;

pub(crate) use call_difference::{nearest_call, parameter_differences};

use std::fmt;

use call_difference::{call_line, compare_calls};
use reknit_model_api::Money;
use reknit_plan::yaml_line;
use reknit_protocol::{Object, Value};
use reknit_salvage::Schema;

use crate::facts::{MadeCall, ObservedRun};
use crate::recording::{objects_match, values_match};

/// What a test expects of its run. What it does not mention is not compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expectations {
    /// The final status: `complete`, `partial`, ..., or `waiting`.
    pub status: Option<String>,
    /// What became of steps, by id.
    pub steps: Option<Vec<(String, String)>>,
    /// All calls that tools got, in order.
    pub calls: Option<Vec<ExpectedCall>>,
    /// Parameters that were sent, by `step.parameter`.
    pub values: Vec<ExpectedValue>,
    pub mended: Option<Vec<ExpectedRepair>>,
    /// The outputs of the plan; all of them.
    pub outputs: Option<Object>,
    pub limits: ExpectedLimits,
    pub answer: ExpectedAnswer,
}

/// A call that a tool must have got. What is `None` does not matter.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// The capability, as `tool/capability`.
    pub call: String,
    pub step: Option<String>,
    pub parameters: Option<Object>,
}

/// A parameter that must have been sent. What is `None` does not matter.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedValue {
    /// `step.parameter`.
    pub name: String,
    pub value: Option<Value>,
    pub from: Option<String>,
}

/// A repair that must have been made. `change` is a part of what was changed and why, if that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedRepair {
    /// The step of a run, or the call of a session.
    pub step: String,
    pub by: String,
    pub change: Option<String>,
}

/// The most that a run may spend.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExpectedLimits {
    pub tool_calls: Option<u64>,
    pub model_calls: Option<u64>,
    pub cost: Option<Money>,
    /// Virtual time in milliseconds.
    pub time_ms: Option<u64>,
}

/// The text of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExpectedAnswer {
    pub contains: Vec<String>,
    /// Regular expressions that it must match.
    pub matches: Vec<String>,
    pub equals: Option<String>,
}

/// A difference between what was expected and what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The assertion: `status`, `calls`, `values.pay.amount`.
    pub what: String,
    pub expected: String,
    pub actual: String,
    /// Whether the call was made, but before or after others that it was expected after or before.
    pub is_only_order: bool,
}

impl Mismatch {
    pub(crate) fn new(what: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self { what: what.into(), expected: expected.into(), actual: actual.into(), is_only_order: false }
    }

    pub(crate) fn only_order(self) -> Self {
        Self { is_only_order: true, ..self }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indented = |text: &str| text.trim_end().replace('\n', "\n              ");
        writeln!(out, "{}", self.what)?;
        writeln!(out, "    expected  {}", indented(&self.expected))?;
        write!(out, "    actual    {}", indented(&self.actual))
    }
}

/// The longest part of an answer that is proposed.
const ANSWER_CHARS: usize = 120;

impl Expectations {
    /// What a run did, as assertions that hold for it.
    pub fn proposed(facts: &ObservedRun) -> Self {
        let calls = facts.calls.iter().map(|made| ExpectedCall {
            call: made.call.clone(),
            step: Some(made.step.clone()),
            parameters: Some(made.parameters.clone()),
        });
        let values = facts.values.iter().map(|sent| ExpectedValue {
            name: sent.name.clone(),
            value: Some(sent.value.clone()),
            from: Some(sent.from.clone()),
        });
        let mended = facts.mended.iter().map(|repair| ExpectedRepair {
            step: repair.step.clone(),
            by: repair.by.clone(),
            change: None,
        });
        let first_line = facts.answer.lines().map(str::trim).find(|line| !line.is_empty());
        let contains = first_line.map(|line| line.chars().take(ANSWER_CHARS).collect::<String>().trim().to_owned());
        Self {
            status: Some(facts.status.clone()),
            steps: (!facts.steps.is_empty()).then(|| facts.steps.clone()),
            calls: Some(calls.collect()),
            values: values.collect(),
            mended: Some(mended.collect()),
            outputs: (!facts.outputs.is_empty()).then(|| facts.outputs.clone()),
            limits: ExpectedLimits {
                tool_calls: Some(facts.tool_calls),
                model_calls: Some(facts.model_calls),
                cost: (!facts.cost.is_zero()).then_some(facts.cost),
                time_ms: None,
            },
            answer: ExpectedAnswer { contains: contains.into_iter().collect(), ..ExpectedAnswer::default() },
        }
    }

    pub fn compare(&self, facts: &ObservedRun) -> Vec<Mismatch> {
        let mut found = Vec::new();
        if let Some(status) = self.status.as_ref().filter(|status| **status != facts.status) {
            let lines: Vec<&str> = [&facts.status].into_iter().chain(&facts.remarks).map(String::as_str).collect();
            found.push(Mismatch::new("status", status, lines.join("\n")));
        }
        self.compare_steps(facts, &mut found);
        if let Some(calls) = &self.calls {
            found.extend(compare_calls(calls, &facts.calls));
        }
        self.compare_values(facts, &mut found);
        self.compare_mended(facts, &mut found);
        if let Some(outputs) = self.outputs.as_ref().filter(|outputs| !objects_match(outputs, &facts.outputs)) {
            let (expected, actual) = parameter_differences(outputs, &facts.outputs);
            found.push(Mismatch::new("outputs", expected, actual));
        }
        self.compare_limits(facts, &mut found);
        self.answer.compare(&facts.answer, &mut found);
        found
    }

    fn compare_steps(&self, facts: &ObservedRun, found: &mut Vec<Mismatch>) {
        for (step, expected) in self.steps.iter().flatten() {
            let actual =
                facts.steps.iter().find(|(id, _)| id == step).map_or("there is no such step", |(_, word)| word);
            if actual != expected {
                let reason = facts.remarks.iter().find(|remark| remark.starts_with(&format!("{step}: ")));
                let reason = reason.map(|reason| format!("\n{reason}")).unwrap_or_default();
                found.push(Mismatch::new(format!("steps.{step}"), expected, format!("{actual}{reason}")));
            }
        }
    }

    fn compare_values(&self, facts: &ObservedRun, found: &mut Vec<Mismatch>) {
        for expected in &self.values {
            let what = format!("values.{}", expected.name);
            let Some((value, from)) = facts.sent(&expected.name) else {
                let wanted = expected.value.as_ref().map_or_else(|| "a value".to_owned(), yaml_line);
                found.push(Mismatch::new(what, wanted, "it was not sent"));
                continue;
            };
            if let Some(wanted) = expected.value.as_ref().filter(|wanted| !values_match(wanted, value)) {
                found.push(Mismatch::new(what.clone(), yaml_line(wanted), yaml_line(value)));
            }
            if let Some(wanted) = expected.from.as_deref().filter(|wanted| *wanted != from) {
                found.push(Mismatch::new(format!("{what}.from"), wanted, from));
            }
        }
    }

    fn compare_mended(&self, facts: &ObservedRun, found: &mut Vec<Mismatch>) {
        let Some(wanted) = &self.mended else { return };
        let mut left: Vec<_> = facts.mended.iter().collect();
        for expected in wanted {
            let is_it = |repair: &&crate::facts::AppliedRepair| {
                repair.step == expected.step
                    && repair.by == expected.by
                    && expected.change.as_ref().is_none_or(|change| repair.change.contains(change))
            };
            if let Some(index) = left.iter().position(is_it) {
                left.remove(index);
                continue;
            }
            let change = expected.change.as_ref().map(|change| format!(": {change}")).unwrap_or_default();
            let text = format!("{} by {}{change}", expected.step, expected.by);
            found.push(Mismatch::new("mended", text, "it was not mended"));
        }
        for repair in left {
            let text = format!("{} by {}: {}", repair.step, repair.by, repair.change);
            found.push(Mismatch::new("mended", "nothing more", text));
        }
    }

    fn compare_limits(&self, facts: &ObservedRun, found: &mut Vec<Mismatch>) {
        let counts = [
            ("limits.tool_calls", self.limits.tool_calls, facts.tool_calls),
            ("limits.model_calls", self.limits.model_calls, facts.model_calls),
            ("limits.time_ms", self.limits.time_ms, facts.time_ms),
        ];
        for (what, limit, count) in counts {
            if let Some(limit) = limit.filter(|limit| count > *limit) {
                found.push(Mismatch::new(what, format!("at most {limit}"), count.to_string()));
            }
        }
        if let Some(limit) = self.limits.cost.filter(|limit| facts.cost > *limit) {
            found.push(Mismatch::new("limits.cost", format!("at most {limit}"), facts.cost.to_string()));
        }
    }
}

impl ExpectedAnswer {
    fn compare(&self, answer: &str, found: &mut Vec<Mismatch>) {
        if let Some(text) = self.equals.as_ref().filter(|text| text.trim() != answer.trim()) {
            found.push(Mismatch::new("answer.equals", text, answer));
        }
        for text in self.contains.iter().filter(|text| !answer.contains(text.as_str())) {
            found.push(Mismatch::new("answer.contains", text, answer));
        }
        for pattern in &self.matches {
            let is_match = pattern_schema(pattern).is_ok_and(|schema| schema.fits(&Value::from(answer)));
            if !is_match {
                found.push(Mismatch::new("answer.matches", pattern, answer));
            }
        }
    }
}

/// The schema of the texts that a regular expression matches. Fails if it is none.
pub(crate) fn pattern_schema(pattern: &str) -> Result<Schema, String> {
    let schema = Value::from([("type", Value::from("string")), ("pattern", Value::from(pattern))]);
    Schema::compile(&schema).map_err(|error| error.to_string())
}

pub(crate) fn describe_call(made: &MadeCall) -> String {
    call_line(&made.call, Some(&made.step), Some(&made.parameters))
}
