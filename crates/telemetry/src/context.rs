//! The ids of traces and spans of a run.

use reknit_engine::{Machine, SpanId, TraceId, TraceParent, digest_of_texts};
use reknit_protocol::{RunId, ScopeLevel};

/// The trace that the spans of a run belong to, and their ids.
///
/// The ids follow from the run's first event alone: a process that resumes a run uses the ids of the process before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    run: RunId,
    /// Where the machine is nested in the run, as a prefix of span keys; empty for the outermost machine.
    scope: String,
    trace: TraceId,
    parent: Option<SpanId>,
    flags: u8,
}

const SAMPLED: u8 = 1;

impl TraceContext {
    /// The trace context of a machine. It depends on the first event of the machine only.
    pub fn of(machine: &Machine) -> Self {
        Self::new(machine.id(), machine.trace_parent())
    }

    /// A context in the trace of the parent, or in a new trace if there is no parent.
    pub fn new(run: &RunId, parent: Option<TraceParent>) -> Self {
        let own = TraceId(first(digest_of_texts(&["trace", run.as_str()])));
        Self {
            run: run.clone(),
            scope: String::new(),
            trace: parent.map_or(own, |parent| parent.trace),
            parent: parent.map(|parent| parent.span),
            flags: parent.map_or(SAMPLED, |parent| parent.flags),
        }
    }

    pub(crate) fn within(&self, scope: &[ScopeLevel], parent: SpanId) -> Self {
        let scope = scope.iter().fold(self.scope.clone(), |outer, level| format!("{outer}{level}/"));
        Self { scope, parent: Some(parent), ..self.clone() }
    }

    pub(crate) fn is_nested(&self) -> bool {
        !self.scope.is_empty()
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    pub fn trace(&self) -> TraceId {
        self.trace
    }

    /// The span that the machine is part of: of the enclosing machine, or of another program.
    pub fn parent(&self) -> Option<SpanId> {
        self.parent
    }

    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    pub fn span(&self, key: &str) -> SpanId {
        SpanId(first(digest_of_texts(&["span", self.run.as_str(), &format!("{}{key}", self.scope)])))
    }

    /// The `traceparent` header of a call: the tool's own spans become part of the span of the effect.
    pub fn traceparent(&self, effect: &str) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.span(effect), self.flags)
    }
}

fn first<const N: usize>(hash: [u8; 32]) -> [u8; N] {
    std::array::from_fn(|index| hash.get(index).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_parent_determines_the_trace_and_every_span_has_its_own_id() {
        let parent: TraceParent = PARENT.parse().unwrap();
        let run = RunId::new("run-1");
        let context = TraceContext::new(&run, Some(parent));
        assert_eq!(context.trace().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.parent().unwrap().to_string(), "b7ad6b7169203331");
        let sent = context.traceparent("step-1/call/1");
        assert!(sent.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && sent.ends_with("-01"), "{sent}");
        assert_ne!(sent, context.traceparent("step-1/call/2"));
        assert_eq!(sent.parse::<TraceParent>().unwrap().span, context.span("step-1/call/1"));
        let own = TraceContext::new(&run, None);
        assert_eq!(own, TraceContext::new(&run, None), "a process that resumes the run uses the same ids");
        assert_ne!(own.trace(), TraceContext::new(&RunId::new("run-2"), None).trace());
    }

    #[test]
    fn the_flags_of_the_parent_are_passed_on() {
        for text in [PARENT, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02"] {
            let context = TraceContext::new(&RunId::new("r"), Some(text.parse().unwrap()));
            assert_eq!(context.traceparent("a")[52..], text[52..]);
            assert_eq!(context.is_sampled(), text == PARENT);
        }
    }
}
