//! The names of traces and spans, as W3C Trace Context writes them.

use std::fmt;

use reknit_protocol::RunId;
use serde::{Deserialize, Serialize};

use crate::digest::digest_of_texts;
use crate::machine::Machine;

/// The name of a trace: all spans of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// The name of a span in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

/// The span of somebody else that a run is a part of. It is shown and written as W3C Trace Context does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    trace: TraceId,
    span: SpanId,
    flags: u8,
}

/// Where the spans of a run belong, and how they are called.
///
/// The names follow from the run's first event alone: whoever takes a run over calls its spans as the process before did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    run: RunId,
    /// What the names of the machine's effects begin with in the run, if it is one inside another.
    inside: String,
    trace: TraceId,
    parent: Option<SpanId>,
    flags: u8,
}

/// A text that should name a parent and does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no trace context; it is written like `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`")]
pub struct TraceParentError(String);

/// The flag that says that the span is recorded.
const SAMPLED: u8 = 1;

impl TraceContext {
    /// Where the spans of a machine belong, by its first event.
    pub fn of(machine: &Machine) -> Self {
        Self::new(machine.id(), machine.trace_parent())
    }

    /// A trace of the run's own, or a part of somebody's.
    pub fn new(run: &RunId, parent: Option<TraceParent>) -> Self {
        let own = TraceId(first(digest_of_texts(&["trace", run.as_str()])));
        Self {
            run: run.clone(),
            inside: String::new(),
            trace: parent.map_or(own, |parent| parent.trace),
            parent: parent.map(|parent| parent.span),
            flags: parent.map_or(SAMPLED, |parent| parent.flags),
        }
    }

    /// Where the spans of a machine belong whose effects have names that begin so.
    pub(crate) fn within(&self, name: &str, parent: SpanId) -> Self {
        Self { inside: format!("{}{name}/", self.inside), parent: Some(parent), ..self.clone() }
    }

    /// Whether it is about a machine inside another.
    pub(crate) fn is_nested(&self) -> bool {
        !self.inside.is_empty()
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The trace.
    pub fn trace(&self) -> TraceId {
        self.trace
    }

    /// The span that the whole machine is a part of: somebody else's, if it is no machine inside another.
    pub fn parent(&self) -> Option<SpanId> {
        self.parent
    }

    /// Whether anybody wants to see its spans.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The span of something in the run: of an effect, by its id, or of a step.
    pub fn span(&self, key: &str) -> SpanId {
        SpanId(first(digest_of_texts(&["span", self.run.as_str(), &format!("{}{key}", self.inside)])))
    }

    /// What is sent with a call, so that whoever serves it can say that its work is a part of the span of the effect.
    pub fn traceparent(&self, effect: &str) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.span(effect), self.flags)
    }
}

impl std::str::FromStr for TraceParent {
    type Err = TraceParentError;

    /// Reads `version-trace-span-flags`. Of versions to come, what stands behind the flags is left alone.
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

/// Bytes in lower-case hexadecimal, just as many as wanted.
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

fn first<const N: usize>(hash: [u8; 32]) -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, from) in bytes.iter_mut().zip(hash) {
        *byte = from;
    }
    bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_gives_its_trace_and_every_span_its_own_name() {
        let parent: TraceParent = GIVEN.parse().unwrap();
        let run = RunId::new("run-1");
        let context = TraceContext::new(&run, Some(parent));
        assert_eq!(context.trace().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.parent().unwrap().to_string(), "b7ad6b7169203331");
        let sent = context.traceparent("step-1/call/1");
        assert!(sent.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && sent.ends_with("-01"), "{sent}");
        assert_ne!(sent, context.traceparent("step-1/call/2"));
        assert_eq!(sent.parse::<TraceParent>().unwrap().span, context.span("step-1/call/1"));
        let own = TraceContext::new(&run, None);
        assert_eq!(own, TraceContext::new(&run, None), "who takes a run over calls its spans by the same names");
        assert_ne!(own.trace(), TraceContext::new(&RunId::new("run-2"), None).trace());
    }

    #[test]
    fn a_parent_is_written_as_it_was_read_with_all_its_flags() {
        for text in [GIVEN, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02"] {
            let parent: TraceParent = text.parse().unwrap();
            assert_eq!(parent.to_string(), text);
            let written = serde_json::to_string(&parent).unwrap();
            assert_eq!(serde_json::from_str::<TraceParent>(&written).unwrap(), parent);
            let context = TraceContext::new(&RunId::new("r"), Some(parent));
            assert_eq!(context.traceparent("a")[52..], text[52..], "what is called has the same flags");
            assert_eq!(context.is_sampled(), text == GIVEN);
        }
        assert!(serde_json::from_str::<TraceParent>("\"there\"").is_err());
    }

    #[test]
    fn what_is_no_trace_context_is_refused() {
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
