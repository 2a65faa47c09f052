//! The settings of an agent, one by one.

use reknit_dialogue::{Effort, Temperature};
use reknit_engine::{Plans, ReportFormat};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Value};

use super::{Agent, AgentProblem};
use crate::config::millis;

/// Every key there is.
pub(super) const KEYS: [&str; 17] = [
    "description",
    "targets",
    "tools",
    "agents",
    "plans",
    "maxTurns",
    "maxRetries",
    "maxOutputTokens",
    "llmTimeout",
    "temperature",
    "reasoning",
    "maxToolCalls",
    "maxModelCalls",
    "maxTime",
    "maxResultBytes",
    "toolsAtOnce",
    "output",
];
const OUTPUT: [&str; 2] = ["format", "schema"];

/// Puts the settings into the agent, and says what is wrong with them.
pub(super) fn apply(agent: &mut Agent, settings: &Value) -> Vec<AgentProblem> {
    let mut keys = Keys { problems: Vec::new() };
    match settings {
        Value::Null => {}
        Value::Object(object) => keys.all(agent, object),
        other => keys.wrong("", &format!("the settings are {}; write `key: value` lines", other.kind().with_article())),
    }
    keys.problems
}

struct Keys {
    problems: Vec<AgentProblem>,
}

impl Keys {
    fn wrong(&mut self, key: &str, message: &str) {
        let key = Some(key.to_owned()).filter(|key| !key.is_empty());
        self.problems.push(AgentProblem { place: None, key, message: message.to_owned() });
    }

    fn all(&mut self, agent: &mut Agent, object: &Object) {
        for (key, value) in object {
            match key {
                "description" => set(&mut agent.description, self.text(key, value)),
                "targets" => agent.targets = self.names(key, value),
                "tools" => agent.tools = self.names(key, value),
                "agents" => agent.agents = self.names(key, value).unwrap_or_default(),
                "plans" => set(&mut agent.rules.plans, self.plans(key, value)),
                "maxTurns" => set(&mut agent.rules.max_turns, self.count(key, value)),
                "maxRetries" => set(&mut agent.rules.max_retries, self.count(key, value)),
                "maxOutputTokens" => set(&mut agent.rules.max_output_tokens, self.count(key, value)),
                "llmTimeout" => set(&mut agent.rules.llm_timeout_ms, self.time(key, value)),
                "temperature" => agent.rules.temperature = self.temperature(key, value),
                "reasoning" => agent.rules.effort = self.effort(key, value),
                "maxToolCalls" => agent.limits.tool_calls = self.count(key, value),
                "maxModelCalls" => agent.limits.model_calls = self.count(key, value),
                "maxTime" => agent.limits.active_ms = self.time(key, value),
                "maxResultBytes" => {
                    let bytes = self.count(key, value).and_then(|bytes| usize::try_from(bytes).ok());
                    set(&mut agent.rules.result_bytes, bytes);
                }
                "toolsAtOnce" => agent.limits.calls_at_once = self.count(key, value),
                "output" => self.output(agent, value),
                unknown => self.unknown("", unknown, &KEYS),
            }
        }
    }

    fn unknown(&mut self, before: &str, key: &str, known: &[&str]) {
        let hint = match nearest(key, known.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("there is: {}", known.join(", ")),
        };
        self.wrong(&format!("{before}{key}"), &format!("there is no such setting; {hint}"));
    }

    fn output(&mut self, agent: &mut Agent, value: &Value) {
        let Some(object) = value.as_object() else {
            return self.wrong("output", "write `format: text`, `markdown` or `json` below it");
        };
        for (key, value) in object {
            match key {
                "format" => set(&mut agent.rules.report.format, self.format(value)),
                "schema" => match value {
                    Value::String(file) => agent.schema_file = Some(file.clone()),
                    Value::Object(_) | Value::Bool(_) => agent.rules.report.schema = Some(value.clone()),
                    _ => self.wrong("output.schema", "write a JSON Schema, or the name of a file that holds one"),
                },
                unknown => self.unknown("output.", unknown, &OUTPUT),
            }
        }
        let schema = agent.rules.report.schema.is_some() || agent.schema_file.is_some();
        if schema && agent.rules.report.format != ReportFormat::Json {
            self.wrong("output.schema", "only a report in JSON has a schema: write `format: json`");
        }
        if let Some(Err(error)) = agent.rules.report.schema.as_ref().map(reknit_salvage::Schema::compile) {
            self.wrong("output.schema", &error.to_string());
        }
    }

    fn format(&mut self, value: &Value) -> Option<ReportFormat> {
        let formats = [ReportFormat::Text, ReportFormat::Markdown, ReportFormat::Json];
        let found = formats.into_iter().find(|format| value.as_str() == Some(format.as_str()));
        if found.is_none() {
            self.wrong("output.format", "write `text`, `markdown` or `json`");
        }
        found
    }

    fn plans(&mut self, key: &str, value: &Value) -> Option<Plans> {
        match value {
            Value::Bool(true) => Some(Plans::Allowed),
            Value::Bool(false) => Some(Plans::Off),
            _ => {
                self.wrong(key, "write `true` or `false`");
                None
            }
        }
    }

    fn text(&mut self, key: &str, value: &Value) -> Option<String> {
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(key, "write a text");
        }
        text
    }

    /// A list of names, or one.
    fn names(&mut self, key: &str, value: &Value) -> Option<Vec<String>> {
        let names: Option<Vec<String>> = match value {
            Value::String(name) => Some(vec![name.clone()]),
            Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        if names.is_none() {
            self.wrong(key, "write a list of names, like `[one, other]`");
        }
        names
    }

    /// A number that is at least 1.
    fn count(&mut self, key: &str, value: &Value) -> Option<u32> {
        let number = value.to_string().parse::<u32>().ok().filter(|number| *number > 0);
        if number.is_none() {
            self.wrong(key, "write a whole number that is 1 or more");
        }
        number
    }

    fn time(&mut self, key: &str, value: &Value) -> Option<u64> {
        let ms = value.as_str().and_then(millis).filter(|ms| *ms > 0);
        if ms.is_none() {
            self.wrong(key, "write a time with its unit, like `30s` or `10 min`");
        }
        ms
    }

    fn temperature(&mut self, key: &str, value: &Value) -> Option<Temperature> {
        if value.as_str() == Some("default") {
            return None;
        }
        let number = value.to_string().parse::<f64>().ok().and_then(|number| Temperature::try_from(number).ok());
        if number.is_none() {
            self.wrong(key, "write a number from 0 to 2, or `default` for what the provider likes");
        }
        number
    }

    fn effort(&mut self, key: &str, value: &Value) -> Option<Effort> {
        let efforts = [Effort::None, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
        let found = efforts.into_iter().find(|effort| value.as_str() == Some(effort.as_str()));
        if found.is_none() && value.as_str() != Some("default") {
            self.wrong(key, "write `none`, `minimal`, `low`, `medium`, `high` or `default`");
        }
        found
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
