//! What runs may spend, and calls that failed in passing.

use std::time::Duration;

use crate::edge::{Does, Says};
use crate::row::{Row, row};
use crate::scene::{Scene, Seen, step};

/// One call that breaks each time.
fn broken() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, _| Does::Breaks(0))
}

/// One call that is refused each time, and models with a new idea each time.
fn refused() -> Scene {
    crate::mending::refused()
}

/// One call that never comes back.
fn hanging() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, _| Does::Takes(3_600_000))
}

/// A call under way that takes 20 seconds, and a cancellation after one.
fn cancelled() -> Scene {
    let scene = Scene::of(vec![step("s", "keyed", "{}")], |_, _| Does::Takes(20_000));
    Scene { cancelled_after: Some(Duration::from_secs(1)), ..scene }
}

/// A payment that may have happened.
fn in_doubt() -> Scene {
    Scene::of(vec![step("s", "unsafe", "{}")], |_, _| Does::Breaks(0))
}

fn ten_steps() -> Scene {
    let steps = (0..10).map(|number| step(&format!("s{number}"), "read", "{}")).collect();
    Scene::of(steps, |_, _| Does::Takes(1_000))
}

/// Sixty runs with a call of each of five tools.
fn crowd() -> Scene {
    let steps = ["t", "u", "v", "w", "x"].map(|tool| step(tool, &format!("{tool}/read"), "{}")).to_vec();
    Scene { runs: 60, ..Scene::of(steps, |_, _| Does::Takes(1_000)) }
}

fn crowd_at_one_tool() -> Scene {
    Scene { runs: 20, ..ten_steps() }
}

fn crowd_at_one_model() -> Scene {
    Scene { runs: 70, ..Scene::request(|_, _| Says::Slowly(1_000, "no plan")) }
}

/// At its limit for 90 seconds, then well.
fn busy() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, nth| if nth == 1 { Does::Limits(90_000) } else { Does::Takes(0) })
}

fn calls(seen: &Seen) -> String {
    seen.log.calls.len().to_string()
}

fn first(pauses: &str) -> String {
    pauses.split(", ").next().unwrap_or_default().to_owned()
}

fn last(pauses: &str) -> String {
    pauses.split(", ").last().unwrap_or_default().to_owned()
}

pub(crate) fn rows() -> Vec<Row> {
    const CODE: &str = "answer.by = \"template\"\n";
    const PRICED: &str = "answer.by = \"template\"\n[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\n\
                          price-input = 1\nprice-output = 1\n";
    vec![
        row("limits.tool-calls", "2", broken, calls, ("4", "2")).given(CODE),
        row("limits.model-calls", "1", refused, |seen| seen.log.asks.len().to_string(), ("4", "1")).given(CODE),
        row("limits.active-time", "\"45s\"", hanging, |seen| seen.took.as_secs().to_string(), ("127", "45"))
            .given(CODE),
        row("limits.money", "0", refused, |seen| seen.log.asks.len().to_string(), ("4", "0")).given(PRICED),
        row("limits.step-time", "\"45s\"", hanging, |seen| seen.took.as_secs().to_string(), ("127", "45")).given(CODE),
        row("limits.calls-at-once", "2", ten_steps, |seen| seen.log.most_calls.to_string(), ("5", "2")),
        row("limits.call-time", "\"7s\"", hanging, |seen| seen.call(1).1.timeout_ms.to_string(), ("30000", "7000")),
        row("limits.drain-time", "\"2s\"", cancelled, |seen| seen.took.as_secs().to_string(), ("6", "3")),
        row(
            "limits.person-time",
            "\"1h\"",
            in_doubt,
            |seen| seen.person_ms.unwrap_or(0).to_string(),
            ("604800000", "3600000"),
        ),
        row("limits.calls-in-all", "7", crowd, |seen| seen.log.most_calls.to_string(), ("256", "7")),
        row("limits.calls-per-tool", "3", crowd_at_one_tool, |seen| seen.log.most_calls.to_string(), ("64", "3")),
        row("limits.calls-per-model", "3", crowd_at_one_model, |seen| seen.log.most_asks.to_string(), ("64", "3")),
        row("resend.times", "1", broken, calls, ("4", "2")),
        row("resend.first-wait", "\"7s\"", broken, |seen| first(&seen.pauses()), ("2: 1s", "2: 7s")),
        row("resend.longest-wait", "\"2s\"", broken, |seen| last(&seen.pauses()), ("8: 29s", "8: 1s"))
            .given("resend.times = 7\n"),
        row("resend.ceiling", "\"1 min\"", busy, calls, ("2", "1")),
    ]
}
