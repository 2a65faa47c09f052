//! Reads the keys that say when a step runs and what follows from its failure.

use reknit_expressions::{Expression, Parameters, StepIds};
use reknit_protocol::{Number, Object, Plan, Step, StepId, Value, human_duration, parse_human_duration};

use super::template_problem::template_problem;
use super::{Code, PlanLocation, PlanProblem};
use crate::hint::suggestion;
use crate::verify_call::verify_call;
use crate::{Foreach, ITEM, OnFailure, REPLY, RESULT, StepControls, Until, Verify};

/// The most resends that a plan may ask for.
const MAX_RESENDS: u64 = 100;

/// The most items that a plan may ask for.
const MAX_ITEMS: u64 = 100_000;

/// The most results that a plan may ask for with `until`, and the longest wait between two of them.
const MAX_POLLS: u64 = 10_000;
const MAX_WAIT_MS: u64 = 24 * 60 * 60 * 1000;

/// The names that the expressions of a step may refer to.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    /// For the list of a loop: the steps and the inputs.
    of_list: &'a StepIds<'a>,
    /// For the step itself: with the item of its loop.
    pub(super) of_step: &'a StepIds<'a>,
    /// For conditions about the result of the step.
    with_result: &'a StepIds<'a>,
    /// For conditions about the reply to its `verify`.
    with_reply: &'a StepIds<'a>,
}

/// Whether a step has a condition about its own result.
pub(super) fn reads_own_result(step: &Step) -> bool {
    ["until", "expect", "verify"].iter().any(|key| step.has_control(key))
}

/// For steps without and with a loop: the names for the step itself, with its result, and with the reply to its `verify`.
pub(super) type SourceLists<T> = [[T; 3]; 2];

/// The names in a plan. `sources` are the steps, and the inputs if there are any. Lists that no step needs are empty.
pub(super) fn source_lists(plan: &Plan, sources: &[StepId]) -> SourceLists<Vec<StepId>> {
    [false, true].map(|is_loop| {
        let has = |check: fn(&Step) -> bool| plan.steps.iter().any(|step| check(step) && step.has_foreach() == is_loop);
        let lists = [
            (&[][..], !is_loop || has(|_| true)),
            (&[RESULT], has(reads_own_result)),
            (&[RESULT, REPLY], has(|step| step.has_control("verify"))),
        ];
        lists.map(|(names, is_needed)| {
            let names = is_loop.then_some(ITEM).into_iter().chain(names.iter().copied());
            let all = sources.iter().cloned().chain(names.map(StepId::from));
            if is_needed { all.collect() } else { Vec::new() }
        })
    })
}

/// The names for the expressions of a step.
pub(super) fn sources_of<'n>(lists: &'n SourceLists<StepIds<'n>>, step: &Step) -> Sources<'n> {
    let [plain, in_loop] = lists;
    let [of_list, ..] = plain;
    let [of_step, with_result, with_reply] = if step.has_foreach() { in_loop } else { plain };
    Sources { of_list, of_step, with_result, with_reply }
}

/// The controls of a step. A value that cannot be read is a problem.
pub(super) fn read(
    step: &Step,
    sources: Sources<'_>,
    location: &PlanLocation,
    problems: &mut Vec<PlanProblem>,
) -> StepControls {
    let mut reader = Reader { step, location, problems };
    reader.check_computed();
    reader.check_agent();
    StepControls {
        foreach: reader.foreach(sources.of_list),
        when: reader.own_condition("when", sources.of_step, "order.total > 5"),
        on_failure: reader.on_failure(),
        approve: reader.approve(),
        resends: reader.resends(),
        until: reader.until(sources.with_result),
        expect: reader.own_condition("expect", sources.with_result, "result.total > 5"),
        verify: reader.verify(sources),
        within: step.metadata.get("within").and_then(Value::as_str).map(StepId::from),
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
            let hint = "write `\"parameters\": {\"result\": \"{{...}}\"}`";
            self.problem("parameters", "a step that computes has one parameter, `result`", Some(hint));
        }
        if self.step.capability().is_some() {
            self.problem("capability", "a step either calls a tool or computes", Some("make two steps of it"));
        }
        for key in ["approve", "retry", "until", "verify"] {
            if self.value(key).is_some() {
                self.problem(key, "a step that computes makes no call", Some("remove it"));
            }
        }
    }

    fn check_agent(&mut self) {
        if self.step.agent_file().is_some() && self.value("until").is_some() {
            let hint = "write `expect`, or say in the task what to wait for";
            self.problem("until", "an agent works once, so it cannot be asked again and again", Some(hint));
        }
    }

    fn until(&mut self, sources: &StepIds<'_>) -> Option<Until> {
        const KEYS: [&str; 3] = ["condition", "wait", "times"];
        const EXAMPLE: &str = "write `until: {condition: result.status == \"done\", wait: 10 s, times: 20}`";
        let object = self.object("until", &KEYS, "`condition`, `wait` and `times`", EXAMPLE)?;
        let given = KEYS.map(|key| object.get(key).filter(|value| !value.is_null()));
        let missing = KEYS.iter().zip(given).filter(|(_, value)| value.is_none());
        let missing: Vec<String> = missing.map(|(key, _)| format!("`{key}`")).collect();
        if !missing.is_empty() {
            self.problem("until", &format!("it has no {}", missing.join(" and no ")), Some(EXAMPLE));
        }
        let [condition, wait, times] = given;
        let hint = "write it as text: `condition: result.status == \"done\"`";
        let condition = condition.and_then(|value| self.condition(&["until", "condition"], value, sources, hint));
        let wait_ms = wait.and_then(|value| self.wait_ms(&["until", "wait"], value));
        let times = times.and_then(|value| self.count_at(&["until", "times"], value, MAX_POLLS));
        Some(Until { condition: condition?, wait_ms: wait_ms?, times: times? })
    }

    /// The object under a key. Unknown keys in it are problems.
    fn object(&mut self, key: &str, known: &[&str], expected: &str, example: &str) -> Option<&'a Object> {
        let value = self.value(key)?;
        let Value::Object(object) = value else {
            let message = format!("expected the keys {expected}, found {}", value.kind().with_article());
            self.problem(key, &message, Some(example));
            return None;
        };
        for unknown in object.keys().filter(|name| !known.contains(name)) {
            self.problem_at(&[key, unknown], "unknown key", Some(&suggestion(unknown, known)));
        }
        Some(object)
    }

    fn verify(&mut self, sources: Sources<'_>) -> Option<Verify> {
        const KEYS: [&str; 5] = ["tool", "with", "expect", "wait", "times"];
        const EXAMPLE: &str =
            "write `verify: {tool: shop/get_order, with: {id: \"{{result.id}}\"}, expect: reply.paid}`";
        let object = self.object("verify", &KEYS, "`tool`, `with` and `expect`", EXAMPLE)?;
        let [tool, with, expect, wait, times] = KEYS.map(|key| object.get(key).filter(|value| !value.is_null()));
        for (key, given) in [("tool", tool), ("expect", expect)] {
            if given.is_none() {
                self.problem("verify", &format!("it has no `{key}`"), Some(EXAMPLE));
            }
        }
        if wait.is_some() != times.is_some() {
            self.problem("verify", "`wait` and `times` belong together", Some("write `wait: 5 s, times: 3`"));
        }
        if tool.is_some_and(|tool| tool.as_str().is_none()) {
            self.problem_at(&["verify", "tool"], "expected the name of a capability", Some(EXAMPLE));
        }
        let hint = "write it as text: `expect: reply.status == \"done\"`";
        let expect = expect.and_then(|value| self.condition(&["verify", "expect"], value, sources.with_reply, hint));
        let parameters = self.verify_parameters(with, sources.with_result);
        let wait_ms = wait.map_or(Some(0), |value| self.wait_ms(&["verify", "wait"], value));
        let times = times.map_or(Some(1), |value| self.count_at(&["verify", "times"], value, MAX_POLLS));
        let call = verify_call(self.step)?;
        Some(Verify {
            capability: call.capability().unwrap_or_default().into(),
            tool: call.tool,
            parameters: parameters?,
            schema: None,
            expect: expect?,
            wait_ms: wait_ms?,
            times: times?,
        })
    }

    fn verify_parameters(&mut self, with: Option<&Value>, sources: &StepIds<'_>) -> Option<Parameters> {
        let Some(with) = with else { return Some(Parameters::default()) };
        let Value::Object(object) = with else {
            let message = format!("expected names with values, found {}", with.kind().with_article());
            self.problem_at(&["verify", "with"], &message, None);
            return None;
        };
        let parsed = Parameters::parse_with_ids(object, sources);
        for error in parsed.as_ref().err().into_iter().flat_map(|error| &error.errors) {
            let location = self.at(&["verify", "with"]).inside(&error.path);
            self.problems.push(template_problem(location, error));
        }
        parsed.ok()
    }

    fn wait_ms(&mut self, keys: &[&str], value: &Value) -> Option<u64> {
        let ms = value.as_str().and_then(parse_human_duration).filter(|ms| (1..=MAX_WAIT_MS).contains(ms));
        if ms.is_none() {
            let message = format!("expected a duration of at most {}, found `{value}`", human_duration(MAX_WAIT_MS));
            self.problem_at(keys, &message, Some("write a number and a unit: `wait: 10 s`, `2 min`"));
        }
        ms
    }

    /// The condition under a key of the step itself.
    fn own_condition(&mut self, key: &str, sources: &StepIds<'_>, example: &str) -> Option<Expression> {
        let value = self.value(key)?;
        self.condition(&[key], value, sources, &format!("write it as text: `{key}: \"{example}\"`"))
    }

    /// A condition: an expression as text, or `true` or `false`.
    fn condition(&mut self, keys: &[&str], value: &Value, sources: &StepIds<'_>, hint: &str) -> Option<Expression> {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Bool(value) => value.to_string(),
            other => {
                let message = format!("expected an expression, found {}", other.kind().with_article());
                self.problem_at(keys, &message, Some(hint));
                return None;
            }
        };
        self.expression(keys, &text, sources)
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
        let list = self.expression(&["foreach"], &text, sources)?;
        let [at_once, max_items] =
            ["at_once", "max_items"].map(|key| self.count_at(&[key], self.value(key)?, MAX_ITEMS));
        Some(Foreach { list, at_once, max_items })
    }

    /// A number from 1 on.
    fn count_at(&mut self, keys: &[&str], value: &Value, most: u64) -> Option<u32> {
        let count = value.as_number().and_then(Number::as_u64).filter(|count| (1..=most).contains(count));
        if count.is_none() {
            self.problem_at(keys, &format!("expected a number from 1 to {most}"), None);
        }
        count.and_then(|count| u32::try_from(count).ok())
    }

    fn expression(&mut self, keys: &[&str], text: &str, sources: &StepIds<'_>) -> Option<Expression> {
        // Braces around a whole expression are allowed, as in parameters.
        let inside = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text);
        let parsed = Expression::parse_with_ids(inside, sources);
        self.problems.extend(parsed.as_ref().err().map(|error| template_problem(self.at(keys), error)));
        parsed.ok()
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
        let Some(value) = self.value("approve") else { return false };
        if value.as_bool().is_none() {
            self.problem("approve", "expected true or false", None);
        }
        value.as_bool() == Some(true)
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

    fn at(&self, keys: &[&str]) -> PlanLocation {
        keys.iter().fold(self.location.clone().key("metadata"), |location, key| location.key(key))
    }

    fn problem(&mut self, key: &str, message: &str, hint: Option<&str>) {
        self.problem_at(&[key], message, hint);
    }

    fn problem_at(&mut self, keys: &[&str], message: &str, hint: Option<&str>) {
        let problem = PlanProblem::new(Code::BadControl, self.at(keys), format!("`{}`: {message}", keys.join(".")));
        self.problems.push(problem.with_hint(hint.map(str::to_owned)));
    }
}
