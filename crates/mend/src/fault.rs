//! A failed call as typed data: every remedy is decided on a [`CallFault`].

mod classify;
mod denied_access;
mod error_in_success;
mod error_message;
mod retry_after;
mod structured_error;
mod type_error;

pub use classify::{ReplyContext, Verdict, classify_failure, classify_reply};

use reknit_protocol::{Category, ErrorFields, Object, TransportKind, Value, exact, human_duration};
use serde::{Deserialize, Serialize};

use crate::facts::dialect::{DIALECTS, declared};
use crate::facts::object_keys::{facts_in_object, named_field};
use crate::facts::{Fact, FactKind, MAX_FACTS, facts_in};

/// The status of a call that started a job.
const JOB_STATUS: u16 = 202;
const JOB_LOST: &str = "JOB_LOST";
const JOB_UNFINISHED: &str = "JOB_UNFINISHED";
const SESSION_FAILED: &str = "SESSION_FAILED";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallFault {
    pub origin: FaultOrigin,
    /// Whether the call took effect.
    pub fate: Fate,
    /// The tool's error code, such as `LOCATION_NOT_FOUND`; empty if it gave none.
    pub code: String,
    pub message: String,
    /// The kind of failure, if the tool or the status tells it.
    pub category: Option<String>,
    /// Whether the tool says that another call can work.
    pub retryable: Option<bool>,
    #[serde(with = "exact")]
    pub details: Object,
    /// How long the tool asks us to wait.
    pub wait_ms: Option<u64>,
    /// The body of the reply, shortened if it is long.
    #[serde(with = "exact")]
    pub body: Value,
    /// Where the errors of the tool name a parameter, if it says so.
    #[serde(with = "exact::option", default, skip_serializing_if = "Option::is_none")]
    pub error_fields: Option<ErrorFields>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultOrigin {
    /// Before it was sent: the parameters cannot be bound or do not fit their schema.
    Local,
    Transport(TransportKind),
    /// The tool answered with this status.
    Status(u16),
    /// Unknown: the process that made the call ended, or abandoned it.
    Interrupted,
}

/// Whether a call that did not succeed took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    NotSent,
    /// The tool rejected it, so it had no effect.
    Rejected,
    /// It may have had its effect.
    Unknown,
}

/// What we say about an answer without a text.
fn silent_message(status: u16) -> String {
    format!("the tool answered {status} and said nothing more")
}

impl CallFault {
    /// The words of the tool, or ours about a call without an answer; `None` if the tool answered without a text.
    pub fn said(&self) -> Option<&str> {
        let is_silent = matches!(self.origin, FaultOrigin::Status(status) if self.message == silent_message(status));
        (!is_silent).then_some(self.message.as_str())
    }

    /// A call that was not sent, because its parameters cannot be used.
    pub fn local(message: String) -> Self {
        Self {
            code: reknit_protocol::tool::codes::INVALID_FORMAT.to_owned(),
            category: Some(Category::InputError.as_str().to_owned()),
            retryable: Some(true),
            ..Self::without_reply(FaultOrigin::Local, Fate::NotSent, message)
        }
    }

    /// A call that was not sent, because the circuit breaker of its tool is open.
    pub fn breaker_open(tool: &str) -> Self {
        Self::without_reply(FaultOrigin::Local, Fate::NotSent, format!("the circuit breaker of `{tool}` is open"))
    }

    /// A call whose process ended before the reply came.
    pub fn interrupted() -> Self {
        let message = "the process that made the call ended before the answer came".to_owned();
        Self::without_reply(FaultOrigin::Interrupted, Fate::Unknown, message)
    }

    /// A call that was abandoned because the run had to end.
    pub fn abandoned(drain_ms: u64) -> Self {
        let message =
            format!("given up: no answer came within {} after the run was told to end", human_duration(drain_ms));
        Self { message, ..Self::interrupted() }
    }

    /// A call whose tool has forgotten the job that the call started.
    pub fn lost_job(message: String) -> Self {
        Self::after_start(JOB_LOST, message)
    }

    /// A call whose job nobody waits for any more, although it may still end.
    pub fn unfinished_job(message: String) -> Self {
        Self::after_start(JOB_UNFINISHED, message)
    }

    /// A call of an agent whose session has ended without a usable report. What the session did is not undone.
    pub fn failed_session(message: String) -> Self {
        Self::after_start(SESSION_FAILED, message)
    }

    fn after_start(code: &str, message: String) -> Self {
        let fault = Self::without_reply(FaultOrigin::Status(JOB_STATUS), Fate::Unknown, message);
        Self { code: code.to_owned(), ..fault }
    }

    pub(crate) fn is_failed_session(&self) -> bool {
        self.origin == FaultOrigin::Status(JOB_STATUS) && self.code == SESSION_FAILED
    }

    /// Whether the job of the call may still end.
    pub(crate) fn is_unfinished_job(&self) -> bool {
        self.origin == FaultOrigin::Status(JOB_STATUS) && self.code == JOB_UNFINISHED
    }

    /// A failure about which no tool said anything.
    fn without_reply(origin: FaultOrigin, fate: Fate, message: String) -> Self {
        Self {
            origin,
            fate,
            code: String::new(),
            message,
            category: None,
            retryable: None,
            details: Object::new(),
            wait_ms: None,
            body: Value::Null,
            error_fields: None,
        }
    }

    /// The HTTP status of the reply. A call that was not sent because of its parameters counts as 422, the status for
    /// invalid input; a call without a reply has none.
    pub fn status(&self) -> Option<u16> {
        match self.origin {
            FaultOrigin::Local => Some(422),
            FaultOrigin::Status(status) => Some(status),
            FaultOrigin::Transport(_) | FaultOrigin::Interrupted => None,
        }
    }

    /// The status to look up in [`crate::MendingPolicy::context_statuses`]. For an error inside a 2xx reply it is the status
    /// of the error's category, which the tool would otherwise have answered with.
    pub fn policy_status(&self) -> Option<u16> {
        match self.status() {
            Some(200..=299) => match self.category.as_deref().map(Category::from) {
                None | Some(Category::Other(_)) => Some(Category::InputError.status()),
                Some(category) => Some(category.status()),
            },
            status => status,
        }
    }

    /// Whether another failure has the same origin, code and message.
    pub fn same_as(&self, other: &Self) -> bool {
        self.origin == other.origin && self.code == other.code && self.message == other.message
    }

    /// What the tool said beside its message, for a model: the details, or the body of a tool that has no details.
    pub fn evidence(&self) -> Value {
        let is_message = |value: &Value| value.as_str() == Some(self.message.as_str());
        let only_message = match &self.body {
            Value::Object(object) => object.len() == 1 && object.values().all(is_message),
            body => is_message(body),
        };
        if self.uses_envelope() || self.body.is_null() || only_message {
            return Value::Object(self.details.clone());
        }
        self.body.clone()
    }

    /// Whether the tool itself reported the error: with `success: false`, a code or a category.
    pub fn is_structured(&self) -> bool {
        structured_error::structured_error(&self.body).is_some()
    }

    /// Whether the tool could not decode the call because a parameter has the wrong type. A reply that denies access is
    /// about something else. A status that blames the call makes more messages type errors: "invalid value", and any fact
    /// about a type.
    pub fn is_type_error(&self) -> bool {
        let FaultOrigin::Status(status) = self.origin else { return false };
        if matches!(status, 401 | 403 | 405 | 407) || type_error::speaks_of_other_service(&self.message) {
            return false;
        }
        let is_type = |fact: &Fact| matches!(fact.kind, FactKind::WrongType { .. });
        let blames_call = matches!(status, 400..=499) && !matches!(status, 408 | 429);
        type_error::speaks_of_type(&self.message)
            || (blames_call
                && (type_error::speaks_of_invalid_value(&self.message) || extract_facts(self).iter().any(is_type)))
    }

    /// Whether the tool says that no other call will work. Some tools send the flag as `false` without meaning it; a rate
    /// limit and a stated wait contradict it.
    pub fn rules_out_retry(&self) -> bool {
        let is_rate_limit = self.status() == Some(429)
            || self.code.starts_with("RATE_LIMIT")
            || self.category.as_deref() == Some(Category::RateLimit.as_str());
        self.retryable == Some(false) && !is_rate_limit && self.wait_ms.is_none()
    }

    /// Whether the tool read the call and refused it. Rate limits, failures of a service and conflicts of idempotency keys say
    /// nothing about the call itself.
    pub fn refuses_the_call(&self) -> bool {
        self.fate == Fate::Rejected
            && matches!(self.policy_status(), Some(400..=407 | 409..=424 | 426..=428 | 430..=499))
            && !classify::is_key_conflict(self)
    }

    /// Whether the tool denied access. That says nothing about the same call made before, with a permission that was still valid.
    pub fn denies_access(&self) -> bool {
        self.category.as_deref() == Some("AUTH_ERROR") || matches!(self.policy_status(), Some(401 | 403 | 405 | 407))
    }

    /// Whether a refusal can be the consequence of the same call made before: what it deletes is gone, what it creates exists.
    pub fn may_follow_from_same_call(&self) -> bool {
        matches!(self.policy_status(), Some(404 | 409 | 410 | 412))
    }

    /// Whether the tool answered with the error envelope of the protocol.
    pub fn uses_envelope(&self) -> bool {
        reknit_protocol::ToolResponse::is_envelope(&self.body)
    }
}

impl std::fmt::Display for CallFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.origin {
            _ if self.is_failed_session() => return out.write_str(&self.message),
            FaultOrigin::Status(status) => write!(out, "{status}")?,
            FaultOrigin::Local => write!(out, "not sent")?,
            FaultOrigin::Transport(_) | FaultOrigin::Interrupted => return out.write_str(&self.message),
        }
        if !self.code.is_empty() && self.origin != FaultOrigin::Local {
            write!(out, " {}", self.code)?;
        }
        write!(out, ": {}", self.message)
    }
}

/// The facts that an error states, each once, in the order in which the error states them.
pub fn extract_facts(fault: &CallFault) -> Vec<Fact> {
    let field = named_field(&fault.details);
    let mut facts: Vec<Fact> = Vec::new();
    let from_details = facts_in_object(&fault.details, field.as_ref());
    // The message may be assembled from the body. Only a sentence that the tool itself wrote is read as one.
    let is_tools_own = fault.body.is_null() || fault.body.as_str().is_some() || fault.uses_envelope();
    let message =
        if is_tools_own { fault.message.as_str() } else { error_message::headline(&fault.body).unwrap_or_default() };
    let from_message = facts_in(message, field.as_ref());
    let from_body = DIALECTS.iter().flat_map(|facts| facts(&fault.body));
    let from_declared = fault.error_fields.iter().flat_map(|fields| declared(&fault.body, fields));
    let from_text = fault.body.as_str().filter(|text| *text != fault.message).into_iter();
    let from_text = from_text.flat_map(|text| facts_in(text, None));
    let wait = fault.wait_ms.map(|ms| Fact::new(None, FactKind::RetryAfter { ms }));
    for fact in
        from_details.into_iter().chain(from_message).chain(from_body).chain(from_declared).chain(from_text).chain(wait)
    {
        // Facts are compared as text, because one of two equal facts may hold a value that the other leaves out.
        let is_new = !fact.is_shortened()
            && !facts.iter().any(|known| known.to_string() == fact.to_string())
            && !matches!(fact.kind, FactKind::RetryAfter { .. } if fault.wait_ms.is_none());
        if is_new && facts.len() < MAX_FACTS {
            facts.push(fact);
        }
    }
    facts
}
