//! `[plan]`, `[prompts]`, `[answer]`, `[rotation]`, `[breaker]` and `[llm-debug]`.

use reknit_engine::AskModel;
use reknit_model_api::{ErrorClass, Purpose};

use crate::case::{Case, case};
use crate::scene::{Observation, Scene, pauses, step};
use crate::scripted_transport::{ModelReply, ToolBehavior};

fn no_plan() -> Scene {
    Scene::request(|_, _| ModelReply::Text("I cannot.".to_owned()))
}

/// A model's plan whose step fails for good.
fn failed_plan() -> Scene {
    const PLAN: &str = r#"{"steps": [{"step_id": "s", "agent_name": "t", "metadata": {"capability": "read"}}]}"#;
    Scene {
        model: |_, _| ModelReply::Text(PLAN.to_owned()),
        ..Scene::of(Vec::new(), |_, _| ToolBehavior::Respond(404, "{}"))
    }
}

/// Enough tools for a selection.
fn many_tools() -> Scene {
    Scene { extra_capabilities: 20, ..no_plan() }
}

fn answered() -> Scene {
    Scene {
        model: |_, _| ModelReply::Text("done".to_owned()),
        ..Scene::of(vec![step("s", "read", "{}")], |_, _| ToolBehavior::SucceedAfter(0))
    }
}

fn two_models(model: crate::scripted_transport::ModelScript) -> Scene {
    Scene { targets: &["a", "b"], ..Scene::request(model) }
}

fn failing_models() -> Scene {
    two_models(|_, _| ModelReply::Error(ErrorClass::NetworkError))
}

fn rejected_key() -> Scene {
    two_models(|ask, _| if ask.target.as_str() == "a" { ModelReply::Error(ErrorClass::AuthError) } else { plan(ask) })
}

/// The first call is rate-limited for three seconds.
fn rate_limited() -> Scene {
    two_models(|ask, nth| if nth == 1 { ModelReply::RateLimit(3_000) } else { plan(ask) })
}

fn always_rate_limited() -> Scene {
    two_models(|_, _| ModelReply::RateLimit(120_000))
}

fn plan(_: &AskModel) -> ModelReply {
    ModelReply::Text("{}".to_owned())
}

/// Twelve calls.
fn calls(tool: crate::scripted_transport::ToolScript) -> Scene {
    Scene::of((0..12).map(|number| step(&format!("s{number:02}"), "read", "{}")).collect(), tool)
}

fn failing() -> Scene {
    calls(|_, _| ToolBehavior::FailAfter(0))
}

fn every_third_failing() -> Scene {
    calls(|_, nth| if nth % 3 == 1 { ToolBehavior::FailAfter(0) } else { ToolBehavior::SucceedAfter(0) })
}

fn slowly_failing() -> Scene {
    calls(|_, _| ToolBehavior::FailAfter(10_000))
}

/// The tool is rate-limited for 50 seconds at the first call.
fn cooling_down() -> Scene {
    calls(|_, nth| if nth == 1 { ToolBehavior::RateLimit(50_000) } else { ToolBehavior::SucceedAfter(0) })
}

/// One model that always fails.
fn one_failing_model() -> Scene {
    Scene::request(|_, _| ModelReply::Error(ErrorClass::NetworkError))
}

/// The same for six requests, one after the other.
fn six_failing_rounds() -> Scene {
    Scene { rounds: 6, ..one_failing_model() }
}

fn asked_models(observed: &Observation) -> String {
    observed.log.asks.iter().map(|(_, ask)| ask.target.as_str()).collect::<Vec<_>>().join(" ")
}

fn ask_pauses(observed: &Observation) -> String {
    pauses(observed.log.asks.iter().map(|(at_ms, _)| *at_ms))
}

fn first_pause(observed: &Observation) -> String {
    observed.pauses().split(", ").next().unwrap_or_default().to_owned()
}

/// The first pause that is longer than the usual ones between two attempts.
fn first_long_ask_pause(observed: &Observation) -> String {
    let pauses = ask_pauses(observed);
    let is_long = |pause: &&str| !pause.ends_with(": 1s") && !pause.ends_with(": 2s");
    pauses.split(", ").find(is_long).unwrap_or_default().to_owned()
}

fn first_purpose(observed: &Observation) -> String {
    observed.log.asks[0].1.purpose.to_string()
}

fn sampling(observed: &Observation, purpose: Purpose) -> String {
    let request = &observed.ask(purpose).request;
    format!("{} {}", request.temperature.expect("the temperature is set"), request.max_tokens)
}

pub(crate) fn cases() -> Vec<Case> {
    [rotation_and_breaker_cases(), plan_and_answer_cases()].concat()
}

fn rotation_and_breaker_cases() -> Vec<Case> {
    const PREFER: &str = "rotation.policy = \"prefer-primary\"\n";
    const ONE_BY_ONE: &str = "resend.times = 0\nlimits.calls-at-once = 1\nanswer.by = \"template\"\n";
    vec![
        case("rotation.policy", "\"prefer-primary\"", failing_models, asked_models, ("a b a", "a a b b a b")),
        case("rotation.attempts", "5", failing_models, asked_models, ("a b a", "a b a b a")),
        case("rotation.on-auth-error", "\"skip\"", rejected_key, asked_models, ("a", "a b b b")),
        case("rotation.short-wait", "\"1s\"", rate_limited, asked_models, ("a a a a", "a b b b")).also_set(PREFER),
        case("rotation.longest-wait", "\"7s\"", always_rate_limited, ask_pauses, ("3: 60s", "3: 7s")),
        case("breaker.calls", "3", failing, first_pause, ("11: 30s", "4: 30s")).also_set(ONE_BY_ONE),
        // The breakers of models have the same settings as those of tools.
        case("breaker.calls", "3", six_failing_rounds, first_long_ask_pause, ("11: 30s", "4: 30s")),
        case("breaker.open-for", "\"7s\"", six_failing_rounds, first_long_ask_pause, ("11: 30s", "11: 7s")),
        case("breaker.percent", "30", every_third_failing, first_pause, ("", "11: 30s")).also_set(ONE_BY_ONE),
        case(
            "breaker.window",
            "\"5 min\"",
            slowly_failing,
            |observed| observed.took.as_secs().to_string(),
            ("120", "180"),
        )
        .also_set(ONE_BY_ONE),
        case("breaker.open-for", "\"7s\"", failing, first_pause, ("11: 30s", "11: 7s")).also_set(ONE_BY_ONE),
        case(
            "breaker.first-open-for",
            "\"2s\"",
            one_failing_model,
            ask_pauses,
            ("3: 5s, 4: 10s, 5: 20s, 6: 30s", "3: 2s, 4: 4s, 5: 8s, 6: 16s"),
        )
        .also_set(PREFER),
        case("breaker.longest-cool-down", "\"7s\"", cooling_down, Observation::pauses, ("2: 50s", "2: 7s"))
            .also_set(ONE_BY_ONE),
    ]
}

/// The metadata of the request that the planner sees.
fn shown_metadata(observed: &Observation) -> String {
    let prompt = observed.ask(Purpose::PlanGeneration).request.messages.last().expect("a message").text().to_owned();
    let fenced = prompt.split_once("Metadata of the request").and_then(|(_, rest)| rest.split_once("<data>"));
    let lines = fenced.map(|(_, rest)| rest.split("</data>").next().unwrap_or_default()).unwrap_or_default();
    lines.split_whitespace().collect::<Vec<_>>().join(" ").replace("{ ", "{").replace(" }", "}")
}

fn plan_and_answer_cases() -> Vec<Case> {
    use Purpose::{PlanGeneration as Plan, Synthesis, TieredSelection as Choice};
    vec![
        case("plan.retry-enabled", "false", no_plan, |observed| observed.asked(Plan), ("3", "1")),
        case("plan.retries", "1", no_plan, |observed| observed.asked(Plan), ("3", "2")),
        case("plan.replans", "0", failed_plan, |observed| observed.asked(Plan), ("2", "1")),
        case("plan.temperature", "0.7", no_plan, |observed| sampling(observed, Plan), ("0.3 2000", "0.7 2000")),
        case("plan.max-tokens", "7", no_plan, |observed| sampling(observed, Plan), ("0.3 2000", "0.3 7")),
        case("plan.choose", "false", many_tools, first_purpose, ("tiered_selection", "plan_generation")),
        case("plan.choose-from", "99", many_tools, first_purpose, ("tiered_selection", "plan_generation")),
        case("plan.choose-temperature", "0.7", many_tools, |observed| sampling(observed, Choice), ("0 500", "0.7 500")),
        case("plan.choose-max-tokens", "7", many_tools, |observed| sampling(observed, Choice), ("0 500", "0 7")),
        case(
            "prompts.folder",
            "\"FOLDER\"",
            many_tools,
            |observed| {
                observed.ask(Choice).request.messages.last().expect("a message").text().starts_with("MINE ").to_string()
            },
            ("false", "true"),
        ),
        case("prompts.metadata", "[\"tenant\", \"colour\"]", no_plan, shown_metadata, ("", "{\"tenant\": \"acme\"}")),
        case(
            "llm-debug.enabled",
            "true",
            answered,
            |observed| format!("{:?}", observed.questions),
            ("None", "Some(1)"),
        ),
        case("answer.by", "\"template\"", answered, |observed| observed.asked(Synthesis), ("1", "0")),
        case("answer.temperature", "0.7", answered, |observed| sampling(observed, Synthesis), ("0 2000", "0.7 2000")),
        case("answer.max-tokens", "7", answered, |observed| sampling(observed, Synthesis), ("0 2000", "0 7")),
    ]
}
