//! What a failed call tells us: the typed facts on which every remedy is decided.

mod judge;
mod wait;
mod words;

pub use judge::{Verdict, judge_failure, judge_reply};
pub(crate) use words::headline;

use reknit_protocol::{Category, Object, Value, exact};
use serde::{Deserialize, Serialize};

use reknit_protocol::TransportKind;
use reknit_protocol::human_duration;

/// How a call failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Where it failed.
    pub origin: Origin,
    /// What became of it.
    pub fate: Fate,
    /// For machines: `LOCATION_NOT_FOUND`; empty if nobody said.
    pub code: String,
    /// In words, as the tool said it.
    pub message: String,
    /// The kind of failure, if the tool or the status say so.
    pub category: Option<String>,
    /// Whether the tool thinks that trying again can help.
    pub retryable: Option<bool>,
    /// Facts around the failure.
    #[serde(with = "exact")]
    pub details: Object,
    /// How long the tool wants us to wait.
    pub wait_ms: Option<u64>,
    /// The body as it came, if it is not too long.
    #[serde(with = "exact")]
    pub body: Value,
}

/// Where a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Here: the parameters cannot be bound or do not fit, so nothing was sent.
    Local,
    /// On the way.
    Transport(TransportKind),
    /// The tool answered with this status.
    Status(u16),
    /// Nobody knows: the process that made the call is gone, or gave it up.
    Interrupted,
}

/// What became of a call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It never left.
    NotSent,
    /// The tool refused it: it had no effect.
    Rejected,
    /// It may or may not have had its effect.
    Unknown,
}

impl Fault {
    /// A call that was not made, because its parameters cannot be used.
    pub fn local(message: String, details: Object) -> Self {
        Self {
            origin: Origin::Local,
            fate: Fate::NotSent,
            code: reknit_protocol::tool::codes::INVALID_FORMAT.to_owned(),
            message,
            category: Some(Category::InputError.as_str().to_owned()),
            retryable: Some(true),
            details,
            wait_ms: None,
            body: Value::Null,
        }
    }

    /// A call whose process is gone.
    pub fn interrupted() -> Self {
        Self {
            origin: Origin::Interrupted,
            fate: Fate::Unknown,
            code: String::new(),
            message: "the process that made the call ended before the answer came".to_owned(),
            category: None,
            retryable: None,
            details: Object::new(),
            wait_ms: None,
            body: Value::Null,
        }
    }

    /// A call that was given up because the run had to end.
    pub fn given_up(drain_ms: u64) -> Self {
        let message =
            format!("given up: no answer came within {} after the run was told to end", human_duration(drain_ms));
        Self { message, ..Self::interrupted() }
    }

    /// The HTTP status, if the tool answered. A local rejection counts as 422, which is what a tool would have said.
    pub fn status(&self) -> Option<u16> {
        match self.origin {
            Origin::Local => Some(422),
            Origin::Status(status) => Some(status),
            Origin::Transport(_) | Origin::Interrupted => None,
        }
    }

    /// The status that counts where statuses are listed. A refusal inside a success has that of the tool's own category, for
    /// that is the status a tool answers with that does not hide its refusals.
    pub fn listed_status(&self) -> Option<u16> {
        match self.status() {
            Some(200..=299) => match self.category.as_deref().map(Category::from) {
                None | Some(Category::Other(_)) => Some(Category::InputError.status()),
                Some(category) => Some(category.status()),
            },
            status => status,
        }
    }

    /// What makes two failures the same: where, which code, which words.
    pub fn same_as(&self, other: &Self) -> bool {
        self.origin == other.origin && self.code == other.code && self.message == other.message
    }

    /// What the tool said beside its words, for a model: the details, or the body where there is no place for details.
    pub fn evidence(&self) -> Value {
        let is_told = |value: &Value| value.as_str() == Some(self.message.as_str());
        let is_said = match &self.body {
            Value::Object(object) => object.len() == 1 && object.values().all(is_told),
            body => is_told(body),
        };
        if self.is_structured() || self.body.is_null() || is_said {
            return Value::Object(self.details.clone());
        }
        self.body.clone()
    }

    /// Whether the tool used the envelope, and so chose its words.
    pub fn is_structured(&self) -> bool {
        reknit_protocol::ToolResponse::is_envelope(&self.body)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.origin {
            Origin::Status(status) => write!(out, "{status}")?,
            Origin::Local => write!(out, "not sent")?,
            Origin::Transport(_) | Origin::Interrupted => return out.write_str(&self.message),
        }
        if !self.code.is_empty() && self.origin != Origin::Local {
            write!(out, " {}", self.code)?;
        }
        write!(out, ": {}", self.message)
    }
}
