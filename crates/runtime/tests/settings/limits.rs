//! `[limits]` and `[resend]`.

use std::time::Duration;

use reknit_protocol::Value;

use crate::case::{Case, case};
use crate::mending::rejected;
use crate::scene::{Observation, Scene, step};
use crate::scripted_transport::{ModelReply, ToolBehavior};

/// One call that always fails.
fn failing() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, _| ToolBehavior::FailAfter(0))
}

/// One call that never returns.
fn hanging() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, _| ToolBehavior::SucceedAfter(3_600_000))
}

/// A call that takes 20 seconds, and a cancellation after one.
fn cancelled() -> Scene {
    let scene = Scene::of(vec![step("s", "keyed", "{}")], |_, _| ToolBehavior::SucceedAfter(20_000));
    Scene { cancelled_after: Some(Duration::from_secs(1)), ..scene }
}

/// A call whose job never ends.
fn endless_job() -> Scene {
    Scene::of(vec![step("s", "keyed", "{}")], |_, _| ToolBehavior::WorkOnJob)
}

/// An unsafe call whose outcome is unknown.
fn unknown_outcome() -> Scene {
    Scene::of(vec![step("s", "unsafe", "{}")], |_, _| ToolBehavior::FailAfter(0))
}

fn ten_steps() -> Scene {
    let steps = (0..10).map(|number| step(&format!("s{number}"), "read", "{}")).collect();
    Scene::of(steps, |_, _| ToolBehavior::SucceedAfter(1_000))
}

/// A loop over three items.
fn three_items() -> Scene {
    let mut each = step("s", "read", "{}");
    each.metadata.insert("foreach", Value::from_iter([1, 2, 3].map(Value::from)));
    Scene::of(vec![each], |_, _| ToolBehavior::SucceedAfter(0))
}

/// Sixty runs, each of which calls five tools.
fn many_runs() -> Scene {
    let steps = ["t", "u", "v", "w", "x"].map(|tool| step(tool, &format!("{tool}/read"), "{}")).to_vec();
    Scene { runs: 60, ..Scene::of(steps, |_, _| ToolBehavior::SucceedAfter(1_000)) }
}

fn many_runs_with_one_tool() -> Scene {
    Scene { runs: 20, ..ten_steps() }
}

fn many_runs_with_one_model() -> Scene {
    Scene { runs: 70, ..Scene::request(|_, _| ModelReply::TextAfter(1_000, "no plan")) }
}

/// A tool that is rate-limited for 90 seconds.
fn rate_limited() -> Scene {
    Scene::of(vec![step("s", "read", "{}")], |_, nth| {
        if nth == 1 { ToolBehavior::RateLimit(90_000) } else { ToolBehavior::SucceedAfter(0) }
    })
}

fn calls(observed: &Observation) -> String {
    observed.log.calls.len().to_string()
}

fn first(pauses: &str) -> String {
    pauses.split(", ").next().unwrap_or_default().to_owned()
}

fn last(pauses: &str) -> String {
    pauses.split(", ").last().unwrap_or_default().to_owned()
}

pub(crate) fn cases() -> Vec<Case> {
    const WITHOUT_MODEL: &str = "answer.by = \"template\"\n";
    const PRICED: &str = "answer.by = \"template\"\n[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\n\
                          price-input = 1\nprice-output = 1\n";
    vec![
        case("limits.tool-calls", "2", failing, calls, ("4", "2")).also_set(WITHOUT_MODEL),
        case("limits.max-items", "2", three_items, calls, ("3", "0")).also_set(WITHOUT_MODEL),
        case("limits.model-calls", "1", rejected, |observed| observed.log.asks.len().to_string(), ("4", "1"))
            .also_set(WITHOUT_MODEL),
        case("limits.active-time", "\"45s\"", hanging, |observed| observed.took.as_secs().to_string(), ("127", "45"))
            .also_set(WITHOUT_MODEL),
        case("limits.money", "0", rejected, |observed| observed.log.asks.len().to_string(), ("4", "0"))
            .also_set(PRICED),
        case("limits.step-time", "\"45s\"", hanging, |observed| observed.took.as_secs().to_string(), ("127", "45"))
            .also_set(WITHOUT_MODEL),
        case("limits.calls-at-once", "2", ten_steps, |observed| observed.log.max_calls.to_string(), ("5", "2")),
        case(
            "limits.call-time",
            "\"7s\"",
            hanging,
            |observed| observed.call(1).1.timeout_ms.to_string(),
            ("30000", "7000"),
        ),
        case("limits.drain-time", "\"2s\"", cancelled, |observed| observed.took.as_secs().to_string(), ("6", "3")),
        case(
            "limits.person-time",
            "\"1h\"",
            unknown_outcome,
            |observed| observed.person_ms.unwrap_or(0).to_string(),
            ("604800000", "3600000"),
        ),
        case(
            "limits.job-time",
            "\"1h\"",
            endless_job,
            |observed| observed.took.as_secs().to_string(),
            ("86400", "3600"),
        )
        .also_set(WITHOUT_MODEL),
        case("limits.calls-in-all", "7", many_runs, |observed| observed.log.max_calls.to_string(), ("256", "7")),
        case(
            "limits.calls-per-tool",
            "3",
            many_runs_with_one_tool,
            |observed| observed.log.max_calls.to_string(),
            ("64", "3"),
        ),
        case(
            "limits.calls-per-model",
            "3",
            many_runs_with_one_model,
            |observed| observed.log.max_asks.to_string(),
            ("64", "3"),
        ),
        case("resend.times", "1", failing, calls, ("4", "2")),
        case("resend.first-wait", "\"7s\"", failing, |observed| first(&observed.pauses()), ("2: 1s", "2: 7s")),
        case("resend.longest-wait", "\"2s\"", failing, |observed| last(&observed.pauses()), ("8: 29s", "8: 1s"))
            .also_set("resend.times = 7\n"),
        case("resend.longest-retry-after", "\"1 min\"", rate_limited, calls, ("2", "1")),
    ]
}
