//! Which calls are the same: business keys, and what the journal knows about one; calls that failed but may have taken effect.

use std::collections::BTreeMap;
use std::fmt;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{BusinessKey, CapabilityName, KeyRule, Number, Object, RunId, ToolName, Value, exact};
use serde::{Deserialize, Serialize};

use crate::digest::business_key_id;
use crate::guard::Earlier;
use crate::times::utc_time;

/// The receipt of an earlier call with the same business key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownReceipt {
    pub run: RunId,
    /// Its step; inside a session with its turn: `turn-1/call-1`.
    pub step: String,
    /// When the call succeeded, in milliseconds since 1970.
    pub at_ms: i64,
    #[serde(with = "exact")]
    pub result: Value,
}

/// Another call with the same business key whose outcome is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyHolder {
    pub key: String,
    pub run: RunId,
    /// Its step; inside a session with its turn: `turn-1/call-1`.
    pub step: String,
    /// When the call was made, in milliseconds since 1970.
    pub since_ms: i64,
    /// When the window of the key ends, in milliseconds since 1970.
    pub until_ms: i64,
    /// Whether the run has ended, so that only a person can settle the outcome.
    pub has_ended: bool,
}

/// What the journal stores about the key of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum KeySettlement {
    /// The deed is done, with this receipt.
    Done(crate::ResultHandle),
    /// The call had no effect: another one may do the deed.
    Released,
}

/// What the journal knew about the key of a call that was not sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyFinding {
    /// Another call has done the deed.
    Receipt {
        run: RunId,
        step: String,
        /// When the call succeeded, in milliseconds since 1970.
        at_ms: i64,
    },
    /// The outcome of another call is not known.
    Held(KeyHolder),
}

/// The key of a call with these parameters. Fails with the field that has no value.
pub(crate) fn business_key<'r>(
    rule: &'r KeyRule,
    (agent, capability): (&str, &str),
    parameters: &Object,
) -> Result<BusinessKey, &'r str> {
    let values = rule.values(parameters)?;
    let id = business_key_id(agent, capability, &Value::Object(values.clone()).canonical());
    Ok(BusinessKey { id, values, window_ms: rule.window_s.saturating_mul(1_000) })
}

impl fmt::Display for KeyFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receipt { run, step, at_ms } => {
                let time = utc_time(*at_ms);
                write!(out, "the receipt of an equal call was used: step `{step}` of run `{run}` at {time}")
            }
            Self::Held(holder) => holder.fmt(out),
        }
    }
}

/// Who has the key, and what a person can do about it.
impl fmt::Display for KeyHolder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, run, step, since_ms, has_ended, .. } = self;
        let since = utc_time(*since_ms);
        write!(out, "step `{step}` of run `{run}` made a call with the same business key at {since}, ")?;
        if *has_ended {
            write!(
                out,
                "and the run ended without its outcome; find out what became of it, then write \
                 `reknit keys settle {key} --result JSON` or `reknit keys forget {key}`"
            )
        } else {
            write!(
                out,
                "and its outcome is not known yet; look with `reknit runs show {run}`, continue it with \
                 `reknit runs resume {run}`, or free the key with `reknit keys forget {key}`"
            )
        }
    }
}

/// A tool call, reduced to what decides whether another call is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UncertainCall {
    #[serde(rename = "agent")]
    pub(crate) tool: ToolName,
    pub(crate) capability: CapabilityName,
    #[serde(with = "exact")]
    pub(crate) parameters: Object,
}

/// What a machine must not do, because of what happened before it started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Avoided {
    /// Calls that may have taken effect.
    pub(crate) calls: Vec<UncertainCall>,
    /// Calls that a person denied.
    pub(crate) denied: Vec<UncertainCall>,
    /// Learned rules whose change a tool rejected, each with the error.
    pub(crate) rules: BTreeMap<String, String>,
    /// What was read before.
    pub(crate) earlier: Earlier,
}

impl UncertainCall {
    /// Whether another call is the same, except that a number or a boolean may be written as text, and a key in another
    /// spelling.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.capability == other.capability
            && are_same_objects(&self.parameters, &other.parameters)
    }
}

fn are_same_objects(one: &Object, other: &Object) -> bool {
    one.len() == other.len()
        && one.iter().all(|(name, value)| {
            let alike = || other.iter().find(|(key, _)| are_alike(key, name)).map(|(_, value)| value);
            other.get(name).or_else(alike).is_some_and(|other| are_same_values(value, other))
        })
}

fn are_same_values(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => are_same_objects(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_same_values(one, other))
        }
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            Number::parse(text.trim()).is_ok_and(|written| written == *number)
        }
        (Value::String(text), Value::Bool(flag)) | (Value::Bool(flag), Value::String(text)) => {
            text.trim().eq_ignore_ascii_case(&flag.to_string())
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(agent: &str, parameters: &str) -> Result<String, String> {
        let rule = KeyRule::new(["order_id", "amount"]);
        let parameters = Value::parse(parameters).unwrap().as_object().unwrap().clone();
        let key = business_key(&rule, (agent, "refund"), &parameters);
        key.map(|key| key.id).map_err(str::to_owned)
    }

    #[test]
    fn calls_of_one_deed_have_the_same_key() {
        let first = key("shop", r#"{"order_id": {"a": 1, "b": 2}, "amount": 10}"#);
        for same in [
            r#"{"amount": 10.0, "order_id": {"b": 2, "a": 1}, "note": "again"}"#,
            r#"{"order_id": {"a": 1.0, "b": 2}, "amount": 1e1}"#,
        ] {
            assert_eq!(key("shop", same), first, "{same}");
        }
    }

    #[test]
    fn another_value_or_tool_is_another_deed() {
        let first = key("shop", r#"{"order_id": 7, "amount": 10}"#);
        for other in [
            r#"{"order_id": 7, "amount": 10.01}"#,
            r#"{"order_id": 8, "amount": 10}"#,
            r#"{"order_id": "7", "amount": 10}"#,
            r#"{"order_id": 10, "amount": 7}"#,
        ] {
            assert_ne!(key("shop", other), first, "{other}");
        }
        assert_ne!(key("store", r#"{"order_id": 7, "amount": 10}"#), first);
        assert_eq!(key("shop", r#"{"order_id": 7}"#), Err("amount".to_owned()));
    }

    #[test]
    fn a_call_is_the_same_if_only_types_differ() {
        let call = |parameters: &str| UncertainCall {
            tool: "shop".into(),
            capability: "order".into(),
            parameters: Value::parse(parameters).unwrap().as_object().unwrap().clone(),
        };
        let first = call(r#"{"id": 8, "gift": true, "items": [{"count": 1}]}"#);
        assert!(first.is_same_as(&call(r#"{"items": [{"Count": "1"}], "ID": "8", "gift": "True"}"#)));
        for other in [
            r#"{"id": 9, "gift": true, "items": [{"count": 1}]}"#,
            r#"{"id": 8, "gift": true, "items": [{"count": 1}, {"count": 1}]}"#,
            r#"{"id": 8, "gift": true, "items": [{"count": 1}], "note": "x"}"#,
            r#"{"id": 8, "gift": "yes", "items": [{"count": 1}]}"#,
        ] {
            assert!(!first.is_same_as(&call(other)), "{other}");
        }
    }
}
