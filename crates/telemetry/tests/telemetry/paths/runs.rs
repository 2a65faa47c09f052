//! The events of one run for each path.

use std::sync::Arc;

use reknit_engine::{AskScope, DecidedBy, Decision, Effect, Event, EventKind, Policy, Started, Synthesis};
use reknit_expressions::ParameterMapping;
use reknit_mend::IndependentSteps;
use reknit_model_api::ErrorClass;
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{Capability, Step};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};

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
    assert!(play.run.answer().is_some(), "the run has not ended: {:?}", play.due());
    play.events
}

pub(crate) fn a_plan_that_works() -> Vec<Event> {
    finish(Play::of_steps(vec![step("s", "read", "{}")]), "s/call/1")
}

pub(super) fn without_a_model() -> Vec<Event> {
    let given = Started { targets: Vec::new(), ..started(Some(plan(vec![step("s", "read", "{}")])), policy()) };
    let mut play = Play::begin(given);
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn an_approved_call() -> Vec<Event> {
    let mut policy = policy();
    policy.approvals.ask = AskScope::All;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "keyed", "{}")])), policy));
    let hash = play.run.pending().iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask.hash.clone()),
        _ => None,
    });
    play.now_ms += 5_000;
    let (effect, hash) = ("s/approval/1".parse().unwrap(), hash.expect("a question"));
    play.happen(EventKind::PersonDecided { effect, hash, decision: Decision::Approve, by: DecidedBy::Person });
    finish(play, "s/call/1")
}

pub(super) fn a_generated_plan() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.now_ms += 400;
    play.answer_model("plan/ask/1", PLAN);
    finish(play, "s/call/1")
}

pub(super) fn a_plan_on_the_second_attempt() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", r#"{"steps": [{"step_id": "s", "agent_name": "nobody"}]}"#);
    play.answer_model("plan/ask/2", PLAN);
    finish(play, "s/call/1")
}

/// A plan whose step fails, and what the model answers when it is asked for a plan of what is missing.
pub(crate) fn a_second_plan(answer: &str) -> Play {
    let mut policy = policy();
    policy.mending.feedback = 0;
    policy.mending.context = 0;
    let mut play = Play::begin(started(None, policy));
    play.answer_model("plan/ask/1", PLAN);
    play.answer_tool("s/call/1", 404, "{}");
    play.answer_model("plan/ask/2", answer);
    play
}

pub(super) fn an_accepted_second_plan() -> Vec<Event> {
    finish(a_second_plan(OTHER_PLAN), "other/call/1")
}

pub(crate) const OTHER_PLAN: &str = r#"{"plan_id": "p", "steps": [{"step_id": "other", "agent_name": "t", "instruction": "look",
    "metadata": {"capability": "idempotent", "parameters": {}}}]}"#;

pub(super) fn no_valid_plan() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    for attempt in 1..=3 {
        play.answer_model(&format!("plan/ask/{attempt}"), "I cannot plan.");
    }
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

pub(super) fn a_failing_planner() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.fail_model("plan/ask/1", ErrorClass::ModelError);
    let next = play.due().first().cloned().expect("another model is asked");
    play.answer_model(&next, PLAN);
    finish(play, "s/call/1")
}

pub(super) fn a_planner_with_an_empty_answer() -> Vec<Event> {
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", "");
    let next = play.due().first().cloned().expect("another model is asked");
    play.answer_model(&next, PLAN);
    finish(play, "s/call/1")
}

pub(super) fn many_tools(answer: Option<&str>) -> Vec<Event> {
    let capabilities = (0..40)
        .map(|index| CatalogueEntry::new(Capability::new(format!("read{index}")), None).expect("there is no schema"))
        .chain([CatalogueEntry::new(Capability::new("read"), None).expect("there is no schema")]);
    let tool = CatalogueTool { name: "t".into(), description: String::new(), capabilities: capabilities.collect() };
    let catalogue = Arc::new(Catalogue { tools: vec![tool] });
    let mut play = Play::begin(Started { catalogue, ..started(None, policy()) });
    if let Some(answer) = answer {
        play.answer_model("plan/select/1", answer);
    } else {
        play.fail_model("plan/select/1", ErrorClass::InvalidResponse);
        let next = play.due().first().cloned().expect("another model is asked");
        play.answer_model(&next, r#"["t/read"]"#);
    }
    play.answer_model("plan/ask/1", PLAN);
    finish(play, "s/call/1")
}

pub(super) fn a_coerced_type() -> Vec<Event> {
    finish(Play::of_steps(vec![step("s", "convert", r#"{"amount": "5", "to": 7}"#)]), "s/call/1")
}

pub(super) fn a_correction_by_a_rule() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", r#"{"to": "Euro"}"#)]);
    let body = r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "there is no rate",
        "retryable": true, "details": {"field": "to", "allowed": ["EUR", "USD"]}}}"#;
    play.answer_tool("s/call/1", 400, body);
    finish(play, "s/call/2")
}

pub(super) fn successful_feedback() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CHANGE);
    finish(play, "convert/call/2")
}

pub(super) fn feedback_on_a_type_error() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", r#"{"x": "many"}"#)]);
    play.answer_tool("s/call/1", 400, BAD_TYPE);
    play.answer_model("s/feedback/1", r#"{"should_retry": true, "reason": "a number", "suggested_changes": {"x": 7}}"#);
    finish(play, "s/call/2")
}

pub(super) fn unparsable_feedback() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", "I do not know.");
    play.answer_model(
        "convert/context/1",
        r#"{"should_retry": true, "analysis": "a", "corrected_parameters": {"amount": 2}}"#,
    );
    finish(play, "convert/call/2")
}

pub(super) fn rejected_feedback() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 0}}"#);
    play.answer_model("convert/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn failed_feedback_requests() -> Vec<Event> {
    let mut play = quote_and_convert();
    while let Some(due) = play.due().into_iter().find(|due| due.starts_with("convert/feedback/")) {
        play.fail_model(&due, ErrorClass::AuthError);
    }
    play.answer_model(&play.due()[0].clone(), CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn feedback_that_advises_to_wait() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", r#"{"should_retry": false, "is_transient_error": true, "reason": "busy"}"#);
    play.wake("convert/retry-wait/1");
    finish(play, "convert/call/2")
}

pub(super) fn exhausted_feedback() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CHANGE);
    play.answer_tool("convert/call/2", 400, BAD_AMOUNT);
    play.answer_model("convert/feedback/2", r#"{"should_retry": true, "suggested_changes": {"amount": 6}}"#);
    play.answer_tool("convert/call/3", 400, BAD_AMOUNT);
    play.answer_model("convert/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(crate) fn successful_context() -> Vec<Event> {
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

pub(super) fn context_of_an_independent_step() -> Vec<Event> {
    let mut play = alone(policy());
    play.answer_model("s/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn no_context_for_an_independent_step() -> Vec<Event> {
    let mut policy = policy();
    policy.mending.independent_steps = IndependentSteps::Denied;
    let play = alone(policy);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn failed_context_requests() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", CANNOT);
    while let Some(due) = play.due().into_iter().find(|due| due.starts_with("convert/context/")) {
        play.fail_model(&due, ErrorClass::AuthError);
    }
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

pub(super) fn unparsable_context() -> Vec<Event> {
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

pub(super) fn a_resolved_parameter() -> Vec<Event> {
    let mut play = Play::of_steps(missing());
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.answer_model("convert/resolution/1", r#"{"amount": "{{quote.current_price}}"}"#);
    finish(play, "convert/call/1")
}

pub(super) fn an_unresolved_parameter() -> Vec<Event> {
    let mut play = Play::of_steps(missing());
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.answer_model("convert/resolution/1", r#"{"amount": "{{quote.nothing}}"}"#);
    play.answer_model("convert/context/1", CANNOT);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn a_learned_mapping() -> Vec<Event> {
    let mapping = ParameterMapping {
        status: reknit_expressions::MappingStatus::Inferred,
        producer: "t/read".to_owned(),
        consumer: "t/convert".to_owned(),
        parameter: "amount".to_owned(),
        expression: "it.current_price".to_owned(),
    };
    let mut play = Play::begin(Started { mappings: vec![mapping], ..started(Some(plan(missing())), policy()) });
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 5}"#);
    finish(play, "convert/call/1")
}

pub(super) fn a_learned_rule_that_the_tool_rejects() -> Vec<Event> {
    let rule = serde_json::from_str(
        r#"{"id": "r", "state": "accepted", "accepted_by": "person", "capability": "t/read",
            "error": {"code": "NO_CODE", "message": "*"}, "change": {"to": {"of": "upper(parameters.to)"}}}"#,
    );
    let policy = Policy { rules: vec![rule.unwrap()], ..policy() };
    let given = started(Some(plan(vec![step("s", "read", r#"{"to": "eur"}"#)])), policy);
    let mut play = Play::begin(Started { targets: Vec::new(), ..given });
    let rejection = r#"{"success": false, "error": {"code": "NO_CODE", "category": "INPUT_ERROR", "message": "no", "retryable": true}}"#;
    play.answer_tool("s/call/1", 400, rejection);
    play.answer_tool("s/call/2", 400, rejection);
    assert!(play.run.answer().is_some());
    play.events
}

pub(super) fn a_busy_service() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 503, "{}");
    play.wake("s/retry-wait/1");
    let failure =
        TransportFailure { kind: TransportKind::Reset, delivery: Delivery::Possible, message: "gone".to_owned() };
    play.happen(EventKind::ToolFailed { effect: "s/call/2".parse().unwrap(), failure });
    play.wake("s/retry-wait/2");
    finish(play, "s/call/3")
}

pub(super) fn an_unauthorized_call() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.answer_tool("s/call/1", 401, "{}");
    play.events
}

pub(super) fn an_open_breaker() -> Vec<Event> {
    let mut play = Play::of_steps(vec![step("s", "read", "{}")]);
    play.happen(EventKind::BreakerOpen {
        effect: "s/call/1".parse().unwrap(),
        until_ms: 6_000,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
    play.wake("s/breaker-wait/1");
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

pub(super) fn a_generated_answer() -> Vec<Event> {
    answering(|play| play.answer_model("answer/ask/1", "All is well."))
}

pub(super) fn failed_answer_requests() -> Vec<Event> {
    answering(|play| {
        while let Some(due) = play.due().first().cloned() {
            play.fail_model(&due, ErrorClass::AuthError);
        }
    })
}

pub(super) fn cancelled_during_feedback() -> Vec<Event> {
    let mut play = quote_and_convert();
    play.happen(EventKind::Cancelled);
    assert!(play.run.answer().is_some(), "{:?}", play.due());
    play.events
}

pub(super) fn cancelled_during_resolution() -> Vec<Event> {
    let mut play = Play::of_steps(missing());
    play.answer_tool("quote/call/1", 200, r#"{"current_price": 468.285}"#);
    play.happen(EventKind::Cancelled);
    play.events
}
