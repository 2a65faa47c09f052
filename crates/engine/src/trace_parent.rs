//! Where a run comes from: its parent span in W3C Trace Context, and the run that a fork goes on from.

use std::fmt;

use reknit_protocol::RunId;
use serde::{Deserialize, Serialize};

/// The id of a trace: all spans of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// The id of a span in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

/// The span of another program that a run is part of, in the format of W3C Trace Context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    pub trace: TraceId,
    pub span: SpanId,
    pub flags: u8,
}

/// A text that is not a trace context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a trace context, which looks like `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`")]
pub struct TraceParentError(String);

impl std::str::FromStr for TraceParent {
    type Err = TraceParentError;

    /// Parses `version-trace-span-flags`. In later versions, parts behind the flags are ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || TraceParentError(text.to_owned());
        let mut parts = text.trim().split('-');
        let mut part = || parts.next().ok_or_else(wrong);
        let (version, trace, span, flags) = (part()?, part()?, part()?, part()?);
        let [version] = bytes::<1>(version).filter(|[version]| *version != 0xff).ok_or_else(wrong)?;
        let trace = bytes::<16>(trace).filter(|bytes| *bytes != [0; 16]).ok_or_else(wrong)?;
        let span = bytes::<8>(span).filter(|bytes| *bytes != [0; 8]).ok_or_else(wrong)?;
        let [flags] = bytes::<1>(flags).ok_or_else(wrong)?;
        if version == 0 && parts.next().is_some() {
            return Err(wrong());
        }
        Ok(Self { trace: TraceId(trace), span: SpanId(span), flags })
    }
}

impl TryFrom<String> for TraceParent {
    type Error = TraceParentError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> Self {
        parent.to_string()
    }
}

/// Parses exactly `N` bytes in lower-case hexadecimal.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let is_digit = |digit: &u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit);
    if digits.len() != N * 2 || !digits.iter().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..text.len()).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

impl fmt::Display for TraceParent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Where a fork comes from: a run that starts with the answers of another one, and goes its own way from one point on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    pub run: RunId,
    /// The step, or the turn of a session, from which on the fork goes its own way.
    pub at: String,
    /// What becomes of the fork's calls that do not only read.
    #[serde(default)]
    pub writes: ForkWrites,
}

/// What becomes of the calls of a fork that do not only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkWrites {
    /// They are not sent. A call that the other run has made as well gets the same answer; any other fails.
    #[default]
    Recorded,
    /// They are sent.
    Sent,
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_is_written_as_it_was_read_with_all_its_flags() {
        for text in [GIVEN, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02"] {
            let parent: TraceParent = text.parse().unwrap();
            assert_eq!(parent.to_string(), text);
            let written = serde_json::to_string(&parent).unwrap();
            assert_eq!(serde_json::from_str::<TraceParent>(&written).unwrap(), parent);
        }
        assert!(serde_json::from_str::<TraceParent>("\"there\"").is_err());
    }

    #[test]
    fn a_text_that_is_not_a_trace_context_is_refused() {
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-ä0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        ] {
            assert!(text.parse::<TraceParent>().is_err(), "{text}");
        }
        assert!("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more".parse::<TraceParent>().is_ok());
    }
}
