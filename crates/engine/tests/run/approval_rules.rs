//! Calls that a person approves before they are sent, because a rule says so.

use std::sync::Arc;

use reknit_engine::{
    ApprovalPolicy, ApprovalRule, AskScope, DecidedBy, Decision, EventKind, IfAbsent, Outcome, OutcomeCheck, Policy,
    Question, RecordKind, Run, RunRecord, Started, Status,
};
use reknit_expressions::Provenance;
use reknit_mend::PeoplePolicy;
use reknit_plan::{CatalogueEntry, read_plan_file};
use reknit_protocol::CallTool;
use reknit_protocol::{Capability, Object, Plan, SideEffect, Step};

use crate::world::{Play, failure_reason, json, object, plan, policy, question, started, step, timed_out};

/// A policy with one rule over the parameters.
fn when(text: &str) -> Policy {
    let rule = ApprovalRule { when: Some(text.to_owned()), ..ApprovalRule::default() };
    Policy { approvals: ApprovalPolicy { rules: vec![rule], ..ApprovalPolicy::default() }, ..policy() }
}

/// A run over `t/pay`, an unsafe capability with a positive amount.
fn paying(class: SideEffect, policy: Policy, steps: Vec<Step>) -> Play {
    Play::begin(payment(class, policy, plan(steps)))
}

fn payment(class: SideEffect, policy: Policy, plan: Plan) -> Started {
    let mut pay = Capability::new("pay");
    pay.effect = class;
    let schema = json(
        r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties":
            {"amount": {"type": "number", "exclusiveMinimum": 0}, "to": {"type": "string"}}}"#,
    );
    let mut started = started(Some(plan), policy);
    let entry = CatalogueEntry::new(pay, Some(schema)).expect("the schema is valid");
    Arc::make_mut(&mut started.catalogue).tools[0].capabilities.push(entry);
    started
}

fn rejected(reason: &str) -> Decision {
    Decision::Deny { reason: Some(reason.to_owned()) }
}

fn edit(parameters: &str) -> Decision {
    Decision::Edit { parameters: object(parameters) }
}

#[test]
fn the_first_call_that_matches_a_rule_waits_for_a_person() {
    let mut play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": "150"}"#)]);
    assert!(play.run.is_waiting_for_person());
    assert_eq!(play.due()[0], "s/approval/1");
    assert_eq!(play.run.spent().tool_calls, 0);
    let ask = question(&play);
    let Question::SendCall { call, reason, change } = &ask.question else { panic!("a first call: {:?}", ask.question) };
    assert_eq!(change, r#"$.amount: "150" -> 150"#);
    assert_eq!(call.parameters.to_string(), r#"{"amount":150}"#, "it is fitted to its schema before anyone is asked");
    assert_eq!((reason.as_str(), call.side_effect), ("rule: amount > 100", SideEffect::Unsafe));
    assert_eq!(ask.provenance, [("amount".to_owned(), Provenance::Literal)]);
    let expected = call.parameters.clone();
    play.decide(Decision::Approve);
    assert_eq!(play.call("s/call/1").parameters, expected);
    play.answer_tool("s/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Complete);
    assert!(answer.text.contains("Approved:\n- s: approved by a person (rule: amount > 100)"), "{}", answer.text);
}

#[test]
fn a_call_that_matches_no_rule_is_sent_at_once() {
    let play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 100}"#)]);
    assert_eq!(play.due(), ["s/call/1"]);
}

#[test]
fn a_call_is_validated_before_a_person_is_asked() {
    let read = Step::new("a", "t", "read", "read").with_parameters(Object::new());
    let second = step("s", "pay", r#"{"amount": "{{a.v}}"}"#);
    let mut policy = when("amount < 100");
    policy.approvals.rules[0].capability = Some("t/pay".to_owned());
    (policy.mending.facts, policy.mending.feedback, policy.mending.context) = (0, 0, 0);
    let mut play = paying(SideEffect::Unsafe, policy, vec![read, second]);
    play.answer_tool("a/call/1", 200, r#"{"v": -5}"#);
    assert!(failure_reason(&play).contains("do not fit their schema"), "{}", failure_reason(&play));
}

#[test]
fn a_decision_about_another_call_does_not_approve_this_one() {
    let mut play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    let ask = question(&play);
    let (hash, decision, by) = ("another".to_owned(), Decision::Approve, DecidedBy::Person);
    play.happen(EventKind::PersonDecided { effect: ask.id, hash, decision, by });
    assert!(play.run.is_waiting_for_person());
}

#[test]
fn an_unchanged_resend_of_an_approved_call_is_not_asked_about_again() {
    let mut play = paying(SideEffect::Keyed, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    play.decide(Decision::Approve);
    play.answer_tool("s/call/1", 429, "{}");
    play.wake("s/retry-wait/1");
    assert_eq!(play.due(), ["s/call/2"]);
}

#[test]
fn a_correction_of_an_approved_call_that_matches_a_rule_is_asked_about_again() {
    let mut play = paying(SideEffect::Keyed, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    play.decide(Decision::Approve);
    play.answer_tool("s/call/1", 400, r#"{"message": "amount must be at most 120"}"#);
    if play.due()[0] == "s/feedback/1" {
        play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 120}}"#);
    }
    let Question::SendCorrected { call, change, reason, .. } = question(&play).question else {
        panic!("a correction: {:?}", play.due())
    };
    assert_eq!((change.as_str(), call.parameters.to_string().as_str()), ("amount: 150 -> 120", r#"{"amount":120}"#));
    assert!(reason.ends_with("rule: amount > 100"), "{reason}");
    play.decide(Decision::Approve);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"amount":120}"#);
}

#[test]
fn a_correction_that_matches_no_rule_any_more_is_sent() {
    let mut play = paying(SideEffect::Undeclared, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    play.decide(Decision::Approve);
    play.answer_tool("s/call/1", 400, r#"{"message": "amount must be at most 90"}"#);
    if play.due()[0] == "s/feedback/1" {
        play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 90}}"#);
    }
    assert_eq!(play.due(), ["s/call/2"]);
}

#[test]
fn a_rejected_call_fails_with_the_reason_of_the_person() {
    let mut play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    play.decide(rejected("too much; ask accounting"));
    let reason = "the call is not sent, because it was not approved: too much; ask accounting";
    assert_eq!(failure_reason(&play), reason);
    let answer = play.run.answer().expect("the run has ended");
    assert!(answer.text.contains(reason), "{}", answer.text);
    let Outcome::Failed { fate, .. } = &answer.steps[0].outcome else { panic!("it failed") };
    assert_eq!(*fate, reknit_mend::Fate::NotSent);
}

#[test]
fn a_person_may_edit_and_approve_a_call() {
    let mut play =
        paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 500, "to": "ann"}"#)]);
    let key = question(&play).question.call().expect("a call").idempotency_key.clone();
    play.decide(edit(r#"{"amount": "120", "to": "ann"}"#));
    let call = play.call("s/call/1");
    assert_eq!(call.parameters.to_string(), r#"{"amount":120,"to":"ann"}"#, "what a person writes is fitted, too");
    assert_ne!(call.idempotency_key, key, "another call has another key");
    let (_, view) = play.run.step("s").expect("the step");
    let origin = |name: &str| view.provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin.clone());
    assert_eq!((origin("amount"), origin("to")), (Some(Provenance::Person), Some(Provenance::Literal)));
    play.answer_tool("s/call/1", 200, "{}");
    let text = &play.run.answer().expect("the run has ended").text;
    let line = "- s: edited and approved by a person: amount: 500 -> 120 (rule: amount > 100)";
    assert!(text.contains(line), "{text}");
}

#[test]
fn an_edit_that_does_not_fit_the_schema_is_refused_with_the_reason() {
    let mut play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 500}"#)]);
    for (parameters, problem) in [(r#"{"amount": -1}"#, "amount"), (r#"{"sum": 5}"#, "amount"), ("{}", "amount")] {
        play.decide(edit(parameters));
        let refused = play.records.iter().rev().find_map(|record| match &record.kind {
            RecordKind::Run(RunRecord::EditRefused { reason, .. }) => Some(reason.clone()),
            _ => None,
        });
        let refused = refused.unwrap_or_else(|| panic!("{parameters} was not refused: {:?}", play.due()));
        assert!(refused.contains(problem), "{refused}");
        assert!(play.run.is_waiting_for_person(), "the question stays open");
    }
    play.decide(Decision::Approve);
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"amount":500}"#);
}

#[test]
fn a_call_that_may_have_taken_effect_cannot_be_edited() {
    let mut play = Play::of_steps(vec![step("s", "unsafe", r#"{"x": 1}"#)]);
    play.happen(timed_out("s/call/1"));
    play.decide(edit(r#"{"x": 2}"#));
    assert!(matches!(question(&play).question, Question::SendAgain { .. }));
}

#[test]
fn without_a_person_a_call_that_matches_a_rule_fails() {
    let policy = Policy { people: PeoplePolicy::Nobody, ..when("amount > 100") };
    let play = paying(SideEffect::Unsafe, policy, vec![step("s", "pay", r#"{"amount": 150}"#)]);
    assert_eq!(failure_reason(&play), "rule: amount > 100, and no person can be asked for approval");
}

#[test]
fn ask_all_asks_about_every_call_but_reads() {
    let approvals = ApprovalPolicy { ask: AskScope::All, ..ApprovalPolicy::default() };
    let classes = ["read", "idempotent", "keyed", "undeclared", "unsafe"];
    let steps = classes.iter().map(|class| step(class, class, "{}")).collect();
    let play = Play::begin(started(Some(plan(steps)), Policy { approvals, ..policy() }));
    let asked: Vec<String> = play.due().into_iter().filter(|id| id.ends_with("/approval/1")).collect();
    assert_eq!(asked, ["idempotent/approval/1", "keyed/approval/1", "undeclared/approval/1", "unsafe/approval/1"]);
    assert!(play.due().contains(&"read/call/1".to_owned()));
}

#[test]
fn the_check_of_an_outcome_is_not_asked_about() {
    let mut policy = when("x == 1");
    let check = OutcomeCheck {
        tool: "t".into(),
        capability: "read".into(),
        parameters: object(r#"{"x": "{{call.x}}"}"#),
        happened: "reply.found".to_owned(),
        result: None,
        if_absent: IfAbsent::Ask,
    };
    policy.effects.checks.insert("t/unsafe".to_owned(), check);
    let mut play = Play::begin(started(Some(plan(vec![step("s", "unsafe", r#"{"x": 1}"#)])), policy));
    play.decide(Decision::Approve);
    play.happen(timed_out("s/call/1"));
    let check: CallTool = play.call("s/check/1");
    assert_eq!(check.parameters.to_string(), r#"{"x":1}"#);
}

#[test]
fn a_run_that_waits_for_an_approval_can_be_restored() {
    let mut play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    for decision in [None, Some(Decision::Approve)] {
        if let Some(decision) = decision {
            play.decide(decision);
        }
        let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it can be restored");
        assert_eq!(restored.pending(), play.run.pending());
    }
}

#[test]
fn a_cancelled_run_skips_a_call_that_waits_for_its_first_approval() {
    let mut play = paying(SideEffect::Unsafe, when("amount > 100"), vec![step("s", "pay", r#"{"amount": 150}"#)]);
    play.happen(EventKind::Cancelled);
    let answer = play.run.answer().expect("the run has ended");
    assert!(matches!(answer.steps[0].outcome, Outcome::Skipped { .. }), "{answer:?}");
}

/// A run that asks about its whole plan: a read, and a payment of its result.
fn planned(parameters: &str) -> Play {
    let approvals = ApprovalPolicy { ask: AskScope::Plan, ..ApprovalPolicy::default() };
    let steps = vec![step("a", "read", "{}"), step("s", "pay", parameters)];
    paying(SideEffect::Keyed, Policy { approvals, ..policy() }, steps)
}

#[test]
fn a_plan_is_approved_once_from_a_preview_of_its_calls() {
    let mut play = planned(r#"{"amount": "{{a.v}}", "to": "ann"}"#);
    assert_eq!(play.due(), ["plan/plan-approval/1", "plan/plan-approval-expiry/1"]);
    assert!(play.run.is_waiting_for_person());
    let Question::RunPlan { calls, tool_calls, .. } = question(&play).question else { panic!("the plan") };
    let shown: Vec<String> =
        calls.iter().map(|call| format!("{} {} {}", call.step, call.side_effect.as_str(), call.parameters)).collect();
    assert_eq!(shown, ["a read {}", r#"s keyed {"amount":"{{a.v}}","to":"ann"}"#]);
    assert_eq!(tool_calls, policy().limits.tool_calls);
    let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it can be restored");
    assert_eq!(restored.pending(), play.run.pending());
    play.decide(Decision::Approve);
    play.answer_tool("a/call/1", 200, r#"{"v": 150}"#);
    assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"amount":150,"to":"ann"}"#);
    play.answer_tool("s/call/1", 429, "{}");
    play.wake("s/retry-wait/1");
    play.answer_tool("s/call/2", 400, r#"{"message": "amount must be at most 120"}"#);
    if play.due()[0] == "s/feedback/1" {
        play.answer_model("s/feedback/1", r#"{"should_retry": true, "suggested_changes": {"amount": 120}}"#);
    }
    assert!(matches!(question(&play).question, Question::SendCorrected { .. }), "a correction is asked about");
}

#[test]
fn the_preview_of_a_plan_shows_the_values_of_its_inputs() {
    let text = r#"
inputs: {amount: {type: integer}, who: eve, parts: [1, 2], a: inputs.who}
steps:
  - {id: a, tool: t/read}
  - {id: whole, tool: t/pay, with: {amount: "{{inputs.amount}}", to: "{{inputs.who}}"}}
  - {id: part, tool: t/pay, with: {amount: "{{inputs.amount * a.v}}", to: "for {{inputs.who}} of {{a.name}}"}}
  - {id: tricky, tool: t/pay, with: {amount: 1, to: "{{join([inputs.a, inputs.who, a.name], inputs.a)}}"}}
  - {id: each, tool: t/pay, foreach: inputs.parts, with: {amount: "{{item * inputs.amount}}"}}
"#;
    let (read, _) = read_plan_file(text).expect("a plan");
    let approvals = ApprovalPolicy { ask: AskScope::Plan, ..ApprovalPolicy::default() };
    let started = payment(SideEffect::Keyed, Policy { approvals, ..policy() }, read);
    let play = Play::begin(Started { inputs: object(r#"{"amount": 1000000}"#), ..started });
    let Question::RunPlan { calls, .. } = question(&play).question else { panic!("the plan") };
    let shown: Vec<String> = calls.iter().map(|call| format!("{} {:?}", call.parameters, call.foreach)).collect();
    assert_eq!(
        shown,
        [
            "{} None",
            r#"{"amount":1000000,"to":"eve"} None"#,
            r#"{"amount":"{{1000000 * a.v}}","to":"for eve of {{a.name}}"} None"#,
            r#"{"amount":1,"to":"{{join([\"inputs.who\", \"eve\", a.name], \"inputs.who\")}}"} None"#,
            r#"{"amount":"{{item * 1000000}}"} Some("[1,2]")"#
        ]
    );
}

#[test]
fn a_call_with_a_rule_and_a_value_from_a_result_is_asked_about_although_its_plan_is_approved() {
    let rule = ApprovalRule { when: Some("amount > 100".to_owned()), ..ApprovalRule::default() };
    for (parameters, found, is_asked) in [
        (r#"{"amount": "{{a.v}}", "to": "ann"}"#, 150, true),
        (r#"{"amount": "{{a.v}}", "to": "ann"}"#, 50, false),
        (r#"{"amount": "{{a.v * 2}}", "to": "ann"}"#, 60, true),
        (r#"{"amount": 150, "to": "to {{a.v}}"}"#, 1, true),
        (r#"{"amount": 150, "to": "ann"}"#, 1, false),
    ] {
        let approvals = ApprovalPolicy { ask: AskScope::Plan, rules: vec![rule.clone()] };
        let steps = vec![step("a", "read", "{}"), step("s", "pay", parameters).after("a")];
        let mut play = paying(SideEffect::Keyed, Policy { approvals, ..policy() }, steps);
        play.decide(Decision::Approve);
        play.answer_tool("a/call/1", 200, &format!(r#"{{"v": {found}}}"#));
        let is_due = play.due().contains(&"s/call/1".to_owned());
        assert_eq!(is_due, !is_asked, "{parameters} with {found}");
        if is_asked {
            let Question::SendCall { reason, .. } = question(&play).question else { panic!("{parameters}") };
            assert_eq!(reason, "rule: amount > 100");
            play.decide(Decision::Approve);
            assert!(play.due().contains(&"s/call/1".to_owned()), "it is asked about once");
        }
    }
}

#[test]
fn a_value_that_the_preview_does_not_show_is_asked_about() {
    let approvals = ApprovalPolicy { ask: AskScope::Plan, ..ApprovalPolicy::default() };
    let steps = vec![step("a", "read", "{}"), step("s", "pay", "{}").after("a")];
    let mut play = paying(SideEffect::Keyed, Policy { approvals, ..policy() }, steps);
    play.decide(Decision::Approve);
    play.answer_tool("a/call/1", 200, r#"{"amount": 150}"#);
    play.answer_model("s/resolution/1", r#"{"amount": "{{a.amount}}"}"#);
    let Question::SendCorrected { reason, change, .. } = question(&play).question else { panic!("the found value") };
    assert_eq!(change, "amount: nothing -> 150");
    assert!(reason.ends_with("; no approved plan has this call"), "{reason}");
}

#[test]
fn a_plan_is_approved_as_it_is_and_by_a_decision_about_it() {
    let mut play = planned(r#"{"amount": 1}"#);
    let ask = question(&play);
    let (hash, decision, by) = ("another".to_owned(), Decision::Approve, DecidedBy::Person);
    play.happen(EventKind::PersonDecided { effect: ask.id.clone(), hash, decision, by });
    assert_eq!(question(&play), ask, "the decision is about another plan");
    play.decide(edit(r#"{"amount": 2}"#));
    assert_eq!(question(&play), ask, "a plan cannot be edited");
}

#[test]
fn a_rejected_plan_makes_no_call() {
    let mut play = planned(r#"{"amount": 1}"#);
    play.decide(rejected("wrong month"));
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Failed);
    assert!(answer.text.contains("the plan was not approved: wrong month"), "{}", answer.text);
    assert_eq!(play.run.spent().tool_calls, 0);
}

#[test]
fn a_plan_that_only_reads_and_a_policy_without_people_ask_nothing() {
    let approvals = ApprovalPolicy { ask: AskScope::Plan, ..ApprovalPolicy::default() };
    let policy = Policy { approvals, ..policy() };
    let play = Play::begin(started(Some(plan(vec![step("a", "read", "{}")])), policy.clone()));
    assert_eq!(play.due(), ["a/call/1"]);
    let policy = Policy { people: PeoplePolicy::Nobody, ..policy };
    let play = Play::begin(started(Some(plan(vec![step("a", "keyed", "{}")])), policy));
    assert!(play.run.answer().is_some_and(|answer| answer.text.contains("no person can be asked")));
}

#[test]
fn a_run_that_waits_for_the_approval_of_its_plan_can_be_cancelled_and_expires() {
    let mut play = planned(r#"{"amount": 1}"#);
    let mut other = play.clone();
    play.happen(EventKind::Cancelled);
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Cancelled));
    other.wake("plan/plan-approval-expiry/1");
    assert!(other.run.answer().is_some_and(|answer| answer.text.contains("the time to approve the plan ran out")));
}
