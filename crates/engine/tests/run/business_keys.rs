//! Business keys: a deed is done once, whichever run, step or session asks for it.

use reknit_engine::{
    Decision, EventKind, KeyHolder, KeySettlement, KnownReceipt, Outcome, Policy, RecordKind, RunRecord, Status,
    StepState,
};
use reknit_protocol::{Delivery, KeyRule, SideEffect, Step, ToolJob, ToolReply, TransportFailure, TransportKind};

use crate::failed_calls::BAD_AMOUNT;
use crate::world::{Play, effect_id, failure_reason, json, plan, policy, reply, started, step};

const REFUND: &str = r#"{"order_id": 7, "amount": 10}"#;

fn keyed_policy() -> Policy {
    let mut policy = policy();
    for class in SideEffect::ALL {
        policy.effects.keys.insert(format!("t/{class}"), KeyRule::new(["order_id", "amount"]));
    }
    policy.effects.keys.insert("t/priced".to_owned(), KeyRule::new(["amount"]));
    policy
}

fn play(steps: Vec<Step>) -> Play {
    Play::begin(started(Some(plan(steps)), keyed_policy()))
}

fn refund(class: &str) -> Play {
    play(vec![step("s", class, REFUND)])
}

fn fail(play: &mut Play, effect: &str, kind: TransportKind, delivery: Delivery) {
    let failure = TransportFailure { kind, delivery, message: "it failed".to_owned() };
    play.happen(EventKind::ToolFailed { effect: effect_id(effect), failure });
}

fn time_out(play: &mut Play, effect: &str) {
    fail(play, effect, TransportKind::TimedOut, Delivery::Possible);
}

fn hold(play: &mut Play, effect: &str) {
    hold_until(play, effect, i64::MAX, false);
}

fn hold_until(play: &mut Play, effect: &str, until_ms: i64, has_ended: bool) {
    let holder =
        KeyHolder { key: "k1".to_owned(), run: "r0".into(), step: "s".to_owned(), since_ms: 0, until_ms, has_ended };
    play.happen(EventKind::KeyHeld { effect: effect_id(effect), holder });
}

/// What was decided about keys: `done` with the receipt, or `released`.
fn settled(play: &Play) -> Vec<String> {
    let settlement = |kind: &RecordKind| match kind {
        RecordKind::Run(RunRecord::KeySettled { settlement: KeySettlement::Done(result), call }) => {
            Some(format!("{} done {result}", call.id))
        }
        RecordKind::Run(RunRecord::KeySettled { settlement: KeySettlement::Released, call }) => {
            Some(format!("{} released", call.id))
        }
        _ => None,
    };
    play.records.iter().filter_map(|record| settlement(&record.kind)).collect()
}

fn key(play: &Play, effect: &str) -> Option<String> {
    play.call(effect).business_key.map(|key| key.id)
}

#[test]
fn equal_calls_have_one_key_whatever_the_run_the_step_and_the_spelling_of_numbers() {
    let first = key(&refund("unsafe"), "s/call/1").expect("a key");
    let mut other = started(
        Some(plan(vec![step("again", "unsafe", r#"{"note": "x", "amount": 1e1, "order_id": 7.0}"#)])),
        keyed_policy(),
    );
    other.run = "run-2".into();
    assert_eq!(key(&Play::begin(other), "again/call/1"), Some(first));
    assert_eq!(refund("unsafe").call("s/call/1").business_key.map(|key| key.window_ms), Some(86_400_000));
}

#[test]
fn equal_values_for_another_capability_are_another_deed() {
    let declared = |capability: &str| {
        let mut started = started(Some(plan(vec![step("s", capability, REFUND)])), policy());
        let catalogue = std::sync::Arc::make_mut(&mut started.catalogue);
        for entry in &mut catalogue.tools[0].capabilities {
            entry.capability.business_key = Some(KeyRule::new(["order_id"]));
        }
        key(&Play::begin(started), "s/call/1").expect("a key")
    };
    assert_ne!(declared("unsafe"), declared("keyed"));
}

#[test]
fn a_value_that_was_mended_to_fit_the_schema_has_the_key_of_the_mended_value() {
    let number = play(vec![step("s", "priced", r#"{"amount": 10}"#)]);
    let text = play(vec![step("s", "priced", r#"{"amount": "10"}"#)]);
    assert_eq!(text.call("s/call/1").parameters.to_string(), r#"{"amount":10}"#);
    assert_eq!(key(&text, "s/call/1"), key(&number, "s/call/1"));
    assert!(key(&text, "s/call/1").is_some());
}

#[test]
fn a_read_has_no_key_and_a_call_without_a_value_for_a_field_says_so() {
    assert_eq!(key(&refund("read"), "s/call/1"), None);
    let mut play = play(vec![step("s", "unsafe", r#"{"order_id": 7}"#)]);
    assert_eq!(key(&play, "s/call/1"), None);
    play.answer_tool("s/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    let expected = "the call has no business key, because `amount` has no value: an equal call is not recognised";
    assert_eq!(answer.steps[0].mends.iter().map(|mend| mend.description.as_str()).collect::<Vec<_>>(), [expected]);
    assert_eq!(settled(&play), [""; 0]);
}

#[test]
fn a_tool_can_declare_its_key_and_the_configuration_wins() {
    let declared = |policy: Policy| {
        let mut started = started(Some(plan(vec![step("s", "unsafe", REFUND)])), policy);
        let catalogue = std::sync::Arc::make_mut(&mut started.catalogue);
        for entry in &mut catalogue.tools[0].capabilities {
            entry.capability.business_key = Some(KeyRule { window_s: 60, ..KeyRule::new(["order_id"]) });
        }
        Play::begin(started).call("s/call/1").business_key.expect("a key")
    };
    let (by_tool, by_configuration) = (declared(policy()), declared(keyed_policy()));
    assert_eq!((by_tool.values.to_string().as_str(), by_tool.window_ms), (r#"{"order_id":7}"#, 60_000));
    assert_eq!(by_configuration.values.to_string(), r#"{"amount":10,"order_id":7}"#);
}

#[test]
fn a_success_stores_its_receipt() {
    let mut play = refund("unsafe");
    play.answer_tool("s/call/1", 200, r#"{"refund": 12}"#);
    assert_eq!(settled(&play), [r#"s/call/1 done {"refund":12}"#]);
}

#[test]
fn a_known_receipt_is_the_result_of_the_step_and_nothing_is_sent() {
    let mut play = play(vec![step("s", "unsafe", REFUND), step("after", "read", r#"{"id": "{{s.refund}}"}"#)]);
    let receipt =
        KnownReceipt { run: "r0".into(), step: "s".to_owned(), at_ms: 86_400_000, result: json(r#"{"refund": 12}"#) };
    play.happen(EventKind::ReceiptKnown { effect: effect_id("s/call/1"), receipt });
    assert_eq!(play.call("after/call/1").parameters.to_string(), r#"{"id":12}"#);
    play.answer_tool("after/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.steps[0].calls, answer.spent.tool_calls), (Status::Complete, 0, 1));
    let used = "the receipt of an equal call was used: step `s` of run `r0` at 1970-01-02T00:00:00Z";
    assert_eq!(answer.steps[0].mends[0].description, used);
    assert!(answer.full_text().contains(used), "{}", answer.full_text());
    assert_eq!(settled(&play), [""; 0], "the key belongs to the other call");
}

#[test]
fn a_held_key_is_waited_for_with_growing_waits_that_cost_no_calls() {
    let mut play = refund("unsafe");
    let mut waits = Vec::new();
    for round in 1..=8 {
        hold(&mut play, &format!("s/call/{round}"));
        assert_eq!(play.due(), [format!("s/key-wait/{round}")]);
        let since = play.now_ms;
        play.wake(&format!("s/key-wait/{round}"));
        waits.push(play.now_ms - since);
    }
    for (wait, (from, to)) in waits.iter().zip([
        (1_000, 1_250),
        (2_000, 2_500),
        (4_000, 5_000),
        (8_000, 10_000),
        (16_000, 20_000),
        (24_000, 30_000),
        (24_000, 30_000),
    ]) {
        assert!((from..=to).contains(wait), "{waits:?}");
    }
    assert_eq!(play.run.spent().tool_calls, 1, "only the call that is due now");
    play.answer_tool("s/call/9", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.steps[0].calls, answer.spent.tool_calls), (Status::Complete, 1, 1));
}

#[test]
fn a_wait_ends_with_the_window_of_the_key() {
    let mut play = refund("unsafe");
    hold_until(&mut play, "s/call/1", 1_400, false);
    assert_eq!(play.run.steps()[0].state, StepState::KeyHeld { by: "r0".into(), until_ms: 1_400 });
    play.wake("s/key-wait/1");
    assert_eq!((play.now_ms, play.due()), (1_400, vec!["s/call/2".to_owned()]));
}

#[test]
fn the_limits_of_step_and_run_end_a_wait_and_say_what_can_be_typed() {
    let mut policy = keyed_policy();
    policy.limits.step_ms = Some(5_000);
    let mut late = Play::begin(started(Some(plan(vec![step("s", "unsafe", REFUND)])), policy));
    hold(&mut late, "s/call/1");
    late.wake("s/key-wait/1");
    hold(&mut late, "s/call/2");
    late.wake("s/key-wait/2");
    hold(&mut late, "s/call/3");
    let reason = failure_reason(&late);
    let expected = "not sent: step `s` of run `r0` made a call with the same business key at 1970-01-01T00:00:00Z, and its \
                    outcome is not known yet; look with `reknit runs show r0`, continue it with `reknit runs resume r0`, or \
                    free the key with `reknit keys forget k1`; the next attempt would start after the step's time limit of \
                    5000 ms";
    assert_eq!(reason, expected);

    let mut timed = refund("unsafe");
    hold_until(&mut timed, "s/call/1", i64::MAX, true);
    timed.happen(EventKind::Woke { effect: effect_id("run/deadline/1") });
    let answer = timed.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::BudgetExhausted);
    let Outcome::Skipped { reason } = &answer.steps[0].outcome else { panic!("{:?}", answer.steps[0]) };
    assert!(reason.contains("`reknit keys settle k1 --result JSON` or `reknit keys forget k1`"), "{reason}");
}

#[test]
fn a_cancelled_run_does_not_wait_for_a_key() {
    let mut play = refund("unsafe");
    play.happen(EventKind::Cancelled);
    hold(&mut play, "s/call/1");
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.steps[0].calls), (Status::Cancelled, 0));
}

#[test]
fn a_call_that_had_no_effect_releases_its_key_and_one_that_may_have_had_keeps_it() {
    type Outcome = fn(&mut Play);
    let cases: [(&str, &str, Outcome, bool); 6] = [
        ("unsafe", "rejected", |play| play.answer_tool("s/call/1", 400, BAD_AMOUNT), true),
        ("unsafe", "refused", |play| fail(play, "s/call/1", TransportKind::Refused, Delivery::NotSent), true),
        ("unsafe", "timed out", |play| time_out(play, "s/call/1"), false),
        ("keyed", "timed out", |play| time_out(play, "s/call/1"), false),
        ("unsafe", "503", |play| play.answer_tool("s/call/1", 503, "{}"), false),
        ("unsafe", "interrupted", |play| play.happen(EventKind::Interrupted { effect: effect_id("s/call/1") }), false),
    ];
    for (class, name, happen, is_released) in cases {
        let mut play = refund(class);
        happen(&mut play);
        let expected: &[&str] = if is_released { &["s/call/1 released"] } else { &[] };
        assert_eq!(settled(&play), expected, "{class} {name}");
    }
}

#[test]
fn a_key_stays_pending_after_a_later_call_that_was_not_sent() {
    let mut play = refund("keyed");
    time_out(&mut play, "s/call/1");
    play.wake("s/retry-wait/1");
    fail(&mut play, "s/call/2", TransportKind::Refused, Delivery::NotSent);
    assert_eq!(settled(&play), [""; 0], "the first call may have happened");
}

#[test]
fn a_person_who_settles_the_outcome_settles_the_key() {
    let mut happened = refund("unsafe");
    time_out(&mut happened, "s/call/1");
    happened.decide(Decision::Happened { result: json(r#"{"refund": 12}"#) });
    assert_eq!(settled(&happened), [r#"s/call/1 done {"refund":12}"#]);

    let mut absent = refund("unsafe");
    time_out(&mut absent, "s/call/1");
    absent.decide(Decision::DidNotHappen);
    assert_eq!(settled(&absent), ["s/call/1 released"]);
    assert_eq!(absent.due(), ["s/call/2"]);

    let mut denied = refund("unsafe");
    time_out(&mut denied, "s/call/1");
    denied.decide(Decision::Deny { reason: None });
    assert!(denied.run.answer().is_some());
    assert_eq!(settled(&denied), [""; 0], "the outcome stays unknown");
}

#[test]
fn a_correction_of_a_key_field_releases_the_old_key_and_has_another() {
    let mut play = play(vec![step("s", "keyed", r#"{"order_id": 7, "amount": 0}"#)]);
    let before = key(&play, "s/call/1");
    play.answer_tool("s/call/1", 400, BAD_AMOUNT);
    assert_eq!(settled(&play), ["s/call/1 released"]);
    let advice = r#"{"should_retry": true, "reason": "r", "suggested_changes": {"amount": 100}}"#;
    play.answer_model("s/feedback/1", advice);
    assert_ne!(key(&play, "s/call/2"), before);
    play.answer_tool("s/call/2", 200, "1");
    assert_eq!(settled(&play), ["s/call/1 released", "s/call/2 done 1"]);
}

#[test]
fn a_run_restored_during_a_wait_goes_on_in_the_same_way() {
    let mut play = refund("unsafe");
    hold(&mut play, "s/call/1");
    let snapshot = play.run.snapshot().expect("a snapshot");
    let restored = reknit_engine::Run::restore(&snapshot).expect("the same run");
    assert_eq!(restored.pending(), play.run.pending());
    assert_eq!(restored.steps(), play.run.steps());
    let events: Vec<_> = play.events.iter().map(|event| serde_json::to_string(event).expect("JSON")).collect();
    let read: Vec<reknit_engine::Event> =
        events.iter().map(|text| serde_json::from_str(text).expect("an event")).collect();
    assert_eq!(read, play.events);
}

#[test]
fn the_key_of_a_call_that_started_a_job_is_settled_when_the_job_ends() {
    for (status, expected) in [(200, r#"s/call/1 done {"id":7}"#), (400, "s/call/1 released")] {
        let mut play = refund("unsafe");
        let job = Some(ToolJob::Ask { handle: "http://t/jobs/7".to_owned() });
        let running = ToolReply { job, ..reply(202, "{}") };
        play.happen(EventKind::ToolAnswered { effect: effect_id("s/call/1"), reply: running });
        assert_eq!(settled(&play), [""; 0], "nobody knows yet how the job ends");
        play.wake("s/job-wait/1");
        play.answer_tool("s/job/1", status, r#"{"id": 7}"#);
        assert_eq!(settled(&play), [expected]);
    }
}
