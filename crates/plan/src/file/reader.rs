//! Turns the keys of a plan file into a plan.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Plan, PlanInput, PlanMode, PlanOutput, Step, Value, parse_human_duration};

use super::document::Document;
use crate::agents::{AGENT_TOOL, agent_name};
use crate::file_problem::FileProblem;
use crate::hint::suggestion;

pub(super) const PLAN_KEYS: [&str; 4] = ["request", "inputs", "steps", "outputs"];
const STEP_KEYS: [&str; 9] = ["id", "tool", "do", "with", "after", "compute", "plan", "agent", "timeout"];

/// The keys of a step whose values the check of the plan reads.
pub(super) const CONTROL_KEYS: [&str; 10] =
    ["foreach", "at_once", "max_items", "when", "on_failure", "approve", "retry", "until", "expect", "verify"];
const INPUT_KEYS: [&str; 4] = ["type", "default", "enum", "description"];
const OUTPUT_KEYS: [&str; 3] = ["value", "type", "description"];

/// Reads a plan, or reports all errors of the file.
pub(super) fn read(document: &Document) -> Result<Plan, Vec<FileProblem>> {
    let mut reader = Reader { document, problems: Vec::new() };
    let plan = reader.plan();
    reader.problems.sort_by_key(|problem| problem.position);
    if reader.problems.is_empty() { Ok(plan) } else { Err(reader.problems) }
}

/// Renames the keys of steps that are written in another case, such as `onFailure` and `on-failure`, to `on_failure`.
pub(super) fn rename_keys(plan: &mut Value) {
    let steps = match plan {
        Value::Object(object) => object.get_mut("steps"),
        steps => Some(steps),
    };
    let Some(Value::Array(steps)) = steps else { return };
    for step in steps.iter_mut().filter_map(Value::as_object_mut) {
        for key in CONTROL_KEYS.into_iter().filter(|key| key.contains('_')) {
            let written = step.keys().find(|written| are_alike(written, key)).map(str::to_owned);
            if let Some(written) = written.filter(|_| !step.contains_key(key)) {
                step.rename(&written, key);
            }
        }
    }
}

/// Reads on after an error, so that all errors are reported.
struct Reader<'d> {
    document: &'d Document,
    problems: Vec<FileProblem>,
}

impl<'d> Reader<'d> {
    fn plan(&mut self) -> Plan {
        let root = Path::root();
        let mut plan = Plan::new("plan", "", Vec::new());
        plan.mode = Some(PlanMode::Workflow);
        let object = match &self.document.value {
            Value::Object(object) => object,
            steps => {
                plan.steps = self.steps(Some(steps), &root);
                return plan;
            }
        };
        self.reject_unknown(object, &PLAN_KEYS, &root);
        plan.original_request = self.text(object, "request", &root).unwrap_or_default();
        for (name, value) in self.members(object, "inputs", &root) {
            let input = self.input(value, &root.key("inputs").key(name));
            plan.inputs.push((name.to_owned(), input));
        }
        plan.steps = self.steps(object.get("steps"), &root.key("steps"));
        for (name, value) in self.members(object, "outputs", &root) {
            let path = root.key("outputs").key(name);
            if let Some(output) = self.output(value, &path) {
                plan.outputs.push((name.to_owned(), output));
            }
        }
        plan
    }

    fn steps(&mut self, value: Option<&'d Value>, path: &Path) -> Vec<Step> {
        match value {
            Some(Value::Array(steps)) => {
                let steps = steps.iter().enumerate();
                steps.filter_map(|(index, step)| self.step(step, &path.index(index))).collect()
            }
            Some(other) => {
                self.expected("a list of steps", other, path);
                Vec::new()
            }
            None => {
                let hint = "add `steps:` with a list of steps, each with an `id` and a `tool`";
                self.problem(&Path::root(), "the plan has no `steps`".to_owned(), Some(hint.to_owned()));
                Vec::new()
            }
        }
    }

    fn step(&mut self, value: &'d Value, path: &Path) -> Option<Step> {
        let Value::Object(object) = value else {
            self.expected("a step with the keys `id` and `tool`", value, path);
            return None;
        };
        self.reject_unknown(object, &[STEP_KEYS.as_slice(), &CONTROL_KEYS].concat(), path);
        let id = self.required(object, "id", path);
        let computed = object.get("compute");
        let sub_plan = self.text(object, "plan", path).filter(|_| computed.is_none());
        let agent_file = self.text(object, "agent", path).filter(|_| computed.is_none() && sub_plan.is_none());
        let tool = match (&computed, &sub_plan, &agent_file) {
            (Some(_), _, _) => {
                Some(self.without(&["tool", "with", "plan", "agent"], "computes", object, path, "compute/"))
            }
            (None, Some(_), _) => Some(self.without(&["tool", "agent"], "runs a plan", object, path, "plan/")),
            (None, None, Some(file)) => {
                let name = format!("{AGENT_TOOL}/{}", agent_name(file));
                Some(self.without(&["tool"], "runs an agent", object, path, &name))
            }
            (None, None, None) => self.required(object, "tool", path),
        };
        let instruction = self.text(object, "do", path).unwrap_or_default();
        let parameters = self.members(object, "with", path);
        let mut parameters: Object = parameters.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let limit_ms = self.timeout(object, path);
        let after = self.after(object.get("after"), &path.key("after"));
        let tool = tool?;
        let (tool, capability) = tool.rsplit_once('/').unwrap_or(("", &tool));
        let mut step = Step::new(id?, tool, capability, instruction);
        if let Some(value) = computed {
            step.metadata = Object::from([("compute", Value::Bool(true))]);
            parameters.insert("result", value.clone());
        }
        if let Some(name) = sub_plan {
            step.metadata = Object::from([("plan", Value::from(name))]);
        }
        if let Some(file) = agent_file {
            step.metadata.insert("agent", file);
        }
        if !parameters.is_empty() {
            step = step.with_parameters(parameters);
        }
        if let Some(limit_ms) = limit_ms {
            step.metadata.insert("limit_ms", limit_ms);
        }
        for key in CONTROL_KEYS {
            if let Some(value) = object.get(key) {
                step.metadata.insert(key, value.clone());
            }
        }
        Some(after.into_iter().fold(step, Step::after))
    }

    /// Rejects other keys that say what a step does. Returns the name of its tool.
    fn without(&mut self, keys: &[&str], does: &str, object: &Object, path: &Path, tool: &str) -> String {
        for key in keys.iter().filter(|key| object.contains_key(key)) {
            let other = if *key == "agent" && does != "computes" { "runs an agent" } else { "calls a tool" };
            let hint = "make two steps of it".to_owned();
            self.problem(&path.key(key), format!("a step either {other} or {does}"), Some(hint));
        }
        tool.to_owned()
    }

    fn timeout(&mut self, object: &Object, path: &Path) -> Option<u64> {
        let value = object.get("timeout").filter(|value| !value.is_null())?;
        let ms = value.as_str().and_then(parse_human_duration).filter(|ms| *ms > 0);
        if ms.is_none() {
            let hint = "write a number and a unit: `timeout: 30 s`, `500 ms`, `2 min`".to_owned();
            self.problem(&path.key("timeout"), format!("expected a duration, found `{value}`"), Some(hint));
        }
        ms
    }

    /// The ids under `after`: one id or a list.
    fn after(&mut self, value: Option<&Value>, path: &Path) -> Vec<String> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(ids)) => {
                let ids = ids.iter().enumerate();
                ids.filter_map(|(index, id)| self.as_text(id, &path.index(index))).collect()
            }
            Some(id) => self.as_text(id, path).into_iter().collect(),
        }
    }

    /// An input: its default, or an object with more keys.
    fn input(&mut self, value: &Value, path: &Path) -> PlanInput {
        match value {
            Value::Null => PlanInput::default(),
            Value::Object(object) => {
                self.reject_unknown(object, &INPUT_KEYS, path);
                PlanInput {
                    type_word: self.text(object, "type", path),
                    default: object.get("default").filter(|value| !value.is_null()).cloned(),
                    allowed: self.allowed(object.get("enum"), &path.key("enum")),
                    description: self.text(object, "description", path),
                    ..PlanInput::default()
                }
            }
            default => PlanInput { default: Some(default.clone()), ..PlanInput::default() },
        }
    }

    fn allowed(&mut self, value: Option<&Value>, path: &Path) -> Vec<Value> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) if !values.is_empty() => values.clone(),
            Some(Value::Array(_)) => {
                self.problem(path, "expected at least one value".to_owned(), None);
                Vec::new()
            }
            Some(other) => {
                self.expected("a list of values", other, path);
                Vec::new()
            }
        }
    }

    /// An output: its expression, or an object with more keys.
    fn output(&mut self, value: &Value, path: &Path) -> Option<PlanOutput> {
        let Value::Object(object) = value else { return self.as_text(value, path).map(PlanOutput::from) };
        self.reject_unknown(object, &OUTPUT_KEYS, path);
        if object.get("value").is_none_or(Value::is_null) {
            let hint = "add an expression, such as `value: convert.amount`".to_owned();
            self.problem(path, "the output has no `value`".to_owned(), Some(hint));
        }
        let (type_word, description) = (self.text(object, "type", path), self.text(object, "description", path));
        let value = self.text(object, "value", path)?;
        Some(PlanOutput { type_word, description, ..PlanOutput::from(value) })
    }

    /// The members of the object under a key; empty if the key is absent.
    fn members(
        &mut self,
        object: &'d Object,
        key: &str,
        path: &Path,
    ) -> impl Iterator<Item = (&'d str, &'d Value)> + use<'d> {
        let inside = match object.get(key) {
            Some(Value::Object(inside)) => Some(inside),
            None | Some(Value::Null) => None,
            Some(other) => {
                self.expected(&format!("names with values, such as `{key}: {{name: value}}`"), other, &path.key(key));
                None
            }
        };
        inside.into_iter().flat_map(Object::iter)
    }

    fn required(&mut self, object: &Object, key: &str, path: &Path) -> Option<String> {
        let text = self.text(object, key, path);
        if object.get(key).is_none_or(Value::is_null) {
            let example = if key == "tool" { "`tool: get_weather`" } else { "`id: weather`" };
            self.problem(path, format!("the step has no `{key}`"), Some(format!("add one, such as {example}")));
        }
        text
    }

    fn text(&mut self, object: &Object, key: &str, path: &Path) -> Option<String> {
        let value = object.get(key).filter(|value| !value.is_null())?;
        self.as_text(value, &path.key(key))
    }

    /// A string. A number counts as one, since people write `id: 1` without quotes.
    fn as_text(&mut self, value: &Value, path: &Path) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            other => {
                self.expected("a string", other, path);
                None
            }
        }
    }

    fn reject_unknown(&mut self, object: &Object, known: &[&str], path: &Path) {
        for key in object.keys().filter(|key| !known.contains(key)) {
            let hint = suggestion(key, known);
            self.problem(&path.key(key), "unknown key".to_owned(), Some(hint));
        }
    }

    fn expected(&mut self, expected: &str, found: &Value, path: &Path) {
        self.problem(path, format!("expected {expected}, found {}", found.kind().with_article()), None);
    }

    fn problem(&mut self, path: &Path, message: String, hint: Option<String>) {
        let position = self.document.closest(path.segments());
        self.problems.push(FileProblem { path: path.clone(), position, message, hint });
    }
}
