//! Replies with the status of a success that report an error.

use std::sync::Arc;

use reknit_engine::{EventKind, Outcome, Status};
use reknit_mend::{ErrorsInSuccess, Fate};
use reknit_plan::CatalogueEntry;
use reknit_protocol::{Capability, ReplyBody, ToolReply};

use crate::world::{Play, catalogue, effect_id, json, plan, policy, started, step};

const DECLINED: &str = r#""Error: payment amount does not add up""#;

fn booked(capability: &str, errors: Option<ErrorsInSuccess>) -> Play {
    let steps = vec![step("book", capability, "{}"), step("cancel", "undeclared", "{}").after("book")];
    let mut policy = policy();
    policy.errors_in_success.extend(errors.map(|errors| ("t".to_owned(), errors)));
    let mut play = Play::begin(started(Some(plan(steps)), policy));
    play.answer_tool("book/call/1", 200, DECLINED);
    play
}

#[test]
fn nothing_follows_on_a_booking_that_answered_with_an_error() {
    for capability in ["undeclared", "idempotent", "keyed"] {
        let play = booked(capability, None);
        let answer = play.run.answer().expect("the run has ended");
        assert_eq!(answer.status, Status::Failed, "{capability}");
        assert_eq!((answer.spent.tool_calls, answer.spent.model_calls), (1, 0), "{capability}");
        let Outcome::Failed { reason, fate } = &answer.steps[0].outcome else { panic!("the booking failed") };
        assert_eq!(*fate, Fate::Unknown, "{capability}");
        assert!(reason.contains("payment amount does not add up") && reason.contains("may have taken effect"));
        assert!(matches!(answer.steps[1].outcome, Outcome::Skipped { .. }), "{capability}");
        assert!(answer.text.contains("payment amount does not add up"), "{}", answer.text);
    }
}

#[test]
fn a_person_decides_about_an_unsafe_call_that_answered_with_an_error() {
    let play = booked("unsafe", None);
    assert_eq!(play.due().first().map(String::as_str), Some("book/approval/1"));
}

#[test]
fn a_read_that_answered_with_an_error_is_sent_again() {
    let mut play = booked("read", None);
    play.wake("book/retry-wait/1");
    play.answer_tool("book/call/2", 200, r#"{"id": 7}"#);
    assert_eq!(play.due(), ["cancel/call/1"]);
}

#[test]
fn a_tool_can_return_texts_that_look_like_errors_if_they_are_ignored() {
    assert_eq!(booked("undeclared", Some(ErrorsInSuccess::Ignore)).due(), ["cancel/call/1"]);
}

#[test]
fn a_page_is_an_error_where_the_tool_announces_data() {
    for (announced, due) in
        [(r#", "output_summary": {"required": [{"name": "price"}]}"#, None), ("", Some("next/call/1"))]
    {
        let capability = json(&format!(r#"{{"name": "book"{announced}}}"#));
        let capability = Capability::from_value(&capability).expect("a capability");
        let mut catalogue = catalogue();
        catalogue.tools[0].capabilities.push(CatalogueEntry::new(capability, None).expect("a valid entry"));
        let steps = vec![step("book", "book", "{}"), step("next", "read", "{}").after("book")];
        let mut started = started(Some(plan(steps)), policy());
        started.catalogue = Arc::new(catalogue);
        let mut play = Play::begin(started);
        let body = ReplyBody::Text("<!DOCTYPE html><title>Log in</title>".to_owned());
        let reply = ToolReply { status: 200, retry_after_ms: None, body, job: None };
        play.happen(EventKind::ToolAnswered { effect: effect_id("book/call/1"), reply });
        assert_eq!(play.due().first().map(String::as_str), due, "announced: {announced}");
    }
}
