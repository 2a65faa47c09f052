//! The paths that a run can take, each with the names that it tells.

use std::sync::Arc;

use reknit_bind::Mapping;
use reknit_dialogue::ErrorClass;
use reknit_engine::{
    Catalogue, Entry, Event, IndependentSteps, Policy, Sent, Started, Synthesis, Tool, TransportFailure, TransportKind,
    What,
};
use reknit_protocol::{Capability, Step};

use crate::run_world::{Play, plan, policy, started, step};

pub(crate) const BAD_AMOUNT: &str = r#"{"success": false, "error": {"code": "INVALID_FORMAT", "category": "INPUT_ERROR",
    "message": "amount must be greater than 0", "retryable": true, "details": {"hint": "send a positive number"}}}"#;
const BAD_TYPE: &str = r#"{"error": "json: cannot unmarshal string into Go struct field Request.x of type int"}"#;
const PLAN: &str = r#"{"plan_id": "p", "steps": [{"step_id": "s", "agent_name": "t", "instruction": "look",
    "metadata": {"capability": "read", "parameters": {}}}]}"#;
const CHANGE: &str = r#"{"should_retry": true, "reason": "too small", "suggested_changes": {"amount": 5}}"#;
const CANNOT: &str = r#"{"should_retry": false, "reason": "the amount is not known here"}"#;

fn quote_and_convert() -> Play {
    let mut play = Play::of_steps(vec![
        step("quote", "read", r#"{"symbol": "TSLA"}"#),
        step("convert", "convert", r#"{"amount": 0, "to": "KRW"}"#).after("quote"),
    ]);
    play.answer_tool("quote/call/1", 200, r#"{"success": true, "data": {"current_price": 468.285}}"#);
    play.now_ms += 20;
    play.answer_tool("convert/call/1", 400, BAD_AMOUNT);
    play
}

fn finish(mut play: Play, effect: &str) -> Vec<Event> {
    play.now_ms += 30;
    play.answer_tool(effect, 200, "{}");
    assert!(play.run.answer().is_some(), "it has not ended: {:?}", play.due());
    play.events
}

pub(crate) fn a_plan_that_works() -> Vec<Event> {
    finish(Play::of_steps(vec![step("s", "read", "{}")]), "s/call/1")
}

fn without_a_model() -> Vec<Event> {
    let given = Started { targets: Vec::new(), ..started(Some(plan(vec![step("s", "read", "{}")])), policy()) };
    let mut play = Play::begin(given);
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    assert!(play.run.answer().is_some());
    play.events
}

fn a_plan_of_a_model() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.now_ms += 400;
    play.answer_model("plan/ask/1", PLAN);
    finish(play, "s/call/1")
}

fn a_plan_at_the_second_try() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", r#"{"steps": [{"step_id": "s", "agent_name": "nobody"}]}"#);
    play.answer_model("plan/ask/2", PLAN);
    finish(play, "s/call/1")
}

fn no_plan_at_all() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    for attempt in 1..=3 {
        play.answer_model(&format!("plan/ask/{attempt}"), "I cannot plan.");
    }
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

fn a_planner_that_fails() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.fail_model("plan/ask/1", ErrorClass::ModelError);
    let next = play.due().first().cloned().expect("somebody else is asked");
    play.answer_model(&next, PLAN);
    finish(play, "s/call/1")
}

fn a_planner_without_words() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", "");
    let next = play.due().first().cloned().expect("somebody else is asked");
    play.answer_model(&next, PLAN);
    finish(play, "s/call/1")
}

fn many_tools(answer: Option<&str>) -> Vec<Event> {
    let capabilities = (0..40)
        .map(|index| Entry::new(Capability::new(format!("read{index}")), None).expect("there is no schema"))
        .chain([Entry::new(Capability::new("read"), None).expect("there is no schema")]);
    let tool = Tool { name: "t".into(), description: String::new(), capabilities: capabilities.collect() };
    let catalogue = Arc::new(Catalogue { tools: vec![tool] });
    let mut play = Play::begin(Started { catalogue, ..started(None, policy()) });
    if let Some(answer) = answer {
        play.answer_model("plan/choose/1", answer);
    } else {
        play.fail_model("plan/choose/1", ErrorClass::InvalidResponse);
        let next = play.due().first().cloned().expect("somebody else is asked");
        play.answer_model(&next, r#"["t/read"]"#);
    }
    play.answer_model("plan/ask/1", PLAN);
    finish(play, "s/call/1")
}

fn a_type_that_is_made_to_fit() -> Vec<Event> {
    finish(Play::of_steps(vec![step("s", "convert", r#"{"amount": "5", "to": 7}"#)]), "s/call/1")
}

fn facts_that_determine_the_change() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", r#"{"to": "Euro"}"#)]);
    let body = r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "there is no rate",
        "retryable": true, "details": {"field": "to", "allowed": ["EUR", "USD"]}}}"#;
    play.answer_tool("s/call/1", 400, body);
    finish(play, "s/call/2")
}

fn feedback_that_helps() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CHANGE);
    finish(play, "convert/call/2")
}

fn feedback_about_a_type() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "undeclared", r#"{"x": "many"}"#)]);
    play.answer_tool("s/call/1", 400, BAD_TYPE);
    play.answer_model("s/feedback/1", r#"{"should_retry": true, "reason": "a number", "suggested_changes": {"x": 7}}"#);
    finish(play, "s/call/2")
}

fn feedback_that_cannot_be_read() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", "I do not know.");
    play.answer_model(
        "convert/context/1",
        r#"{"should_retry": true, "analysis": "a", "corrected_parameters": {"amount": 2}}"#,
    );
    finish(play, "convert/call/2")
}

fn feedback_that_is_refused() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 0}}"#);
    play.answer_model("convert/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

fn feedback_that_nobody_gives() -> Vec<Event> {
    let mut play = quote_and_convert();
    while let Some(due) = play.due().into_iter().find(|due| due.starts_with("convert/feedback/")) {
        play.fail_model(&due, ErrorClass::AuthError);
    }
    play.answer_model(&play.due()[0].clone(), CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

fn feedback_that_says_to_wait() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", r#"{"should_retry": false, "is_transient_error": true, "reason": "busy"}"#);
    play.wake("convert/rest/1");
    finish(play, "convert/call/2")
}

fn feedback_that_is_spent() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CHANGE);
    play.answer_tool("convert/call/2", 400, BAD_AMOUNT);
    play.answer_model("convert/feedback/2", r#"{"should_retry": true, "suggested_changes": {"amount": 6}}"#);
    play.answer_tool("convert/call/3", 400, BAD_AMOUNT);
    play.answer_model("convert/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(crate) fn context_that_helps() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.now_ms += 342;
    play.answer_model("convert/feedback/1", CANNOT);
    play.now_ms += 1_247;
    let answer = r#"{"should_retry": true, "analysis": "100 shares at that price",
        "corrected_parameters": {"amount": "{{100 * quote.current_price}}"}}"#;
    play.answer_model("convert/context/1", answer);
    finish(play, "convert/call/2")
}

fn alone(policy: Policy) -> Play {
    let mut play = Play::begin(started(Some(plan(vec![step("s", "convert", r#"{"amount": 0}"#)])), policy));
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    play.answer_model("s/feedback/1", CANNOT);
    play
}

fn context_of_a_step_alone() -> Vec<Event> {
    let mut play = alone(policy());
    play.answer_model("s/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

fn no_context_for_a_step_alone() -> Vec<Event> {
    let mut policy = policy();
    policy.mending.independent_steps = IndependentSteps::Left;
    let play = alone(policy);
    assert!(play.run.answer().is_some());
    play.events
}

fn context_that_nobody_gives() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CANNOT);
    while let Some(due) = play.due().into_iter().find(|due| due.starts_with("convert/context/")) {
        play.fail_model(&due, ErrorClass::AuthError);
    }
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

fn context_that_cannot_be_read() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CANNOT);
    play.answer_model("convert/context/1", "I do not know.");
    play.answer_model("convert/context/2", "I still do not know.");
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

fn missing() -> Vec<Step> {
    vec![step("quote", "read", "{}"), step("convert", "convert", r#"{"to": "KRW"}"#).after("quote")]
}

fn a_value_that_a_model_finds() -> Vec<Event> {
    let mut play = Play::of_steps(missing());
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.answer_model("convert/resolution/1", r#"{"amount": "{{quote.current_price}}"}"#);
    finish(play, "convert/call/1")
}

fn a_value_that_no_model_finds() -> Vec<Event> {
    let mut play = Play::of_steps(missing());
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.answer_model("convert/resolution/1", r#"{"amount": "{{quote.nothing}}"}"#);
    play.answer_model("convert/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

fn a_value_that_was_learned() -> Vec<Event> {
    let mapping = Mapping {
        producer: "t/read".to_owned(),
        consumer: "t/convert".to_owned(),
        parameter: "amount".to_owned(),
        expression: "it.current_price".to_owned(),
    };
    let mut play = Play::begin(Started { mappings: vec![mapping], ..started(Some(plan(missing())), policy()) });
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 5}"#);
    finish(play, "convert/call/1")
}

fn a_service_that_is_busy() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 503, "{}");
    play.wake("s/rest/1");
    let failure = TransportFailure { kind: TransportKind::Reset, sent: Sent::Maybe, message: "gone".to_owned() };
    play.happen(What::ToolFailed { effect: "s/call/2".into(), failure });
    play.wake("s/rest/2");
    finish(play, "s/call/3")
}

fn who_is_not_let_in() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 401, "{}");
    play.events
}

fn a_gate_that_is_closed() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.happen(What::GateClosed { effect: "s/call/1".into(), until_ms: 6_000 });
    play.wake("s/gate/1");
    finish(play, "s/call/2")
}

fn answering(answer: impl FnOnce(&mut Play)) -> Vec<Event> {
    let policy = Policy { synthesis: Synthesis::Model, ..policy() };
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", "{}")])), policy));
    play.answer_tool("s/call/1", 200, "{}");
    answer(&mut play);
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

fn an_answer_of_a_model() -> Vec<Event> {
    answering(|play| play.answer_model("answer/ask/1", "All is well."))
}

fn an_answer_that_no_model_gives() -> Vec<Event> {
    answering(|play| {
        while let Some(due) = play.due().first().cloned() {
            play.fail_model(&due, ErrorClass::AuthError);
        }
    })
}

fn cancelled_while_a_model_is_asked() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.happen(What::Cancelled);
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

fn cancelled_while_a_value_is_looked_for() -> Vec<Event> {
    let mut play = Play::of_steps(missing());
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.happen(What::Cancelled);
    play.events
}

/// A path: what is said of it, its events, and the names of the contract that it tells besides those that every run tells.
type Path = (&'static str, fn() -> Vec<Event>, &'static [&'static str]);

const STEP: [&str; 2] = ["orchestration.step_execution", "http.client.request"];
const ASKED: [&str; 3] = ["ai.request.total", "ai.request.duration_ms", "ai.tokens.used"];
const FAILED: [&str; 2] = ["ai.request.total", "ai.request.duration_ms"];
const PLANNED: [&str; 4] = [
    "llm.plan_generation.request",
    "llm.plan_generation.response",
    "plan_generation.total",
    "plan_generation.duration_ms",
];
const FEEDBACK: [&str; 3] =
    ["validation_feedback_started", "orchestration.validation_feedback.attempts", "error_analyzer.llm_call_start"];

const PATHS: &[Path] = &[
    ("a plan that works", a_plan_that_works, &[]),
    ("nobody can be asked", without_a_model, &[]),
    ("who is not let in", who_is_not_let_in, &[]),
    ("a service that is busy", a_service_that_is_busy, &["Retry attempt"]),
    ("a gate that is closed", a_gate_that_is_closed, &[]),
    ("facts determine the change", facts_that_determine_the_change, &[]),
    ("a value that was learned", a_value_that_was_learned, &[]),
    (
        "a type that is made to fit",
        a_type_that_is_made_to_fit,
        &["type_coercion_applied", "orchestration.type_coercion.applied"],
    ),
    ("a plan of a model", a_plan_of_a_model, &["+planned", "+asked"]),
    (
        "a plan at the second try",
        a_plan_at_the_second_try,
        &[
            "+planned",
            "+asked",
            "llm.plan_generation.parse_error",
            "plan_generation.parse_errors",
            "plan_generation.retries",
        ],
    ),
    (
        "no plan at all",
        no_plan_at_all,
        &[
            "-step",
            "+planned",
            "+asked",
            "llm.plan_generation.parse_error",
            "plan_generation.parse_errors",
            "plan_generation.retries",
        ],
    ),
    ("a planner that fails", a_planner_that_fails, &["+planned", "+asked", "llm.plan_generation.error"]),
    ("a planner without words", a_planner_without_words, &["+planned", "+asked", "llm.plan_generation.error"]),
    ("many tools", || many_tools(Some(r#"["t/read"]"#)), &["+planned", "+asked"]),
    ("many tools, and who chooses fails", || many_tools(None), &["+planned", "+asked"]),
    ("a value that a model finds", a_value_that_a_model_finds, &["+asked"]),
    (
        "a value that no model finds",
        a_value_that_no_model_finds,
        &[
            "+asked",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that helps",
        feedback_that_helps,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
        ],
    ),
    (
        "feedback about a type",
        feedback_about_a_type,
        &[
            "+asked",
            "+feedback of a type",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
        ],
    ),
    (
        "feedback that says to wait",
        feedback_that_says_to_wait,
        &["+asked", "+feedback", "error_analyzer.analysis_complete", "Retry attempt"],
    ),
    (
        "feedback that cannot be read",
        feedback_that_cannot_be_read,
        &[
            "+asked",
            "+feedback",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "semantic_retry_applied",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.success",
            "orchestration.semantic_retry.applied",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that is refused",
        feedback_that_is_refused,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that nobody gives",
        feedback_that_nobody_gives,
        &[
            "+asked",
            "+feedback",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "feedback that is spent",
        feedback_that_is_spent,
        &[
            "+asked",
            "+feedback",
            "error_analyzer.analysis_complete",
            "validation_feedback_success",
            "orchestration.validation_feedback.success",
            "validation_feedback_failed",
            "orchestration.validation_feedback.failed",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "context that helps",
        context_that_helps,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "semantic_retry_applied",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.success",
            "orchestration.semantic_retry.applied",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "context of a step alone, which cannot be fixed",
        context_of_a_step_alone,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.complete",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.cannot_fix",
            "orchestration.semantic_retry.independent_step",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    ("no context for a step alone", no_context_for_a_step_alone, &["+asked", "+feedback", "+no retry"]),
    (
        "context that nobody gives",
        context_that_nobody_gives,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.error",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.llm_errors",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    (
        "context that cannot be read",
        context_that_cannot_be_read,
        &[
            "+asked",
            "+feedback",
            "+no retry",
            "contextual_re_resolution.start",
            "contextual_re_resolution.parse_error",
            "orchestration.semantic_retry.attempts",
            "orchestration.semantic_retry.llm_latency_ms",
        ],
    ),
    ("an answer of a model", an_answer_of_a_model, &["+asked", "llm.synthesis.response"]),
    ("an answer that no model gives", an_answer_that_no_model_gives, &["+failed"]),
    (
        "cancelled while a model is asked",
        cancelled_while_a_model_is_asked,
        &["+feedback", "validation_feedback_failed", "orchestration.validation_feedback.failed"],
    ),
    ("cancelled while a value is looked for", cancelled_while_a_value_is_looked_for, &[]),
];

/// Lines of the log that are written whenever something happens in a span.
const LINES: [(&str, &str); 11] = [
    ("type_coercion_applied", "Parameter types coerced to match schema"),
    ("validation_feedback_success", "Parameters corrected by LLM"),
    ("validation_feedback_failed", "Parameter correction failed"),
    ("llm_error_analysis_no_retry", "LLM error analysis: not retryable"),
    ("contextual_re_resolution.start", "Starting contextual re-resolution"),
    ("contextual_re_resolution.error", "Re-resolution LLM call failed"),
    ("contextual_re_resolution.error", "Semantic retry failed"),
    ("contextual_re_resolution.parse_error", "Failed to parse re-resolution response"),
    ("contextual_re_resolution.parse_error", "Semantic retry failed"),
    ("contextual_re_resolution.complete", "Contextual re-resolution completed"),
    ("semantic_retry_applied", "SEMANTIC RETRY: Applying corrected parameters"),
];

/// The events of one path.
pub(crate) fn path(case: &str) -> Vec<Event> {
    let found = PATHS.iter().find(|(known, ..)| *known == case);
    found.unwrap_or_else(|| panic!("there is no path {case}")).1()
}

pub(crate) fn paths() -> Vec<(&'static str, Vec<Event>, Vec<&'static str>)> {
    PATHS.iter().map(|(case, path, names)| (*case, path(), expand(names))).collect()
}

/// Names that always come together are written once.
fn expand(names: &[&'static str]) -> Vec<&'static str> {
    let mut all: Vec<&'static str> = vec!["orchestration.process_request"];
    if !names.contains(&"-step") {
        all.extend(STEP);
    }
    for name in names {
        match *name {
            "-step" => {}
            "+planned" => all.extend(PLANNED),
            "+asked" => all.extend(ASKED),
            "+failed" => all.extend(FAILED),
            "+feedback" => all.extend(FEEDBACK.into_iter().chain(["Call refused, requesting LLM correction"])),
            "+feedback of a type" => {
                all.extend(FEEDBACK.into_iter().chain(["Type error detected, requesting LLM correction"]));
            }
            "+no retry" => all.extend([
                "error_analyzer.analysis_complete",
                "llm_error_analysis_no_retry",
                "orchestration.error_analysis.no_retry",
            ]),
            name => all.push(name),
        }
    }
    let lines: Vec<&str> = LINES.iter().filter(|(name, _)| all.contains(name)).map(|(_, line)| *line).collect();
    all.extend(lines);
    all
}
