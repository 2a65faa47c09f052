//! Values of a model's plan that stand for nothing, or that a tool could misread.

use std::sync::Arc;

use reknit_engine::Started;
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{Capability, SideEffect};

use crate::world::{Play, json, plan, policy, started, step};

/// A run whose tool `t` has `pay` with an amount, a recipient and a day, and a model that plans one call of it.
fn planned(request: &str, class: SideEffect, parameters: &str) -> Play {
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"},
        "day": {"type": "string", "format": "date"}, "zone": {"type": "number"}}}"#;
    let mut capability = Capability::new("pay");
    capability.effect = class;
    let entry = CatalogueEntry::new(capability, Some(json(schema))).expect("the schema is valid");
    let tool = CatalogueTool { name: "t".into(), description: String::new(), capabilities: vec![entry] };
    let begun = started(None, policy());
    let mut play = Play::begin(Started {
        request: request.to_owned(),
        catalogue: Arc::new(Catalogue { tools: vec![tool] }),
        ..begun
    });
    let step = format!(
        r#"{{"step_id": "s", "agent_name": "t", "metadata": {{"capability": "pay", "parameters": {parameters}}}}}"#
    );
    play.answer_model("plan/ask/1", &format!(r#"{{"steps": [{step}]}}"#));
    play
}

#[test]
fn an_accepted_placeholder_is_a_doubt_of_the_answer() {
    for class in [SideEffect::Read, SideEffect::Undeclared] {
        let mut play = planned("pay for 7 apples", class, r#"{"amount": 0}"#);
        assert_eq!(play.due(), ["s/call/1"]);
        play.answer_tool("s/call/1", 200, r#"{"paid": true}"#);
        let doubts = &play.run.answer().expect("the run has ended").doubts;
        let expected = "step `s` was sent `amount: 0`, which looks like a placeholder: the request does not state it";
        assert!(doubts.iter().any(|doubt| doubt == expected), "{class:?}: {doubts:?}");
    }
}

#[test]
fn a_placeholder_is_looked_for_before_a_changing_call() {
    for class in [SideEffect::Idempotent, SideEffect::Keyed, SideEffect::Unknown, SideEffect::Unsafe] {
        let mut play = planned("pay for 7 apples", class, r#"{"amount": 0}"#);
        assert_eq!(play.due(), ["s/resolution/1"], "{class:?}");
        play.answer_model("s/resolution/1", r#"{"amount": 0}"#);
        assert!(!play.due().contains(&"s/call/1".to_owned()), "{class:?}: {:?}", play.due());
    }
}

#[test]
fn a_zero_that_the_request_states_or_the_schema_offers_is_sent() {
    for request in ["pay 0 dollars", "pay zero dollars"] {
        let mut play = planned(request, SideEffect::Unsafe, r#"{"amount": 0}"#);
        assert_eq!(play.due(), ["s/call/1"], "{request}");
        play.answer_tool("s/call/1", 200, "{}");
        assert!(play.run.answer().is_some_and(|answer| answer.doubts.is_empty()), "{request}");
    }
    let other = planned("pay 5 dollars", SideEffect::Unsafe, r#"{"amount": 5, "zone": 0}"#);
    assert_eq!(other.due(), ["s/call/1"], "a number that is no quantity");
}

#[test]
fn no_call_is_sent_with_a_date_that_can_be_misread() {
    for day in ["2024-02-30", "next Friday", "03/04/2024"] {
        for class in [SideEffect::Unsafe, SideEffect::Read] {
            let parameters = format!(r#"{{"amount": 5, "day": "{day}"}}"#);
            let play = planned("pay 5 dollars", class, &parameters);
            assert!(!play.due().contains(&"s/call/1".to_owned()), "{day}: {:?}", play.due());
        }
    }
    for day in ["2024-02-29", "25/12/2026", "2024-05-01T10:00:00"] {
        let parameters = format!(r#"{{"amount": 5, "day": "{day}"}}"#);
        let play = planned("pay 5 dollars", SideEffect::Unsafe, &parameters);
        assert_eq!(play.due(), ["s/call/1"], "{day}");
    }
}

#[test]
fn a_plan_of_a_person_keeps_its_zeros() {
    let play = Play::begin(started(Some(plan(vec![step("s", "convert", r#"{"amount": 0}"#)])), policy()));
    assert_eq!(play.due(), ["s/call/1"]);
}
