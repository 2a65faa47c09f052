//! Classifies an answer: calls, a report, or one of the kinds of unusable answers.

use reknit_model_api::{FinishReason, Message, ModelAnswer, ToolCall};
use reknit_protocol::{Object, SideEffect, Value};
use reknit_salvage::{
    CallArguments, Fix, Schema, TextCall, TextCallContext, TextCallForm, TextCallVerdict, calls_in_text,
    complete_reading, conflicting_keys, describe_fixes, read_arguments, read_parameters, text_call_verdict,
    without_reasoning,
};

use super::call::{Call, Callee};
use super::repeated_calls::take_repeat_reason;
use super::report_draft::{FallbackQuality, FallbackReport, RejectedReport, ReportDraft, ReportReader};
use super::stored_results::StoredResults;
use super::toolbox::{NamedTool, ToolLookup, Toolbox};
use crate::notice::{Notice, RetryReason};
use crate::record::{AnswerKind, CollapseReason, DropReason};
use crate::report::{ReportSource, ReportStatus};
use crate::session_start::{CallsInText, ReportFormat, TextAnswers};
use crate::session_texts::{REPORT_TOOL, SessionTexts};

/// The context that is needed to classify an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerClassifier<'a> {
    pub(super) toolbox: &'a Toolbox,
    pub(super) report_reader: ReportReader<'a>,
    pub(super) words: &'a SessionTexts,
    pub(super) turn: u32,
    pub(super) final_turn: bool,
    pub(super) calls_in_text: CallsInText,
    pub(super) text_answers: TextAnswers,
    pub(super) history: &'a [Message],
    pub(super) stored_results: &'a StoredResults,
    /// Whether the model that answered has made a native call in this session.
    pub(super) has_native_call: bool,
    /// Whether the model was asked for a real call instead of the one in its text.
    pub(super) was_asked: bool,
}

/// The contents of an answer.
#[derive(Debug, Default)]
pub(super) struct ClassifiedAnswer {
    pub(super) calls: Vec<Call>,
    pub(super) report: Option<(ToolCall, ReportDraft)>,
    pub(super) text_report: Option<ReportDraft>,
    pub(super) dropped: Vec<(String, DropReason)>,
    /// The calls that the model wrote as text.
    pub(super) text_calls: Vec<(String, TextCallForm)>,
    /// Whether the same model is asked for the real call.
    pub(super) asks_again: bool,
    /// The text without the calls in it, if there are any.
    pub(super) text: Option<String>,
    pub(super) notices: Vec<Notice>,
    /// A report to commit if the model gives no better one.
    pub(super) fallback_report: Option<FallbackReport>,
    /// How many calls of the report tool the answer has.
    pub(super) report_attempts: u32,
    pub(super) collapse: Option<CollapseReason>,
}

impl ClassifiedAnswer {
    fn add_notice(&mut self, reason: RetryReason, text: String) {
        self.notices.push(Notice { reason, text });
    }
}

impl AnswerClassifier<'_> {
    /// Returns the kind of an answer and its usable contents.
    pub(super) fn classify(self, answer: &ModelAnswer) -> (AnswerKind, ClassifiedAnswer) {
        let mut classified = ClassifiedAnswer::default();
        match answer.finish {
            FinishReason::Refusal | FinishReason::ContentFilter => return (AnswerKind::Refused, classified),
            FinishReason::Length => {
                self.save_truncated_report(answer, &mut classified);
                classified.add_notice(RetryReason::Truncated, self.words.truncated.clone());
                return (AnswerKind::Truncated, classified);
            }
            FinishReason::Complete | FinishReason::ToolCalls | FinishReason::Other(_) => {}
        }
        for call in &answer.tool_calls {
            self.classify_call(call, None, &mut classified);
        }
        let text = without_reasoning(&answer.text);
        if answer.tool_calls.is_empty() && self.calls_in_text == CallsInText::Made {
            self.classify_calls_in_text(&text, &mut classified);
        }
        let kind = if classified.report.is_some() {
            AnswerKind::FinalReport
        } else if !classified.calls.is_empty() {
            AnswerKind::ToolCalls
        } else if classified.report_attempts > 0 {
            AnswerKind::ReportRejected
        } else if classified.dropped.iter().any(|(_, why)| *why == DropReason::Malformed) {
            AnswerKind::MalformedCall
        } else if classified.dropped.iter().any(|(_, why)| !why.is_text()) {
            AnswerKind::UnknownTool
        } else if classified.asks_again {
            let names: Vec<String> = classified.dropped.iter().map(|(name, _)| format!("`{name}`")).collect();
            let words = format!("{} It was the call of {}.", self.words.call_in_text, names.join(" and "));
            classified.add_notice(RetryReason::CallInText, words);
            AnswerKind::TextOnly
        } else {
            self.classify_text(answer, &text, &mut classified)
        };
        (kind, classified)
    }

    /// Takes the calls that the model wrote as text, if they are to be made. A report among them is kept as the fallback report.
    fn classify_calls_in_text(self, text: &str, classified: &mut ClassifiedAnswer) {
        let is_callable = |call: &TextCall| !matches!(self.toolbox.find(&call.name), ToolLookup::Unknown { .. });
        let mut found = calls_in_text(text, is_callable);
        let context = self.text_call_context();
        let verdict = text_call_verdict(&found, &context, |call| self.class_of(call));
        if verdict != TextCallVerdict::Quoted {
            for call in found.calls.extract_if(.., |call| matches!(self.toolbox.find(&call.name), ToolLookup::Report)) {
                let draft = self.report_reader.read(&call.parameters).ok();
                let report = draft.map(|draft| FallbackReport::from_text(draft, FallbackQuality::Whole));
                classified.fallback_report = report.or(classified.fallback_report.take());
            }
        }
        let why = match verdict {
            TextCallVerdict::Make => return self.take_text_calls(found.calls, found.rest, classified),
            TextCallVerdict::Quoted => DropReason::Quoted,
            TextCallVerdict::Ask | TextCallVerdict::Text if self.final_turn && found.rest.is_empty() => {
                DropReason::NotPermitted
            }
            TextCallVerdict::Ask if !self.final_turn => {
                classified.asks_again = !found.calls.is_empty();
                DropReason::InText
            }
            TextCallVerdict::Ask | TextCallVerdict::Text => DropReason::InText,
        };
        classified.dropped.extend(found.calls.into_iter().map(|call| (call.name, why)));
    }

    fn take_text_calls(self, calls: Vec<TextCall>, rest: String, classified: &mut ClassifiedAnswer) {
        for (number, found) in (1..).zip(calls) {
            let id = format!("text_{}_{number}", self.turn);
            let call = ToolCall::new(id, found.name.as_str(), found.parameters.to_string());
            let before = classified.calls.len();
            self.classify_call(&call, Some(&found), classified);
            if classified.calls.len() > before {
                classified.text_calls.push((found.name, found.form));
            }
        }
        if !classified.text_calls.is_empty() {
            classified.text = Some(rest);
        }
    }

    /// What the calls of a tool change. A report changes nothing.
    fn class_of(self, call: &TextCall) -> SideEffect {
        match self.toolbox.find(&call.name) {
            ToolLookup::Found(tool) => tool.class,
            ToolLookup::Report => SideEffect::Read,
            ToolLookup::Unknown { .. } => SideEffect::Undeclared,
        }
    }

    fn text_call_context(&self) -> TextCallContext<'_> {
        let texts = self.history.iter().map(Message::text).chain(self.stored_results.texts());
        TextCallContext {
            conversation: texts.collect(),
            has_unsearchable_content: self.history.iter().any(|message| !message.attachments().is_empty()),
            has_native_call: self.has_native_call,
            was_asked: self.was_asked,
        }
    }

    fn classify_text(self, answer: &ModelAnswer, text: &str, classified: &mut ClassifiedAnswer) -> AnswerKind {
        // A text that only shows a call holds no report besides itself.
        let shows_call = classified.dropped.iter().any(|(_, why)| why.is_text());
        let find_report = |any_text: bool| match shows_call {
            true if any_text => self.report_reader.any_text(text),
            true => None,
            false => self.report_reader.find_in_text(text, any_text),
        };
        if self.text_answers == TextAnswers::Accepted
            && let Some((draft, quality)) = find_report(true)
        {
            let is_plain = quality == FallbackQuality::AnyText;
            let status = if is_plain { ReportStatus::Success } else { draft.status };
            classified.text_report = Some(ReportDraft { status, ..draft });
            return AnswerKind::FinalReport;
        }
        let (kind, reason, words) = if !text.is_empty() {
            if classified.fallback_report.is_none() {
                let found = find_report(self.final_turn);
                classified.fallback_report = found.map(|(draft, quality)| FallbackReport::from_text(draft, quality));
            }
            (AnswerKind::TextOnly, RetryReason::TextOnly, &self.words.text_only)
        } else if answer.reasoning.is_empty() && answer.text.trim().is_empty() {
            (AnswerKind::Empty, RetryReason::Empty, &self.words.empty)
        } else {
            (AnswerKind::ReasoningOnly, RetryReason::ReasoningOnly, &self.words.reasoning_only)
        };
        classified.add_notice(reason, words.clone());
        kind
    }

    /// Takes a call, which the model may have written as text.
    fn classify_call(self, call: &ToolCall, in_text: Option<&TextCall>, classified: &mut ClassifiedAnswer) {
        match self.toolbox.find(&call.name) {
            ToolLookup::Report => self.classify_report(call, classified),
            ToolLookup::Found(_) if self.final_turn => {
                // The notice of the final turn says that only the report is allowed.
                classified.dropped.push((call.name.clone(), DropReason::NotPermitted));
            }
            ToolLookup::Found(tool) => match read_call(call, in_text, tool, self.toolbox.schema_of(&tool.name)) {
                Ok((mut parameters, fixes)) => {
                    let changes = changes(call, in_text, &tool.name, &fixes);
                    let readable = with_readable_arguments(call, &parameters);
                    let argument = tool.repeat_argument.as_deref();
                    let repeat_reason = argument.and_then(|argument| take_repeat_reason(&mut parameters, argument));
                    classified.calls.push(Call {
                        for_history: ToolCall { name: tool.name.clone(), ..readable },
                        callee: tool.callee.clone(),
                        parameters,
                        changes,
                        repeat_reason,
                    });
                }
                Err(why) => self.drop_malformed(call, &why, classified),
            },
            ToolLookup::Unknown { nearest } => {
                let near = nearest.map(|name| format!(" Did you mean `{name}`?")).unwrap_or_default();
                let text = format!(
                    "{} You called `{}`.{near} There is: {}.",
                    self.words.unknown_tool,
                    call.name,
                    self.toolbox.names()
                );
                classified.add_notice(RetryReason::UnknownTool, text);
                classified.dropped.push((call.name.clone(), DropReason::Unknown));
            }
        }
    }

    fn drop_malformed(self, call: &ToolCall, why: &str, classified: &mut ClassifiedAnswer) {
        let text = format!("{} It was the call of `{}`: {why}.", self.words.malformed_call, call.name);
        classified.add_notice(RetryReason::MalformedCall, text);
        classified.dropped.push((call.name.clone(), DropReason::Malformed));
    }

    fn classify_report(self, call: &ToolCall, classified: &mut ClassifiedAnswer) {
        classified.report_attempts += 1;
        let rejected = match read_parameters(&call.arguments) {
            Err(why) => {
                // Arguments that are plain text are the report without its envelope; damaged JSON is no report.
                let is_text = !call.arguments.contains(['{', '}', '[', ']']);
                if let Some((draft, quality)) = self.report_reader.find_in_text(&call.arguments, is_text) {
                    classified.fallback_report =
                        Some(FallbackReport { source: ReportSource::ToolMessage, draft, quality });
                }
                self.drop_malformed(call, &why, classified);
                RejectedReport::attempt(why)
            }
            Ok(CallArguments { parameters, .. }) => match self.report_reader.read(&parameters) {
                Ok(draft) => {
                    let call = ToolCall { name: REPORT_TOOL.to_owned(), ..with_readable_arguments(call, &parameters) };
                    classified.report.get_or_insert((call, draft));
                    return;
                }
                Err(rejected) => {
                    let text = format!("{} {}", self.words.report_rejected, rejected.reason);
                    classified.add_notice(RetryReason::ReportRejected, text);
                    rejected
                }
            },
        };
        classified.collapse.get_or_insert(rejected.collapse);
    }

    /// Keeps the readable part of a truncated report as a fallback report, marked as truncated.
    fn save_truncated_report(self, answer: &ModelAnswer, classified: &mut ClassifiedAnswer) {
        let is_report = |call: &&ToolCall| matches!(self.toolbox.find(&call.name), ToolLookup::Report);
        for call in answer.tool_calls.iter().filter(is_report) {
            classified.report_attempts += 1;
            classified.collapse = Some(CollapseReason::IncompleteFinalReport);
            let read = reknit_salvage::read(&call.arguments, &reknit_salvage::ReadOptions::default()).ok();
            // Half of a JSON document is a different document.
            let read = read.filter(|_| self.report_reader.format != ReportFormat::Json);
            let parameters = read.as_ref().and_then(|reading| reading.value.as_object());
            if let Some(Ok(mut draft)) = parameters.map(|parameters| self.report_reader.read(parameters)) {
                draft.metadata.insert("truncated", true);
                draft.status = ReportStatus::Partial;
                classified.fallback_report = Some(FallbackReport {
                    source: ReportSource::ToolMessage,
                    draft,
                    quality: FallbackQuality::Truncated,
                });
            }
        }
    }
}

/// The parameters of a call, and what was changed to read them. A key that has two different values is an error for a tool that changes
/// something: which value is meant is not known.
fn read_call(
    call: &ToolCall,
    in_text: Option<&TextCall>,
    tool: &NamedTool,
    schema: Option<&Value>,
) -> Result<(Object, Vec<Fix>), String> {
    let CallArguments { mut parameters, mut fixes } = read_parameters(&call.arguments).or_else(|why| {
        // The arguments may be in another notation than JSON.
        match schema.and_then(|schema| Schema::compile(schema).ok()) {
            Some(schema) => read_arguments(&call.arguments, &schema),
            None => Err(why),
        }
    })?;
    // A plan in a text has calls, whose text is read as that of any other call.
    if tool.callee == Callee::Plan
        && let Some(Value::String(text)) = parameters.get("plan")
    {
        let reading = complete_reading(text)?;
        parameters.insert("plan", reading.value);
        fixes.extend(reading.fixes);
    }
    fixes.splice(..0, in_text.iter().flat_map(|found| found.fixes.iter().cloned()));
    let conflict = conflicting_keys(&fixes).next().map(ToString::to_string);
    match conflict {
        Some(key) if tool.class != SideEffect::Read => {
            Err(format!("`{key}` is in it several times, with different values"))
        }
        _ => Ok((parameters, fixes)),
    }
}

/// How a call differs from what the model wrote.
fn changes(call: &ToolCall, in_text: Option<&TextCall>, tool: &str, fixes: &[Fix]) -> Vec<String> {
    let text = in_text.map(|found| format!("it was written as text {}", found.form.place()));
    let renamed = (call.name != tool).then(|| format!("`{}` is the tool `{tool}`", call.name));
    text.into_iter().chain(renamed).chain(describe_fixes(fixes)).collect()
}

/// The call for the history: with arguments that parse as JSON.
fn with_readable_arguments(call: &ToolCall, parameters: &Object) -> ToolCall {
    match Value::parse(&call.arguments) {
        Ok(Value::Object(_)) => call.clone(),
        _ => ToolCall { arguments: parameters.to_string(), ..call.clone() },
    }
}
