//! The report of a session: read from a model's answer and checked before anything is decided. Every session ends with exactly one
//! report, in which code looks for figures that nothing states.

use reknit_model_api::ModelAnswer;
use reknit_protocol::spelling::{are_alike, folded};
use reknit_protocol::{Object, Value, exact};
use reknit_salvage::{Schema, call_of_object, describe_fixes, fit, read_complete};
use serde::{Deserialize, Serialize};

use crate::record::CollapseReason;
use crate::report::{REPORT_ALIAS, ReportSource, ReportStatus};
use crate::session_start::ReportFormat;
use crate::session_texts::REPORT_TOOL;

/// A report that passed its checks and is not committed yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReportDraft {
    pub(super) content: String,
    #[serde(with = "exact::option")]
    pub(super) content_json: Option<Value>,
    #[serde(with = "exact")]
    pub(super) metadata: Object,
    pub(super) status: ReportStatus,
    /// How the JSON was changed to fit its schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<String>,
}

/// A report that is committed if the model gives no better one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FallbackReport {
    pub(super) source: ReportSource,
    pub(super) draft: ReportDraft,
    pub(super) quality: FallbackQuality,
}

/// How good a fallback report is. A later one replaces an earlier one that is not better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FallbackQuality {
    /// Text of the final turn, which is only taken because there is nothing else.
    AnyText,
    /// A report whose end is missing.
    Truncated,
    /// A whole report in another form than a call.
    Whole,
}

impl FallbackReport {
    pub(super) fn from_text(draft: ReportDraft, quality: FallbackQuality) -> Self {
        Self { source: ReportSource::TextFallback, draft, quality }
    }
}

/// Why a report was rejected.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RejectedReport {
    /// How the rejection affects the remaining turns.
    pub(super) collapse: CollapseReason,
    pub(super) reason: String,
}

impl RejectedReport {
    fn incomplete(reason: &str) -> Self {
        Self { collapse: CollapseReason::IncompleteFinalReport, reason: reason.to_owned() }
    }

    pub(super) fn attempt(reason: String) -> Self {
        Self { collapse: CollapseReason::FinalReportAttempt, reason }
    }
}

/// Reads reports of the required format.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportReader<'a> {
    pub(super) format: ReportFormat,
    pub(super) schema: Option<&'a Schema>,
}

const CONTENT: [&str; 2] = ["report_content", "content"];
const CONTENT_JSON: &str = "content_json";
const FORMAT: [&str; 2] = ["report_format", "format"];

impl ReportReader<'_> {
    /// Reads the parameters of the report tool.
    pub(super) fn read(self, parameters: &Object) -> Result<ReportDraft, RejectedReport> {
        if let Some(wanted) = field(parameters, &FORMAT).and_then(Value::as_str)
            && !are_alike(wanted, self.format.as_str())
        {
            let reason = format!("`report_format` must be `{}`, not `{wanted}`", self.format.as_str());
            return Err(RejectedReport::attempt(reason));
        }
        let (content, content_json, changes) = match self.format {
            ReportFormat::Text | ReportFormat::Markdown => {
                (text_content(field(parameters, &CONTENT))?, None, Vec::new())
            }
            ReportFormat::Json => {
                let (value, changes) = self.json(parameters)?;
                (value.to_pretty(), Some(value), changes)
            }
        };
        let metadata = parameters.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
        // Parameters that are the report itself may have a `status` of their own.
        let is_envelope = field(parameters, &[CONTENT_JSON]).or_else(|| field(parameters, &CONTENT)).is_some();
        let status = if is_envelope { status(parameters.get("status")) } else { ReportStatus::Success };
        Ok(ReportDraft { content, content_json, metadata, status, changes })
    }

    /// The JSON of a report (`content_json`, or the text content, or the parameters themselves), and its changes.
    fn json(self, parameters: &Object) -> Result<(Value, Vec<String>), RejectedReport> {
        let given = field(parameters, &[CONTENT_JSON]).or_else(|| field(parameters, &CONTENT));
        let value = match given {
            Some(Value::String(text)) => read_complete(text).map_err(RejectedReport::attempt)?,
            Some(Value::Null) => return Err(RejectedReport::incomplete("`content_json` is missing")),
            Some(value) => value.clone(),
            None if self.schema.is_some() && !parameters.is_empty() => Value::Object(parameters.clone()),
            None => return Err(RejectedReport::incomplete("`content_json` is missing")),
        };
        let Some(schema) = self.schema else {
            let reason = format!("`content_json` must be an object, not {}", value.kind());
            return if value.as_object().is_some() {
                Ok((value, Vec::new()))
            } else {
                Err(RejectedReport::attempt(reason))
            };
        };
        let fitted = fit(value, schema).map(|fitted| (fitted.value, describe_fixes(&fitted.fixes)));
        fitted.map_err(|misfit| {
            let problems: Vec<String> = misfit.problems.iter().map(|problem| format!("- {problem}")).collect();
            RejectedReport::attempt(format!("`content_json` does not fit its schema:\n{}", problems.join("\n")))
        })
    }

    /// Finds a report in the text of an answer: an object that looks like a report, or in the final turn the text
    /// itself.
    pub(super) fn find_in_text(self, text: &str, final_turn: bool) -> Option<(ReportDraft, FallbackQuality)> {
        let record = match read_complete(text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        };
        let call = record.as_ref().and_then(call_of_object);
        match (&record, call) {
            (Some(object), _) if looks_like_report(object) => return self.read(object).ok().map(whole),
            (_, Some((name, parameters))) if is_report(&name) => return self.read(&parameters).ok().map(whole),
            // A call of another tool that was written as text is of no use to the user; a sentence about one is.
            (_, Some(_)) if self.format != ReportFormat::Json && text.trim_start().starts_with(['{', '`']) => {
                return None;
            }
            _ => {}
        }
        if final_turn { self.any_text(text) } else { None }
    }

    /// The text itself as a report.
    pub(super) fn any_text(self, text: &str) -> Option<(ReportDraft, FallbackQuality)> {
        let draft = match self.format {
            ReportFormat::Text | ReportFormat::Markdown if text.trim().is_empty() => return None,
            ReportFormat::Text | ReportFormat::Markdown => ReportDraft {
                content: text.trim().to_owned(),
                content_json: None,
                metadata: Object::new(),
                status: ReportStatus::Partial,
                changes: Vec::new(),
            },
            ReportFormat::Json => self.read(&Object::from([(CONTENT_JSON, Value::from(text))])).ok()?,
        };
        Some((ReportDraft { status: ReportStatus::Partial, ..draft }, FallbackQuality::AnyText))
    }
}

fn whole(draft: ReportDraft) -> (ReportDraft, FallbackQuality) {
    (draft, FallbackQuality::Whole)
}

/// The status that a model states, in any of its usual words. A word that is not known is no success.
fn status(stated: Option<&Value>) -> ReportStatus {
    let word = match stated {
        None | Some(Value::Null) => return ReportStatus::Success,
        Some(Value::String(word)) => folded(word),
        Some(_) => return ReportStatus::Partial,
    };
    match word.as_str() {
        "" | "success" | "successful" | "succeeded" | "ok" | "okay" | "complete" | "completed" | "done" => {
            ReportStatus::Success
        }
        "failure" | "failed" | "fail" | "error" | "unsuccessful" => ReportStatus::Failure,
        _ => ReportStatus::Partial,
    }
}

/// Whether this is a name of the report tool.
pub(super) fn is_report(name: &str) -> bool {
    are_alike(name, REPORT_TOOL) || are_alike(name, REPORT_ALIAS)
}

/// What an answer without a result says to the user: its text, or the content of a report that was rejected.
pub(super) fn written_text(answer: &ModelAnswer) -> Option<String> {
    let of_report = || {
        let call = answer.tool_calls.iter().rfind(|call| is_report(&call.name))?;
        let arguments = Value::parse(&call.arguments).ok();
        let content =
            arguments.as_ref().and_then(Value::as_object).and_then(|object| field(object, &CONTENT)?.as_str());
        Some(content.unwrap_or(&call.arguments).trim().to_owned())
    };
    let text = answer.text.trim();
    let text = if text.is_empty() { of_report() } else { Some(text.to_owned()) };
    text.filter(|text| !text.is_empty())
}

/// Whether an object has the keys of the report tool. Other JSON is not a report.
fn looks_like_report(object: &Object) -> bool {
    let has_format = field(object, &FORMAT).and_then(Value::as_str).is_some();
    let has_content = field(object, &CONTENT).is_some() || field(object, &[CONTENT_JSON]).is_some();
    object.contains_key("report_content") || has_format && has_content
}

fn field<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Value> {
    let exact = names.iter().find_map(|name| object.get(name));
    exact.or_else(|| {
        let alike = |key: &str| names.iter().any(|name| are_alike(key, name));
        object.iter().find(|(key, _)| alike(key)).map(|(_, value)| value)
    })
}

fn text_content(content: Option<&Value>) -> Result<String, RejectedReport> {
    match content {
        None | Some(Value::Null) => Err(RejectedReport::incomplete("`report_content` is missing")),
        Some(Value::String(text)) if text.trim().is_empty() => {
            Err(RejectedReport::incomplete("`report_content` is blank"))
        }
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Ok(other.to_pretty()),
    }
}
