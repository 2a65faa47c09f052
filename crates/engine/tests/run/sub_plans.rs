//! Steps that run another plan file.

use reknit_engine::{Run, Started, Status};
use reknit_plan::{LoadedPlan, PlanAuthor, PlanError, PlanText, check, load_plan_file, read_plan_file};
use reknit_protocol::Object;

use crate::world::{Play, answer, catalogue, object, outcomes, policy, started};

/// Loads a plan that names these files.
fn load(text: &str, files: &[(&str, &str)]) -> Result<LoadedPlan, PlanError> {
    load_plan_file(text, &mut |_, name| {
        let found = files.iter().find(|(file, _)| *file == name);
        let (key, text) = found.ok_or_else(|| format!("there is no file `{name}`"))?;
        Ok(PlanText { key: (*key).to_owned(), text: (*text).to_owned() })
    })
}

fn run(text: &str, files: &[(&str, &str)], inputs: Object) -> Play {
    let loaded = load(text, files).unwrap_or_else(|error| panic!("{error:?}"));
    Play::begin(Started { inputs, ..started(Some(loaded.plan), policy()) })
}

const MAIN: &str = "
inputs: {customer: 5}
steps:
  - {id: order, tool: t/read, with: {customer: '{{inputs.customer}}'}}
  - id: refund
    plan: refund.yaml
    when: order.status == \"lost\"
    with: {id: '{{order.id}}', limit: 50}
  - {id: mail, tool: t/read, with: {text: 'You get {{refund.total ?? 0}} back: {{refund.note ?? \"\"}}'}}
outputs: {total: refund.total ?? 0}
";

/// Its step `total` and its output `total` have the same name.
const REFUND: &str = "
inputs: {id: {type: integer}, limit: 100, note: '{{'}
steps:
  - {id: lines, tool: t/read, with: {order: '{{inputs.id}}'}}
  - {id: total, compute: '{{sum_by(filter(lines.items, item.price < inputs.limit), item.price)}}'}
  - {id: pay, tool: t/keyed, when: total > 0, with: {amount: '{{total}}'}, expect: result.paid == total}
  - {id: log, tool: t/keyed, after: pay}
outputs: {total: {value: total * 2, type: number}, note: inputs.note}
";

#[test]
fn a_step_runs_the_steps_of_another_plan_and_has_its_outputs() {
    let mut play = run(MAIN, &[("refund.yaml", REFUND)], object(r#"{"customer": 6}"#));
    play.answer_tool("order/call/1", 200, r#"{"id": "7", "status": "lost"}"#);
    assert_eq!(play.call("refund.lines/call/1").parameters.to_string(), r#"{"order":7}"#, "fitted to its type");
    play.answer_tool("refund.lines/call/1", 200, r#"{"items": [{"price": 5}, {"price": 60}]}"#);
    assert_eq!(play.call("refund.pay/call/1").parameters.to_string(), r#"{"amount":5}"#);
    let again = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("a snapshot can be restored");
    assert_eq!(again.pending(), play.run.pending());
    play.answer_tool("refund.pay/call/1", 200, r#"{"paid": 5}"#);
    assert_eq!(play.due(), ["refund.log/call/1"], "`mail` waits for the whole plan");
    play.answer_tool("refund.log/call/1", 200, "{}");
    assert_eq!(play.call("mail/call/1").parameters.to_string(), r#"{"text":"You get 10 back: {{"}"#);
    play.answer_tool("mail/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete);
    assert_eq!(answer(&play).outputs.to_string(), r#"{"total":10}"#);
}

#[test]
fn a_condition_skips_the_whole_plan() {
    let mut play = run(MAIN, &[("refund.yaml", REFUND)], Object::new());
    play.answer_tool("order/call/1", 200, r#"{"id": "7", "status": "done"}"#);
    assert_eq!(play.due(), ["mail/call/1"]);
    play.answer_tool("mail/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete);
    insta::assert_snapshot!(outcomes(&play), @r#"
    order: {"id":"7","status":"done"}
    refund.inputs: skipped by condition: `order.status == "lost"` is false
    refund.lines: it needs `refund.inputs`, which was skipped by its condition
    refund.total: it needs `refund.inputs`, which was skipped by its condition
    refund.pay: it needs `refund.inputs`, which was skipped by its condition
    refund.log: it needs `refund.inputs`, which was skipped by its condition
    refund: it needs `refund.inputs`, which was skipped by its condition
    mail: {}
    "#);
}

#[test]
fn an_input_without_its_type_fails_before_the_first_call_of_the_plan() {
    let mut play = run(MAIN, &[("refund.yaml", REFUND)], Object::new());
    play.answer_tool("order/call/1", 200, r#"{"id": "unknown", "status": "lost"}"#);
    insta::assert_snapshot!(outcomes(&play), @r#"
    order: {"id":"unknown","status":"lost"}
    refund.inputs: failed: its value does not have the declared type: `$.result.id`: expected an integer, found the string "unknown"
    refund.lines: it needs `refund.inputs`, which failed
    refund.total: it needs `refund.inputs`, which failed
    refund.pay: it needs `refund.inputs`, which failed
    refund.log: it needs `refund.pay`, which was skipped
    refund: it needs `refund.inputs`, which failed
    mail: it needs `refund`, which was skipped
    "#);
}

#[test]
fn a_failed_step_of_the_plan_fails_what_needs_the_plan() {
    let mut play =
        run(&MAIN.replace("limit: 50}", "limit: 50}\n    retry: 0"), &[("refund.yaml", REFUND)], Object::new());
    play.answer_tool("order/call/1", 200, r#"{"id": "7", "status": "lost"}"#);
    play.answer_tool("refund.lines/call/1", 503, "{}");
    assert_eq!(answer(&play).status, Status::Partial);
    assert!(outcomes(&play).ends_with("mail: it needs `refund`, which was skipped"), "{}", outcomes(&play));
}

#[test]
fn plans_run_plans_that_run_plans() {
    let files = [
        (
            "b.yaml",
            "inputs: {x: 1}\nsteps: [{id: c, plan: c.yaml, with: {y: '{{inputs.x + 1}}'}}]\noutputs: {z: c.z * 10}",
        ),
        ("c.yaml", "inputs: {y: 1}\nsteps: [{id: d, compute: '{{inputs.y + 1}}'}]\noutputs: {z: d}"),
    ];
    let play = run("steps: [{id: b, plan: b.yaml, with: {x: 5}}]\noutputs: {z: b.z}", &files, Object::new());
    assert_eq!(answer(&play).outputs.to_string(), r#"{"z":70}"#);
}

#[test]
fn problems_of_a_plan_that_is_run_have_their_file_line_and_column() {
    let problems = |text: &str, files: &[(&str, &str)]| match load(text, files) {
        Err(PlanError::File(problems)) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        other => panic!("the file has problems: {other:?}"),
    };
    let files = [
        ("self.yaml", "steps:\n  - {id: again, plan: self.yaml}\n"),
        ("bad.yaml", "steps:\n  - {id: a, compute: '{{b.x}}'}\n  - {id: inputs, compute: 1}\n"),
        ("refund.yaml", REFUND),
        ("key.yaml", "steps:\n  - {id: a, compute: 1, wen: true}\n"),
    ];
    insta::assert_snapshot!(problems("steps:
  - {id: a, plan: none.yaml}
  - {id: b, plan: self.yaml}
  - {id: c, plan: bad.yaml}
  - {id: e, plan: key.yaml}
", &files), @"
    line 2, column 13: `steps[0].plan`: there is no file `none.yaml`
    line 3, column 13: `steps[1].plan`: in `self.yaml`: line 2, column 17: `steps[0].plan`: `self.yaml` runs itself
    line 4, column 13: `steps[2].plan`: in `bad.yaml`: line 2, column 13: `a.result`: character 3: there is no step `b` (did you mean `a`?)
    line 5, column 13: `steps[3].plan`: in `key.yaml`: line 2, column 25: `steps[0].wen`: unknown key (did you mean `when`?)
    ");
    insta::assert_snapshot!(problems("steps:
  - {id: a, plan: refund.yaml, with: {id: many, limt: 5}}
  - {id: b, plan: refund.yaml, foreach: [1], timeout: 5 s, on_failure: continue}
  - {id: c, plan: refund.yaml, with: {id: 5}, verify: {tool: t/read, expect: reply}}
", &files), @r#"
    line 2, column 32: `steps[0].with`: input `limt`: the plan has no such input (did you mean `limit`?)
    line 2, column 32: `steps[0].with`: input `id`: expected an integer, found the string "many"
    line 3, column 32: `steps[1].foreach`: a step that runs a plan cannot have `foreach` (write it in the steps of that plan)
    line 3, column 46: `steps[1].timeout`: a step that runs a plan cannot have `timeout` (write it in the steps of that plan)
    line 3, column 60: `steps[1].on_failure`: only `stop` is possible for a step that runs a plan (write it in the steps of that plan)
    line 3, column 5: `steps[1].with`: input `id`: it has no default, and no value was given
    line 4, column 47: `steps[2].verify`: a step that runs a plan cannot have `verify` (write it in the steps of that plan)
    "#);
    let loaded =
        load(MAIN, &[("refund.yaml", &REFUND.replace("t/keyed, when", "t/keyd, when"))]).expect("it can be read");
    let problems = check(&loaded.plan, &catalogue(), PlanAuthor::Person).expect_err("the tool does not exist");
    assert_eq!(
        loaded.line(&problems[0]),
        "in `refund.yaml`: line 6, column 15: step `refund.pay`: `t` has no capability `keyd` (did you mean `keyed`?)"
    );
}

#[test]
fn a_plan_that_was_not_loaded_cannot_run() {
    let (plan, _) = read_plan_file("steps: [{id: a, plan: b.yaml}]").expect("a plan");
    let problems = check(&plan, &catalogue(), PlanAuthor::Person).expect_err("it is not loaded");
    insta::assert_snapshot!(problems[0].to_string(), @"step `a`: the plan `b.yaml` that the step runs is not loaded (only a plan file can run another one; a program loads it with `load_plan_file`)");
}
