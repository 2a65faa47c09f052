//! Scenarios for sixteen kinds of model failures.

/// A scenario in which the model `primary` fails in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultScenario {
    /// The name of the failure.
    pub name: &'static str,
    /// The JSON for [`Scenario::read`](super::Scenario::read). It has the models `primary`, which fails, and `fallback`,
    /// which does not. The answer of each has 60 tokens: `p01...` to `p60...`, or `f01...` to `f60...`.
    pub scenario: &'static str,
}

/// Sixteen kinds of failures that clients of real providers have met.
pub const FAULT_SCENARIOS: [FaultScenario; 16] = [
    FaultScenario { name: "rate-limited-once", scenario: include_str!("../../scenarios/01-rate-limited-once.json") },
    FaultScenario {
        name: "rate-limited-for-ever",
        scenario: include_str!("../../scenarios/02-rate-limited-for-ever.json"),
    },
    FaultScenario { name: "broken-once", scenario: include_str!("../../scenarios/03-broken-once.json") },
    FaultScenario { name: "unavailable", scenario: include_str!("../../scenarios/04-unavailable.json") },
    FaultScenario { name: "reset-once", scenario: include_str!("../../scenarios/05-reset-once.json") },
    FaultScenario { name: "silent", scenario: include_str!("../../scenarios/06-silent.json") },
    FaultScenario { name: "slow-first-token", scenario: include_str!("../../scenarios/07-slow-first-token.json") },
    FaultScenario { name: "cut-stream", scenario: include_str!("../../scenarios/08-cut-stream.json") },
    FaultScenario { name: "stalled-stream", scenario: include_str!("../../scenarios/09-stalled-stream.json") },
    FaultScenario { name: "malformed-event", scenario: include_str!("../../scenarios/10-malformed-event.json") },
    FaultScenario { name: "no-terminator", scenario: include_str!("../../scenarios/11-no-terminator.json") },
    FaultScenario { name: "context-length", scenario: include_str!("../../scenarios/12-context-length.json") },
    FaultScenario { name: "content-filter", scenario: include_str!("../../scenarios/13-content-filter.json") },
    FaultScenario {
        name: "cut-stream-without-prefill",
        scenario: include_str!("../../scenarios/14-cut-stream-without-prefill.json"),
    },
    FaultScenario { name: "down-for-a-minute", scenario: include_str!("../../scenarios/15-down-for-a-minute.json") },
    FaultScenario {
        name: "unavailable-and-billed",
        scenario: include_str!("../../scenarios/16-unavailable-and-billed.json"),
    },
];
