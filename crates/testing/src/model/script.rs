//! What the model says to what, in code or in a file.

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
    /// A reply has `text`, `calls` or `body`, and may have `reasoning`, `status`, `retry_after`, `delay_ms`,
    /// `finish_reason` and a `fault`: `"reset"`, `"silence"`, `{"cut_after": bytes}` or `{"stall_after": bytes}`. Anything else is an error.
    pub fn from_value(value: &Value) -> Result<Self, ScriptError> {
        let raw: RawScript = serde_json::from_str(&value.to_string())?;
        let mut script = Self::new();
        for (index, rule) in raw.rules.into_iter().enumerate() {
            let reply =
                Reply::try_from(rule.reply).map_err(|problem| ScriptError::Rule { rule: index + 1, problem })?;
            script = script.add(rule.when.into(), rule.times.map_or(Uses::Always, Uses::Times), reply);
        }
        Ok(script)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    rules: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(default)]
    when: RawWhen,
    times: Option<u32>,
    reply: RawReply,
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
}

impl From<RawWhen> for When {
    fn from(raw: RawWhen) -> Self {
        Self { purpose: raw.purpose, says: raw.says, lacks: raw.lacks, nth: raw.nth, ..Self::any() }
    }
}
