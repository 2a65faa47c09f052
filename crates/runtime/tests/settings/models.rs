//! Plans, answers, who is asked, and who is given a rest.

use reknit_dialogue::{ErrorClass, Purpose};
use reknit_engine::AskModel;

use crate::edge::{Does, Says};
use crate::row::{Row, row};
use crate::scene::{Scene, Seen, pauses, step};

fn no_plan() -> Scene {
    Scene::request(|_, _| Says::Words("I cannot.".to_owned()))
}

/// Tools enough for a choice.
fn many_tools() -> Scene {
    Scene { more: 20, ..no_plan() }
}

fn answered() -> Scene {
    Scene {
        model: |_, _| Says::Words("done".to_owned()),
        ..Scene::of(vec![step("s", "read", "{}")], |_, _| Does::Takes(0))
    }
}

fn two_models(model: crate::edge::Model) -> Scene {
    Scene { targets: &["a", "b"], ..Scene::request(model) }
}

fn unwell() -> Scene {
    two_models(|_, _| Says::Fails(ErrorClass::NetworkError))
}

fn refused_key() -> Scene {
    two_models(|ask, _| if ask.target.as_str() == "a" { Says::Fails(ErrorClass::AuthError) } else { plan(ask) })
}

/// The first is at its limit for three seconds.
fn limited() -> Scene {
    two_models(|ask, nth| if nth == 1 { Says::Limits(3_000) } else { plan(ask) })
}

fn all_limited() -> Scene {
    two_models(|_, _| Says::Limits(120_000))
}

fn plan(_: &AskModel) -> Says {
    Says::Words("{}".to_owned())
}

/// Twelve calls, one after the other, of which some break.
fn calls(tool: crate::edge::Tool) -> Scene {
    Scene::of((0..12).map(|number| step(&format!("s{number:02}"), "read", "{}")).collect(), tool)
}

fn broken() -> Scene {
    calls(|_, _| Does::Breaks(0))
}

fn every_third_broken() -> Scene {
    calls(|_, nth| if nth % 3 == 1 { Does::Breaks(0) } else { Does::Takes(0) })
}

fn slowly_broken() -> Scene {
    calls(|_, _| Does::Breaks(10_000))
}

/// The first call hears that the tool is at its limit for 50 seconds.
fn cooling() -> Scene {
    calls(|_, nth| if nth == 1 { Does::Limits(50_000) } else { Does::Takes(0) })
}

/// One model that fails each time.
fn alone() -> Scene {
    Scene::request(|_, _| Says::Fails(ErrorClass::NetworkError))
}

/// The same for six requests in turn.
fn alone_and_asked_often() -> Scene {
    Scene { rounds: 6, ..alone() }
}

fn who(seen: &Seen) -> String {
    seen.log.asks.iter().map(|(_, ask)| ask.target.as_str()).collect::<Vec<_>>().join(" ")
}

fn ask_pauses(seen: &Seen) -> String {
    pauses(seen.log.asks.iter().map(|(at_ms, _)| *at_ms))
}

fn first_pause(seen: &Seen) -> String {
    seen.pauses().split(", ").next().unwrap_or_default().to_owned()
}

/// The first pause that is more than a model is usually given between two attempts.
fn first_long_ask_pause(seen: &Seen) -> String {
    let pauses = ask_pauses(seen);
    let is_long = |pause: &&str| !pause.ends_with(": 1s") && !pause.ends_with(": 2s");
    pauses.split(", ").find(is_long).unwrap_or_default().to_owned()
}

fn first(seen: &Seen) -> String {
    seen.log.asks[0].1.purpose.to_string()
}

fn freedom(seen: &Seen, purpose: Purpose) -> String {
    let request = &seen.ask(purpose).request;
    format!("{} {}", request.temperature.expect("it is set"), request.max_tokens)
}

pub(crate) fn rows() -> Vec<Row> {
    const PREFER: &str = "rotation.policy = \"prefer-primary\"\n";
    const ONE: &str = "resend.times = 0\nlimits.calls-at-once = 1\nanswer.by = \"template\"\n";
    use Purpose::{PlanGeneration as Plan, Synthesis, TieredSelection as Choice};
    vec![
        row("rotation.policy", "\"prefer-primary\"", unwell, who, ("a b a", "a a b b a b")),
        row("rotation.attempts", "5", unwell, who, ("a b a", "a b a b a")),
        row("rotation.on-auth-error", "\"skip\"", refused_key, who, ("a", "a b b b")),
        row("rotation.short-wait", "\"1s\"", limited, who, ("a a a a", "a b b b")).given(PREFER),
        row("rotation.longest-wait", "\"7s\"", all_limited, ask_pauses, ("3: 60s", "3: 7s"))
            .given("breaker.longest-cool-down = \"0s\"\n"),
        row("breaker.calls", "3", broken, first_pause, ("11: 30s", "4: 30s")).given(ONE),
        // What is set for services holds for models, too.
        row("breaker.calls", "3", alone_and_asked_often, first_long_ask_pause, ("11: 30s", "4: 30s")),
        row("breaker.rest", "\"7s\"", alone_and_asked_often, first_long_ask_pause, ("11: 30s", "11: 7s")),
        row("breaker.percent", "30", every_third_broken, first_pause, ("", "11: 30s")).given(ONE),
        row("breaker.window", "\"5 min\"", slowly_broken, |seen| seen.took.as_secs().to_string(), ("120", "180"))
            .given(ONE),
        row("breaker.rest", "\"7s\"", broken, first_pause, ("11: 30s", "11: 7s")).given(ONE),
        row(
            "breaker.first-rest",
            "\"2s\"",
            alone,
            ask_pauses,
            ("3: 5s, 4: 10s, 5: 20s, 6: 30s", "3: 2s, 4: 4s, 5: 8s, 6: 16s"),
        )
        .given(PREFER),
        row("breaker.longest-cool-down", "\"7s\"", cooling, Seen::pauses, ("2: 50s", "2: 7s")).given(ONE),
        row("plan.retry-enabled", "false", no_plan, |seen| seen.asked(Plan), ("3", "1")),
        row("plan.retries", "1", no_plan, |seen| seen.asked(Plan), ("3", "2")),
        row("plan.temperature", "0.7", no_plan, |seen| freedom(seen, Plan), ("0.3 2000", "0.7 2000")),
        row("plan.max-tokens", "7", no_plan, |seen| freedom(seen, Plan), ("0.3 2000", "0.3 7")),
        row("plan.choose", "false", many_tools, first, ("tiered_selection", "plan_generation")),
        row("plan.choose-from", "99", many_tools, first, ("tiered_selection", "plan_generation")),
        row("plan.choose-temperature", "0.7", many_tools, |seen| freedom(seen, Choice), ("0 500", "0.7 500")),
        row("plan.choose-max-tokens", "7", many_tools, |seen| freedom(seen, Choice), ("0 500", "0 7")),
        row(
            "prompts.folder",
            "\"FOLDER\"",
            many_tools,
            |seen| seen.ask(Choice).request.messages.last().expect("a message").text().starts_with("MINE ").to_string(),
            ("false", "true"),
        ),
        row("llm-debug.enabled", "true", answered, |seen| format!("{:?}", seen.questions), ("None", "Some(1)")),
        row("answer.by", "\"template\"", answered, |seen| seen.asked(Synthesis), ("1", "0")),
        row("answer.temperature", "0.7", answered, |seen| freedom(seen, Synthesis), ("0 2000", "0.7 2000")),
        row("answer.max-tokens", "7", answered, |seen| freedom(seen, Synthesis), ("0 2000", "0 7")),
    ]
}
