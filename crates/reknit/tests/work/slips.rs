//! What people mistype, and what they are told.

use crate::endings::shop;
use crate::world::{World, plan};

#[test]
fn at_least_one_run_is_listed() {
    insta::assert_snapshot!(World::new().reknit(&["runs", "list", "--limit", "0"]), @r#"
    exit status 2
    --- stderr
    error: invalid value '0' for '--limit <N>': 0 is not in 1..=4294967295

    For more information, try '--help'.
    "#);
}

#[test]
fn an_empty_plan_is_said_to_be_empty() {
    for content in ["", "# nothing yet\n"] {
        let world = World::new().file("plan.yaml", content);
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.yaml"]), @r#"
            exit status 1
            --- stderr
            error: there is something wrong with the plan in `plan.yaml`
              caused by: it is empty: a plan has at least `steps`

            hint: see codes and paths with `reknit plan check --json plan.yaml`
            "#);
        }
    }
}

#[test]
fn a_plan_that_is_far_too_long_is_not_read() {
    let world = World::new().file("plan.yaml", &format!("steps: [{}]", "a, ".repeat(2 << 20)));
    insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.yaml"]), @r#"
    exit status 1
    --- stderr
    error: `plan.yaml` has more than 4 MiB, the most that is read at once
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_is_given_once() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("price", "{}")]));
    insta::assert_snapshot!(world.reknit(&["run", "plan.json", "--input", "s=a", "--input", "s=b"]), @r#"
    exit status 2
    --- stderr
    error: the input `s` is given twice

    hint: leave one of them out
    "#);
    insta::assert_snapshot!(world.reknit(&["run", "plan.json", "--input", "s"]), @r#"
    exit status 2
    --- stderr
    error: `--input s` has no `=`

    hint: write `--input shares=100`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_steps_says_so_when_one_is_asked_for() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[]));
    world.reknit(&["run", "plan.json"]);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last", "--step", "x"]), @r#"
    exit status 2
    --- stderr
    error: run `RUN` has no step `x`

    hint: it has no steps; see how it stands with `reknit runs show RUN`
    "#);
}

#[test]
fn a_minus_inside_a_name_is_told_from_a_subtraction() {
    insta::assert_snapshot!(World::new().reknit(&["eval", "a-1"]), @r#"
    exit status 1
    --- stderr
    error: cannot read the expression
      caused by: character 1: there is no step `a-1`

      1 | a-1
        | ^

    hint: a minus inside a name belongs to it; to subtract, write `a - 1`
    "#);
}

#[test]
fn a_variable_that_nobody_reads_is_pointed_out_wherever_settings_count() {
    let variables = [("REKNIT_RESEND_TIMES", "1"), ("REKNIT_JOURNALL", "x")];
    insta::assert_snapshot!(World::new().reknit_with(&variables, &["runs", "list"]), @r#"
    exit status 0
    --- stderr
    warning: no setting has the variable `REKNIT_JOURNALL`; did you mean `REKNIT_JOURNAL`?
    warning: no setting has the variable `REKNIT_RESEND_TIMES`; that of `resend.times` is `REKNIT_AGENT_MAX_RETRIES`
    there is no run yet

    hint: make one: `reknit demo`
    "#);
}
