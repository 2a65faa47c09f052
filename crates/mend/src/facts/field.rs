//! The name of a field, in the many ways errors write it.

use std::fmt;

use reknit_protocol::Value;

/// More than anybody nests; names come from outside.
const MAX_STEPS: usize = 16;
/// A longer name is none.
const MAX_LENGTH: usize = 128;

/// A field as an error names it: `amount`, `legs[0].to`. Whether a step is a key or a position is for the value to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field(Vec<String>);

impl Field {
    /// Reads `amount`, `legs[0].to`, `legs.0.to`, `user[name]`, `/legs/0/to`, `#/legs/0/to`, `$.legs[0].to`, `$amount`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > MAX_LENGTH {
            return None;
        }
        let pointer = text.strip_prefix('#').unwrap_or(text);
        if let Some(pointer) = pointer.strip_prefix('/') {
            return Self::from_steps(pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")));
        }
        let text = text.strip_prefix('$').unwrap_or(text);
        let steps = text.split(['.', '[', ']']).map(|step| step.trim_matches(['"', '\'']).to_owned());
        Self::from_steps(steps)
    }

    /// A field by its steps; empty ones do not count.
    pub fn from_steps(steps: impl IntoIterator<Item = impl Into<String>>) -> Option<Self> {
        let steps: Vec<String> = steps.into_iter().map(Into::into).filter(|step| !step.is_empty()).collect();
        (1..=MAX_STEPS).contains(&steps.len()).then_some(Self(steps))
    }

    /// A field written as a text or as a list of steps.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Array(steps) => Self::from_list(steps),
            _ => None,
        }
    }

    /// The list of steps that some validators write: `["body", "legs", 0]`.
    pub(super) fn from_list(list: &[Value]) -> Option<Self> {
        Self::from_steps(list.iter().filter_map(|step| match step {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }))
    }

    /// Its steps, never none.
    pub fn steps(&self) -> &[String] {
        &self.0
    }

    /// Without its first steps, if they are just these and others follow.
    #[must_use]
    pub(crate) fn without(self, heads: &[&str]) -> Self {
        match self.0.split_at_checked(heads.len()) {
            Some((start, rest)) if start == heads && !rest.is_empty() => Self(rest.to_vec()),
            _ => self,
        }
    }

    /// Without its first step, if others follow.
    #[must_use]
    pub(super) fn without_first(self) -> Self {
        match self.0.split_first() {
            Some((_, rest)) if !rest.is_empty() => Self(rest.to_vec()),
            _ => self,
        }
    }

    /// A field inside this one.
    #[must_use]
    pub(super) fn with(&self, step: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(step.to_owned());
        Self(steps)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step.bytes().all(|byte| byte.is_ascii_digit()) {
                true => write!(out, "[{step}]")?,
                false if index > 0 => write!(out, ".{step}")?,
                false => out.write_str(step)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_in_every_way_it_is_written() {
        for (text, expected) in [
            ("amount", Some("amount")),
            ("legs[0].to", Some("legs[0].to")),
            ("legs.0.to", Some("legs[0].to")),
            ("user[name]", Some("user.name")),
            ("/legs/0/to", Some("legs[0].to")),
            ("#/a~1b", Some("a/b")),
            ("$.legs[0]", Some("legs[0]")),
            ("$amount", Some("amount")),
            ("$['odd key']", Some("odd key")),
            (".lat", Some("lat")),
            ("", None),
            ("/", None),
            ("$", None),
        ] {
            assert_eq!(Field::parse(text).map(|field| field.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
