//! Mending of answers: tool calls are fitted to the tools of the request, structured output to its schema.

use reknit_model_api::{
    FinishReason, Message, ModelAnswer, ModelRequest, ResponseFormat, ToolCall, ToolChoice, ToolDefinition,
};
use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{SideEffect, Value};
use reknit_salvage::{
    CallArguments, Fix, Schema, TextCall, TextCallContext, TextCallForm, TextCallVerdict, calls_in_text,
    conflicting_keys, describe_fixes, fit, read_arguments, read_parameters, text_call_verdict,
};

use crate::output::read_output;
use crate::request::GatewayRequest;

/// An answer, and what was changed in it.
#[derive(Debug, Clone, PartialEq)]
pub struct MendedAnswer {
    pub answer: ModelAnswer,
    /// What was changed; empty if nothing was.
    pub changes: Vec<String>,
    /// What is still wrong, in an answer that is passed on nevertheless.
    pub doubts: Vec<String>,
    /// The tools whose calls were left as text, each with the reason.
    pub left_as_text: Vec<String>,
}

impl MendedAnswer {
    pub fn unchanged(answer: ModelAnswer) -> Self {
        Self { answer, changes: Vec::new(), doubts: Vec::new(), left_as_text: Vec::new() }
    }
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct UnusableAnswer {
    pub reason: String,
    /// The answer with what could be mended, if it is harmless to pass it on: the caller can see what is wrong with it. An answer
    /// that is cut, or that is not what was asked for, is none.
    pub harmless: Option<Box<MendedAnswer>>,
}

/// The beginning of the id of a call that a model wrote as text.
const TEXT_CALL_ID: &str = "call_text_";

/// Mends the answers to one request.
#[derive(Debug, Clone, Copy)]
pub struct AnswerMender<'a> {
    tools: &'a [ToolDefinition],
    messages: &'a [Message],
    /// Tools that only the provider knows.
    foreign_tools: &'a [String],
    /// Whether the request has content that only the provider understands: its answer may have some, too.
    has_foreign_content: bool,
    choice: &'a ToolChoice,
    format: &'a ResponseFormat,
    /// Whether this answer follows a question about the one before.
    was_asked_again: bool,
}

impl<'a> AnswerMender<'a> {
    pub fn new(request: &'a ModelRequest) -> Self {
        let tools = if request.tool_choice == ToolChoice::None { &[] } else { &request.tools[..] };
        let (messages, choice, format) = (&request.messages[..], &request.tool_choice, &request.format);
        Self { tools, messages, foreign_tools: &[], has_foreign_content: false, choice, format, was_asked_again: false }
    }

    /// Mends answers to the request of a program, which may have content that only the provider understands.
    pub fn of(request: &'a GatewayRequest) -> Self {
        Self {
            foreign_tools: &request.foreign_tools,
            has_foreign_content: request.foreign_content.is_some(),
            ..Self::new(&request.request)
        }
    }

    /// Says whether this answer follows a question about the one before: then a bare call in a text is the call that was asked for.
    #[must_use]
    pub fn asked_again(self, was_asked_again: bool) -> Self {
        Self { was_asked_again, ..self }
    }

    pub fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub fn wants_json(&self) -> bool {
        *self.format != ResponseFormat::Text
    }

    /// Mends an answer. An answer that is as it should be comes back unchanged.
    pub fn mend(&self, answer: ModelAnswer) -> Result<MendedAnswer, UnusableAnswer> {
        let mut mended = MendedAnswer::unchanged(answer);
        if matches!(mended.answer.finish, FinishReason::Refusal | FinishReason::ContentFilter) {
            return Ok(mended);
        }
        if self.offers_tools() {
            if mended.answer.tool_calls.is_empty() && mended.answer.finish != FinishReason::Length {
                self.take_calls_from_text(&mut mended);
            }
            self.mend_calls(&mut mended)?;
        }
        let MendedAnswer { answer, doubts, .. } = &mut mended;
        let is_whole = answer.finish != FinishReason::Length;
        if answer.tool_calls.is_empty() && is_whole {
            let is_empty = answer.text.trim().is_empty();
            if is_empty && !self.may_be_empty(answer) {
                return Err(UnusableAnswer { reason: "the answer is empty".to_owned(), harmless: None });
            }
            if self.choice.is_forced() && self.offers_tools() && !self.has_foreign_content {
                doubts.push("the model had to call a tool and called none".to_owned());
            } else if !is_empty {
                self.mend_output(&mut mended)?;
            }
        }
        if mended.doubts.is_empty() {
            return Ok(mended);
        }
        Err(UnusableAnswer { reason: mended.doubts.join("; "), harmless: Some(Box::new(mended)) })
    }

    /// Whether an answer without text and calls is complete: the provider says why it ended, and asked was no JSON. What it contains
    /// instead may be audio, or a call in a form that is not read here.
    fn may_be_empty(&self, answer: &ModelAnswer) -> bool {
        match &answer.finish {
            FinishReason::Other(name) => name != "unstated" || self.has_foreign_content,
            FinishReason::Complete => *self.format == ResponseFormat::Text || self.has_foreign_content,
            _ => true,
        }
    }

    /// An id that no earlier call has: its result would be linked to the wrong call.
    fn new_id(&self, answer: &ModelAnswer) -> String {
        let earlier = || self.messages.iter().flat_map(Message::tool_calls).chain(&answer.tool_calls);
        let ids = (1_u32..).map(|number| format!("{TEXT_CALL_ID}{number}"));
        ids.into_iter().find(|id| earlier().all(|call| call.id.as_str() != id)).unwrap_or_default()
    }

    fn take_calls_from_text(&self, mended: &mut MendedAnswer) {
        let is_callable = |call: &TextCall| call.form != TextCallForm::FunctionCall && self.find(&call.name).is_ok();
        let found = calls_in_text(&mended.answer.text, is_callable);
        // What a call changes is not known here.
        let verdict = text_call_verdict(&found, &self.text_call_context(), |_| SideEffect::Undeclared);
        let left = |why: &str| found.calls.iter().map(|call| format!("`{}`: {why}", call.name)).collect();
        match verdict {
            TextCallVerdict::Make => {}
            TextCallVerdict::Ask => {
                let names: Vec<String> = found.calls.iter().map(|call| format!("`{}`", call.name)).collect();
                return mended.doubts.push(format!(
                    "it shows a call of {} as text: if it is meant, make it with a tool call and \
                    nothing beside it; if not, leave it out",
                    names.join(" and ")
                ));
            }
            TextCallVerdict::Quoted => return mended.left_as_text = left("the conversation contains it already"),
            TextCallVerdict::Text => {
                return mended.left_as_text = left("the model makes real calls, or was asked for one");
            }
        }
        if found.calls.iter().any(|call| conflicting_keys(&call.fixes).next().is_some()) {
            return mended
                .doubts
                .push("the call in its text has a key several times, with different values".to_owned());
        }
        for call in found.calls {
            mended.changes.push(format!("the call of `{}` was written as text", call.name));
            mended
                .changes
                .extend(describe_fixes(&call.fixes).into_iter().map(|change| format!("`{}`: {change}", call.name)));
            let id = self.new_id(&mended.answer);
            mended.answer.tool_calls.push(ToolCall::new(id, call.name, call.parameters.to_string()));
        }
        mended.answer.text = found.rest;
        mended.answer.content_state = None;
        mended.answer.finish = FinishReason::ToolCalls;
    }

    /// Which model wrote the earlier calls is not known here: they count as calls of this one.
    fn text_call_context(&self) -> TextCallContext<'_> {
        let mut earlier = self.messages.iter().flat_map(Message::tool_calls);
        TextCallContext {
            conversation: self.messages.iter().map(Message::text).collect(),
            has_unsearchable_content: self.has_foreign_content
                || self.messages.iter().any(|message| !message.attachments().is_empty()),
            has_native_call: earlier.any(|call| !call.id.as_str().starts_with(TEXT_CALL_ID)),
            was_asked: self.was_asked_again,
        }
    }

    fn mend_calls(&self, mended: &mut MendedAnswer) -> Result<(), UnusableAnswer> {
        let calls = std::mem::take(&mut mended.answer.tool_calls);
        let last = calls.len().saturating_sub(1);
        for (index, mut call) in calls.into_iter().enumerate() {
            if self.foreign_tools.contains(&call.name) {
                mended.answer.tool_calls.push(call);
                continue;
            }
            let is_limited = mended.answer.finish == FinishReason::Length;
            // The token limit cuts the last call: within its name, before its arguments, which may be an empty object then, or within them.
            let may_be_cut = is_limited && index == last;
            let mut is_cut = may_be_cut && (self.find(&call.name).is_err() || is_blank(&call.arguments));
            match self.find(&call.name) {
                _ if is_cut => {}
                Ok(tool) => {
                    let (mut changes, mut doubts) = (Vec::new(), Vec::new());
                    if call.name != tool.name {
                        changes.push(format!("`{}` is the tool `{}`", call.name, tool.name));
                        call.name.clone_from(&tool.name);
                    }
                    match mend_arguments(&mut call, tool, &mut changes, &mut doubts) {
                        Ok(()) => is_cut = may_be_cut && !doubts.is_empty(),
                        Err(_) if is_limited => is_cut = true,
                        Err(why) => {
                            let reason = format!("the arguments of `{}` cannot be read: {why}", call.name);
                            return Err(UnusableAnswer { reason, harmless: None });
                        }
                    }
                    if !is_cut {
                        mended.changes.append(&mut changes);
                        mended.doubts.append(&mut doubts);
                    }
                }
                Err(doubt) => mended.doubts.push(doubt),
            }
            if is_cut {
                mended.changes.push(format!("the call of `{}` is cut, and was left out", call.name));
            } else {
                mended.answer.tool_calls.push(call);
            }
        }
        Ok(())
    }

    /// The tool of this name. Another spelling is accepted if it fits exactly one tool.
    fn find(&self, name: &str) -> Result<&'a ToolDefinition, String> {
        if let Some(tool) = self.tools.iter().find(|tool| tool.name == name) {
            return Ok(tool);
        }
        let bare = name.trim().strip_prefix("functions.").unwrap_or(name.trim());
        let mut alike = self.tools.iter().filter(|tool| are_alike(&tool.name, bare));
        if let (Some(tool), None) = (alike.next(), alike.next()) {
            return Ok(tool);
        }
        let near = nearest(bare, self.tools.iter().map(|tool| tool.name.as_str()));
        let near = near.map(|near| format!(", but `{near}`")).unwrap_or_default();
        Err(format!("there is no tool `{name}`{near}"))
    }

    fn mend_output(&self, mended: &mut MendedAnswer) -> Result<(), UnusableAnswer> {
        let schema = match self.format {
            ResponseFormat::Text => return Ok(()),
            ResponseFormat::Json => None,
            // A schema that we cannot read is not ours to judge.
            ResponseFormat::Schema { schema, .. } => match Schema::compile(schema) {
                Ok(schema) => Some(schema),
                Err(_) => return Ok(()),
            },
        };
        let text = &mended.answer.text;
        if Value::parse(text).is_ok_and(|value| schema.as_ref().is_none_or(|schema| schema.fits(&value))) {
            return Ok(());
        }
        let (value, fixes) = read_output(text, schema.as_ref()).map_err(|why| {
            let reason = format!("the answer is not the JSON that was asked for: {why}");
            UnusableAnswer { reason, harmless: None }
        })?;
        mended.changes.push("the output was read from a text".to_owned());
        mended.changes.extend(fixes.iter().map(|fix| describe("output", fix)));
        mended.answer.text = value.to_string();
        mended.answer.content_state = None;
        Ok(())
    }
}

/// Whether the text of arguments has none: it is empty, or an empty object.
fn is_blank(arguments: &str) -> bool {
    arguments.chars().all(|letter| letter.is_whitespace() || matches!(letter, '{' | '}'))
}

/// Makes the arguments of a call fit the tool. Fails with the reason if they cannot be read at all.
fn mend_arguments(
    call: &mut ToolCall,
    tool: &ToolDefinition,
    changes: &mut Vec<String>,
    doubts: &mut Vec<String>,
) -> Result<(), String> {
    let schema = Schema::compile(&tool.schema).ok();
    let fits = |value: &Value| schema.as_ref().is_none_or(|schema| schema.fits(value));
    let parsed = Value::parse(&call.arguments).ok().filter(|value| value.as_object().is_some());
    if parsed.as_ref().is_some_and(fits) {
        return Ok(());
    }
    let is_json = parsed.is_some();
    let value = if let Some(value) = parsed {
        value
    } else {
        let CallArguments { parameters, fixes } = match &schema {
            Some(schema) => read_arguments(&call.arguments, schema)?,
            None => read_parameters(&call.arguments)?,
        };
        if let Some(key) = conflicting_keys(&fixes).next() {
            let why = format!("the arguments of `{}` have `{key}` several times, with different values", call.name);
            doubts.push(why);
            return Ok(());
        }
        changes.extend(describe_fixes(&fixes).into_iter().map(|change| format!("`{}`: {change}", call.name)));
        Value::Object(parameters)
    };
    let value = match schema.map(|schema| fit(value.clone(), &schema)) {
        Some(Ok(fitted)) => {
            changes.extend(fitted.fixes.iter().map(|fix| describe(&call.name, fix)));
            fitted.value
        }
        Some(Err(error)) => {
            doubts.push(format!("the arguments of `{}` do not fit: {error}", call.name));
            if is_json {
                return Ok(());
            }
            value
        }
        None => value,
    };
    call.arguments = value.to_string();
    Ok(())
}

fn describe(place: &str, fix: &Fix) -> String {
    format!("`{place}` {}: {}", fix.path, fix.kind.name())
}
