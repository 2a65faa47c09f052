//! Bad usage of the commands about runs.

use std::process::Command;

use crate::exit_status::shopping;
use crate::world::{World, assert_refused, text};

#[test]
fn at_least_one_run_is_listed() {
    insta::assert_snapshot!(World::new().reknit(&["runs", "list", "--limit", "0"]), @r#"
    exit status 2 --- stderr
    error: invalid value '0' for '--limit <N>': 0 is not in 1..=4294967295

    For more information, try '--help'.
    "#);
}

#[test]
fn an_empty_plan_is_reported_as_empty() {
    for content in ["", "# nothing yet\n"] {
        let world = World::new().file("plan.yaml", content);
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.yaml"]), @"
            exit status 1 --- stderr
            error: the plan in `plan.yaml` is not valid
              - the file is empty (a plan has at least `steps:` with a list of steps)

            hint: see the code and path of each problem with `reknit plan check --json plan.yaml`
            ");
        }
    }
}

#[test]
fn a_plan_that_is_too_large_is_not_parsed() {
    let world = World::new().file("plan.yaml", &format!("steps: [{}]", "a, ".repeat(2 << 20)));
    insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.yaml"]), @"
    exit status 1 --- stderr
    error: `plan.yaml` is larger than 4 MiB, the limit for one input
    ");
}

#[test]
fn settings_agents_and_plans_are_not_read_from_a_pipe() {
    let model = "[[models]]\nname = \"m\"\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
    let world = World::new()
        .file("prompts.toml", &format!("{model}[prompts]\nfolder = \"prompts\"\n"))
        .file("key.toml", &format!("{model}key-file = \"pipe\"\n"))
        .file("prompts/answer.txt", "")
        .file("clerk.md", "---\noutput: {format: json, schema: pipe}\n---\nYou are a clerk.\n");
    std::fs::remove_file(world.path().join("prompts/answer.txt")).expect("the file can be removed");
    for pipe in ["pipe", "prompts/plan.txt"] {
        let made = world.around(Command::new("mkfifo"), &[pipe]).status().expect("a pipe can be made");
        assert!(made.success());
    }
    for arguments in [
        &["plan", "check", "pipe"][..],
        &["run", "pipe"],
        &["agent", "pipe", "hello"],
        &["agent", "clerk.md", "hello"],
        &["runs", "list", "--config", "pipe"],
        &["trust", "pipe"],
        &["ask", "hello", "--config", "prompts.toml"],
        &["models", "--config", "key.toml"],
    ] {
        let output = world.output(arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains("it is a pipe, not a regular file"), "{arguments:?}: {said}");
    }
    let stdin = world.command(&["plan", "check", "-"]).output().expect("the command can be run");
    assert!(text(&stdin.stderr).contains("the file is empty"), "standard input is read");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_given_twice_is_bad_usage() {
    let (_shop, world) = shopping(&[("price", "{}")]).await;
    assert_refused(
        &world.reknit(&["run", "plan.json", "--input", "s=a", "--input", "s=b"]),
        "the input `s` is given twice",
        "remove one of them",
    );
    assert_refused(
        &world.reknit(&["run", "plan.json", "--input", "s"]),
        "`--input s` has no `=`",
        "write `--input shares=100`",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn show_reports_a_run_without_steps() {
    let (_shop, world) = shopping(&[]).await;
    world.reknit(&["run", "plan.json"]);
    assert_refused(
        &world.reknit(&["runs", "show", "last", "--step", "x"]),
        "run `RUN` has no step `x`",
        "it has no steps; see its status with `reknit runs show RUN`",
    );
}

#[test]
fn a_minus_inside_a_name_gets_a_hint_about_subtraction() {
    insta::assert_snapshot!(World::new().reknit(&["eval", "a-1"]), @"
    exit status 1 --- stderr
    error: cannot read the expression
      caused by: character 1: there is no step `a-1`

      1 | a-1
        | ^

    hint: `-` inside a name is part of the name; to subtract, write `a - 1`
    ");
}

#[test]
fn an_unknown_reknit_variable_is_reported_by_every_command_with_settings() {
    let variables = [("REKNIT_RESEND_TIMES", "1"), ("REKNIT_JOURNALL", "x")];
    insta::assert_snapshot!(World::new().reknit_with(&variables, &["runs", "list"]), @"
    exit status 0 --- stderr
    warning: no setting has the variable `REKNIT_JOURNALL`; did you mean `REKNIT_JOURNAL`?
    warning: no setting has the variable `REKNIT_RESEND_TIMES`; the variable of `resend.times` is `REKNIT_AGENT_MAX_RETRIES`
    the journal has no runs

    hint: start one with `reknit demo`
    ");
}

#[test]
fn with_json_an_error_is_json_on_standard_output() {
    let world = World::new().file("plan.json", "{}");
    insta::assert_snapshot!(world.reknit(&["run", "--json", "nothing.json"]), @r#"
    exit status 2 --- stdout
    {"error":{"message":"cannot read `nothing.json`","causes":["No such file or directory (os error 2)"],"hint":"list the files there with `ls .`","exit_status":2}}
    "#);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "--json", "plan.json"]), @r#"
    exit status 1 --- stdout
    {"ok":false,"problems":[{"code":"not_a_plan","path":"$","message":"found no plan: the value does not fit the schema: `$`: the property `steps` is missing","hint":"a plan has `steps:`, a list whose steps have `id`, `tool` and `with`"}]}
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "--json", "0123"]), @r#"
    exit status 2 --- stdout
    {"error":{"message":"there is no run `0123`","hint":"list your runs with `reknit runs list`","exit_status":2}}
    "#);
}
