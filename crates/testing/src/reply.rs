//! What a scripted server answers, and what goes wrong on the way.

mod deliver;
mod fault;
mod file;

use std::time::Duration;

use reknit_protocol::{ToolError, Value};

use crate::Gate;
pub(crate) use deliver::{Framing, Rendered, deliver, internal};
use fault::{Ending, Fault, Oddities, Place};
pub(crate) use file::RawReply;

/// One reply: what is said, under which status, when, and how the connection fares.
///
/// ```
/// use std::time::Duration;
/// use reknit_testing::Reply;
///
/// let busy = Reply::status(429).retry_after(2).body(r#"{"error":{"message":"slow down"}}"#);
/// let half = Reply::text("a long answer").cut_after(10);
/// let late = Reply::text("sorry").delay(Duration::from_millis(200));
/// let odd = Reply::text("a long answer").malformed_event(3).without_terminator();
/// # let _ = (busy, half, late, odd);
/// ```
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) content: Content,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) delay: Option<Duration>,
    pub(crate) gate: Option<Gate>,
    fault: Fault,
    odd: Oddities,
    pub(crate) usage: Usage,
    pub(crate) finish_reason: String,
    /// What the model thinks first.
    pub(crate) reasoning: String,
    /// The tools that the model calls: names and arguments.
    pub(crate) calls: Vec<(String, String)>,
}

/// What is said.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// A model's words; plain text from a tool.
    Text(String),
    /// A tool's data, in its envelope.
    Data(Value),
    /// A tool's error, in its envelope.
    Error(ToolError),
    /// A model's refusal, in the words of its provider.
    Refusal(Refusal),
    /// These very bytes.
    Body(String),
}

/// Why a model refuses a question.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    ContextLength,
    ContentFilter(String),
}

/// What a model says about tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    /// The words of the messages and of the answer, counted: the same request always costs the same.
    Counted,
    Given {
        prompt: u64,
        completion: u64,
    },
    Absent,
}

impl Reply {
    fn new(content: Content) -> Self {
        Self {
            content,
            status: None,
            headers: Vec::new(),
            delay: None,
            gate: None,
            fault: Fault::None,
            odd: Oddities::default(),
            usage: Usage::Counted,
            finish_reason: "stop".to_owned(),
            reasoning: String::new(),
            calls: Vec::new(),
        }
    }

    /// A model says this; a tool answers with this plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// A tool succeeds with this data, in the envelope of the protocol.
    pub fn data(data: impl Into<Value>) -> Self {
        Self::new(Content::Data(data.into()))
    }

    /// A tool fails with this error, in the envelope, under the status of its category.
    pub fn error(error: ToolError) -> Self {
        Self::new(Content::Error(error))
    }

    /// This status with an empty body.
    pub fn status(status: u16) -> Self {
        let mut reply = Self::new(Content::Body(String::new()));
        reply.status = Some(status);
        reply
    }

    /// The connection is reset instead of an answer.
    pub fn reset() -> Self {
        let mut reply = Self::new(Content::Body(String::new()));
        reply.fault = Fault::Reset;
        reply
    }

    /// The request is taken and never answered.
    pub fn silence() -> Self {
        let mut reply = Self::new(Content::Body(String::new()));
        reply.fault = Fault::Silence;
        reply
    }

    /// A model cannot read so much: `context_length_exceeded`, or what the provider says instead.
    pub fn context_length() -> Self {
        Self::new(Content::Refusal(Refusal::ContextLength))
    }

    /// A provider does not want to talk about this: `content_policy_violation`, or what it says instead, with its reason.
    pub fn content_filter(reason: impl Into<String>) -> Self {
        Self::new(Content::Refusal(Refusal::ContentFilter(reason.into())))
    }

    /// Answers with these very bytes. They are called JSON if they are.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.content = Content::Body(body.into());
        self
    }

    /// Answers under another status.
    #[must_use]
    pub fn under(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Asks the caller to wait for some seconds: the header `Retry-After`.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// Answers only after this time, by tokio's clock.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Answers only once the gate lets the call pass.
    #[must_use]
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Closes the connection after this many bytes of the body, and before its last one.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.fault = Fault::Cut { after: Place::Bytes(bytes) };
        self
    }

    /// Closes the connection after this many events of a stream, and before its last one.
    #[must_use]
    pub fn cut_after_events(mut self, events: usize) -> Self {
        self.fault = Fault::Cut { after: Place::Events(events) };
        self
    }

    /// Says nothing more after this many bytes of the body, but keeps the connection open.
    #[must_use]
    pub fn stall_after(mut self, bytes: usize) -> Self {
        self.fault = Fault::Stall { after: Place::Bytes(bytes) };
        self
    }

    /// Says nothing more after this many events of a stream, but keeps the connection open.
    #[must_use]
    pub fn stall_after_events(mut self, events: usize) -> Self {
        self.fault = Fault::Stall { after: Place::Events(events) };
        self
    }

    /// Sends the head at once, and the body only after this time, by tokio's clock.
    #[must_use]
    pub fn first_token_after(mut self, delay: Duration) -> Self {
        self.odd.first_token_after = Some(delay);
        self
    }

    /// Waits so long before each event of a stream but the first.
    #[must_use]
    pub fn event_every(mut self, pause: Duration) -> Self {
        self.odd.event_every = Some(pause);
        self
    }

    /// Puts an event that nobody can read into a stream, as its n-th from 1. The others all come.
    #[must_use]
    pub fn malformed_event(mut self, nth: usize) -> Self {
        self.odd.malformed_event = Some(nth);
        self
    }

    /// Ends a stream without the event that says nothing but that: no `[DONE]`, no `message_stop`.
    #[must_use]
    pub fn without_terminator(mut self) -> Self {
        self.odd.ending = Ending::Unterminated;
        self
    }

    /// Whether a stream says that it is over.
    pub(crate) fn is_terminated(&self) -> bool {
        self.odd.ending == Ending::Terminated
    }

    /// Calls the body something else than it is.
    #[must_use]
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.odd.content_type = Some(content_type.into());
        self
    }

    /// Sends this many blanks behind the body.
    #[must_use]
    pub fn giant(mut self, bytes: usize) -> Self {
        self.odd.giant = Some(bytes);
        self
    }

    /// Says how many tokens a model has used, instead of counting words.
    #[must_use]
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = Usage::Given { prompt, completion };
        self
    }

    /// Says nothing about tokens.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = Usage::Absent;
        self
    }

    /// Why the model stopped, if not `stop`: `length`, `content_filter`.
    #[must_use]
    pub fn finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.finish_reason = reason.into();
        self
    }
}
