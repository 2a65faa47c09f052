//! What a scripted server answers, and what goes wrong on the way.

mod deliver;
mod file;

use std::time::Duration;

use reknit_protocol::{ToolError, Value};

use crate::Gate;
pub(crate) use deliver::{Framing, Rendered, deliver, internal};
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
/// # let _ = (busy, half, late);
/// ```
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) content: Content,
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) delay: Option<Duration>,
    pub(crate) gate: Option<Gate>,
    pub(crate) fault: Fault,
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
    /// These very bytes.
    Body(String),
}

/// How the connection fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    Reset,
    Silence,
    Cut { after: usize },
    Stall { after: usize },
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
        self.fault = Fault::Cut { after: bytes };
        self
    }

    /// Says nothing more after this many bytes of the body, but keeps the connection open.
    #[must_use]
    pub fn stall_after(mut self, bytes: usize) -> Self {
        self.fault = Fault::Stall { after: bytes };
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
