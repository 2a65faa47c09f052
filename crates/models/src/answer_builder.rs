//! Assembly of an answer from a whole body or from the events of a stream, for every wire format.

use std::collections::HashSet;

use reknit_model_api::{
    Citation, Delta, ErrorClass, FinishReason, FormatUsed, Message, ModelAnswer, ModelFailure, ModelRequest, Money,
    ProviderState, Thought, ToolCall, ToolCallId, Usage,
};

pub(crate) use crate::client::OnDelta;

#[derive(Debug, Default)]
pub(crate) struct AnswerBuilder {
    pub(crate) text: String,
    thoughts: Vec<Thought>,
    calls: Vec<PartialCall>,
    pub(crate) refused: bool,
    pub(crate) finish: Option<FinishReason>,
    /// The server's name for the error with which it ended the answer.
    pub(crate) aborted: Option<String>,
    pub(crate) usage: Option<Usage>,
    model: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) skipped_events: u32,
    pub(crate) end_mark: bool,
    citations: Vec<Citation>,
    pub(crate) stop_sequence: Option<String>,
    pub(crate) reported_cost: Option<Money>,
    /// The provider's own form of the answer, where the other fields lose something.
    pub(crate) content_state: Option<ProviderState>,
    pub(crate) last_thought: LastThought,
}

/// What happens to the last thought when more reasoning comes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastThought {
    #[default]
    Open,
    /// It is complete: a new one starts.
    Closed,
    /// It goes on, and is a plan of the calls after it.
    Plan,
}

/// A tool call, with the index that later pieces of it carry.
#[derive(Debug)]
struct PartialCall {
    index: Option<u64>,
    call: ToolCall,
}

/// A piece of a tool call as servers send it; any field may be missing.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct CallPiece<'a> {
    pub(crate) index: Option<u64>,
    pub(crate) id: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: &'a str,
}

impl AnswerBuilder {
    /// Keeps the metadata that a body or an event contains. The first request id counts.
    pub(crate) fn set_metadata(&mut self, model: Option<&str>, request_id: Option<&str>, usage: Option<Usage>) {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        if self.request_id.is_none() {
            self.request_id = request_id.map(str::to_owned);
        }
        self.usage = usage.or(self.usage);
    }

    pub(crate) fn add_text(&mut self, text: &str, on_delta: OnDelta<'_>) {
        if !text.is_empty() {
            self.text.push_str(text);
            on_delta(Delta::Text(text));
        }
    }

    /// Appends reasoning to the last thought, or starts a new one if that is closed by its provider state.
    pub(crate) fn add_reasoning(&mut self, text: &str, on_delta: OnDelta<'_>) {
        if text.is_empty() {
            return;
        }
        match self.open_thought() {
            Some(thought) => thought.text.push_str(text),
            None => self.thoughts.push(Thought { text: text.to_owned(), provider_state: None }),
        }
        if self.last_thought == LastThought::Closed {
            self.last_thought = LastThought::Open;
        }
        on_delta(Delta::Reasoning(text));
    }

    /// Adds provider state to the last thought, or to a new one without text.
    pub(crate) fn add_thought_state(&mut self, state: ProviderState) {
        match self.open_thought() {
            Some(thought) => thought.provider_state = Some(state),
            None => self.add_hidden_thought(state),
        }
    }

    pub(crate) fn add_hidden_thought(&mut self, state: ProviderState) {
        self.thoughts.push(Thought { text: String::new(), provider_state: Some(state) });
    }

    pub(crate) fn close_thought(&mut self) {
        self.last_thought = LastThought::Closed;
    }

    fn open_thought(&mut self) -> Option<&mut Thought> {
        let is_open = self.last_thought != LastThought::Closed;
        self.thoughts.last_mut().filter(|thought| is_open && thought.provider_state.is_none())
    }

    /// Keeps a source of the answer, unless it is empty or known already.
    pub(crate) fn add_citation(&mut self, citation: Citation) {
        if !citation.is_empty() && !self.citations.contains(&citation) {
            self.citations.push(citation);
        }
    }

    pub(crate) fn add_call_state(&mut self, state: ProviderState) {
        if let Some(PartialCall { call, .. }) = self.calls.last_mut() {
            call.provider_state = Some(state);
        }
    }

    pub(crate) fn call_count(&self) -> u64 {
        u64::try_from(self.calls.len()).unwrap_or(u64::MAX)
    }

    /// Adds a piece to the call with the same index, else to the last call; starts a new call if the piece has a new index or
    /// another id.
    pub(crate) fn add_call_piece(&mut self, piece: CallPiece<'_>, on_delta: OnDelta<'_>) {
        let id = piece.id.filter(|id| !id.is_empty());
        let name = piece.name.filter(|name| !name.is_empty());
        let continued = match piece.index {
            Some(_) => self.calls.iter().rposition(|partial| partial.index == piece.index),
            // Without an index, only a piece with neither id nor name continues a call.
            None if id.is_none() && name.is_none() => self.calls.len().checked_sub(1),
            None => None,
        };
        // Some servers give every call the same index.
        let continued = continued.filter(|index| {
            let known = self.calls.get(*index).map(|partial| partial.call.id.as_str());
            id.is_none_or(|id| known == Some("") || known == Some(id))
        });
        let index = continued.unwrap_or_else(|| {
            self.calls.push(PartialCall { index: piece.index, call: ToolCall::new("", "", "") });
            self.calls.len() - 1
        });
        let Some(PartialCall { call, .. }) = self.calls.get_mut(index) else { return };
        if let Some(id) = id {
            call.id = id.into();
        }
        let first = call.name.is_empty();
        if let Some(name) = name.filter(|_| first) {
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(piece.arguments);
        on_delta(Delta::ToolCall { index, name: name.filter(|_| first), arguments: piece.arguments });
    }

    /// Ends the last call. Without arguments it has no text in a stream, but an empty object in a whole response.
    pub(crate) fn end_call(&mut self, on_delta: OnDelta<'_>) {
        if let Some(PartialCall { index, call }) = self.calls.last()
            && call.arguments.is_empty()
        {
            self.add_call_piece(CallPiece { index: *index, arguments: "{}", ..CallPiece::default() }, on_delta);
        }
    }

    /// Whether the server has ended the answer. An answer that stops otherwise is truncated.
    pub(crate) fn is_ended(&self) -> bool {
        self.finish.is_some() || self.aborted.is_some() || self.end_mark
    }

    /// Whether any text, reasoning or call has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.thoughts.is_empty() || !self.calls.is_empty()
    }

    /// How much of the answer has arrived, to be appended to a message: ` after 12 characters of the answer`.
    pub(crate) fn progress(&self) -> String {
        let thoughts: usize = self.thoughts.iter().map(|thought| thought.text.chars().count()).sum();
        match (self.text.chars().count(), self.calls.len(), thoughts) {
            (0, 0, 0) => String::new(),
            (0, 0, thoughts) => format!(" after {thoughts} characters of reasoning"),
            (0, ..) => " in the middle of a tool call".to_owned(),
            (characters, ..) => format!(" after {characters} characters of the answer"),
        }
    }

    pub(crate) fn usage(&self, request: &ModelRequest) -> Usage {
        self.usage.unwrap_or_else(|| {
            let thoughts = self.thoughts.iter().map(|thought| thought.text.as_str());
            let calls = self.calls.iter().flat_map(|partial| [partial.call.name.as_str(), &partial.call.arguments]);
            Usage::estimate(request, &thoughts.chain(calls).chain([self.text.as_str()]).collect::<String>())
        })
    }

    /// Builds the answer that the server has ended; fails if the server ended it with an error.
    pub(crate) fn build(
        self,
        request: &ModelRequest,
        model: &str,
        format_used: FormatUsed,
    ) -> Result<ModelAnswer, ModelFailure> {
        let usage = self.usage(request);
        if let Some(reason) = &self.aborted {
            let message = format!("the server aborted the answer ({reason}){}", self.progress());
            let failure = ModelFailure::new(ErrorClass::NetworkError, message).with_usage(usage);
            return Err(ModelFailure { partial: self.text, ..failure });
        }
        let tool_calls = with_ids(self.calls, request);
        let finish = match self.finish {
            _ if self.refused => FinishReason::Refusal,
            // Some servers report a plain stop when the model waits for the results of its calls.
            Some(FinishReason::Complete) if !tool_calls.is_empty() => FinishReason::ToolCalls,
            Some(finish) => finish,
            None => FinishReason::Other("unstated".to_owned()),
        };
        Ok(ModelAnswer {
            tool_calls,
            reasoning: self.thoughts,
            content_state: self.content_state,
            citations: self.citations,
            finish,
            stop_sequence: self.stop_sequence,
            reported_cost: self.reported_cost,
            request_id: self.request_id,
            format_used,
            skipped_events: self.skipped_events,
            ..ModelAnswer::complete(self.text, self.model.unwrap_or_else(|| model.to_owned()), usage)
        })
    }
}

const GENERATED_ID: &str = "call_";

pub(crate) fn is_generated_id(id: &str) -> bool {
    id.strip_prefix(GENERATED_ID).is_some_and(|number| number.parse::<u64>().is_ok())
}

/// The calls, each with an id of its own: a generated one where the server gave none, or one that an earlier call of the answer
/// has. Results name their calls by these ids, and providers refuse two calls with the same one. A generated id is new in the
/// whole conversation, for an id of an earlier turn would link its result to this call.
fn with_ids(calls: Vec<PartialCall>, request: &ModelRequest) -> Vec<ToolCall> {
    let earlier = request.messages.iter().flat_map(Message::tool_calls).map(|call| call.id.clone());
    let given = calls.iter().map(|partial| partial.call.id.clone());
    let mut used: HashSet<ToolCallId> = earlier.chain(given).collect();
    let mut number = 0_u64;
    let mut generate = || loop {
        number += 1;
        let id = ToolCallId::from(format!("{GENERATED_ID}{number}"));
        if used.insert(id.clone()) {
            return id;
        }
    };
    let mut taken: HashSet<ToolCallId> = HashSet::new();
    let complete = |PartialCall { mut call, .. }| {
        if call.id.as_str().is_empty() || !taken.insert(call.id.clone()) {
            call.id = generate();
        }
        call
    };
    calls.into_iter().map(complete).collect()
}
