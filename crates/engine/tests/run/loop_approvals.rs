//! One question to a person about all calls of a loop that need an approval.

use reknit_engine::{
    ApprovalRule, AskPerson, DecidedBy, Decision, EventKind, Machine, Outcome, Policy, Question, Run, Status,
    StepReport,
};
use reknit_mend::PeoplePolicy;
use reknit_plan::read_plan_file;

use crate::world::{Play, answer, object, policy, question, started};

const REFUNDS: &str = "
steps:
  - {id: orders, tool: t/read}
  - id: refund
    foreach: orders.items
    at_once: 1
    approve: true
    tool: t/keyed
    with: {order: '{{item.id}}', amount: '{{item.price}}'}
    on_failure: continue
";

const ORDERS: &str = r#"{"items": [{"id": 7, "price": 1.5}, {"id": 8, "price": 20}, {"id": 9, "price": 30}]}"#;

fn begin(text: &str, policy: Policy) -> Play {
    let refunds = read_plan_file(text).unwrap_or_else(|error| panic!("{error:?}")).0;
    let mut play = Play::begin(started(Some(refunds), policy));
    play.answer_tool("orders/call/1", 200, ORDERS);
    play
}

fn decide(play: &mut Play, ask: &AskPerson, decision: Decision) {
    let (effect, hash) = (ask.id.clone(), ask.hash.clone());
    play.happen(EventKind::PersonDecided { effect, hash, decision, by: DecidedBy::Person });
}

fn asked(ask: &AskPerson) -> Vec<String> {
    ask.question.lines().iter().map(|line| format!("{}: {}", line.label, line.text)).collect()
}

fn outcome(report: &StepReport) -> String {
    match &report.outcome {
        Outcome::Done(_) => format!("{}: done", report.step),
        Outcome::Failed { reason, .. } => format!("{}: {reason}", report.step),
        other => format!("{}: {other:?}", report.step),
    }
}

#[test]
fn one_answer_counts_for_all_items_of_a_loop_and_each_is_sent_as_it_was_shown() {
    let mut play = begin(REFUNDS, policy());
    let ask = question(&play);
    assert_eq!((ask.id.to_string().as_str(), ask.step.as_str()), ("refund/approval/1", "refund"));
    insta::assert_snapshot!(asked(&ask).join("\n"), @r#"
    call: `keyed` of `t` (keyed), 3 calls; the answer counts for all of them
    item: refund[0]: {"order":7,"amount":1.5}
    item: refund[1]: {"order":8,"amount":20}
    item: refund[2]: {"order":9,"amount":30}
    reason: the plan asks for approval of this step
    "#);
    assert!(play.run.is_waiting_for_person());
    // A run that is restored, from its events or its state, asks the same.
    let replayed = Machine::replay(&play.events).expect("the events are valid").expect("there are events").0;
    let restored = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it can be restored");
    assert_eq!((replayed.pending(), restored.pending()), (play.run.pending(), play.run.pending()));
    play.run = restored;
    decide(&mut play, &ask, Decision::Approve);
    for (number, parameters) in
        [r#"{"order":7,"amount":1.5}"#, r#"{"order":8,"amount":20}"#, r#"{"order":9,"amount":30}"#].iter().enumerate()
    {
        let call = format!("refund[{number}]/call/1");
        assert_eq!(play.call(&call).parameters.to_string(), *parameters);
        // The approvals are part of the state.
        play.run = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it can be restored");
        play.answer_tool(&call, 200, "{}");
    }
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Complete);
    let approvals: Vec<usize> = answer.steps.iter().map(|step| step.approvals.len()).collect();
    assert_eq!(approvals, [0, 1, 1, 1, 1], "the loop and each item say that they were approved");
}

#[test]
fn no_refuses_all_items_and_nothing_is_sent() {
    let mut play = begin(REFUNDS, policy());
    let ask = question(&play);
    decide(&mut play, &ask, Decision::Deny { reason: Some("not today".to_owned()) });
    let outcomes: Vec<String> = answer(&play).steps.iter().map(outcome).collect();
    assert_eq!(outcomes, ["orders: done", "refund: none of its calls is sent, because it was not approved: not today"]);
    // A retry asks again.
    play.happen(EventKind::Retried);
    assert_eq!(question(&play).id.to_string(), "refund/approval/2");
}

#[test]
fn an_answer_with_the_hash_of_another_list_is_ignored() {
    let mut play = begin(REFUNDS, policy());
    let mut other = begin(&REFUNDS.replace("item.price", "item.price + 1"), policy());
    let (ask, foreign) = (question(&play), question(&other));
    assert_ne!(ask.hash, foreign.hash);
    decide(&mut play, &AskPerson { hash: foreign.hash.clone(), ..ask.clone() }, Decision::Approve);
    assert_eq!(question(&play), ask, "it still waits");
    decide(&mut other, &foreign, Decision::Approve);
    assert_eq!(other.due(), ["refund[0]/call/1"]);
}

#[test]
fn the_calls_of_a_list_are_not_edited() {
    let mut play = begin(REFUNDS, policy());
    let ask = question(&play);
    decide(&mut play, &ask, Decision::Edit { parameters: object(r#"{"order": 1, "amount": 1}"#) });
    assert_eq!(question(&play), ask, "it still waits");
}

#[test]
fn an_item_whose_call_is_corrected_is_asked_about_on_its_own() {
    let mut play = begin(REFUNDS, policy());
    let ask = question(&play);
    decide(&mut play, &ask, Decision::Approve);
    play.answer_tool("refund[0]/call/1", 400, r#"{"error": "amount must be at least 2"}"#);
    let advice = r#"{"should_retry": true, "reason": "too small", "suggested_changes": {"amount": 2}}"#;
    if let Some(asked) = play.due().into_iter().find(|effect| effect.contains("/feedback/")) {
        play.answer_model(&asked, advice);
    }
    let again = question(&play);
    assert_eq!(again.step.as_str(), "refund[0]", "{:?}", play.due());
    assert!(matches!(again.question, Question::SendCorrected { .. } | Question::SendCall { .. }), "{again:?}");
}

#[test]
fn only_the_items_that_match_a_rule_are_asked_about_and_the_others_start_after_the_answer() {
    let rule =
        ApprovalRule { capability: Some("t/keyed".to_owned()), class: None, when: Some("amount > 10".to_owned()) };
    let mut policy = policy();
    policy.approvals.rules = vec![rule.clone()];
    let text = REFUNDS.replace("    approve: true\n", "");
    let mut play = begin(&text, policy.clone());
    let ask = question(&play);
    assert_eq!(asked(&ask).len(), 4, "{:?}", asked(&ask));
    decide(&mut play, &ask, Decision::Approve);
    for number in 0..3 {
        play.answer_tool(&format!("refund[{number}]/call/1"), 200, "{}");
    }
    let answer = play.run.answer().expect("the run has ended");
    let approvals: Vec<usize> = answer.steps.iter().map(|step| step.approvals.len()).collect();
    assert_eq!((answer.status, approvals), (Status::Complete, vec![0, 1, 0, 1, 1]));
    // A single one is asked about when it is due.
    policy.approvals.rules = vec![ApprovalRule { when: Some("amount > 25".to_owned()), ..rule }];
    let mut play = begin(&text, policy);
    assert_eq!(play.due(), ["refund[0]/call/1"]);
    play.answer_tool("refund[0]/call/1", 200, "{}");
    play.answer_tool("refund[1]/call/1", 200, "{}");
    assert_eq!(question(&play).step.as_str(), "refund[2]");
}

#[test]
fn an_item_that_its_condition_skips_is_not_in_the_list() {
    let play = begin(&REFUNDS.replace("    approve: true", "    approve: true\n    when: item.price > 10"), policy());
    let ask = question(&play);
    let Question::SendItems { calls, .. } = &ask.question else { panic!("{ask:?}") };
    assert_eq!(calls.iter().map(|call| call.step.as_str()).collect::<Vec<_>>(), ["refund[1]", "refund[2]"]);
}

#[test]
fn without_people_no_item_is_sent() {
    let play = begin(REFUNDS, Policy { people: PeoplePolicy::Nobody, ..policy() });
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.steps.len(), 2);
    assert!(outcome(&answer.steps[1]).contains("no person can be asked for approval"), "{:?}", answer.steps[1]);
}
