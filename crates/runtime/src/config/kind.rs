//! What may be written for a setting.

use reknit_dialogue::{Money, Temperature};
use reknit_protocol::{Number, Object, Value};

use super::duration::millis;

/// What may be written for a setting.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Count {
        /// The least it may be.
        least: u32,
        /// The most it may be.
        most: u32,
    },
    /// A time with its unit.
    Time {
        /// The least it may be, in milliseconds.
        least_ms: u64,
    },
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// How freely a model may choose its words: a number from 0 to 2.
    Temperature,
    /// The same, or the word `default` for what the provider likes.
    TemperatureOrDefault,
    /// Statuses of HTTP that say that a call failed.
    Statuses,
    /// Classes of effects by the names of tools.
    Classes,
    /// A price for a million tokens.
    Price,
    /// An amount of money.
    Money,
    /// Any text that is not empty: no file and no model is called nothing.
    Text,
}

impl Kind {
    /// What to write, for whoever wrote something else.
    pub fn wanted(self) -> String {
        match self {
            Self::Switch => "write `true` or `false`".to_owned(),
            Self::Count { least, most } => format!("write a whole number from {least} to {most}"),
            Self::Time { least_ms: 0 } => "write a time with its unit, like `500ms`, `30s` or `2 min`".to_owned(),
            Self::Time { .. } => "write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`".to_owned(),
            Self::Word(words) => format!("write one of {}", quoted(&words())),
            Self::Temperature => "write a number from 0 to 2, with at most two digits behind the point".to_owned(),
            Self::TemperatureOrDefault => "write a number from 0 to 2, or `default`".to_owned(),
            Self::Statuses => "write a list of statuses from 400 to 599".to_owned(),
            Self::Classes => {
                "write a class for each name: `read`, `idempotent`, `keyed`, `undeclared` or `unsafe`".to_owned()
            }
            Self::Price => "write a number that is not negative".to_owned(),
            Self::Money => "write an amount from 0 to 1000000000".to_owned(),
            Self::Text => "write a text that is not empty".to_owned(),
        }
    }

    /// Whether it is written in quotes in a file.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Time { .. } | Self::Word(_) | Self::Text)
    }

    /// Whether a value may stand here.
    pub(super) fn allows(self, value: &Value) -> bool {
        match self {
            Self::Switch => matches!(value, Value::Bool(_)),
            Self::Count { least, most } => count(value).is_some_and(|count| (least..=most).contains(&count)),
            Self::Time { least_ms } => value.as_str().and_then(millis).is_some_and(|ms| ms >= least_ms),
            Self::Word(words) => value.as_str().is_some_and(|word| words().contains(&word)),
            Self::Temperature => temperature(value).is_some(),
            Self::TemperatureOrDefault => value.as_str() == Some("default") || temperature(value).is_some(),
            Self::Statuses => {
                let is_status = |value: &Value| count(value).is_some_and(|count| (400..=599).contains(&count));
                value.as_array().is_some_and(|statuses| statuses.iter().all(is_status))
            }
            Self::Classes => value.as_object().is_some_and(|classes| {
                classes.iter().all(|(_, class)| reknit_protocol::Effect::from_value(class).is_ok())
            }),
            Self::Price => number(value).is_some_and(|price| price >= 0.0),
            Self::Money => money(value).is_some(),
            // What was no text has become one with marks in it: no file is called so.
            Self::Text => value
                .as_str()
                .is_some_and(|text| !text.trim().is_empty() && !text.contains(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// Reads what the environment holds. A list is divided by commas.
    pub(super) fn read(self, text: &str) -> Option<Value> {
        let value = match self {
            Self::Switch if text.eq_ignore_ascii_case("true") => Value::Bool(true),
            Self::Switch if text.eq_ignore_ascii_case("false") => Value::Bool(false),
            Self::Switch => return None,
            Self::Count { .. } => Value::from(u64::from(text.parse::<u32>().ok()?)),
            Self::Temperature | Self::Price | Self::Money => Value::Number(Number::parse(text).ok()?),
            Self::TemperatureOrDefault => Number::parse(text).map_or_else(|_| text.into(), Value::Number),
            Self::Statuses => {
                let status = |text: &str| text.trim().parse::<u64>().ok().map(Value::from);
                Value::Array(text.split(',').map(status).collect::<Option<_>>()?)
            }
            Self::Classes => {
                let class = |text: &str| {
                    text.split_once('=').map(|(name, class)| (name.trim().to_owned(), class.trim().into()))
                };
                Value::Object(text.split(',').map(class).collect::<Option<Object>>()?)
            }
            Self::Time { .. } | Self::Word(_) | Self::Text => text.into(),
        };
        self.allows(&value).then_some(value)
    }
}

/// A whole number that is not negative.
pub(super) fn count(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) if number.is_integer() => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        _ => None,
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.to_f64()),
        _ => None,
    }
}

pub(super) fn temperature(value: &Value) -> Option<Temperature> {
    number(value).and_then(|number| Temperature::try_from(number).ok())
}

pub(super) fn money(value: &Value) -> Option<Money> {
    number(value).and_then(|number| Money::try_from(number).ok())
}

pub(super) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
