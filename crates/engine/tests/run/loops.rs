//! Steps with `foreach`.

use reknit_engine::{DecidedBy, Decision, EventKind, LoopApprovals, Policy, Started, Status, StepState};
use reknit_plan::{PlanAuthor, check};

use crate::world::{Play, answer, catalogue, effect_id, outcomes, policy, question, read, restored, run_with, started};

fn run(text: &str) -> Play {
    run_with(text, policy())
}

const REFUNDS: &str = "
steps:
  - {id: orders, tool: t/read}
  - id: refund
    foreach: orders.items
    at_once: 2
    tool: t/keyed
    with: {order: '{{item.id}}', amount: '{{item.price * 2}}', of: '{{orders.shop}}'}
  - {id: report, tool: t/read, with: {receipts: '{{map(refund, item.receipt)}}', count: '{{len(refund)}}'}}
outputs: {total: 'sum_by(refund, item.receipt)'}
";

const ORDERS: &str =
    r#"{"shop": "s", "items": [{"id": 7, "price": 1.5}, {"id": 8, "price": 2}, {"id": 9, "price": 3}]}"#;

#[test]
fn each_item_is_a_step_of_its_own_and_the_results_are_a_list_in_order() {
    let mut play = run(REFUNDS);
    play.answer_tool("orders/call/1", 200, ORDERS);
    assert_eq!(play.due(), ["refund[0]/call/1", "refund[1]/call/1"], "as many at once as the plan says");
    assert_eq!(play.call("refund[1]/call/1").parameters.to_string(), r#"{"order":8,"amount":4,"of":"s"}"#);
    play.answer_tool("refund[1]/call/1", 200, r#"{"success": true, "data": {"receipt": 12}}"#);
    assert_eq!(play.due(), ["refund[0]/call/1", "refund[2]/call/1"], "the next item follows");
    assert_eq!(
        play.run.step("refund").map(|(_, view)| view.state),
        Some(StepState::Looping { items: 3, done: 1, failed: 0 })
    );
    play.answer_tool("refund[2]/call/1", 200, r#"{"receipt": 13}"#);
    play.answer_tool("refund[0]/call/1", 200, r#"{"receipt": 11}"#);
    assert_eq!(play.call("report/call/1").parameters.to_string(), r#"{"receipts":[11,12,13],"count":3}"#);
    play.answer_tool("report/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete);
    assert_eq!(answer(&play).outputs.to_string(), r#"{"total":36}"#);
    insta::assert_snapshot!(outcomes(&play), @r#"
    orders: {"shop":"s","items":[{"id":7,"price":1.5},{"id":8,"price":2},{"id":9,"price":3}]}
    refund: [{"receipt":11},{"receipt":12},{"receipt":13}]
    refund[0]: {"receipt":11}
    refund[1]: {"success":true,"data":{"receipt":12}}
    refund[2]: {"receipt":13}
    report: {}
    "#);
}

#[test]
fn the_keys_of_items_differ_and_stay_the_same_when_a_call_is_sent_again() {
    let mut play = run(REFUNDS);
    play.answer_tool("orders/call/1", 200, ORDERS);
    let keys = ["refund[0]/call/1", "refund[1]/call/1"].map(|id| play.call(id).idempotency_key);
    assert!(keys[0].is_some() && keys[0] != keys[1], "{keys:?}");
    play.answer_tool("refund[0]/call/1", 503, "{}");
    assert_eq!(play.due(), ["refund[0]/retry-wait/1", "refund[1]/call/1"], "an item that waits keeps its place");
    play.wake("refund[0]/retry-wait/1");
    assert_eq!(play.call("refund[0]/call/2").idempotency_key, keys[0]);
}

#[test]
fn a_run_is_restored_at_every_event_of_a_loop() {
    let mut play = run(REFUNDS);
    let mut twin = restored(&play);
    while play.run.answer().is_none() {
        let due = play.due().pop().expect("something is due");
        let body = if due.starts_with("orders") { ORDERS } else { r#"{"receipt": 1}"# };
        play.answer_tool(&due, 200, body);
        twin.apply(play.events.last().expect("an event")).expect("the twin applies the event");
        assert_eq!(twin.snapshot().ok(), play.run.snapshot().ok());
        twin = restored(&play);
    }
}

/// The run of `REFUNDS` with another key of its loop, in which the second of three items fails.
fn with_failure(key: &str) -> Play {
    let text = REFUNDS.replace("map(refund, item.receipt)", "map(refund, item[\"receipt\"] ?? 0)");
    let mut play = run(&text.replace("at_once: 2", &format!("at_once: 1\n    {key}")));
    play.answer_tool("orders/call/1", 200, ORDERS);
    play.answer_tool("refund[0]/call/1", 200, r#"{"receipt": 1}"#);
    play.answer_tool("refund[1]/call/1", 403, r#"{"error": "forbidden"}"#);
    play
}

#[test]
fn a_failed_item_does_not_stop_the_others_and_its_loop_fails() {
    let mut play = with_failure("");
    assert_eq!(play.due(), ["refund[2]/call/1"]);
    play.answer_tool("refund[2]/call/1", 200, r#"{"receipt": 3}"#);
    assert_eq!(answer(&play).status, Status::Partial);
    insta::assert_snapshot!(outcomes(&play), @r#"
    orders: {"shop":"s","items":[{"id":7,"price":1.5},{"id":8,"price":2},{"id":9,"price":3}]}
    refund: failed: 2 of 3 items are done; `refund[1]` is not: 403: forbidden; the tool denied access; no other parameters can change that
    refund[0]: {"receipt":1}
    refund[1]: failed: 403: forbidden; the tool denied access; no other parameters can change that
    refund[2]: {"receipt":3}
    report: it needs `refund`, which failed
    "#);
}

#[test]
fn on_failure_stop_starts_no_other_item() {
    let play = with_failure("on_failure: stop");
    assert_eq!(answer(&play).status, Status::Partial);
    insta::assert_snapshot!(outcomes(&play), @r#"
    orders: {"shop":"s","items":[{"id":7,"price":1.5},{"id":8,"price":2},{"id":9,"price":3}]}
    refund: failed: 1 of 3 items are done; step `refund[1]` failed, and the plan says to stop then
    refund[0]: {"receipt":1}
    refund[1]: failed: 403: forbidden; the tool denied access; no other parameters can change that
    report: step `refund[1]` failed, and the plan says to stop then
    "#);
}

#[test]
fn on_failure_continue_puts_null_into_the_list() {
    let mut play = with_failure("on_failure: continue");
    play.answer_tool("refund[2]/call/1", 200, r#"{"receipt": 3}"#);
    assert_eq!(
        play.run.result("refund").map(ToString::to_string).as_deref(),
        Some(r#"[{"receipt":1},null,{"receipt":3}]"#)
    );
}

#[test]
fn on_failure_use_puts_its_value_into_the_list_and_the_run_can_be_complete() {
    let mut play = with_failure("on_failure: {use: {receipt: 0}}");
    play.answer_tool("refund[2]/call/1", 200, r#"{"receipt": 3}"#);
    assert_eq!(play.call("report/call/1").parameters.to_string(), r#"{"receipts":[1,0,3],"count":3}"#);
    play.answer_tool("report/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn a_retry_opens_only_the_failed_items_and_completes_the_list() {
    for key in ["", "on_failure: continue"] {
        let mut play = with_failure(key);
        play.answer_tool("refund[2]/call/1", 200, r#"{"receipt": 3}"#);
        if key == "on_failure: continue" {
            play.answer_tool("report/call/1", 200, "{}");
        }
        play.happen(EventKind::Retried);
        assert_eq!(play.due(), ["refund[1]/call/2"], "{key}");
        restored(&play);
        play.answer_tool("refund[1]/call/2", 200, r#"{"receipt": 2}"#);
        let list = r#"[{"receipt":1},{"receipt":2},{"receipt":3}]"#;
        assert_eq!(play.run.result("refund").map(ToString::to_string).as_deref(), Some(list), "{key}");
    }
}

#[test]
fn items_that_a_retry_sends_again_wait_for_a_place() {
    let mut play = run(REFUNDS);
    play.answer_tool("orders/call/1", 200, ORDERS);
    let keys = ["refund[0]/call/1", "refund[1]/call/1"].map(|id| play.call(id).idempotency_key);
    while play.run.answer().is_none() {
        let due = play.due().remove(0);
        if due.contains("/call/") {
            play.happen(EventKind::Interrupted { effect: effect_id(&due) });
        } else {
            play.wake(&due);
        }
    }
    play.happen(EventKind::Retried);
    let calls: Vec<String> = play.due();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(
        [&calls[0], &calls[1]].map(|id| play.call(id).idempotency_key),
        keys,
        "the same calls under the same keys"
    );
    restored(&play);
}

#[test]
fn a_condition_about_the_item_skips_items_and_any_other_one_the_loop() {
    let with = |when: &str| {
        let mut play = run(&REFUNDS.replace("at_once: 2", &format!("when: {when}")));
        play.answer_tool("orders/call/1", 200, ORDERS);
        play
    };
    let mut play = with("item.id != 8");
    assert_eq!(play.due(), ["refund[0]/call/1", "refund[2]/call/1"]);
    play.answer_tool("refund[0]/call/1", 200, r#"{"receipt": 1}"#);
    play.answer_tool("refund[2]/call/1", 200, r#"{"receipt": 3}"#);
    assert_eq!(
        play.run.result("refund").map(ToString::to_string).as_deref(),
        Some(r#"[{"receipt":1},null,{"receipt":3}]"#)
    );
    let play = with("'orders.shop == \"other\"'");
    insta::assert_snapshot!(outcomes(&play), @r#"
    orders: {"shop":"s","items":[{"id":7,"price":1.5},{"id":8,"price":2},{"id":9,"price":3}]}
    refund: skipped by condition: `orders.shop == "other"` is false
    report: it needs `refund`, which was skipped by its condition
    "#);
}

#[test]
fn an_empty_list_is_done_at_once_and_a_bad_one_fails_its_step() {
    let list = |items: &str| {
        let mut play = run(REFUNDS);
        play.answer_tool("orders/call/1", 200, &format!(r#"{{"shop": "s", "items": {items}}}"#));
        play
    };
    assert_eq!(list("[]").call("report/call/1").parameters.to_string(), r#"{"receipts":[],"count":0}"#);
    let play = list("5");
    assert!(outcomes(&play).contains("refund: failed: `orders.items` is a number, not a list"), "{}", outcomes(&play));
    let mut play = run(REFUNDS);
    play.answer_tool("orders/call/1", 200, r#"{"shop": "s"}"#);
    assert!(
        outcomes(&play).contains("refund: failed: its list has no value: `orders.items` does not exist"),
        "{}",
        outcomes(&play)
    );
}

#[test]
fn the_items_of_a_persons_plan_add_to_the_limit_of_tool_calls_and_those_of_a_model_do_not() {
    for (author, calls) in [(PlanAuthor::Person, 4), (PlanAuthor::Model, 2)] {
        let mut policy = policy();
        policy.limits.tool_calls = 2;
        let begin = Started { plan_author: author, ..started(Some(read(REFUNDS)), policy) };
        let mut play = Play::begin(begin);
        play.answer_tool("orders/call/1", 200, ORDERS);
        while let Some(due) = play.due().first().cloned().filter(|_| play.run.answer().is_none()) {
            play.answer_tool(&due, 200, r#"{"receipt": 1}"#);
        }
        assert_eq!(play.run.spent().tool_calls, calls + u32::from(author == PlanAuthor::Person), "{author:?}");
    }
}

#[test]
fn a_list_with_more_items_than_allowed_fails_before_the_first_of_them() {
    let with = |key: &str| {
        let mut policy = policy();
        policy.limits.max_items = 2;
        let mut play = run_with(&REFUNDS.replace("at_once: 2", key), policy);
        play.answer_tool("orders/call/1", 200, ORDERS);
        play
    };
    let reason =
        "its list has 3 items, and at most 2 are allowed: set `max_items` of the step, or `max-items` in `[limits]`";
    assert!(outcomes(&with("at_once: 1")).contains(reason));
    assert_eq!(with("max_items: 3").due().len(), 3, "the plan of a person may say more");
}

#[test]
fn cancelling_a_loop_ends_it_when_the_calls_of_its_items_are_over() {
    let mut play = run(REFUNDS);
    play.answer_tool("orders/call/1", 200, ORDERS);
    play.answer_tool("refund[0]/call/1", 200, r#"{"receipt": 1}"#);
    play.happen(EventKind::Cancelled);
    assert!(play.run.answer().is_none());
    play.answer_tool("refund[1]/call/1", 200, r#"{"receipt": 2}"#);
    play.happen(EventKind::Interrupted { effect: effect_id("refund[2]/call/1") });
    assert_eq!(answer(&play).status, Status::Cancelled);
    insta::assert_snapshot!(outcomes(&play), @r#"
    orders: {"shop":"s","items":[{"id":7,"price":1.5},{"id":8,"price":2},{"id":9,"price":3}]}
    refund: failed: 2 of 3 items are done; `refund[2]` is not: the process that made the call ended before the answer came; the run was cancelled
    refund[0]: {"receipt":1}
    refund[1]: {"receipt":2}
    refund[2]: failed: the process that made the call ended before the answer came; the run was cancelled
    report: the run was cancelled
    "#);
}

#[test]
fn each_item_is_approved_on_its_own() {
    // As in a run of a build that knew no other way.
    let policy = Policy { loop_approvals: LoopApprovals::Items, ..policy() };
    let mut play = run_with(&REFUNDS.replace("at_once: 2", "at_once: 1\n    approve: true"), policy);
    play.answer_tool("orders/call/1", 200, ORDERS);
    let ask = question(&play);
    let decided = EventKind::PersonDecided {
        effect: ask.id.clone(),
        hash: ask.hash.clone(),
        decision: Decision::Deny { reason: None },
        by: DecidedBy::Person,
    };
    play.happen(decided);
    assert_eq!(play.due(), ["refund[1]/approval/1", "refund[1]/approval-expiry/1"]);
}

#[test]
fn a_loop_over_values_computes_without_a_call() {
    let play = run("
steps:
  - {id: double, foreach: [1, 2, 3], compute: '{{item * 2}}'}
  - {id: rates, foreach: '[\"EUR\", \"USD\"]', compute: {currency: '{{item}}'}}
");
    assert_eq!(play.run.result("double").map(ToString::to_string).as_deref(), Some("[2,4,6]"));
    assert_eq!(
        play.run.result("rates").map(ToString::to_string).as_deref(),
        Some(r#"[{"currency":"EUR"},{"currency":"USD"}]"#)
    );
}

#[test]
fn a_step_next_to_a_loop_cannot_be_called_item() {
    let text = "steps:\n  - {id: item, tool: t/read}\n  - {id: a, tool: t/read, foreach: item.list}\n";
    let problems = check(&read(text), &catalogue(), PlanAuthor::Person).expect_err("the plan has problems");
    assert_eq!(problems[0].to_string(), "step `item`: `item` is reserved for the item of a step with `foreach`");
}

#[test]
fn misuse_of_a_loop_is_a_problem_of_the_plan() {
    let problems = |steps: &str| {
        let plan = read(&format!("steps:\n{steps}"));
        let problems = check(&plan, &catalogue(), PlanAuthor::Person).expect_err("the plan has problems");
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(problems("
  - {id: orders, tool: t/read}
  - {id: a, tool: t/read, foreach: 5}
  - {id: b, tool: t/read, foreach: order.items}
  - {id: c, tool: t/read, foreach: orders.items, at_once: 0, max_items: many}
  - {id: d, tool: t/read, at_once: 3}
  - {id: e, tool: t/read, foreach: 'filter(orders.items, item.x) + item.y'}
  - {id: f, tool: t/read, with: {x: '{{item.x}}'}}
  - {id: 'b[3]', tool: t/read}
  - {id: g, tool: t/read, with: {x: '{{b.price}}', y: '{{b[0].price}}'}}
  - {id: h, tool: t/read, foreach: h.items}
"), @r#"
    step `a`: `foreach`: expected a list, found a number (write an expression: `foreach: orders.items`)
    step `b`: character 1: there is no step `order` (did you mean `orders`?)
    step `c`: `at_once`: expected a number from 1 to 100000
    step `c`: `max_items`: expected a number from 1 to 100000
    step `d`: `at_once`: the step has no `foreach` (add it, or remove this key)
    step `e`: character 32: there is no step `item` (only a step with `foreach` has an `item`, and `filter`, `map` and the like)
    `f.x`: character 3: there is no step `item` (only a step with `foreach` has an `item`, and `filter`, `map` and the like)
    step `b[3]`: `b[3]` is the id of an item of `b`
    `g.x`: `b.price` does not exist: an array has no field `price` (`b` has one result for each item: write `map(b, item.price)` for all, `b[0].price` for one)
    step `h`: the step refers to its own result
    step `h`: `h.items` does not exist: an array has no field `items` (`h` has one result for each item: write `map(h, item.items)` for all, `h[0].items` for one)
    "#);
}
