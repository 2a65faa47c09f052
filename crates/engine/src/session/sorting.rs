//! What an answer is: calls that can be made, a report, or one of the ways in which it is neither.

use reknit_dialogue::{Answer, Finish, ToolCall};
use reknit_protocol::{AgentName, CapabilityName, Object, Value, exact};
use serde::{Deserialize, Serialize};

use super::draft::{Draft, Form, Rejected, read_whole};
use super::notice::RetryReason;
use super::record::{AnswerKind, CollapseReason, Dropped};
use super::report::{REPORT_TOOL, ReportSource};
use super::started::ReportFormat;
use super::toolbox::{Meaning, Toolbox};
use super::words::Words;

/// What a session must know to sort an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sorter<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) form: Form<'a>,
    pub(super) words: &'a Words,
    pub(super) last_turn: bool,
}

/// An answer, sorted.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) calls: Vec<Call>,
    pub(super) report: Option<(ToolCall, Draft)>,
    pub(super) dropped: Vec<(String, Dropped)>,
    pub(super) notices: Vec<(RetryReason, String)>,
    /// What may be accepted later, when nothing better comes.
    pub(super) pending: Option<(ReportSource, Draft)>,
    /// How often the report was tried.
    pub(super) tries: u32,
    pub(super) collapse: Option<CollapseReason>,
}

/// A call that can be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    /// As the model made it, for the history.
    pub(super) asked: ToolCall,
    pub(super) callee: Callee,
    #[serde(with = "exact")]
    pub(super) parameters: Object,
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Callee {
    /// A tool.
    Capability { agent: AgentName, capability: CapabilityName },
    /// A result that is stored.
    Stored,
    /// The engine, with a whole plan.
    Plan,
    /// Another agent, by its number.
    Agent(usize),
}

/// A call of a tool, as far as it matters whether it is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Doubtful {
    pub(crate) agent: AgentName,
    pub(crate) capability: CapabilityName,
    #[serde(with = "exact")]
    pub(crate) parameters: Object,
}

impl Call {
    /// The call of a tool that this is, if it is one.
    pub(super) fn identity(&self) -> Option<Doubtful> {
        let Callee::Capability { agent, capability } = &self.callee else { return None };
        let (agent, capability) = (agent.clone(), capability.clone());
        Some(Doubtful { agent, capability, parameters: self.parameters.clone() })
    }
}

impl Sorter<'_> {
    /// Sorts the calls of an answer, and what it is if there is none that can be used.
    pub(super) fn sort(self, answer: &Answer) -> (AnswerKind, Sorted) {
        let mut sorted = Sorted::default();
        match answer.finish {
            Finish::Refusal | Finish::ContentFilter => return (AnswerKind::Refused, sorted),
            Finish::Length => {
                self.keep_cut_report(answer, &mut sorted);
                sorted.notices.push((RetryReason::Truncated, self.words.truncated.clone()));
                return (AnswerKind::Truncated, sorted);
            }
            Finish::Complete | Finish::ToolCalls | Finish::Other(_) => {}
        }
        for call in &answer.tool_calls {
            self.sort_call(call, &mut sorted);
        }
        let kind = if sorted.report.is_some() {
            AnswerKind::FinalReport
        } else if !sorted.calls.is_empty() {
            AnswerKind::ToolCalls
        } else if sorted.tries > 0 {
            AnswerKind::ReportRejected
        } else if sorted.dropped.iter().any(|(_, why)| *why == Dropped::Malformed) {
            AnswerKind::MalformedCall
        } else if !sorted.dropped.is_empty() {
            AnswerKind::UnknownTool
        } else {
            self.sort_words(answer, &mut sorted)
        };
        (kind, sorted)
    }

    fn sort_words(self, answer: &Answer, sorted: &mut Sorted) -> AnswerKind {
        let (kind, reason, words) = if !answer.text.trim().is_empty() {
            let found = self.form.find(&answer.text, self.last_turn);
            sorted.pending = found.map(|draft| (ReportSource::TextFallback, draft));
            (AnswerKind::TextOnly, RetryReason::TextOnly, &self.words.text_only)
        } else if answer.reasoning.is_empty() {
            (AnswerKind::Empty, RetryReason::Empty, &self.words.empty)
        } else {
            (AnswerKind::ReasoningOnly, RetryReason::ReasoningOnly, &self.words.reasoning_only)
        };
        sorted.notices.push((reason, words.clone()));
        kind
    }

    fn sort_call(self, call: &ToolCall, sorted: &mut Sorted) {
        match self.toolbox.find(&call.name) {
            Meaning::Report => self.sort_report(call, sorted),
            Meaning::Known(_) if self.last_turn => {
                // The instruction of the last turn says all that there is to say.
                sorted.dropped.push((call.name.clone(), Dropped::NotPermitted));
            }
            Meaning::Known(named) => match parameters(&call.arguments) {
                Ok(parameters) => sorted.calls.push(Call {
                    asked: ToolCall { name: named.name.clone(), ..readable(call, &parameters) },
                    callee: named.callee.clone(),
                    parameters,
                }),
                Err(why) => self.drop_malformed(call, &why, sorted),
            },
            Meaning::Unknown { nearest } => {
                let near = nearest.map(|name| format!(" Did you mean `{name}`?")).unwrap_or_default();
                let text = format!(
                    "{} You called `{}`.{near} There is: {}.",
                    self.words.unknown_tool,
                    call.name,
                    self.toolbox.names()
                );
                sorted.notices.push((RetryReason::UnknownTool, text));
                sorted.dropped.push((call.name.clone(), Dropped::Unknown));
            }
        }
    }

    fn drop_malformed(self, call: &ToolCall, why: &str, sorted: &mut Sorted) {
        let text = format!("{} It was the call of `{}`: {why}.", self.words.malformed_call, call.name);
        sorted.notices.push((RetryReason::MalformedCall, text));
        sorted.dropped.push((call.name.clone(), Dropped::Malformed));
    }

    fn sort_report(self, call: &ToolCall, sorted: &mut Sorted) {
        sorted.tries += 1;
        let rejected = match parameters(&call.arguments) {
            Err(why) => {
                self.keep_unusable_report(call, sorted);
                self.drop_malformed(call, &why, sorted);
                Rejected::attempt(why)
            }
            Ok(parameters) => match self.form.read(&parameters) {
                Ok(draft) => {
                    let call = ToolCall { name: REPORT_TOOL.to_owned(), ..readable(call, &parameters) };
                    sorted.report.get_or_insert((call, draft));
                    return;
                }
                Err(rejected) => {
                    let text = format!("{} {}", self.words.report_rejected, rejected.words);
                    sorted.notices.push((RetryReason::ReportRejected, text));
                    rejected
                }
            },
        };
        sorted.collapse.get_or_insert(rejected.collapse);
    }

    /// Words where JSON should be are still words: they may do when nothing better comes.
    fn keep_unusable_report(self, call: &ToolCall, sorted: &mut Sorted) {
        if let Some(draft) = self.form.find(&call.arguments, true) {
            sorted.pending = Some((ReportSource::ToolMessage, draft));
        }
    }

    /// A report that was cut is no report. As much of it as came may do when nothing better comes, and says so.
    fn keep_cut_report(self, answer: &Answer, sorted: &mut Sorted) {
        let is_report = |call: &&ToolCall| matches!(self.toolbox.find(&call.name), Meaning::Report);
        for call in answer.tool_calls.iter().filter(is_report) {
            sorted.tries += 1;
            sorted.collapse = Some(CollapseReason::IncompleteFinalReport);
            let read = reknit_salvage::read(&call.arguments, &reknit_salvage::ReadOptions::default()).ok();
            // Half of a JSON document is another document.
            let read = read.filter(|_| self.form.format != ReportFormat::Json);
            let parameters = read.as_ref().and_then(|reading| reading.value.as_object());
            if let Some(Ok(mut draft)) = parameters.map(|parameters| self.form.read(parameters)) {
                draft.metadata.insert("truncated", true);
                sorted.pending = Some((ReportSource::ToolMessage, draft));
            }
        }
    }
}

/// The call as the history has it: with parameters that anybody can read.
fn readable(call: &ToolCall, parameters: &Object) -> ToolCall {
    match Value::parse(&call.arguments) {
        Ok(Value::Object(_)) => call.clone(),
        _ => ToolCall { arguments: parameters.to_string(), ..call.clone() },
    }
}

/// The parameters of a call, or why they cannot be read. A call without any has none.
fn parameters(text: &str) -> Result<Object, String> {
    if text.trim().is_empty() {
        return Ok(Object::new());
    }
    match read_whole(text)? {
        Value::Object(object) => Ok(object),
        // Encoded twice.
        Value::String(inner) => match read_whole(&inner)? {
            Value::Object(object) => Ok(object),
            other => Err(format!("{} is no object", other.kind().with_article())),
        },
        Value::Null => Ok(Object::new()),
        other => Err(format!("{} is no object", other.kind().with_article())),
    }
}
