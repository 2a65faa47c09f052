//! Replies of scripted servers, and faults on their way.

mod deliver;
mod raw;

use std::time::Duration;

use reknit_protocol::{ToolError, Value};
use serde::Deserialize;

use crate::CallBarrier;
pub(crate) use deliver::{Framing, Rendered, deliver, script_error};
pub(crate) use raw::RawReply;

/// One reply of a scripted model or tool: content, status, headers, delays and faults.
///
/// ```
/// use std::time::Duration;
/// use reknit_fakes::Reply;
///
/// let busy = Reply::status(429).retry_after(2).body(r#"{"error":{"message":"slow down"}}"#);
/// let half = Reply::text("a long answer").cut_after(10);
/// let late = Reply::text("sorry").delay(Duration::from_millis(200));
/// let malformed = Reply::text("a long answer").malformed_event(3).without_terminator();
/// # let _ = (busy, half, late, malformed);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub(crate) content: Content,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) delay: Option<Duration>,
    pub(crate) barrier: Option<CallBarrier>,
    connection_fault: Option<ConnectionFault>,
    /// The wait between the head and the body.
    first_token_after: Option<Duration>,
    /// The wait between two events.
    event_interval: Option<Duration>,
    /// The number, from 1, of an inserted event that is not valid JSON.
    malformed_event: Option<usize>,
    /// Whether the last event of a stream is left out.
    pub(crate) is_unterminated: bool,
    content_type: Option<String>,
    /// How many blanks follow the body.
    padding: Option<usize>,
    pub(crate) usage: Usage,
    /// `stop` if it is not set.
    pub(crate) finish_reason: Option<String>,
    /// The reasoning of the model before its answer.
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<ScriptedCall>,
}

/// What goes wrong with the connection. Events are the chunks that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ConnectionFault {
    Reset,
    /// The request is never answered.
    Silence,
    /// The connection is closed after this many bytes of the body.
    CutAfter(usize),
    CutAfterEvents(usize),
    /// The connection stays open, and the rest of the body never comes.
    StallAfter(usize),
    StallAfterEvents(usize),
}

/// What a reply contains.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// The text of a model; plain text from a tool.
    Text(String),
    /// The data of a tool, in the envelope.
    Data(Value),
    /// The error of a tool, in the envelope.
    Error(ToolError),
    /// The refusal of a model, in the wire format of its provider.
    Refusal(Refusal),
    /// Exactly this body.
    Body(String),
}

impl Default for Content {
    fn default() -> Self {
        Self::Body(String::new())
    }
}

/// A tool call of a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedCall {
    pub(crate) name: String,
    /// Sent as given, even if it is not JSON.
    pub(crate) arguments: String,
}

/// Why a model refuses a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    ContextLength,
    ContentFilter(String),
}

/// The token usage that a model reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Usage {
    /// The number of words in the messages and in the answer, so that the same request always costs the same.
    #[default]
    CountWords,
    Fixed(TokenCounts),
    Absent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenCounts {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
}

impl Reply {
    fn new(content: Content) -> Self {
        Self { content, ..Self::default() }
    }

    /// This text: the answer of a model, or plain text from a tool.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// The success of a tool with this data, in the envelope of the protocol.
    pub fn data(data: impl Into<Value>) -> Self {
        Self::new(Content::Data(data.into()))
    }

    /// The failure of a tool with this error, in the envelope, with the status of its category.
    pub fn error(error: ToolError) -> Self {
        Self::new(Content::Error(error))
    }

    /// A response with this status and an empty body.
    pub fn status(status: u16) -> Self {
        Self::default().with_status(status)
    }

    /// A reset of the connection instead of a response.
    pub fn reset() -> Self {
        Self::default().with_fault(ConnectionFault::Reset)
    }

    /// No response: the request is accepted and the connection stays open.
    pub fn silence() -> Self {
        Self::default().with_fault(ConnectionFault::Silence)
    }

    fn with_fault(mut self, fault: ConnectionFault) -> Self {
        self.connection_fault = Some(fault);
        self
    }

    /// A refusal because the context is too long: `context_length_exceeded`, or the equivalent of the provider.
    pub fn context_length() -> Self {
        Self::new(Content::Refusal(Refusal::ContextLength))
    }

    /// A refusal by the content filter: `content_policy_violation`, or the equivalent of the provider, with a reason.
    pub fn content_filter(reason: impl Into<String>) -> Self {
        Self::new(Content::Refusal(Refusal::ContentFilter(reason.into())))
    }

    /// The model calls this tool and writes no text. The arguments are sent as given, even if they are not JSON.
    pub fn tool_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::text("").with_tool_call(name, arguments)
    }

    /// Adds a tool call of the model.
    #[must_use]
    pub fn with_tool_call(mut self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.calls.push(ScriptedCall { name: name.into(), arguments: arguments.into() });
        self
    }

    /// Adds reasoning of the model before its answer.
    #[must_use]
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = text.into();
        self
    }

    /// Sends exactly this body. Its content type is JSON if it is JSON, otherwise plain text.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.content = Content::Body(body.into());
        self
    }

    /// Sets the status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds the header `Retry-After`.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// Sends the response after this time, by tokio's clock.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Sends the response when the barrier releases the call.
    #[must_use]
    pub fn wait_at(mut self, barrier: &CallBarrier) -> Self {
        self.barrier = Some(barrier.clone());
        self
    }

    /// Closes the connection after this many bytes of the body, at the latest before the last byte.
    #[must_use]
    pub fn cut_after(self, bytes: usize) -> Self {
        self.with_fault(ConnectionFault::CutAfter(bytes))
    }

    /// Closes the connection after this many events of a stream, at the latest before the last event.
    #[must_use]
    pub fn cut_after_events(self, events: usize) -> Self {
        self.with_fault(ConnectionFault::CutAfterEvents(events))
    }

    /// Stops after this many bytes of the body and keeps the connection open.
    #[must_use]
    pub fn stall_after(self, bytes: usize) -> Self {
        self.with_fault(ConnectionFault::StallAfter(bytes))
    }

    /// Stops after this many events of a stream and keeps the connection open.
    #[must_use]
    pub fn stall_after_events(self, events: usize) -> Self {
        self.with_fault(ConnectionFault::StallAfterEvents(events))
    }

    /// Sends the head at once and the body after this time, by tokio's clock.
    #[must_use]
    pub fn first_token_after(mut self, delay: Duration) -> Self {
        self.first_token_after = Some(delay);
        self
    }

    /// Waits this long before each event of a stream except the first.
    #[must_use]
    pub fn event_interval(mut self, pause: Duration) -> Self {
        self.event_interval = Some(pause);
        self
    }

    /// Inserts an event that is not valid JSON into a stream, as its n-th, from 1.
    #[must_use]
    pub fn malformed_event(mut self, nth: usize) -> Self {
        self.malformed_event = Some(nth);
        self
    }

    /// Ends a stream without `[DONE]` or `message_stop`.
    #[must_use]
    pub fn without_terminator(mut self) -> Self {
        self.is_unterminated = true;
        self
    }

    /// Sets the content type, whatever the body is.
    #[must_use]
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = Some(content_type.into());
        self
    }

    /// Sends this many blanks after the body.
    #[must_use]
    pub fn padding(mut self, bytes: usize) -> Self {
        self.padding = Some(bytes);
        self
    }

    /// Reports this token usage of the model. By default words are counted.
    #[must_use]
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        self.usage = Usage::Fixed(TokenCounts { prompt, completion });
        self
    }

    /// Reports no token usage.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = Usage::Absent;
        self
    }

    /// Sets why the model stopped: `length`, `content_filter`. The default is `stop`, or `tool_calls` if it calls a tool.
    #[must_use]
    pub fn finish_reason(mut self, reason: impl Into<String>) -> Self {
        self.finish_reason = Some(reason.into());
        self
    }
}
