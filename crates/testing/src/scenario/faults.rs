//! Sixteen ways in which a model misbehaves.

/// A scenario that is ready to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// The scenario, to be read with [`Scenario::read`](super::Scenario::read): the models `primary`, which misbehaves, and
    /// `fallback`, which does not. Each has an answer of 60 tokens, made of `p01...` and so on, or of `f01...`.
    pub scenario: &'static str,
}

/// Sixteen ways in which a model misbehaves, after what callers of real ones have met.
pub const FAULTS: [Fault; 16] = [
    Fault { name: "rate-limited-once", scenario: include_str!("../../scenarios/01-rate-limited-once.json") },
    Fault { name: "rate-limited-for-ever", scenario: include_str!("../../scenarios/02-rate-limited-for-ever.json") },
    Fault { name: "broken-once", scenario: include_str!("../../scenarios/03-broken-once.json") },
    Fault { name: "unavailable", scenario: include_str!("../../scenarios/04-unavailable.json") },
    Fault { name: "reset-once", scenario: include_str!("../../scenarios/05-reset-once.json") },
    Fault { name: "silent", scenario: include_str!("../../scenarios/06-silent.json") },
    Fault { name: "slow-first-token", scenario: include_str!("../../scenarios/07-slow-first-token.json") },
    Fault { name: "cut-stream", scenario: include_str!("../../scenarios/08-cut-stream.json") },
    Fault { name: "stalled-stream", scenario: include_str!("../../scenarios/09-stalled-stream.json") },
    Fault { name: "malformed-event", scenario: include_str!("../../scenarios/10-malformed-event.json") },
    Fault { name: "no-terminator", scenario: include_str!("../../scenarios/11-no-terminator.json") },
    Fault { name: "context-length", scenario: include_str!("../../scenarios/12-context-length.json") },
    Fault { name: "content-filter", scenario: include_str!("../../scenarios/13-content-filter.json") },
    Fault {
        name: "cut-stream-without-prefill",
        scenario: include_str!("../../scenarios/14-cut-stream-without-prefill.json"),
    },
    Fault { name: "down-for-a-minute", scenario: include_str!("../../scenarios/15-down-for-a-minute.json") },
    Fault { name: "unavailable-and-billed", scenario: include_str!("../../scenarios/16-unavailable-and-billed.json") },
];
