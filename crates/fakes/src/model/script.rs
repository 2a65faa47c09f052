//! The script of a model: rules in code or in a file.

use std::time::Duration;

use reknit_protocol::Value;
use serde::Deserialize;

use super::RequestMatcher;
use crate::Reply;
use crate::reply::RawReply;
use crate::rules::{Active, Rule};

/// The rules of a model in order. The first active rule that matches a request gives the reply.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(super) rules: Vec<Rule<RequestMatcher>>,
}

/// Why a script cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The JSON does not have the structure of a script.
    #[error("the JSON does not have the structure of a script")]
    Shape(#[from] serde_json::Error),
    /// A rule lacks a part, or has two that exclude each other.
    #[error("rule {rule} cannot be used: {problem}")]
    Rule {
        /// The number of the rule, from 1.
        rule: usize,
        /// What is wrong with the rule.
        problem: &'static str,
    },
}

impl Script {
    /// A script without rules: every request is answered with 500.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives this reply to every matching request.
    #[must_use]
    pub fn on(self, matcher: RequestMatcher, reply: Reply) -> Self {
        self.add(matcher, Active::Always, reply)
    }

    /// Gives this reply to the first matching request and leaves later ones to the following rules.
    #[must_use]
    pub fn once(self, matcher: RequestMatcher, reply: Reply) -> Self {
        self.times(1, matcher, reply)
    }

    /// Gives this reply to the first `times` matching requests and leaves later ones to the following rules.
    #[must_use]
    pub fn times(self, times: u32, matcher: RequestMatcher, reply: Reply) -> Self {
        self.add(matcher, Active::Times(times), reply)
    }

    /// Gives this reply for a time from the start of the server, by tokio's clock.
    #[must_use]
    pub fn during(self, time: Duration, matcher: RequestMatcher, reply: Reply) -> Self {
        self.add(matcher, Active::For(time), reply)
    }

    /// Gives this reply to `on` matching requests, leaves `off` to the following rules, and so on.
    #[must_use]
    pub fn flapping(self, on: u32, off: u32, matcher: RequestMatcher, reply: Reply) -> Self {
        self.add(matcher, Active::Flapping { on, off, seen: 0 }, reply)
    }

    /// Gives this reply for the time `on`, leaves requests to the following rules for the time `off`, and so on.
    #[must_use]
    pub fn flapping_for(self, on: Duration, off: Duration, matcher: RequestMatcher, reply: Reply) -> Self {
        self.add(matcher, Active::FlappingFor { on, off }, reply)
    }

    fn add(mut self, matcher: RequestMatcher, active: Active, reply: Reply) -> Self {
        self.rules.push(Rule { matcher, active, reply });
        self
    }

    /// Reads a script from JSON.
    ///
    /// ```
    /// use reknit_protocol::Value;
    /// use reknit_fakes::model::Script;
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
    /// | `when` | `purpose`, `says`, `lacks`, `nth`, `last_role`, as in [`RequestMatcher`]; every request if it is left out |
    /// | `times` | for how many requests the rule is active |
    /// | `for_ms` | how long the rule is active, from the start of the server |
    /// | `flapping: {"on": 2, "off": 3}` | active for two requests, then not for three, and so on |
    /// | `flapping_ms: {"on": 500, "off": 1500}` | the same by time |
    /// | `reply` | the reply |
    ///
    /// | in a reply | meaning |
    /// |---|---|
    /// | `text`, `reasoning`, `calls: [{"name": "f", "arguments": "{}"}]` | text, reasoning and tool calls of the model |
    /// | `body`, `status`, `headers`, `content_type` | exactly this HTTP response |
    /// | `refusal` | `"context_length"` or `{"content_filter": "the reason"}` |
    /// | `retry_after` | the header, in seconds |
    /// | `delay_ms`, `first_token_after_ms`, `event_every_ms` | waits before the head, after it, and between events |
    /// | `fault` | `"reset"`, `"silence"`, `{"cut_after": bytes}`, `{"cut_after_events": n}`, `{"stall_after": bytes}`, `{"stall_after_events": n}` |
    /// | `malformed_event` | the number of an event that is not valid JSON |
    /// | `without_terminator` | `true`: a stream ends without its last event |
    /// | `giant_bytes` | how many blanks follow the body |
    /// | `finish_reason`, `usage: {"prompt": 10, "completion": 5}` | what the model reports about its answer |
    ///
    /// Fails if the JSON has another structure, an unknown key, or a rule that cannot be used.
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
            let active = rule.active().map_err(problem)?;
            script = script.add(rule.when, active, Reply::try_from(rule.reply).map_err(problem)?);
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
    when: RequestMatcher,
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
    fn active(&self) -> Result<Active, &'static str> {
        match (self.times, self.for_ms, &self.flapping, &self.flapping_ms) {
            (None, None, None, None) => Ok(Active::Always),
            (Some(times), None, None, None) => Ok(Active::Times(times)),
            (None, Some(ms), None, None) => Ok(Active::For(Duration::from_millis(ms))),
            (None, None, Some(RawFlapping { on, off }), None) => Ok(Active::Flapping { on: *on, off: *off, seen: 0 }),
            (None, None, None, Some(RawFlapping { on, off })) => {
                Ok(Active::FlappingFor { on: Duration::from_millis(*on), off: Duration::from_millis(*off) })
            }
            _ => Err("a rule may have only one of `times`, `for_ms`, `flapping` and `flapping_ms`"),
        }
    }
}
