//! Steps with `expect` and `verify`, and results that do not fit what their tool announces.

use std::sync::Arc;

use reknit_engine::{Confirmation, ConfirmingCall, EventKind, Outcome, Policy, Run, Started, Status, UnfitResults};
use reknit_plan::{Catalogue, CatalogueEntry, Document, PlanAuthor, check, check_read_calls};
use reknit_protocol::{Capability, SideEffect};

use crate::world::{Play, answer, catalogue, effect_id, json, object, policy, read, run_with, started};

fn run(text: &str) -> Play {
    run_with(text, policy())
}

/// The outcome of each step in one line.
fn outcomes(play: &Play) -> String {
    let line = |report: &reknit_engine::StepReport| match &report.outcome {
        Outcome::Done(value) => format!("{}: {value}", report.step),
        Outcome::Failed { reason, .. } => format!("{}: failed: {reason}", report.step),
        Outcome::Unconfirmed { reason, result } => format!("{}: unconfirmed: {reason}: {result}", report.step),
        Outcome::Skipped { reason } => format!("{}: {reason}", report.step),
    };
    answer(play).steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Asserts that a run restored from a snapshot has the same effects due.
fn assert_restored(play: &Play) {
    let again = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("a snapshot can be restored");
    assert_eq!(again.pending(), play.run.pending());
    assert_eq!(again.snapshot().ok(), play.run.snapshot().ok());
}

const EXPECT: &str = "
steps:
  - {id: order, tool: t/read}
  - {id: refund, tool: t/keyed, with: {amount: '{{order.total}}'}, expect: result.amount == order.total}
  - {id: mail, tool: t/keyed, with: {text: 'Refunded {{refund.amount}}'}}
  - {id: log, tool: t/keyed, after: refund}
";

#[test]
fn a_result_that_is_not_as_expected_makes_the_step_unconfirmed_and_stops_its_dependents() {
    let mut play = run(EXPECT);
    play.answer_tool("order/call/1", 200, r#"{"total": 5}"#);
    play.answer_tool("refund/call/1", 200, r#"{"success": true, "data": {"amount": 4}}"#);
    assert_eq!(answer(&play).status, Status::Partial);
    insta::assert_snapshot!(outcomes(&play), @r#"
    order: {"total":5}
    refund: unconfirmed: `expect`: `result.amount == order.total` is false: {"success":true,"data":{"amount":4}}
    mail: it needs `refund`, which is unconfirmed
    log: it needs `refund`, which is unconfirmed
    "#);
    insta::assert_snapshot!(answer(&play).text, @r#"
    Some steps were done.

    Missing:
    - refund (keyed): unconfirmed: `expect`: `result.amount == order.total` is false; its result is {"amount":4}
    - mail (keyed): skipped: it needs `refund`, which is unconfirmed
    - log (keyed): skipped: it needs `refund`, which is unconfirmed

    Done:
    - order (read): {"total":5}
    "#);
    assert_restored(&play);
}

#[test]
fn a_result_that_is_as_expected_is_used() {
    let mut play = run(EXPECT);
    play.answer_tool("order/call/1", 200, r#"{"total": 5.0}"#);
    play.answer_tool("refund/call/1", 200, r#"{"amount": 5}"#);
    assert_eq!(play.due(), ["mail/call/1", "log/call/1"]);
}

#[test]
fn an_expectation_without_a_value_makes_the_step_unconfirmed() {
    for (body, reason) in [
        (r#"{"sum": 4}"#, "`expect`: `result.amount == order.total` has no value: `result.amount` does not exist"),
        ("5", "`expect`: `result.amount == order.total` has no value"),
    ] {
        let mut play = run(EXPECT);
        play.answer_tool("order/call/1", 200, r#"{"total": 5}"#);
        play.answer_tool("refund/call/1", 200, body);
        assert!(outcomes(&play).contains(reason), "{}", outcomes(&play));
    }
}

#[test]
fn a_computed_result_can_be_expected_too() {
    let play = run("steps:\n  - {id: a, compute: '{{1 + 1}}', expect: result > 5}\n  - {id: b, compute: '{{a}}'}\n");
    assert_eq!(
        outcomes(&play),
        "a: unconfirmed: `expect`: `result > 5` is false: 2\nb: it needs `a`, which is unconfirmed"
    );
}

#[test]
fn on_failure_counts_for_an_unconfirmed_step() {
    let with = |on_failure: &str| {
        let text = format!(
            "
steps:
  - {{id: a, tool: t/keyed, expect: result.ok, on_failure: {on_failure}}}
  - {{id: b, tool: t/read, with: {{x: '{{{{a.x ?? 1}}}}'}}}}
  - {{id: c, tool: t/read, after: b}}
"
        );
        let mut play = run(&text);
        play.answer_tool("a/call/1", 200, r#"{"ok": false, "x": 9}"#);
        play
    };
    assert_eq!(with("continue").call("b/call/1").parameters.to_string(), r#"{"x":1}"#);
    let mut play = with("{use: {x: 5}}");
    assert_eq!(play.call("b/call/1").parameters.to_string(), r#"{"x":5}"#);
    play.answer_tool("b/call/1", 200, "{}");
    play.answer_tool("c/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete, "the plan says what to use");
    assert_eq!(answer(&with("stop")).reason.as_deref(), Some("step `a` failed, and the plan says to stop then"));
}

const VERIFY: &str = "
steps:
  - id: refund
    tool: t/keyed
    with: {order: 7}
    verify: {tool: t/read, with: {id: '{{result.id}}'}, expect: reply.status == \"booked\" and reply.id == result.id}
  - {id: mail, tool: t/keyed, with: {text: '{{refund.id}}'}}
";

#[test]
fn a_read_call_confirms_the_effect_before_dependents_start() {
    let mut play = run(VERIFY);
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    assert_eq!(play.due(), ["refund/verify/1"]);
    let call = play.call("refund/verify/1");
    assert_eq!((call.parameters.to_string(), call.side_effect), (r#"{"id":"r1"}"#.to_owned(), SideEffect::Read));
    assert_restored(&play);
    play.answer_tool("refund/verify/1", 200, r#"{"id": "r1", "status": "booked"}"#);
    assert_eq!(play.call("mail/call/1").parameters.to_string(), r#"{"text":"r1"}"#, "the result is that of the call");
    assert_eq!(play.run.spent().tool_calls, 3);
}

#[test]
fn an_effect_that_is_not_confirmed_makes_the_step_unconfirmed() {
    let mut play = run(VERIFY);
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    play.answer_tool("refund/verify/1", 200, r#"{"id": "r1", "status": "pending"}"#);
    assert_eq!(answer(&play).status, Status::Partial);
    insta::assert_snapshot!(outcomes(&play), @r#"
    refund: unconfirmed: `verify` with `t/read`: `reply.status == "booked" and reply.id == result.id` is false; the last reply is {"id":"r1","status":"pending"}: {"id":"r1"}
    mail: it needs `refund`, which is unconfirmed
    "#);
    let mut play = run(VERIFY);
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    play.answer_tool("refund/verify/1", 404, r#"{"error": "no such refund"}"#);
    insta::assert_snapshot!(outcomes(&play), @r#"
    refund: unconfirmed: `verify` with `t/read`: 404: no such refund: {"id":"r1"}
    mail: it needs `refund`, which is unconfirmed
    "#);
}

#[test]
fn the_read_call_is_repeated_as_the_plan_says_and_after_transient_failures() {
    let mut play = run(&VERIFY.replace("reply.id == result.id}", "reply.id == result.id, wait: 5 s, times: 2}"));
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    play.answer_tool("refund/verify/1", 503, "{}");
    assert_restored(&play);
    play.wake("refund/verify-wait/1");
    play.answer_tool("refund/verify/2", 404, "{}");
    assert_eq!(play.due(), ["refund/verify-wait/2"]);
    assert!(play.run.is_idle(), "the wait is not active time");
    let before = play.now_ms;
    play.wake("refund/verify-wait/2");
    assert_eq!(play.now_ms - before, 5_000);
    play.happen(EventKind::Interrupted { effect: effect_id("refund/verify/3") });
    play.wake("refund/verify-wait/3");
    play.answer_tool("refund/verify/4", 200, r#"{"id": "r1", "status": "booked"}"#);
    assert_eq!(play.due(), ["mail/call/1"], "the call itself was made once");
}

#[test]
fn a_read_call_that_always_fails_leaves_the_step_unconfirmed() {
    let mut play = run(VERIFY);
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    while play.run.answer().is_none() {
        let due = play.due()[0].clone();
        if due.contains("wait") { play.wake(&due) } else { play.answer_tool(&due, 503, "{}") }
    }
    assert!(outcomes(&play).starts_with("refund: unconfirmed: `verify` with `t/read`: 503"), "{}", outcomes(&play));
}

#[test]
fn a_read_call_waits_for_a_free_slot() {
    let text = "
steps:
  - id: pay
    tool: t/keyed
    verify: {tool: t/read, expect: reply.ok, wait: 5 s, times: 3}
  - {id: other, tool: t/read}
";
    let mut policy = policy();
    policy.limits.calls_at_once = 1;
    let mut play = run_with(text, policy);
    play.answer_tool("pay/call/1", 200, "{}");
    assert_eq!(play.due(), ["pay/verify/1"], "the first one has the slot of its call");
    play.answer_tool("pay/verify/1", 200, r#"{"ok": false}"#);
    assert_eq!(play.due(), ["pay/verify-wait/1", "other/call/1"]);
    play.wake("pay/verify-wait/1");
    assert_eq!(play.due(), ["other/call/1"], "no more calls than `calls-at-once`");
    assert_restored(&play);
    play.answer_tool("other/call/1", 200, "{}");
    assert_eq!(play.due(), ["pay/verify/2"]);
    play.answer_tool("pay/verify/2", 200, r#"{"ok": true}"#);
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn a_cancelled_run_does_not_verify_and_says_so() {
    let mut play = run(VERIFY);
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    play.happen(EventKind::Cancelled);
    assert!(outcomes(&play).contains("refund: unconfirmed: its effect was not verified: the run was cancelled"));
}

#[test]
fn a_retry_verifies_again_and_never_repeats_the_call() {
    let mut play = run(VERIFY);
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    play.answer_tool("refund/verify/1", 200, r#"{"id": "r1", "status": "pending"}"#);
    play.happen(EventKind::Retried);
    assert_eq!(play.due(), ["refund/verify/2"]);
    assert_restored(&play);
    play.answer_tool("refund/verify/2", 200, r#"{"id": "r1", "status": "booked"}"#);
    assert_eq!(play.due(), ["mail/call/1"]);

    let mut play = run(EXPECT);
    play.answer_tool("order/call/1", 200, r#"{"total": 5}"#);
    play.answer_tool("refund/call/1", 200, r#"{"amount": 4}"#);
    play.happen(EventKind::Retried);
    assert!(play.due().is_empty(), "a call that was made is not made again: {:?}", play.due());
    let mut play = run("steps: [{id: a, tool: t/read, expect: result.ok}]");
    play.answer_tool("a/call/1", 200, r#"{"ok": false}"#);
    play.happen(EventKind::Retried);
    assert_eq!(play.due(), ["a/call/2"], "a read is made again");
}

#[test]
fn the_items_of_a_loop_are_verified_each_on_its_own() {
    let mut play = run("
steps:
  - id: pay
    foreach: [1, 2]
    tool: t/keyed
    with: {n: '{{item}}'}
    verify: {tool: t/read, with: {n: '{{item}}'}, expect: reply.n == item}
");
    for item in 0..2 {
        play.answer_tool(&format!("pay[{item}]/call/1"), 200, "{}");
    }
    play.answer_tool("pay[0]/verify/1", 200, r#"{"n": 1}"#);
    play.answer_tool("pay[1]/verify/1", 200, r#"{"n": 1}"#);
    insta::assert_snapshot!(outcomes(&play), @r#"
    pay: failed: 1 of 2 items are done; `pay[1]` is not: it is unconfirmed: `verify` with `t/read`: `reply.n == item` is false; the last reply is {"n":1}
    pay[0]: {}
    pay[1]: unconfirmed: `verify` with `t/read`: `reply.n == item` is false; the last reply is {"n":1}: {}
    "#);
    play.happen(EventKind::Retried);
    assert_eq!(play.due(), ["pay[1]/verify/2"]);
    assert_restored(&play);
    play.answer_tool("pay[1]/verify/2", 200, r#"{"n": 2}"#);
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn a_run_is_restored_at_every_event_of_a_verification() {
    let mut play = run(&VERIFY.replace("reply.id == result.id}", "reply.id == result.id, wait: 5 s, times: 3}"));
    let mut replies = [
        (200, r#"{"id": "r1"}"#),
        (503, "{}"),
        (200, r#"{"id": "r1", "status": "open"}"#),
        (200, r#"{"id": "r1", "status": "booked"}"#),
        (200, "{}"),
    ]
    .into_iter();
    while play.run.answer().is_none() {
        let mut again = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it can be restored");
        let due = play.due()[0].clone();
        if due.contains("wait") {
            play.wake(&due);
        } else {
            let (status, body) = replies.next().expect("a reply");
            play.answer_tool(&due, status, body);
        }
        again.apply(play.events.last().expect("an event")).expect("the twin applies the event");
        assert_eq!(again.snapshot().ok(), play.run.snapshot().ok());
    }
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn misuse_is_reported_with_its_place() {
    let text = "steps:
  - {id: a, tool: t/read, expect: [1]}
  - {id: b, tool: t/keyed, verify: t/read}
  - {id: c, tool: t/keyed, verify: {tool: t/red, with: {x: '{{result.x'}, expect: reply.x, wait: 5 s}}
  - {id: d, tool: t/keyed, verify: {tool: t/convert, with: {amont: 5}, expect: result.x}}
  - {id: e, tool: t/keyed, verify: {tool: 5, often: 1}}
  - {id: f, compute: 1, verify: {tool: t/read, expect: reply}}
  - {id: reply, tool: t/read, with: {x: '{{result.x}}'}}
";
    let problems = check(&read(text), &catalogue(), PlanAuthor::Person).expect_err("the plan has problems");
    let document = Document::read(text).expect("it is YAML");
    let lines = problems.iter().map(|problem| {
        let (line, column) = document.locate(&problem.location).expect("a place");
        format!("{line}:{column}: {problem}")
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    2:27: step `a`: `expect`: expected an expression, found an array (write it as text: `expect: "result.total > 5"`)
    3:28: step `b`: `verify`: expected the keys `tool`, `with` and `expect`, found a string (write `verify: {tool: shop/get_order, with: {id: "{{result.id}}"}, expect: reply.paid}`)
    4:28: step `c`: `verify`: `wait` and `times` belong together (write `wait: 5 s, times: 3`)
    4:57: step `c`: character 1: unclosed `{{`: add `}}`, or write `{{{{` for literal braces
    4:37: step `c`: `verify`: `t` has no capability `red` (did you mean `read`?)
    5:54: step `d`: `verify`: `convert` needs the parameter `amount`
    5:61: step `d`: `verify`: `convert` has no parameter `amont` (did you mean `amount`?)
    6:46: step `e`: `verify.often`: unknown key (there is `tool`, `with`, `expect`, `wait`, `times`)
    6:28: step `e`: `verify`: it has no `expect` (write `verify: {tool: shop/get_order, with: {id: "{{result.id}}"}, expect: reply.paid}`)
    6:37: step `e`: `verify.tool`: expected the name of a capability (write `verify: {tool: shop/get_order, with: {id: "{{result.id}}"}, expect: reply.paid}`)
    7:25: step `f`: `verify`: a step that computes makes no call (remove it)
    8:6: step `reply`: `reply` is reserved for the reply to a `verify`
    8:38: `reply.x`: character 3: there is no step `result` (only `until`, `expect` and `verify` call the result of their step `result`)
    "#);
}

#[test]
fn an_effect_is_verified_with_a_call_that_reads() {
    let text = "steps: [{id: a, tool: t/keyed, verify: {tool: t/unsafe, expect: reply.x}}]";
    let reason = answer(&run(text)).reason.clone().unwrap_or_default();
    insta::assert_snapshot!(reason, @r#"the plan cannot run: step `a`: `verify`: the side effect class of `t/unsafe` is `unsafe`, not `read` (call one that only reads, or declare it with `"t/unsafe" = "read"` in `[effects.classes]`)"#);
    assert_eq!(check_read_calls(&read(text), |_| Some(SideEffect::Read)), []);
}

#[test]
fn the_tool_of_a_verification_may_be_left_out_if_one_has_the_capability() {
    let mut play = run(&VERIFY.replace("tool: t/read", "tool: read"));
    play.answer_tool("refund/call/1", 200, r#"{"id": "r1"}"#);
    assert_eq!(play.call("refund/verify/1").tool.as_str(), "t");
}

/// A run with a tool that announces `{"price": number}`.
fn announced(unfit_results: UnfitResults) -> Play {
    let mut capability = Capability::from_value(&json(
        r#"{"name": "quote", "effect": "read", "output_summary": {"required": [{"name": "price", "type": "number"}]}}"#,
    ))
    .expect("a capability");
    capability.effect = SideEffect::Read;
    let mut catalogue: Catalogue = catalogue();
    catalogue.tools[0].capabilities.push(CatalogueEntry::new(capability, None).expect("it has no schema"));
    let plan = read("steps:\n  - {id: q, tool: t/quote}\n  - {id: r, tool: t/read, with: {p: '{{q.price}}'}}\n");
    let policy = Policy { unfit_results, ..policy() };
    Play::begin(Started { catalogue: Arc::new(catalogue), ..started(Some(plan), policy) })
}

#[test]
fn a_result_that_does_not_fit_its_announced_schema_is_a_doubt_or_a_failure() {
    let run = |unfit_results, body: &str| {
        let mut play = announced(unfit_results);
        play.answer_tool("q/call/1", 200, body);
        if play.run.answer().is_none() {
            play.answer_tool("r/call/1", 200, "{}");
        }
        play
    };
    let misfit = r#"{"success": true, "data": {"price": [5]}}"#;
    assert_eq!(answer(&run(UnfitResults::Ignore, misfit)).doubts, Vec::<String>::new());
    let play = run(UnfitResults::Warn, misfit);
    assert_eq!(answer(&play).status, Status::Complete);
    insta::assert_snapshot!(answer(&play).doubts.join("\n"), @"the result of q does not fit the schema that its tool announces: `$.price`: expected a number, found an array");
    let play = run(UnfitResults::Fail, misfit);
    insta::assert_snapshot!(outcomes(&play), @r#"
    q: unconfirmed: its result does not fit the schema that its tool announces: `$.price`: expected a number, found an array: {"success":true,"data":{"price":[5]}}
    r: it needs `q`, which is unconfirmed
    "#);
    for fitting in [r#"{"success": true, "data": {"price": 5}}"#, r#"{"price": 5.5, "more": 1}"#] {
        assert_eq!(answer(&run(UnfitResults::Fail, fitting)).doubts, Vec::<String>::new(), "{fitting}");
        assert_eq!(answer(&run(UnfitResults::Fail, fitting)).status, Status::Complete, "{fitting}");
    }
}

fn confirming(confirmation: Confirmation) -> Policy {
    let mut policy = policy();
    policy.effects.confirmations.insert("t/keyed".to_owned(), confirmation);
    policy
}

fn expecting(text: &str) -> Confirmation {
    Confirmation { expect: Some(text.to_owned()), verify: None }
}

#[test]
fn what_the_configuration_expects_of_a_capability_holds_for_every_step_that_calls_it_but_one_with_its_own_condition() {
    let text = "
steps:
  - {id: one, tool: t/keyed}
  - {id: own, tool: t/keyed, expect: result.n == 1}
  - {id: each, foreach: [1, 2], tool: t/keyed}
  - {id: other, tool: t/idempotent}
";
    let mut play = run_with(text, confirming(expecting("result.n > 1")));
    for call in ["one/call/1", "own/call/1", "each[0]/call/1", "other/call/1"] {
        play.answer_tool(call, 200, r#"{"n": 1}"#);
    }
    play.answer_tool("each[1]/call/1", 200, r#"{"n": 2}"#);
    insta::assert_snapshot!(outcomes(&play), @r#"
    one: unconfirmed: `expect`: `result.n > 1` is false: {"n":1}
    own: {"n":1}
    each: failed: 1 of 2 items are done; `each[0]` is not: it is unconfirmed: `expect`: `result.n > 1` is false
    each[0]: unconfirmed: `expect`: `result.n > 1` is false: {"n":1}
    each[1]: {"n":2}
    other: {"n":1}
    "#);
}

#[test]
fn a_read_call_of_the_configuration_verifies_every_call_of_a_capability() {
    let verify = ConfirmingCall {
        tool: "t".into(),
        capability: "read".into(),
        parameters: object(r#"{"id": "{{result.id}}"}"#),
        expect: "reply.state == \"booked\" and reply.id == result.id".to_owned(),
        again: Some(("5 s".to_owned(), 2)),
    };
    let policy = confirming(Confirmation { expect: None, verify: Some(verify) });
    let mut play = run_with("steps: [{id: pay, tool: t/keyed}]", policy);
    play.answer_tool("pay/call/1", 200, r#"{"id": 7}"#);
    assert_eq!(play.call("pay/verify/1").parameters.to_string(), r#"{"id":7}"#);
    assert_restored(&play);
    play.answer_tool("pay/verify/1", 200, r#"{"id": 7, "state": "open"}"#);
    play.wake("pay/verify-wait/1");
    play.answer_tool("pay/verify/2", 200, r#"{"id": 7, "state": "booked"}"#);
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn the_plan_of_a_model_and_its_second_plan_are_confirmed_as_well() {
    let step = |id: &str, capability: &str| {
        format!(
            r#"{{"step_id": "{id}", "agent_name": "t", "metadata": {{"capability": "{capability}", "parameters": {{}}}}}}"#
        )
    };
    let mut policy = confirming(expecting("result.n > 1"));
    policy.mending.feedback = 0;
    policy.mending.context = 0;
    let mut play = Play::begin(started(None, policy));
    play.answer_model("plan/ask/1", &format!(r#"{{"steps": [{}]}}"#, step("look", "read")));
    play.answer_tool("look/call/1", 404, "{}");
    play.answer_model("plan/ask/2", &format!(r#"{{"steps": [{}]}}"#, step("pay", "keyed")));
    play.answer_tool("pay/call/1", 200, r#"{"n": 1}"#);
    assert!(outcomes(&play).contains("pay: unconfirmed: `expect`: `result.n > 1` is false"), "{}", outcomes(&play));
}
