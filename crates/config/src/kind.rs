//! Which values a setting accepts.

use std::collections::BTreeMap;

use reknit_model_api::{Money, Temperature};
use reknit_protocol::{Number, Object, SideEffect, Value};
use reknit_registry::{Namespace, RedisUrl};

use super::ByteSize;
use super::field::{Choice, Field, words};
use super::webhook_url::WebhookUrl;

/// Which values a setting accepts.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    /// `true` or `false`.
    Switch,
    Count {
        min: u32,
        max: u32,
    },
    /// A duration with its unit.
    Duration {
        min_ms: u64,
    },
    /// A number of bytes with its unit.
    Size,
    Word(fn() -> Vec<&'static str>),
    /// A sampling temperature from 0 to 2.
    Temperature,
    /// A sampling temperature, or the word `default` for the provider's own.
    TemperatureOrDefault,
    /// HTTP statuses from 400 to 599.
    Statuses,
    MetadataKeys,
    /// Side effect classes by the names of tools.
    SideEffects,
    /// Parameters of a call, as templates.
    Templates,
    /// A text, a table or a list with placeholders.
    AnyTemplate,
    /// Types or JSON Schemas by the names of parameters.
    ParameterTable,
    /// Any values by name.
    Table,
    /// Texts by name.
    TextTable,
    /// A list of texts.
    TextList,
    /// A price per million tokens.
    Price,
    Money,
    /// Text that is not empty.
    Text,
    ServiceNames,
    RedisAddress,
    WebhookAddress,
    /// The first part of the keys of a registry.
    RegistryNamespace,
}

pub(crate) const COUNT: SettingKind = SettingKind::Count { min: 0, max: u32::MAX };
pub(crate) const PORT: SettingKind = SettingKind::Count { min: 1, max: 65_535 };
pub(crate) const POSITIVE: SettingKind = SettingKind::Count { min: 1, max: u32::MAX };
pub(crate) const PERCENT: SettingKind = SettingKind::Count { min: 1, max: 100 };
pub(crate) const DURATION: SettingKind = SettingKind::Duration { min_ms: 0 };
pub(crate) const POSITIVE_DURATION: SettingKind = SettingKind::Duration { min_ms: 1 };

pub(crate) const fn word<T: Choice>() -> SettingKind {
    SettingKind::Word(words::<T>)
}

impl SettingKind {
    /// Says what to write instead of a value that is not accepted.
    pub fn expected(self) -> String {
        match self {
            Self::Switch => "write `true` or `false`".to_owned(),
            Self::Count { min, max } => format!("write a whole number from {min} to {max}"),
            Self::Duration { min_ms: 0 } => "write a time with its unit, like `500ms`, `30s` or `2 min`".to_owned(),
            Self::Duration { .. } => {
                "write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`".to_owned()
            }
            Self::Size => "write a size with its unit, like `500 MB` or `4 GB`".to_owned(),
            Self::Word(words) => format!("write one of {}", quoted(&words())),
            Self::Temperature => "write a number from 0 to 2, with at most two decimals".to_owned(),
            Self::TemperatureOrDefault => "write a number from 0 to 2, or `default`".to_owned(),
            Self::Statuses => "write a list of statuses from 400 to 599".to_owned(),
            Self::MetadataKeys => {
                "write a list of keys of letters, digits, `_`, `-` and `.`, like `[\"tenant\"]`".to_owned()
            }
            Self::SideEffects => {
                "write a class for each name: `read`, `idempotent`, `keyed`, `undeclared`, `unknown` or `unsafe`".to_owned()
            }
            Self::Templates => "write the parameters as a table, like `{ id = \"{{call.id}}\" }`".to_owned(),
            Self::AnyTemplate => "write a text, a table or a list".to_owned(),
            Self::ParameterTable => {
                "write a type or a JSON Schema for each name, like `{ city = \"string\", days = { type = \"integer\" } }`".to_owned()
            }
            Self::Table => "write a table, like `{ top_k = 40 }`".to_owned(),
            Self::TextTable => "write a table of texts, like `{ \"X-Team\" = \"orders\" }`".to_owned(),
            Self::TextList => "write a list of texts, like `[\"orders\", \"refunds\"]`".to_owned(),
            Self::Price => "write a number that is not negative".to_owned(),
            Self::Money => "write an amount from 0 to 1000000000".to_owned(),
            Self::Text => "write a text that is not empty".to_owned(),
            Self::ServiceNames => {
                "write a list of names of letters, digits, `_`, `-` and `.`, like `[\"weather-tool\"]`".to_owned()
            }
            Self::RedisAddress => "write the address of a Redis server, like `redis://127.0.0.1:6379`".to_owned(),
            Self::WebhookAddress => "write an http or https address, like `https://example.com/approvals`".to_owned(),
            Self::RegistryNamespace => "write letters, digits, `_`, `-`, `.` and `:`".to_owned(),
        }
    }

    /// A value that is not accepted, for a message. What should be an address with a password is not shown.
    pub(super) fn shown(self, written: String) -> String {
        if matches!(self, Self::RedisAddress | Self::WebhookAddress) { "not shown".to_owned() } else { written }
    }

    /// Whether a file holds the value in quotes.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            Self::Duration { .. }
                | Self::Size
                | Self::Word(_)
                | Self::Text
                | Self::RedisAddress
                | Self::WebhookAddress
                | Self::RegistryNamespace
        )
    }

    pub(crate) fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Switch => value.as_bool().is_some(),
            Self::Count { min, max } => u32::from_value(value).is_some_and(|count| (min..=max).contains(&count)),
            Self::Duration { min_ms } => u64::from_value(value).is_some_and(|ms| ms >= min_ms),
            Self::Size => ByteSize::from_value(value).is_some(),
            Self::Word(words) => value.as_str().is_some_and(|word| words().contains(&word)),
            Self::Temperature => Temperature::from_value(value).is_some(),
            Self::TemperatureOrDefault => Option::<Temperature>::from_value(value).is_some(),
            Self::Statuses => Vec::<u16>::from_value(value).is_some(),
            Self::MetadataKeys | Self::ServiceNames => Vec::<String>::from_value(value).is_some(),
            Self::RedisAddress => Option::<RedisUrl>::from_value(value).is_some(),
            Self::WebhookAddress => Option::<WebhookUrl>::from_value(value).is_some(),
            Self::RegistryNamespace => Namespace::from_value(value).is_some(),
            Self::SideEffects => BTreeMap::<String, SideEffect>::from_value(value).is_some(),
            Self::Templates | Self::Table => value.as_object().is_some(),
            Self::AnyTemplate => matches!(value, Value::String(_) | Value::Object(_) | Value::Array(_)),
            Self::ParameterTable => {
                let is_schema = |value: &Value| matches!(value, Value::String(_) | Value::Object(_));
                value.as_object().is_some_and(|table| table.iter().all(|(_, schema)| is_schema(schema)))
            }
            Self::TextTable => {
                value.as_object().is_some_and(|table| table.iter().all(|(_, text)| text.as_str().is_some()))
            }
            Self::TextList => value.as_array().is_some_and(|list| list.iter().all(|text| text.as_str().is_some())),
            Self::Price => f64::from_value(value).is_some_and(|price| price >= 0.0),
            Self::Money => Option::<Money>::from_value(value).is_some(),
            // A variable that is not UTF-8 arrives with replacement characters, and names no file.
            Self::Text => value
                .as_str()
                .is_some_and(|text| !text.trim().is_empty() && !text.contains(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// Parses the text of an environment variable. The items of a list are separated by commas.
    pub(super) fn parse(self, text: &str) -> Option<Value> {
        let value = match self {
            Self::Switch => Value::Bool(text.to_ascii_lowercase().parse().ok()?),
            Self::Count { .. } => text.parse::<u32>().ok()?.into(),
            Self::Temperature | Self::Price | Self::Money => Number::parse(text).ok()?.into(),
            Self::TemperatureOrDefault => Number::parse(text).map_or_else(|_| text.into(), Value::Number),
            Self::Statuses => {
                let status = |text: &str| text.trim().parse::<u64>().ok().map(Value::from);
                Value::Array(text.split(',').map(status).collect::<Option<_>>()?)
            }
            Self::MetadataKeys | Self::ServiceNames => text.split(',').map(|key| Value::from(key.trim())).collect(),
            Self::SideEffects => {
                let class = |pair: &str| {
                    pair.split_once('=').map(|(name, class)| (name.trim().to_owned(), class.trim().into()))
                };
                Value::Object(text.split(',').map(class).collect::<Option<Object>>()?)
            }
            Self::Templates
            | Self::AnyTemplate
            | Self::ParameterTable
            | Self::Table
            | Self::TextTable
            | Self::TextList => Value::parse(text).ok()?,
            Self::Duration { .. }
            | Self::Size
            | Self::Word(_)
            | Self::Text
            | Self::RedisAddress
            | Self::WebhookAddress
            | Self::RegistryNamespace => text.into(),
        };
        self.accepts(&value).then_some(value)
    }
}

pub(super) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
