//! What the model says to what, in code or in a file.

use std::time::Duration;

use reknit_protocol::Value;
use serde::Deserialize;

use super::When;
use crate::Reply;
use crate::reply::RawReply;
use crate::rules::{Rule, Uses};

/// What the model says to what: rules in order, the first that applies and is not used up gives the reply.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(super) rules: Vec<Rule<When>>,
}

/// Why a script cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It has another shape.
    #[error("the script has another shape than expected")]
    Shape(#[from] serde_json::Error),
    /// A rule says nothing, or two things at once.
    #[error("rule {rule} cannot be used: {problem}")]
    Rule {
        /// Which one, from 1.
        rule: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Script {
    /// A script without rules: every request fails.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives this reply whenever the condition holds.
    #[must_use]
    pub fn on(self, when: When, reply: Reply) -> Self {
        self.add(when, Uses::Always, reply)
    }

    /// Gives this reply the first time the condition holds, then leaves the request to later rules.
    #[must_use]
    pub fn once(self, when: When, reply: Reply) -> Self {
        self.times(1, when, reply)
    }

    /// Gives this reply the first few times the condition holds, then leaves the request to later rules.
    #[must_use]
    pub fn times(self, times: u32, when: When, reply: Reply) -> Self {
        self.add(when, Uses::Times(times), reply)
    }

    /// Gives this reply for so long from the start of the server, by tokio's clock.
    #[must_use]
    pub fn during(self, time: Duration, when: When, reply: Reply) -> Self {
        self.add(when, Uses::For(time), reply)
    }

    /// Gives this reply to `on` requests, leaves `off` to later rules, and so on.
    #[must_use]
    pub fn flapping(self, on: u32, off: u32, when: When, reply: Reply) -> Self {
        self.add(when, Uses::Flapping { on, off, seen: 0 }, reply)
    }

    /// Gives this reply for the time `on`, leaves requests to later rules for the time `off`, and so on.
    #[must_use]
    pub fn flapping_for(self, on: Duration, off: Duration, when: When, reply: Reply) -> Self {
        self.add(when, Uses::FlappingFor { on, off }, reply)
    }

    fn add(mut self, when: When, left: Uses, reply: Reply) -> Self {
        self.rules.push(Rule { when, left, reply });
        self
    }

    /// Reads a script from JSON, so that a program can be given one.
    ///
    /// ```
    /// use reknit_protocol::Value;
    /// use reknit_testing::model::Script;
    ///
    /// let script = Script::from_value(&Value::parse(r#"{"rules": [
    ///     {"when": {"purpose": "plan_generation"}, "times": 1, "reply": {"status": 429, "retry_after": 2}},
    ///     {"when": {"says": ["capability: geocode"], "lacks": ["Seoul"]}, "reply": {"text": "{}"}},
    ///     {"reply": {"fault": "silence"}}
    /// ]}"#)?)?;
    /// # let _ = script;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// | in a rule | meaning |
    /// |---|---|
    /// | `when` | `purpose`, `says`, `lacks`, `nth`, `last_role`; every request if it is not there |
    /// | `times` | how often it applies |
    /// | `for_ms` | how long, from the start of the server |
    /// | `flapping: {"on": 2, "off": 3}` | two requests, then not for three, and so on |
    /// | `flapping_ms: {"on": 500, "off": 1500}` | the same by time |
    /// | `reply` | what is answered |
    ///
    /// | in a reply | meaning |
    /// |---|---|
    /// | `text`, `reasoning`, `calls: [{"name": "f", "arguments": "{}"}]` | the model's words, thoughts and calls of tools |
    /// | `body`, `status`, `headers`, `content_type` | these very bytes, and what they are called |
    /// | `refusal` | `"context_length"` or `{"content_filter": "the reason"}` |
    /// | `retry_after` | the header, in seconds |
    /// | `delay_ms`, `first_token_after_ms`, `event_every_ms` | waits before the head, behind it, and between events |
    /// | `fault` | `"reset"`, `"silence"`, `{"cut_after": bytes}`, `{"cut_after_events": n}`, `{"stall_after": bytes}`, `{"stall_after_events": n}` |
    /// | `malformed_event` | the number of an event that nobody can read |
    /// | `without_terminator` | `true`: a stream does not say that it is over |
    /// | `giant_bytes` | so many blanks behind the body |
    /// | `finish_reason`, `usage: {"prompt": 10, "completion": 5}` | what the model says about its answer |
    ///
    /// Anything else is an error.
    pub fn from_value(value: &Value) -> Result<Self, ScriptError> {
        serde_json::from_str::<RawScript>(&value.to_string())?.try_into()
    }
}

impl TryFrom<RawScript> for Script {
    type Error = ScriptError;

    fn try_from(raw: RawScript) -> Result<Self, ScriptError> {
        let mut script = Self::new();
        for (index, rule) in raw.rules.into_iter().enumerate() {
            let problem = |problem| ScriptError::Rule { rule: index + 1, problem };
            let uses = rule.uses().map_err(problem)?;
            script = script.add(rule.when.into(), uses, Reply::try_from(rule.reply).map_err(problem)?);
        }
        Ok(script)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawScript {
    rules: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(default)]
    when: RawWhen,
    times: Option<u32>,
    for_ms: Option<u64>,
    flapping: Option<RawFlapping<u32>>,
    flapping_ms: Option<RawFlapping<u64>>,
    reply: RawReply,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFlapping<T> {
    on: T,
    off: T,
}

impl RawRule {
    fn uses(&self) -> Result<Uses, &'static str> {
        match (self.times, self.for_ms, &self.flapping, &self.flapping_ms) {
            (None, None, None, None) => Ok(Uses::Always),
            (Some(times), None, None, None) => Ok(Uses::Times(times)),
            (None, Some(ms), None, None) => Ok(Uses::For(Duration::from_millis(ms))),
            (None, None, Some(RawFlapping { on, off }), None) => Ok(Uses::Flapping { on: *on, off: *off, seen: 0 }),
            (None, None, None, Some(RawFlapping { on, off })) => {
                Ok(Uses::FlappingFor { on: Duration::from_millis(*on), off: Duration::from_millis(*off) })
            }
            _ => Err("a rule has only one of `times`, `for_ms`, `flapping` and `flapping_ms`"),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawWhen {
    purpose: Option<String>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    nth: Option<usize>,
    last_role: Option<String>,
}

impl From<RawWhen> for When {
    fn from(raw: RawWhen) -> Self {
        Self {
            purpose: raw.purpose,
            says: raw.says,
            lacks: raw.lacks,
            nth: raw.nth,
            last_role: raw.last_role,
            ..Self::any()
        }
    }
}
