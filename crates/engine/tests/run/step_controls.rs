//! Steps with `when`, `compute`, `on_failure`, `timeout`, `approve` and `retry`.

use reknit_engine::{Run, Started, Status};
use reknit_plan::{PlanAuthor, check, check_structure, read_plan_file};
use reknit_protocol::Plan;

use crate::world::{Play, answer, catalogue, failure_reason, object, outcomes, policy, question, read, started};

fn run(text: &str) -> Play {
    Play::begin(started(Some(read(text)), policy()))
}

const CONDITION: &str = "
steps:
  - {id: order, tool: t/read}
  - {id: refund, tool: t/read, when: 'order.status == \"lost\"', with: {id: '{{order.id}}'}}
  - {id: note, tool: t/read, with: {amount: '{{refund.amount ?? 0}}'}}
  - {id: receipt, tool: t/read, with: {amount: '{{refund.amount}}'}}
  - {id: mail, tool: t/read, after: refund}
  - {id: archive, tool: t/read, after: receipt}
outputs: {refunded: refund.amount ?? 0}
";

#[test]
fn a_step_runs_if_its_condition_is_true() {
    let mut play = run(CONDITION);
    play.answer_tool("order/call/1", 200, r#"{"id": 7, "status": "lost"}"#);
    assert_eq!(play.due(), ["refund/call/1"]);
    play.answer_tool("refund/call/1", 200, r#"{"amount": 5}"#);
    assert_eq!(play.call("note/call/1").parameters.to_string(), r#"{"amount":5}"#);
    assert_eq!(play.due(), ["note/call/1", "receipt/call/1", "mail/call/1"]);
}

#[test]
fn a_step_whose_condition_is_false_is_skipped_and_its_dependents_can_do_without_it() {
    let mut play = run(CONDITION);
    play.answer_tool("order/call/1", 200, r#"{"id": 7, "status": "done"}"#);
    assert_eq!(play.call("note/call/1").parameters.to_string(), r#"{"amount":0}"#);
    assert_eq!(play.due(), ["note/call/1", "mail/call/1", "archive/call/1"]);
    for step in ["note", "mail", "archive"] {
        play.answer_tool(&format!("{step}/call/1"), 200, "{}");
    }
    assert_eq!(answer(&play).status, Status::Complete);
    assert_eq!(answer(&play).outputs.to_string(), r#"{"refunded":0}"#);
    insta::assert_snapshot!(outcomes(&play), @r#"
    order: {"id":7,"status":"done"}
    refund: skipped by condition: `order.status == "lost"` is false
    note: {}
    receipt: it needs `refund`, which was skipped by its condition
    mail: {}
    archive: {}
    "#);
}

#[test]
fn a_condition_that_has_no_value_or_is_no_boolean_fails_its_step() {
    let mut play = run("
steps:
  - {id: order, tool: t/read}
  - {id: a, tool: t/read, when: order.missing > 5}
  - {id: b, tool: t/read, when: '{{order.total}}'}
  - {id: c, tool: t/read, after: b}
");
    play.answer_tool("order/call/1", 200, r#"{"total": 5}"#);
    assert_eq!(answer(&play).status, Status::Partial);
    insta::assert_snapshot!(outcomes(&play), @r#"
    order: {"total":5}
    a: failed: its condition has no value: `order.missing` does not exist: available fields are `total`
    b: failed: its condition `order.total` is a number, not true or false
    c: it needs `b`, which failed
    "#);
}

#[test]
fn a_step_that_computes_has_a_result_with_provenance_and_makes_no_call() {
    let mut play = run("
steps:
  - {id: shop, tool: t/read}
  - id: lost
    compute:
      ids: '{{map(filter(shop.orders, item.status == \"lost\"), item.id)}}'
      total: '{{sum_by(filter(shop.orders, item.status == \"lost\"), item.total)}}'
  - {id: report, tool: t/read, with: {text: '{{len(lost.ids)}} orders, {{lost.total}} EUR'}}
");
    let orders = r#"{"orders": [{"id": 1, "status": "lost", "total": 19.99}, {"id": 2, "status": "done", "total": 5},
        {"id": 3, "status": "lost", "total": 0.01}]}"#;
    play.answer_tool("shop/call/1", 200, orders);
    assert_eq!(play.call("report/call/1").parameters.to_string(), r#"{"text":"2 orders, 20 EUR"}"#);
    assert_eq!(play.run.result("lost").map(ToString::to_string).as_deref(), Some(r#"{"ids":[1,3],"total":20}"#));
    let (_, view) = play.run.step("lost").expect("it is a step of the plan");
    assert_eq!(view.calls, 0);
    assert!(view.provenance.iter().any(|(name, origin)| name == "result" && origin.comes_from_result()), "{view:?}");
    let again = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("a snapshot can be restored");
    assert_eq!(again.result("lost"), play.run.result("lost"));
    assert_eq!(play.run.spent().tool_calls, 2, "the calls of `shop` and `report`");
}

#[test]
fn a_result_that_cannot_be_computed_fails_the_step_and_no_model_is_asked() {
    let mut play = run("steps:\n  - {id: a, tool: t/read}\n  - {id: b, compute: '{{a.x + 1}}'}\n");
    play.answer_tool("a/call/1", 200, r#"{"x": "many"}"#);
    assert_eq!(
        failure_reason(&play),
        "it cannot be computed: cannot evaluate `a.x + 1`: `+` expects a number, found the string \"many\""
    );
}

/// A plan whose step `a` fails, and which has the step `b` that needs `a`, and `c` on its own.
fn with_failure(on_failure: &str) -> Play {
    let text = format!(
        "steps:
  - {{id: a, tool: t/read, on_failure: {on_failure}}}
  - {{id: b, tool: t/read, with: {{x: '{{{{a.x ?? 1}}}}'}}}}
  - {{id: c, tool: t/read}}
  - {{id: d, tool: t/read, after: c}}
  - {{id: e, tool: t/read, with: {{x: '{{{{a.x}}}}'}}}}
"
    );
    let mut play = run(&text);
    play.answer_tool("a/call/1", 403, r#"{"error": "forbidden"}"#);
    play
}

#[test]
fn on_failure_stop_starts_no_other_step() {
    let mut play = with_failure("stop");
    assert_eq!(play.due(), ["c/call/1"], "a call in progress goes on");
    play.answer_tool("c/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Partial);
    assert_eq!(answer(&play).reason.as_deref(), Some("step `a` failed, and the plan says to stop then"));
    let text = outcomes(&play);
    let skipped = |id: &str| text.contains(&format!("{id}: step `a` failed, and the plan says to stop then"));
    assert!(skipped("b") && skipped("d") && skipped("e"));
}

#[test]
fn on_failure_continue_lets_dependents_do_without_the_result() {
    let mut play = with_failure("continue");
    assert_eq!(play.due(), ["b/call/1", "c/call/1"]);
    assert_eq!(play.call("b/call/1").parameters.to_string(), r#"{"x":1}"#);
    for step in ["b", "c", "d"] {
        play.answer_tool(&format!("{step}/call/1"), 200, "{}");
    }
    assert_eq!(answer(&play).status, Status::Partial, "a result is missing");
    assert!(outcomes(&play).ends_with("e: it needs `a`, which failed"), "{}", outcomes(&play));
}

#[test]
fn on_failure_use_gives_dependents_another_value() {
    let mut play = with_failure("{use: {x: 5}}");
    assert_eq!(play.call("b/call/1").parameters.to_string(), r#"{"x":5}"#);
    assert_eq!(play.call("e/call/1").parameters.to_string(), r#"{"x":5}"#);
    for step in ["b", "c", "d", "e"] {
        play.answer_tool(&format!("{step}/call/1"), 200, "{}");
    }
    assert_eq!(answer(&play).status, Status::Complete, "the plan says what to use");
    assert!(outcomes(&play).contains(r#"the plan uses {"x":5} instead"#), "{}", outcomes(&play));
}

#[test]
fn a_plan_asks_for_approval_and_sets_the_number_of_resends_and_the_time_of_a_step() {
    let mut play = run("steps:\n  - {id: a, tool: t/read, approve: true, retry: 1, timeout: 30 s}\n");
    let ask = question(&play);
    assert!(format!("{ask:?}").contains("the plan asks for approval of this step"), "{ask:?}");
    play.happen(reknit_engine::EventKind::PersonDecided {
        effect: ask.id.clone(),
        hash: ask.hash.clone(),
        decision: reknit_engine::Decision::Approve,
        by: reknit_engine::DecidedBy::Person,
    });
    assert!(play.call("a/call/1").timeout_ms <= 30_000);
    play.answer_tool("a/call/1", 503, "{}");
    play.wake("a/retry-wait/1");
    play.answer_tool("a/call/2", 503, "{}");
    assert_eq!(answer(&play).status, Status::Failed, "it is sent again once");
}

#[test]
fn misuse_is_reported_with_its_place() {
    let text = "
steps:
  - {id: a, tool: t/read, when: [1], on_failure: retry, approve: 'yes', retry: -1}
  - {id: b, tool: t/read, when: a.x >, on_failure: {use: '{{a.x}}'}}
  - {id: c, compute: 1, approve: true, when: z.x == 1}
  - {id: d, tool: t/read, when: d.x == 1}
  - {id: e, tool: t/read, when: f.x}
  - {id: f, tool: t/read, with: {x: '{{e.x}}'}}
";
    let problems = check(&read(text), &catalogue(), PlanAuthor::Person).expect_err("the plan has problems");
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("{} at {}: {problem}", problem.code, problem.location.path)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    bad_control at $.steps[0].metadata.when: step `a`: `when`: expected an expression, found an array (write it as text: `when: "order.total > 5"`)
    bad_control at $.steps[0].metadata.on_failure: step `a`: `on_failure`: expected `stop`, `continue` or `{use: VALUE}`
    bad_control at $.steps[0].metadata.approve: step `a`: `approve`: expected true or false
    bad_control at $.steps[0].metadata.retry: step `a`: `retry`: expected how often a call is sent again, from 0 to 100
    bad_expression at $.steps[1].metadata.when: step `b`: character 6: expected a value, found the end of the expression
    bad_control at $.steps[1].metadata.on_failure: step `b`: `on_failure`: the value of `use` must be written out
    bad_control at $.steps[2].metadata.approve: step `c`: `approve`: a step that computes makes no call (remove it)
    unknown_reference at $.steps[2].metadata.when: step `c`: character 1: there is no step `z` (did you mean `a`?)
    self_dependency at $.steps[3]: step `d`: the step refers to its own result
    cycle at $.steps: these steps wait for each other: `e` reads from `f`, `f` reads from `e`
    "#);
    let text = "steps:\n  - {id: a, tool: t/read, compute: 1, timeout: 5}\n";
    let Err(reknit_plan::PlanError::File(problems)) = read_plan_file(text) else { panic!("the file has problems") };
    insta::assert_snapshot!(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @"
    line 2, column 13: `steps[0].tool`: a step either calls a tool or computes (make two steps of it)
    line 2, column 39: `steps[0].timeout`: expected a duration, found `5` (write a number and a unit: `timeout: 30 s`, `500 ms`, `2 min`)
    ");
}

#[test]
fn a_plan_with_controls_has_the_same_meaning_after_serialization() {
    let plan = read(CONDITION);
    assert_eq!(Plan::from_value(&plan.to_value()), Ok(plan.clone()));
    assert!(check_structure(&plan).is_ok());
    let started = Started { inputs: object("{}"), ..started(Some(plan), policy()) };
    assert_eq!(Play::begin(started).due(), ["order/call/1"]);
}
