//! Conversion between the fields of a [`Config`](super::Config) and the values that are written for them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use reknit_engine::{
    AgentMending, AskScope, CallsInText, GuardLevel, IfAbsent, LlmDebug, Metadata, ParameterRole, Plans, Synthesis,
    TextAnswers, UndeclaredPolicy, UnfitResults,
};
use reknit_journal::Durability;
use reknit_mend::{ErrorsInSuccess, IndependentSteps, Learning, PeoplePolicy, ResolutionPolicy};
use reknit_model_api::{Effort, Money, OnAuthError, RotationPolicy, Temperature};
use reknit_models::FormatSupport;
use reknit_protocol::{Number, Object, SideEffect, Value, parse_human_duration};
use reknit_registry::{Namespace, RedisUrl};
use reknit_tools::{BodyFormat, CommandOutput, PinPolicy, SandboxMode};
use tracing::level_filters::LevelFilter;

use super::authentication::{Authentication, McpAuthentication};
use super::log::Form;
use super::units::format_ms;
use super::webhook_url::WebhookUrl;
use super::{ByteSize, FindModel};

/// A type that can be written in a configuration. `from_value` reads what `to_value` returns, except for null.
pub(crate) trait Field: Sized {
    /// The value as a user would write it; null if the field is not set.
    fn to_value(&self) -> Value;
    /// Reads a value; `None` if it is of another type or out of range.
    fn from_value(value: &Value) -> Option<Self>;
}

/// A type whose values are each written as one word. The words `true` and `false` are written as booleans.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    const CHOICES: &'static [(&'static str, Self)];
}

pub(super) fn words<T: Choice>() -> Vec<&'static str> {
    T::CHOICES.iter().map(|(word, _)| *word).collect()
}

impl<T: Choice> Field for T {
    fn to_value(&self) -> Value {
        let word = T::CHOICES.iter().find(|(_, choice)| choice == self).map_or("", |(word, _)| *word);
        word.parse().map_or_else(|_| word.into(), Value::Bool)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let word = value.as_bool().map_or_else(|| value.as_str(), |on| Some(if on { "true" } else { "false" }))?;
        T::CHOICES.iter().find(|(known, _)| *known == word).map(|(_, choice)| *choice)
    }
}

macro_rules! choices {
    ($($type:ty { $($word:literal: $choice:expr),+ })*) => {$(
        impl Choice for $type {
            const CHOICES: &'static [(&'static str, Self)] = &[$(($word, $choice)),+];
        }
    )*};
}

choices! {
    bool { "true": true, "false": false }
    AgentMending { "spelling": Self::Spelling, "rules": Self::Rules, "models": Self::Models }
    ErrorsInSuccess { "detect": Self::Detect, "ignore": Self::Ignore }
    CallsInText { "true": Self::Made, "false": Self::Ignored }
    TextAnswers { "true": Self::Accepted, "false": Self::Refused }
    FindModel { "true": Self::Allowed, "false": Self::Off }
    IndependentSteps { "true": Self::Allowed, "false": Self::Denied }
    Learning { "true": Self::On, "false": Self::Off }
    LlmDebug { "true": Self::On, "false": Self::Off }
    PeoplePolicy { "true": Self::Ask, "false": Self::Nobody }
    Plans { "true": Self::Allowed, "false": Self::Off }
    ResolutionPolicy { "true": Self::Once, "false": Self::Off }
    Synthesis { "model": Self::Model, "template": Self::Template, "raw": Self::Raw }
    IfAbsent { "ask": Self::Ask, "send-again": Self::SendAgain }
    GuardLevel { "off": Self::Off, "targets": Self::Targets, "strict": Self::Strict }
    AskScope { "rules": Self::Rules, "all": Self::All, "plan": Self::Plan }
    SideEffect {
        "read": Self::Read, "idempotent": Self::Idempotent, "keyed": Self::Keyed, "undeclared": Self::Undeclared,
        "unknown": Self::Unknown, "unsafe": Self::Unsafe
    }
    ParameterRole {
        "target": Self::Target, "quantity": Self::Quantity, "switch": Self::Switch, "content": Self::Content
    }
    UndeclaredPolicy { "by-source": Self::BySource, "send-again": Self::SendAgain, "ask": Self::Ask }
    UnfitResults { "warn": Self::Warn, "fail": Self::Fail, "ignore": Self::Ignore }
    Durability { "full": Self::Full, "normal": Self::Normal, "off": Self::Off }
    OnAuthError { "end": Self::End, "skip": Self::Skip }
    PinPolicy { "confirm": Self::Confirm, "report": Self::Report, "off": Self::Off }
    SandboxMode { "off": Self::Off, "auto": Self::Auto, "required": Self::Required }
    RotationPolicy { "advance": Self::Advance, "prefer-primary": Self::PreferPrimary }
    Authentication {
        "bearer": Self::Bearer, "basic": Self::Basic, "header": Self::Header, "query": Self::Query, "cookie": Self::Cookie,
        "client-credentials": Self::ClientCredentials
    }
    McpAuthentication { "bearer": Self::Bearer, "oauth": Self::OAuth }
    BodyFormat { "json": Self::Json, "form": Self::Form, "text": Self::Text }
    CommandOutput { "json": Self::Json, "text": Self::Text, "lines": Self::Lines }
    FormatSupport { "schema": Self::Schema, "json": Self::Json, "text": Self::Text }
    LevelFilter { "off": Self::OFF, "error": Self::ERROR, "warn": Self::WARN, "info": Self::INFO, "debug": Self::DEBUG }
    Form { "text": Self::Text, "json": Self::Json }
    Option<Effort> {
        "default": None, "none": Some(Effort::None), "minimal": Some(Effort::Minimal), "low": Some(Effort::Low),
        "medium": Some(Effort::Medium), "high": Some(Effort::High)
    }
}

macro_rules! fields {
    ($($type:ty: to $to_value:expr, from $from_value:expr;)*) => {$(
        impl Field for $type {
            fn to_value(&self) -> Value {
                let to_value: fn(&Self) -> Value = $to_value;
                to_value(self)
            }

            fn from_value(value: &Value) -> Option<Self> {
                let from_value: fn(&Value) -> Option<Self> = $from_value;
                from_value(value)
            }
        }
    )*};
}

// `u64` is a number of milliseconds, `Vec<u16>` a list of HTTP statuses, `Vec<String>` of metadata keys or names of
// services. The credentials of a `RedisUrl` or a `WebhookUrl` are redacted. Without a `Temperature` the provider chooses it.
// An infinite `f64` becomes null, which no setting accepts.
fields! {
    u32: to |count| (*count).into(), from |value| whole_number(value)?.try_into().ok();
    usize: to |count| (*count).into(), from |value| u32::from_value(value)?.try_into().ok();
    u64: to |ms| format_ms(*ms).into(), from |value| parse_human_duration(value.as_str()?);
    ByteSize: to |size| size.to_string().into(), from |value| match value {
        Value::Number(_) => whole_number(value).filter(|bytes| *bytes == 0).map(ByteSize),
        value => ByteSize::parse(value.as_str()?),
    };
    Option<u64>: to |ms| ms.map_or(Value::Null, |ms| ms.to_value()), from |value| u64::from_value(value).map(Some);
    Duration:
        to |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).to_value(),
        from |value| u64::from_value(value).map(Self::from_millis);
    f64: to |number| Number::parse(&number.to_string()).map_or(Value::Null, Value::Number), from number;
    Temperature: to |temperature| temperature.to_number().into(), from |value| number(value)?.try_into().ok();
    Option<Temperature>:
        to |temperature| temperature.map_or_else(|| "default".into(), |temperature| temperature.to_value()),
        from |value| match value.as_str() {
            Some("default") => Some(None),
            _ => Temperature::from_value(value).map(Some),
        };
    Option<Money>:
        to |money| money.and_then(|money| Value::parse(&money.to_string()).ok()).unwrap_or(Value::Null),
        from |value| number(value)?.try_into().ok().map(Some);
    Option<PathBuf>:
        to |path| path.as_ref().map_or(Value::Null, |path| path.display().to_string().into()),
        from |value| Some(Some(value.as_str()?.into()));
    Option<String>:
        to |text| text.as_deref().map_or(Value::Null, Value::from),
        from |value| Some(Some(value.as_str()?.to_owned()));
    Option<RedisUrl>:
        to |url| url.as_ref().map_or(Value::Null, |url| url.to_string().into()),
        from |value| RedisUrl::parse(value.as_str()?).ok().map(Some);
    Option<WebhookUrl>:
        to |url| url.as_ref().map_or(Value::Null, |url| url.to_string().into()),
        from |value| WebhookUrl::parse(value.as_str()?).map(Some);
    Namespace: to |namespace| namespace.as_str().into(), from |value| Self::parse(value.as_str()?).ok();
    Object: to |object| Value::Object(object.clone()), from |value| value.as_object().cloned();
    Vec<u16>:
        to |statuses| statuses.iter().map(|status| u32::from(*status).into()).collect(),
        from |value| value.as_array()?.iter().map(error_status).collect();
    Vec<String>:
        to |keys| keys.iter().map(|key| Value::from(key.as_str())).collect(),
        from |value| value.as_array()?.iter().map(metadata_key).collect();
    BTreeMap<String, SideEffect>:
        to |classes| {
            let class = |(name, class): (&String, &SideEffect)| (name.clone(), class.as_str().into());
            Value::Object(classes.iter().map(class).collect::<Object>())
        },
        from |value| {
            let class = |(name, class): (&str, &Value)| Some((name.to_owned(), SideEffect::from_value(class).ok()?));
            value.as_object()?.iter().map(class).collect()
        };
}

fn metadata_key(value: &Value) -> Option<String> {
    value.as_str().filter(|key| Metadata::check_key(key).is_ok()).map(str::to_owned)
}

fn whole_number(value: &Value) -> Option<u64> {
    value.as_number()?.as_u64()
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.to_f64()),
        _ => None,
    }
}

fn error_status(value: &Value) -> Option<u16> {
    u16::try_from(whole_number(value)?).ok().filter(|status| (400..=599).contains(status))
}
