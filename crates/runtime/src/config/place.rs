//! Where the values of settings live, and how they look when they are shown.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reknit_dialogue::{Effort, Money, OnAuthError, Policy as RotationPolicy, Temperature};
use reknit_engine::{LlmDebug, Synthesis, Undeclared};
use reknit_journal::Durability;
use reknit_mend::{IndependentSteps, Learning, People, Resolution};
use reknit_protocol::{Effect, Object, Value};

use super::FindModel;
use super::duration::{millis, words};
use super::kind::{count, money, temperature};
use crate::telemetry::log::{Form, Level};

/// A place for a value. What it shows can be put in.
pub(super) trait Place {
    /// The value as it would be written; null if there is none.
    fn show(&self) -> Value;
    /// Puts a value in; none if it is no value for this place.
    fn put(&mut self, value: &Value) -> Option<()>;
}

/// A choice with a word for each of its values.
pub(super) trait Words: Copy + PartialEq + 'static {
    /// Each value with its word.
    const WORDS: &'static [(&'static str, Self)];
}

/// The words of a choice.
pub(super) fn words_of<T: Words>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

impl<T: Words> Place for T {
    fn show(&self) -> Value {
        T::WORDS.iter().find(|(_, value)| value == self).map_or(Value::Null, |(word, _)| (*word).into())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        let word = value.as_str()?;
        *self = T::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)?;
        Some(())
    }
}

impl Words for Synthesis {
    const WORDS: &'static [(&'static str, Self)] =
        &[("model", Self::Model), ("template", Self::Template), ("raw", Self::Raw)];
}

impl Words for Undeclared {
    const WORDS: &'static [(&'static str, Self)] = &[("send-again", Self::SendAgain), ("ask", Self::Ask)];
}

impl Words for Durability {
    const WORDS: &'static [(&'static str, Self)] =
        &[("full", Self::Full), ("normal", Self::Normal), ("off", Self::Off)];
}

impl Words for OnAuthError {
    const WORDS: &'static [(&'static str, Self)] = &[("end", Self::End), ("skip", Self::Skip)];
}

impl Words for RotationPolicy {
    const WORDS: &'static [(&'static str, Self)] =
        &[("advance", Self::Advance), ("prefer-primary", Self::PreferPrimary)];
}

impl Words for Option<Effort> {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("default", None),
        ("none", Some(Effort::None)),
        ("minimal", Some(Effort::Minimal)),
        ("low", Some(Effort::Low)),
        ("medium", Some(Effort::Medium)),
        ("high", Some(Effort::High)),
    ];
}

impl Words for Level {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("off", Self::Off),
        ("error", Self::Error),
        ("warn", Self::Warn),
        ("info", Self::Info),
        ("debug", Self::Debug),
    ];
}

impl Words for Form {
    const WORDS: &'static [(&'static str, Self)] = &[("text", Self::Text), ("json", Self::Json)];
}

/// Places that are on or off.
macro_rules! switches {
    ($($place:ty: $on:path, $off:path;)*) => {$(
        impl Place for $place {
            fn show(&self) -> Value {
                Value::Bool(*self == $on)
            }

            fn put(&mut self, value: &Value) -> Option<()> {
                *self = if value.as_bool()? { $on } else { $off };
                Some(())
            }
        }
    )*};
}

switches! {
    FindModel: FindModel::Allowed, FindModel::Off;
    IndependentSteps: IndependentSteps::Mended, IndependentSteps::Left;
    Learning: Learning::On, Learning::Off;
    LlmDebug: LlmDebug::On, LlmDebug::Off;
    People: People::Ask, People::Nobody;
    Resolution: Resolution::Once, Resolution::Off;
}

impl Place for bool {
    fn show(&self) -> Value {
        Value::Bool(*self)
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = value.as_bool()?;
        Some(())
    }
}

impl Place for u32 {
    fn show(&self) -> Value {
        u64::from(*self).into()
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = count(value)?;
        Some(())
    }
}

impl Place for usize {
    fn show(&self) -> Value {
        u64::try_from(*self).unwrap_or(u64::MAX).into()
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = Self::try_from(count(value)?).ok()?;
        Some(())
    }
}

/// Milliseconds.
impl Place for u64 {
    fn show(&self) -> Value {
        words(*self).into()
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = value.as_str().and_then(millis)?;
        Some(())
    }
}

impl Place for Temperature {
    fn show(&self) -> Value {
        Value::Number(self.to_number())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = temperature(value)?;
        Some(())
    }
}

impl Place for Option<Temperature> {
    fn show(&self) -> Value {
        self.map_or_else(|| "default".into(), |temperature| temperature.show())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = if value.as_str() == Some("default") { None } else { Some(temperature(value)?) };
        Some(())
    }
}

impl Place for Option<String> {
    fn show(&self) -> Value {
        self.as_deref().map_or(Value::Null, Value::from)
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = Some(value.as_str()?.to_owned());
        Some(())
    }
}

impl Place for Option<PathBuf> {
    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, |path| path.display().to_string().into())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = Some(value.as_str()?.into());
        Some(())
    }
}

/// Milliseconds, or none.
impl Place for Option<u64> {
    fn show(&self) -> Value {
        self.map_or(Value::Null, |ms| ms.show())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = Some(value.as_str().and_then(millis)?);
        Some(())
    }
}

impl Place for Option<Money> {
    fn show(&self) -> Value {
        self.and_then(|money| Value::parse(&money.to_string()).ok()).unwrap_or(Value::Null)
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        *self = Some(money(value)?);
        Some(())
    }
}

impl Place for Vec<u16> {
    fn show(&self) -> Value {
        Value::Array(self.iter().map(|status| u64::from(*status).into()).collect())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        let status = |value: &Value| count(value).and_then(|count| u16::try_from(count).ok());
        *self = value.as_array()?.iter().map(status).collect::<Option<_>>()?;
        Some(())
    }
}

impl Place for BTreeMap<String, Effect> {
    fn show(&self) -> Value {
        let class = |(name, class): (&String, &Effect)| (name.clone(), class.as_str().into());
        Value::Object(self.iter().map(class).collect::<Object>())
    }

    fn put(&mut self, value: &Value) -> Option<()> {
        let class = |(name, class): (&str, &Value)| Some((name.to_owned(), Effect::from_value(class).ok()?));
        *self = value.as_object()?.iter().map(class).collect::<Option<_>>()?;
        Some(())
    }
}
