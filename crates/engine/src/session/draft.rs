//! From the words of a model to a report that may be committed: read, then checked, before anything is decided.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Value, exact};
use reknit_salvage::{Completeness, ReadOptions, Schema, fit, read};
use serde::{Deserialize, Serialize};

use super::record::CollapseReason;
use super::report::{REPORT_ALIAS, REPORT_TOOL, ReportStatus};
use super::started::ReportFormat;

/// A report that fits, before it is committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) content: String,
    #[serde(with = "exact::option")]
    pub(super) content_json: Option<Value>,
    #[serde(with = "exact")]
    pub(super) metadata: Object,
    pub(super) status: ReportStatus,
}

/// Why something is no report.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rejected {
    /// What it means for the turns that are left.
    pub(super) collapse: CollapseReason,
    pub(super) words: String,
}

impl Rejected {
    fn incomplete(words: &str) -> Self {
        Self { collapse: CollapseReason::IncompleteFinalReport, words: words.to_owned() }
    }

    pub(super) fn attempt(words: String) -> Self {
        Self { collapse: CollapseReason::FinalReportAttempt, words }
    }
}

/// What a report must look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) format: ReportFormat,
    pub(super) schema: Option<&'a Schema>,
}

const CONTENT: [&str; 2] = ["report_content", "content"];
const CONTENT_JSON: &str = "content_json";
const FORMAT: [&str; 2] = ["report_format", "format"];

impl Form<'_> {
    /// Reads the parameters of the report's tool.
    pub(super) fn read(self, parameters: &Object) -> Result<Draft, Rejected> {
        if let Some(wanted) = field(parameters, &FORMAT).and_then(Value::as_str)
            && !are_alike(wanted, self.format.as_str())
        {
            let words = format!("`report_format` must be `{}`, not `{wanted}`", self.format.as_str());
            return Err(Rejected::attempt(words));
        }
        let (content, content_json) = match self.format {
            ReportFormat::Text | ReportFormat::Markdown => (text(field(parameters, &CONTENT))?, None),
            ReportFormat::Json => {
                let value = self.json(parameters)?;
                (value.to_pretty(), Some(value))
            }
        };
        let metadata = parameters.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
        let status = parameters.get("status").and_then(Value::as_str).and_then(ReportStatus::of);
        Ok(Draft { content, content_json, metadata, status: status.unwrap_or(ReportStatus::Success) })
    }

    /// The JSON of a report: where it belongs, or in the place of the text, or the parameters themselves.
    fn json(self, parameters: &Object) -> Result<Value, Rejected> {
        let given = field(parameters, &[CONTENT_JSON]).or_else(|| field(parameters, &CONTENT));
        let value = match given {
            Some(Value::String(text)) => read_whole(text).map_err(Rejected::attempt)?,
            Some(Value::Null) => return Err(Rejected::incomplete("`content_json` is missing")),
            Some(value) => value.clone(),
            None if self.schema.is_some() && !parameters.is_empty() => Value::Object(parameters.clone()),
            None => return Err(Rejected::incomplete("`content_json` is missing")),
        };
        let Some(schema) = self.schema else {
            return match value {
                Value::Object(_) => Ok(value),
                other => Err(Rejected::attempt(format!("`content_json` must be an object, not {}", other.kind()))),
            };
        };
        match fit(value, schema) {
            Ok(fitted) => Ok(fitted.value),
            Err(misfit) => {
                let problems: Vec<String> = misfit.problems.iter().map(|problem| format!("- {problem}")).collect();
                Err(Rejected::attempt(format!("`content_json` does not fit its schema:\n{}", problems.join("\n"))))
            }
        }
    }

    /// A report in the words of an answer: a record that says what it is, or, if words are what is wanted and it is time
    /// for the report, the words themselves.
    pub(super) fn find(self, text: &str, last_turn: bool) -> Option<Draft> {
        let record = read(text, &ReadOptions::default()).ok().filter(|read| read.completeness == Completeness::Whole);
        let record = record.and_then(|reading| match reading.value {
            Value::Object(object) => Some(object),
            _ => None,
        });
        let call = record.as_ref().and_then(call_in_words);
        match (&record, call) {
            (Some(object), _) if says_report(object) => return self.read(object).ok(),
            (_, Some((name, parameters))) if is_report(&name) => return self.read(&parameters).ok(),
            // Another call that was written down and not made is nothing for the user.
            (_, Some(_)) if self.format != ReportFormat::Json => return None,
            _ => {}
        }
        match self.format {
            ReportFormat::Text | ReportFormat::Markdown if last_turn && !text.trim().is_empty() => Some(Draft {
                content: text.trim().to_owned(),
                content_json: None,
                metadata: Object::new(),
                status: ReportStatus::Success,
            }),
            ReportFormat::Json if last_turn => self.read(&Object::from([(CONTENT_JSON, Value::from(text))])).ok(),
            ReportFormat::Text | ReportFormat::Markdown | ReportFormat::Json => None,
        }
    }
}

/// Whether a name is that of the report's tool.
pub(super) fn is_report(name: &str) -> bool {
    are_alike(name, REPORT_TOOL) || are_alike(name, REPORT_ALIAS)
}

/// A call that a model wrote down where it should have made it, as many small ones do: its name and its parameters.
fn call_in_words(object: &Object) -> Option<(String, Object)> {
    let call = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let name = field(call, &["name", "tool", "function"])?.as_str()?.to_owned();
    let parameters = match field(call, &["arguments", "parameters", "input"])? {
        Value::Object(parameters) => parameters.clone(),
        Value::String(text) => read_whole(text).ok()?.as_object()?.clone(),
        _ => return None,
    };
    Some((name, parameters))
}

/// Whether an object names a form and has a content: anything less is some other JSON.
fn says_report(object: &Object) -> bool {
    let format = field(object, &FORMAT).and_then(Value::as_str);
    format.is_some() && (field(object, &CONTENT).is_some() || field(object, &[CONTENT_JSON]).is_some())
}

fn field<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Value> {
    let exact = names.iter().find_map(|name| object.get(name));
    exact.or_else(|| {
        let alike = |key: &str| names.iter().any(|name| are_alike(key, name));
        object.iter().find(|(key, _)| alike(key)).map(|(_, value)| value)
    })
}

fn text(content: Option<&Value>) -> Result<String, Rejected> {
    match content {
        None | Some(Value::Null) => Err(Rejected::incomplete("`report_content` is missing")),
        Some(Value::String(text)) if text.trim().is_empty() => Err(Rejected::incomplete("`report_content` is blank")),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Ok(other.to_pretty()),
    }
}

/// One JSON value, all of it.
pub(super) fn read_whole(text: &str) -> Result<Value, String> {
    let reading = read(text, &ReadOptions::default()).map_err(|error| error.to_string())?;
    match reading.completeness {
        Completeness::Whole => Ok(reading.value),
        Completeness::Truncated => Err("it is cut: its end is missing".to_owned()),
        Completeness::Elided => Err("it leaves something out: it says `...`".to_owned()),
    }
}
