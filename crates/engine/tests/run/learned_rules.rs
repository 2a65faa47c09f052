//! The rung of learned rules: the second occurrence of an error costs no model call.

use reknit_engine::{EventKind, MendDetail, Policy, Question, RecordKind, RunRecord, Started, Status};
use reknit_expressions::{Backing, Provenance};
use reknit_mend::{AcceptedBy, LearnedRule, Mend, MendEffect, PeoplePolicy, RuleState, Rung, propose_rules};

use crate::world::{Play, plan, policy, question, started, step};

const NO_RATE: &str = r#"{"success": false, "error": {"code": "NO_RATE", "category": "NOT_FOUND", "retryable": true,
    "message": "no rate from `Yen` to `Won`", "details": {"names": ["JPY", "KRW", "SEK"]}}}"#;
const CALL: &str = r#"{"from": "Yen", "to": "KRW"}"#;

/// A call with a capability that the tool has rejected.
fn rejected(capability: &str, policy: Policy, body: &str) -> Play {
    let mut play = Play::begin(started(Some(plan(vec![step("s", capability, CALL)])), policy));
    play.answer_tool("s/call/1", 404, body);
    play
}

/// The rule that the correction of a model in a first run suggests, accepted by a person.
fn learned(capability: &str) -> LearnedRule {
    let mut play = rejected(capability, policy(), NO_RATE);
    play.answer_model(
        "s/feedback/1",
        r#"{"should_retry": true, "reason": "a code", "suggested_changes": {"from": "JPY"}}"#,
    );
    play.answer_tool("s/call/2", 200, r#"{"rate": 9}"#);
    let rules = propose_rules(&play.run.lessons());
    let [rule] = rules.as_slice() else { panic!("one rule, not {rules:?}") };
    assert_eq!(rule.state, RuleState::Proposed);
    LearnedRule { state: RuleState::Accepted, accepted_by: Some(AcceptedBy::Person), ..rule.for_runs() }
}

fn with_rules(rules: Vec<LearnedRule>) -> Policy {
    Policy { rules, ..policy() }
}

fn last_mend(play: &Play) -> Mend {
    play.run.steps()[0].mends.last().cloned().expect("a mend")
}

#[test]
fn the_second_occurrence_of_an_error_costs_no_model_call() {
    let rule = learned("read");
    let mut play = rejected("read", with_rules(vec![rule.clone()]), NO_RATE);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"from":"JPY","to":"KRW"}"#);
    let mend = last_mend(&play);
    assert_eq!((mend.rung, mend.effect), (Rung::Rules, MendEffect::Applied));
    let text = r#"parameters.from by Yen -> "JPY""#.to_owned();
    let words = format!(r#"from: "Yen" -> "JPY", by the learned rule {}: from = {text}"#, rule.id);
    assert_eq!(mend.description, words);
    let backing = Backing::Rule { rule: rule.id.clone(), text };
    let origin = Provenance::Corrected { rung: "rules".to_owned(), backing };
    assert!(play.run.steps()[0].provenance.contains(&("from".to_owned(), origin)));
    let is_use = |kind: &RecordKind| {
        matches!(kind, RecordKind::Run(RunRecord::Mended { detail: MendDetail::ByLearnedRule { rule: used }, .. })
            if *used == rule.id)
    };
    assert!(play.records.iter().any(|record| is_use(&record.kind)), "each use is a record");
    play.answer_tool("s/call/2", 200, r#"{"rate": 9}"#);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.model_calls), (Status::Complete, 0));
    let lessons = play.run.lessons();
    assert_eq!((lessons.len(), lessons[0].rung), (1, Rung::Rules), "the use is evidence for the rule");
}

#[test]
fn a_rule_is_used_only_for_its_capability_its_error_and_its_value() {
    let rule = learned("read");
    let other_value = NO_RATE.replace("`Yen`", "`Yuan`");
    for (case, capability, parameters, body, due) in [
        ("the same", "read", CALL, NO_RATE, "s/call/2"),
        ("another capability", "idempotent", CALL, NO_RATE, "s/feedback/1"),
        ("another value", "read", r#"{"from": "Yuan", "to": "KRW"}"#, other_value.as_str(), "s/feedback/1"),
        ("another code", "read", CALL, &NO_RATE.replace("NO_RATE", "CLOSED"), "s/feedback/1"),
        ("another message", "read", CALL, &NO_RATE.replace("no rate", "no price"), "s/feedback/1"),
        ("a value that the tool no longer lists", "read", CALL, &NO_RATE.replace("\"JPY\", ", ""), "s/feedback/1"),
    ] {
        let mut play =
            Play::begin(started(Some(plan(vec![step("s", capability, parameters)])), with_rules(vec![rule.clone()])));
        play.answer_tool("s/call/1", 404, body);
        assert_eq!(play.due(), [due], "{case}");
    }
}

#[test]
fn a_rule_that_the_tool_rejects_is_not_used_again_and_the_model_is_asked() {
    let rule = learned("read");
    let steps = vec![step("s", "read", CALL), step("t", "read", CALL).after("s")];
    let mut play = Play::begin(started(Some(plan(steps)), with_rules(vec![rule.clone()])));
    play.answer_tool("s/call/1", 404, NO_RATE);
    play.answer_tool("s/call/2", 404, &NO_RATE.replace("`Yen`", "`JPY`"));
    assert_eq!(play.due(), ["s/feedback/1"]);
    let mend = last_mend(&play);
    assert_eq!((mend.rung, mend.effect), (Rung::Rules, MendEffect::NoHelp));
    assert!(mend.description.starts_with(&format!("the learned rule {} is not used again", rule.id)), "{mend:?}");
    assert_eq!(play.run.rejected_rules().keys().collect::<Vec<_>>(), [&rule.id]);
    play.answer_model("s/feedback/1", r#"{"should_retry": true, "reason": "", "suggested_changes": {"from": "SEK"}}"#);
    play.answer_tool("s/call/3", 200, "{}");
    play.answer_tool("t/call/1", 404, NO_RATE);
    assert_eq!(play.due(), ["t/feedback/1"], "the rule is not used for other steps either");
}

#[test]
fn an_error_about_another_parameter_does_not_speak_against_the_rule() {
    let mut play = rejected("read", with_rules(vec![learned("read")]), NO_RATE);
    play.answer_tool("s/call/2", 422, r#"{"error": {"code": "CLOSED", "message": "`to` is not traded today"}}"#);
    assert!(play.run.rejected_rules().is_empty());
}

#[test]
fn rules_are_not_used_where_nobody_may_change_the_call() {
    let rule = learned("read");
    let confirmed = LearnedRule { accepted_by: Some(AcceptedBy::Confirmations), ..learned("undeclared") };
    let retired = LearnedRule { state: RuleState::Retired, ..rule.clone() };
    let mut without = with_rules(vec![rule.clone()]);
    without.mending.rules = 0;
    for (case, capability, policy, body) in [
        (
            "a rule that accepted itself, for a call that does not only read",
            "undeclared",
            with_rules(vec![confirmed]),
            NO_RATE,
        ),
        ("a retired rule", "read", with_rules(vec![retired]), NO_RATE),
        ("turned off", "read", without, NO_RATE),
    ] {
        let play = rejected(capability, policy, body);
        assert_eq!(play.due(), ["s/feedback/1"], "{case}");
    }
    let play =
        rejected("read", with_rules(vec![rule]), &NO_RATE.replace("\"retryable\": true", "\"retryable\": false"));
    assert_eq!(play.due(), Vec::<String>::new(), "the tool says that no other call will work");
}

#[test]
fn two_rules_that_disagree_change_nothing() {
    let rule = learned("read");
    let mut other = rule.clone();
    other.id = "other".to_owned();
    let value = other.change.get_mut("from").and_then(|value| value.map.as_mut()).expect("a map");
    value.insert("Yen", "SEK");
    let play = rejected("read", with_rules(vec![rule.clone(), other]), NO_RATE);
    assert_eq!(play.due(), ["s/feedback/1"]);
    assert_eq!(last_mend(&play).description, format!("the rules {} and other disagree", rule.id));
}

#[test]
fn the_side_effect_decides_whether_a_person_approves_the_change_of_an_accepted_rule() {
    for (capability, is_sent) in
        [("read", true), ("idempotent", true), ("keyed", true), ("undeclared", true), ("unsafe", false)]
    {
        let rule = LearnedRule { capability: format!("t/{capability}"), ..learned("read") };
        let play = rejected(capability, with_rules(vec![rule]), NO_RATE);
        if is_sent {
            assert_eq!(play.due(), ["s/call/2"], "{capability}");
        } else {
            let Question::SendCorrected { change, .. } = question(&play).question else { panic!("a correction") };
            assert_eq!(change, r#"from: "Yen" -> "JPY""#);
        }
    }
}

#[test]
fn a_value_that_the_plan_takes_from_a_result_is_converted_and_not_replaced() {
    let rule = learned("read");
    let mut replacing = rule.clone();
    replacing.change.get_mut("from").expect("a change").of = "parameters.to".to_owned();
    replacing.change.get_mut("from").expect("a change").map = None;
    for (rule, due) in [(rule, "s/call/2"), (replacing, "s/feedback/1")] {
        let steps = vec![step("q", "read", "{}"), step("s", "read", r#"{"from": "{{q.name}}", "to": "KRW"}"#)];
        let mut play = Play::begin(started(Some(plan(steps)), with_rules(vec![rule])));
        play.answer_tool("q/call/1", 200, r#"{"name": "Yen"}"#);
        play.answer_tool("s/call/1", 404, NO_RATE);
        assert_eq!(play.due(), [due]);
    }
}

#[test]
fn a_missing_value_is_filled_before_the_call_as_a_model_filled_it_in_an_earlier_run() {
    let begin = |request: &str, policy: Policy| {
        let steps = vec![step("q", "read", "{}"), step("s", "convert", r#"{"to": "KRW"}"#).after("q")];
        let mut play = Play::begin(Started { request: request.to_owned(), ..started(Some(plan(steps)), policy) });
        play.answer_tool("q/call/1", 200, r#"{"open": true}"#);
        play
    };
    let mut play = begin("convert 1500.5 dollars", policy());
    play.answer_model("s/resolution/1", r#"{"amount": 1500.5}"#);
    play.answer_tool("s/call/1", 200, "{}");
    let rules = propose_rules(&play.run.lessons());
    assert_eq!(rules[0].change["amount"].of, "request.number", "{rules:?}");
    let rule = LearnedRule { state: RuleState::Accepted, accepted_by: Some(AcceptedBy::Person), ..rules[0].for_runs() };
    let play = begin("convert 20 euros", with_rules(vec![rule.clone()]));
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"to":"KRW","amount":20}"#);
    let play = begin("convert 20 euros in 3 days", with_rules(vec![rule]));
    assert_eq!(play.due(), ["s/resolution/1"], "which number is meant is not known");
}

#[test]
fn rules_travel_in_the_first_event_and_a_run_without_rules_has_no_trace_of_them() {
    let without = EventKind::Started(Box::new(started(None, policy())));
    let text = serde_json::to_string(&without).expect("the event is JSON");
    assert!(!text.contains("\"rules\""), "{text}");
    let with = EventKind::Started(Box::new(started(None, with_rules(vec![learned("read")]))));
    let text = serde_json::to_string(&with).expect("the event is JSON");
    let read: EventKind = serde_json::from_str(&text).expect("the event is read");
    assert_eq!(read, with);
}

#[test]
fn a_change_that_needs_an_approval_is_not_made_if_nobody_can_give_one() {
    let rule = LearnedRule { capability: "t/unsafe".to_owned(), ..learned("read") };
    let policy = Policy { people: PeoplePolicy::Nobody, ..with_rules(vec![rule]) };
    let play = rejected("unsafe", policy, NO_RATE);
    assert!(!play.due().contains(&"s/call/2".to_owned()), "{:?}", play.due());
}
