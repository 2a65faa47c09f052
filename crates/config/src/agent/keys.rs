//! The settings at the top of an agent file.

use std::collections::BTreeMap;

use reknit_engine::{AgentMending, Mandate, Permission, ReportFormat};
use reknit_model_api::Effort;
use reknit_protocol::Value;
use reknit_protocol::spelling::nearest;

use super::{Agent, AgentProblem};
use crate::{Field, POSITIVE, POSITIVE_DURATION, SettingKind, word};

/// Reads the value of a setting into the agent. Fails with what to write instead.
type ReadSetting = fn(&mut Agent, &Value) -> Result<(), String>;

/// All settings.
pub(super) const AGENT_SETTINGS: [(&str, ReadSetting); 22] = [
    ("description", |agent, value| set(&mut agent.description, text(value))),
    ("targets", |agent, value| set(&mut agent.targets, models(value).map(Some))),
    ("tools", |agent, value| set(&mut agent.tools, names(value).map(Some))),
    ("agents", |agent, value| set(&mut agent.agents, names(value))),
    ("plans", |agent, value| set(&mut agent.rules.plans, read(value, SettingKind::Switch))),
    ("mandate", |agent, value| set(&mut agent.rules.mandate, mandate(value).map(Some))),
    ("mending", |agent, value| set(&mut agent.rules.mending, read(value, word::<AgentMending>()))),
    ("textCalls", |agent, value| set(&mut agent.rules.calls_in_text, read(value, SettingKind::Switch))),
    ("textAnswers", |agent, value| set(&mut agent.rules.text_answers, read(value, SettingKind::Switch))),
    ("maxTurns", |agent, value| set(&mut agent.rules.max_turns, read(value, POSITIVE))),
    ("maxRetries", |agent, value| set(&mut agent.rules.max_retries, read(value, POSITIVE))),
    ("maxOutputTokens", |agent, value| set(&mut agent.rules.max_output_tokens, read(value, POSITIVE))),
    ("llmTimeout", |agent, value| set(&mut agent.rules.llm_timeout_ms, read(value, POSITIVE_DURATION))),
    ("temperature", |agent, value| set(&mut agent.rules.temperature, read(value, SettingKind::TemperatureOrDefault))),
    ("reasoning", |agent, value| set(&mut agent.rules.effort, read(value, word::<Option<Effort>>()))),
    ("maxToolCalls", |agent, value| set(&mut agent.limits.tool_calls, read(value, POSITIVE).map(Some))),
    ("maxModelCalls", |agent, value| set(&mut agent.limits.model_calls, read(value, POSITIVE).map(Some))),
    ("maxTime", |agent, value| set(&mut agent.rules.max_time_ms, read(value, POSITIVE_DURATION))),
    ("maxResultBytes", |agent, value| set(&mut agent.rules.result_bytes, read(value, POSITIVE))),
    ("toolsAtOnce", |agent, value| set(&mut agent.limits.calls_at_once, read(value, POSITIVE).map(Some))),
    ("output.format", |agent, value| set(&mut agent.rules.report.format, report_format(value))),
    ("output.schema", schema),
];

/// Reads all settings into the agent. Returns everything that is wrong with them.
pub(super) fn apply(agent: &mut Agent, settings: &Value) -> Vec<AgentProblem> {
    let object = match settings {
        Value::Null => return Vec::new(),
        Value::Object(object) => object,
        other => {
            let message = format!("the settings are {}; write `key: value` lines", other.kind().with_article());
            return vec![AgentProblem { place: None, key: None, message }];
        }
    };
    let mut problems = Vec::new();
    for (key, value) in object {
        match (key, value) {
            ("output", Value::Object(output)) => {
                for (key, value) in output {
                    problems.extend(apply_one(agent, format!("output.{key}"), value));
                }
                problems
                    .extend(check_schema(agent).map_err(|message| problem("output.schema".to_owned(), message)).err());
            }
            ("output", _) => {
                let message = "write `format: text`, `markdown` or `json` below it".to_owned();
                problems.push(problem("output".to_owned(), message));
            }
            _ => problems.extend(apply_one(agent, key.to_owned(), value)),
        }
    }
    problems
}

fn problem(key: String, message: String) -> AgentProblem {
    AgentProblem { place: None, key: Some(key), message }
}

fn apply_one(agent: &mut Agent, key: String, value: &Value) -> Option<AgentProblem> {
    let result = match AGENT_SETTINGS.iter().find(|(name, _)| *name == key) {
        Some((_, read)) => read(agent, value),
        None => Err(unknown(&key)),
    };
    result.err().map(|message| problem(key, message))
}

fn unknown(key: &str) -> String {
    let section = key.split_once('.').map(|(section, _)| section);
    let known = AGENT_SETTINGS.iter().map(|(name, _)| *name);
    let known: Vec<&str> = known.filter(|name| name.split_once('.').map(|(section, _)| section) == section).collect();
    match nearest(key, known.iter().copied()) {
        Some(name) => format!("there is no such setting; did you mean `{name}`?"),
        None => format!("there is no such setting; the settings are: {}", known.join(", ")),
    }
}

fn set<T>(field: &mut T, value: Result<T, String>) -> Result<(), String> {
    *field = value?;
    Ok(())
}

fn read<T: Field>(value: &Value, kind: SettingKind) -> Result<T, String> {
    T::from_value(value).filter(|_| kind.accepts(value)).ok_or_else(|| kind.expected())
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "write a text".to_owned())
}

/// A list of names, or one name.
fn names(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::String(name) => Some(vec![name.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
    .ok_or_else(|| "write a list of names, like `[one, other]`".to_owned())
}

/// What the agent may change: a list of capabilities, each with how often, and whose results may name its targets.
fn mandate(value: &Value) -> Result<Mandate, String> {
    let permissions = value.as_array().map(|entries| entries.iter().map(permission).collect::<Option<Vec<_>>>());
    permissions.flatten().map(Mandate).ok_or_else(|| {
        "write a list, each entry with `capability: tool/capability` and, if you want, `times: 1` and \
         `from: {parameter: [tool/capability]}`"
            .to_owned()
    })
}

fn permission(entry: &Value) -> Option<Permission> {
    let entry = entry.as_object()?;
    if !entry.keys().all(|key| ["capability", "times", "from"].contains(&key)) {
        return None;
    }
    let capability = entry.get("capability")?.as_str()?.to_owned();
    let times = match entry.get("times") {
        Some(times) => Some(u32::from_value(times)?),
        None => None,
    };
    let from = match entry.get("from") {
        Some(from) => from
            .as_object()?
            .iter()
            .map(|(name, sources)| Some((name.to_owned(), names(sources).ok()?)))
            .collect::<Option<_>>()?,
        None => BTreeMap::new(),
    };
    Some(Permission { capability, times, from })
}

fn models(value: &Value) -> Result<Vec<String>, String> {
    let models = names(value)?;
    if models.is_empty() {
        return Err("name at least one model, or leave `targets` out, so that all models are asked".to_owned());
    }
    Ok(models)
}

fn report_format(value: &Value) -> Result<ReportFormat, String> {
    let formats = [ReportFormat::Text, ReportFormat::Markdown, ReportFormat::Json];
    let found = formats.into_iter().find(|format| value.as_str() == Some(format.as_str()));
    found.ok_or_else(|| "write `text`, `markdown` or `json`".to_owned())
}

fn schema(agent: &mut Agent, value: &Value) -> Result<(), String> {
    match value {
        Value::String(file) => agent.schema_file = Some(file.clone()),
        Value::Object(_) | Value::Bool(_) => agent.rules.report.schema = Some(value.clone()),
        _ => return Err("write a JSON Schema, or the name of a file that holds one".to_owned()),
    }
    Ok(())
}

/// Fails if there is a schema for a report that is not JSON, or if the schema cannot be compiled.
fn check_schema(agent: &Agent) -> Result<(), String> {
    let report = &agent.rules.report;
    let has_schema = report.schema.is_some() || agent.schema_file.is_some();
    if has_schema && report.format != ReportFormat::Json {
        return Err("only a report in JSON has a schema: write `format: json`".to_owned());
    }
    let compiled = report.schema.as_ref().map(reknit_salvage::Schema::compile).transpose();
    compiled.map(drop).map_err(|error| error.to_string())
}
