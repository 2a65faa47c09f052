//! The path of a field, in the notations that errors use.

use std::fmt;

use reknit_protocol::Value;

/// The most segments of a path. Paths come from outside text, so they are bounded.
const MAX_SEGMENTS: usize = 16;
/// A longer text is not taken as a path.
const MAX_LENGTH: usize = 128;

/// The path of a field as an error writes it: `amount`, `legs[0].to`. Whether a segment is a key or an index depends on the
/// value it is looked up in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field(Vec<String>);

impl Field {
    /// Parses `amount`, `legs[0].to`, `legs.0.to`, `user[name]`, `/legs/0/to`, `#/legs/0/to`, `$.legs[0].to`, `$amount`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > MAX_LENGTH {
            return None;
        }
        let pointer = text.strip_prefix('#').unwrap_or(text);
        if let Some(pointer) = pointer.strip_prefix('/') {
            return Self::from_segments(
                pointer.split('/').map(|segment| segment.replace("~1", "/").replace("~0", "~")),
            );
        }
        let text = text.strip_prefix('$').unwrap_or(text);
        let segments = text.split(['.', '[', ']']).map(|segment| segment.trim_matches(['"', '\'']).to_owned());
        Self::from_segments(segments)
    }

    /// A path of these segments, without the empty ones. `None` if it has no segment or too many.
    pub fn from_segments(segments: impl IntoIterator<Item = impl Into<String>>) -> Option<Self> {
        let segments: Vec<String> =
            segments.into_iter().map(Into::into).filter(|segment| !segment.is_empty()).collect();
        (1..=MAX_SEGMENTS).contains(&segments.len()).then_some(Self(segments))
    }

    /// A path written as a string or as a list of segments.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Array(segments) => Self::from_list(segments),
            _ => None,
        }
    }

    /// A path written as a list of segments: `["body", "legs", 0]`.
    pub(super) fn from_list(list: &[Value]) -> Option<Self> {
        Self::from_segments(list.iter().filter_map(|segment| match segment {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }))
    }

    /// Its segments; there is at least one.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    /// The path without this prefix. A path that does not start with it, or has nothing behind it, stays as it is.
    #[must_use]
    pub(crate) fn without_prefix(self, prefix: &[&str]) -> Self {
        match self.0.split_at_checked(prefix.len()) {
            Some((start, rest)) if start == prefix && !rest.is_empty() => Self(rest.to_vec()),
            _ => self,
        }
    }

    /// The path without its first segment, if others follow.
    #[must_use]
    pub(super) fn without_first(self) -> Self {
        match self.0.split_first() {
            Some((_, rest)) if !rest.is_empty() => Self(rest.to_vec()),
            _ => self,
        }
    }

    #[must_use]
    pub(super) fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            match segment.bytes().all(|byte| byte.is_ascii_digit()) {
                true => write!(out, "[{segment}]")?,
                false if index > 0 => write!(out, ".{segment}")?,
                false => out.write_str(segment)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_parsed_in_every_notation() {
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
