//! Reads the keys that say when a step runs and what follows from its failure.

use reknit_bind::{Expression, StepIds};
use reknit_protocol::{Number, Object, Step, Value};

use super::parsed_plan::template_problem;
use super::{Code, PlanLocation, PlanProblem};
use crate::{Foreach, OnFailure, StepControls};

/// The most resends that a plan may ask for.
const MAX_RESENDS: u64 = 100;

/// The most items that a plan may ask for.
const MAX_ITEMS: u64 = 100_000;

/// The controls of a step. A value that cannot be read is a problem. Only the list of a loop cannot refer to its item.
pub(super) fn read(
    step: &Step,
    (sources, sources_with_item): (&StepIds<'_>, &StepIds<'_>),
    location: &PlanLocation,
    problems: &mut Vec<PlanProblem>,
) -> StepControls {
    let mut reader = Reader { step, location, problems };
    reader.check_computed();
    StepControls {
        foreach: reader.foreach(sources),
        when: reader.when(sources_with_item),
        on_failure: reader.on_failure(),
        approve: reader.approve(),
        resends: reader.resends(),
    }
}

struct Reader<'a> {
    step: &'a Step,
    location: &'a PlanLocation,
    problems: &'a mut Vec<PlanProblem>,
}

impl<'a> Reader<'a> {
    fn check_computed(&mut self) {
        if !self.step.is_computed() {
            return;
        }
        let names: Vec<&str> = self.step.parameters().into_iter().flat_map(Object::keys).collect();
        if names != ["result"] {
            self.problem("parameters", "a step that computes has one parameter, `result`", None);
        }
        if self.step.capability().is_some() {
            self.problem("capability", "a step either calls a tool or computes", Some("make two steps of it"));
        }
        for key in ["approve", "retry"] {
            if self.value(key).is_some() {
                self.problem(key, "a step that computes makes no call", Some("remove it"));
            }
        }
    }

    fn when(&mut self, sources: &StepIds<'_>) -> Option<Expression> {
        let text = match self.value("when")? {
            Value::String(text) => text.trim().to_owned(),
            Value::Bool(value) => value.to_string(),
            other => {
                let message = format!("expected an expression, found {}", other.kind().with_article());
                self.problem("when", &message, Some("write it as text: `when: \"order.total > 5\"`"));
                return None;
            }
        };
        self.expression("when", &text, sources)
    }

    fn foreach(&mut self, sources: &StepIds<'_>) -> Option<Foreach> {
        for key in ["at_once", "max_items"] {
            if self.value(key).is_some() && self.value("foreach").is_none() {
                self.problem(key, "the step has no `foreach`", Some("add it, or remove this key"));
            }
        }
        let text = match self.value("foreach")? {
            Value::String(text) => text.trim().to_owned(),
            // A list of plain values is an expression as well.
            list @ Value::Array(_) => list.to_string(),
            other => {
                let message = format!("expected a list, found {}", other.kind().with_article());
                self.problem("foreach", &message, Some("write an expression: `foreach: orders.items`"));
                return None;
            }
        };
        let list = self.expression("foreach", &text, sources)?;
        Some(Foreach { list, at_once: self.count("at_once", MAX_ITEMS), max_items: self.count("max_items", MAX_ITEMS) })
    }

    /// A number from 1 on.
    fn count(&mut self, key: &str, most: u64) -> Option<u32> {
        let count = self.value(key)?.as_number().and_then(Number::as_u64).filter(|count| (1..=most).contains(count));
        if count.is_none() {
            self.problem(key, &format!("expected a number from 1 to {most}"), None);
        }
        count.and_then(|count| u32::try_from(count).ok())
    }

    fn expression(&mut self, key: &str, text: &str, sources: &StepIds<'_>) -> Option<Expression> {
        // Braces around a whole expression are allowed, as in parameters.
        let inside = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text);
        match Expression::parse_with_ids(inside, sources) {
            Ok(expression) => Some(expression),
            Err(error) => {
                self.problems.push(template_problem(self.at(key), &error));
                None
            }
        }
    }

    fn on_failure(&mut self) -> OnFailure {
        let value = match self.value("on_failure") {
            None => return OnFailure::default(),
            Some(Value::String(word)) if word == "stop" => return OnFailure::Stop,
            Some(Value::String(word)) if word == "continue" => return OnFailure::Continue,
            Some(Value::Object(object)) if object.len() == 1 => object.get("use").cloned(),
            Some(_) => None,
        };
        match value {
            Some(value) if !value.to_string().contains("{{") => return OnFailure::Use(value),
            Some(_) => self.problem("on_failure", "the value of `use` must be written out", None),
            None => self.problem("on_failure", "expected `stop`, `continue` or `{use: VALUE}`", None),
        }
        OnFailure::default()
    }

    fn approve(&mut self) -> bool {
        match self.value("approve") {
            Some(Value::Bool(value)) => *value,
            None => false,
            Some(_) => {
                self.problem("approve", "expected true or false", None);
                false
            }
        }
    }

    fn resends(&mut self) -> Option<u32> {
        let times = self.value("retry")?.as_number().and_then(Number::as_u64).filter(|times| *times <= MAX_RESENDS);
        if times.is_none() {
            let message = format!("expected how often a call is sent again, from 0 to {MAX_RESENDS}");
            self.problem("retry", &message, None);
        }
        times.and_then(|times| u32::try_from(times).ok())
    }

    fn value(&self, key: &str) -> Option<&'a Value> {
        self.step.metadata.get(key).filter(|value| !value.is_null())
    }

    fn at(&self, key: &str) -> PlanLocation {
        self.location.clone().key("metadata").key(key)
    }

    fn problem(&mut self, key: &str, message: &str, hint: Option<&str>) {
        let problem = PlanProblem::new(Code::BadControl, self.at(key), format!("`{key}`: {message}"));
        self.problems.push(problem.with_hint(hint.map(str::to_owned)));
    }
}
