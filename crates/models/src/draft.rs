//! An answer as it comes together, whatever the wire format.

use reknit_dialogue::{
    Answer, Delta, ErrorClass, Failure, Finish, FormatUsed, Request, Seal, Thought, ToolCall, Usage,
};

/// Who is shown the pieces of an answer.
pub(crate) type OnDelta<'a> = &'a mut (dyn FnMut(Delta<'_>) + Send);

/// An answer as it comes together, out of one body or out of many events.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    thoughts: Vec<Thought>,
    calls: Vec<Call>,
    /// The text is a refusal.
    pub(crate) refused: bool,
    pub(crate) finish: Option<Finish>,
    /// The server's word for why it could not go on, though it has ended the answer.
    pub(crate) broken_off: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) skipped_events: u32,
    pub(crate) end_mark: bool,
}

/// A call of a tool, and the place by which later pieces of it are known.
#[derive(Debug)]
struct Call {
    place: Option<u64>,
    call: ToolCall,
}

/// A piece of a call of a tool, as servers send it: any part may be missing.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct CallPiece<'a> {
    pub(crate) place: Option<u64>,
    pub(crate) id: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: &'a str,
}

impl Draft {
    /// Words of the answer.
    pub(crate) fn say(&mut self, words: &str, on_delta: OnDelta<'_>) {
        if !words.is_empty() {
            self.text.push_str(words);
            on_delta(Delta::Text(words));
        }
    }

    /// Words of the reasoning, which go on where the last ones ended.
    pub(crate) fn think(&mut self, words: &str, on_delta: OnDelta<'_>) {
        if words.is_empty() {
            return;
        }
        match self.thoughts.last_mut().filter(|thought| thought.seal.is_none()) {
            Some(thought) => thought.text.push_str(words),
            None => self.thoughts.push(Thought { text: words.to_owned(), seal: None }),
        }
        on_delta(Delta::Reasoning(words));
    }

    /// The provider's seal on the last thought, or on one without words.
    pub(crate) fn seal_thought(&mut self, seal: Seal) {
        match self.thoughts.last_mut().filter(|thought| thought.seal.is_none()) {
            Some(thought) => thought.seal = Some(seal),
            None => self.thoughts.push(Thought { text: String::new(), seal: Some(seal) }),
        }
    }

    /// A thought of which there is nothing but the provider's seal.
    pub(crate) fn hide_thought(&mut self, seal: Seal) {
        self.thoughts.push(Thought { text: String::new(), seal: Some(seal) });
    }

    /// The provider's seal on the last call.
    pub(crate) fn seal_call(&mut self, seal: Seal) {
        if let Some(Call { call, .. }) = self.calls.last_mut() {
            call.seal = Some(seal);
        }
    }

    /// How many calls there are so far.
    pub(crate) fn call_count(&self) -> u64 {
        u64::try_from(self.calls.len()).unwrap_or(u64::MAX)
    }

    /// A piece of a call: of the one at its place, else of the last one, unless it brings another id or a place of its own.
    pub(crate) fn call(&mut self, piece: CallPiece<'_>, on_delta: OnDelta<'_>) {
        let id = piece.id.filter(|id| !id.is_empty());
        let name = piece.name.filter(|name| !name.is_empty());
        let continued = match piece.place {
            Some(_) => self.calls.iter().rposition(|known| known.place == piece.place),
            // Without a place only what has neither id nor name can go on.
            None if id.is_none() && name.is_none() => self.calls.len().checked_sub(1),
            None => None,
        };
        // Some servers give every call the same place.
        let continued = continued.filter(|index| {
            let known = self.calls.get(*index).map(|known| known.call.id.as_str());
            id.is_none_or(|id| known == Some("") || known == Some(id))
        });
        let index = continued.unwrap_or_else(|| {
            self.calls.push(Call { place: piece.place, call: ToolCall::new("", "", "") });
            self.calls.len() - 1
        });
        let Some(Call { call, .. }) = self.calls.get_mut(index) else { return };
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

    /// Whether the server has ended the answer. What comes to an end without it was cut.
    pub(crate) fn is_ended(&self) -> bool {
        self.finish.is_some() || self.broken_off.is_some() || self.end_mark
    }

    /// Whether anything of the answer is there: words, thoughts or calls.
    pub(crate) fn is_begun(&self) -> bool {
        !self.text.is_empty() || !self.thoughts.is_empty() || !self.calls.is_empty()
    }

    /// How far the answer has come, for messages: ` after 12 characters of the answer`.
    pub(crate) fn reached(&self) -> String {
        let thoughts: usize = self.thoughts.iter().map(|thought| thought.text.chars().count()).sum();
        match (self.text.chars().count(), self.calls.len(), thoughts) {
            (0, 0, 0) => String::new(),
            (0, 0, thoughts) => format!(" after {thoughts} characters of reasoning"),
            (0, ..) => " in the middle of a call of a tool".to_owned(),
            (words, ..) => format!(" after {words} characters of the answer"),
        }
    }

    /// What was used so far: the server's count, else ours.
    pub(crate) fn usage(&self, request: &Request) -> Usage {
        self.usage.unwrap_or_else(|| {
            let thoughts = self.thoughts.iter().map(|thought| thought.text.as_str());
            let calls = self.calls.iter().flat_map(|known| [known.call.name.as_str(), &known.call.arguments]);
            Usage::estimate(request, &thoughts.chain(calls).chain([self.text.as_str()]).collect::<String>())
        })
    }

    /// The answer that the server has ended.
    pub(crate) fn conclude(self, request: &Request, model: &str, format_used: FormatUsed) -> Result<Answer, Failure> {
        let usage = self.usage(request);
        if let Some(reason) = &self.broken_off {
            let message = format!("the server broke the answer off ({reason}){}", self.reached());
            return Err(Failure::new(ErrorClass::NetworkError, message).with_usage(usage).with_partial(self.text));
        }
        let tool_calls: Vec<ToolCall> =
            self.calls.into_iter().enumerate().map(|(index, known)| named(index, known)).collect();
        let finish = match self.finish {
            _ if self.refused => Finish::Refusal,
            // Some say that they have stopped when they want an answer to their calls.
            Some(Finish::Complete) if !tool_calls.is_empty() => Finish::ToolCalls,
            Some(finish) => finish,
            None => Finish::Other("unstated".to_owned()),
        };
        Ok(Answer {
            tool_calls,
            reasoning: self.thoughts,
            finish,
            request_id: self.request_id,
            format_used,
            skipped_events: self.skipped_events,
            ..Answer::complete(self.text, self.model.unwrap_or_else(|| model.to_owned()), usage)
        })
    }
}

/// The call, with an id of ours if the server gave none.
fn named(index: usize, known: Call) -> ToolCall {
    let mut call = known.call;
    if call.id.as_str().is_empty() {
        call.id = format!("call_{}", index + 1).into();
    }
    call
}
