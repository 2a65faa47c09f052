//! `reknit test` and `reknit chaos`.

use std::fs;

use reknit_protocol::Value;

use crate::exit_status::{PRICE_AND_ORDER, shopping};
use crate::world::{World, assert_contains, assert_ended, assert_refused, text};

/// A folder with a test of a run of a plan file.
async fn recorded() -> World {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    world.reknit(&["run", "plan.json"]);
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_becomes_a_test_that_passes_without_its_tools() {
    let world = recorded().await;
    insta::assert_snapshot!(world.reknit(&["test", "record", "last", "--plan", "plan.json", "-o", "tests/shop.yaml"]), @r"
    exit status 0 --- stderr
    wrote tests/shop.yaml: 2 recorded calls, 0 answers of models

    hint: edit what it expects, and run it with `reknit test tests/shop.yaml`
    ");
    let world = world.file("reknit.toml", "");
    let text = fs::read_to_string(world.path().join("tests/shop.yaml")).expect("the test is written");
    assert!(text.contains("plan: \"../plan.json\"\n"), "{text}");
    let passed = world.reknit(&["test"]);
    assert!(passed.starts_with("exit status 0 --- stdout\nok    tests/shop.yaml"), "{passed}");
    assert_contains(
        &world.reknit(&["test", "record", "last", "-o", "tests/shop.yaml"]),
        "there is already a file `tests/shop.yaml`",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_plan_fails_its_test_in_every_form_of_output() {
    let world = recorded().await;
    world.reknit(&["test", "record", "last", "--plan", "plan.json", "-o", "tests/shop.yaml"]);
    let changed = fs::read_to_string(world.path().join("plan.json")).expect("the plan");
    let world =
        world.file("plan.json", &changed.replacen("\"parameters\": {", "\"parameters\": {\"color\": \"red\", ", 1));
    let failed = world.reknit(&["test"]);
    assert!(failed.starts_with("exit status 1 ") && failed.contains("unexpected call"), "{failed}");
    assert_contains(
        &world.reknit(&["test", "--json", "--junit", "report.xml"]),
        r#"{"passed":0,"failed":1,"tests":[{"file":"tests/shop.yaml","passed":false"#,
    );
    let report = fs::read_to_string(world.path().join("report.xml")).expect("the report");
    assert!(report.contains("failures=\"1\"") && report.contains("unexpected call"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_expectations_are_shown_and_written_after_a_confirmation() {
    let world = recorded().await;
    world.reknit(&["test", "record", "last", "-o", "tests/shop.yaml"]);
    let text = fs::read_to_string(world.path().join("tests/shop.yaml")).expect("the test");
    let status = text.lines().find(|line| line.starts_with("  status: ")).expect("a status").to_owned();
    let world = world.file("tests/shop.yaml", &text.replacen(&status, "  status: cancelled", 1));
    let unconfirmed = world.reknit(&["test", "--update"]);
    assert!(unconfirmed.contains("-   status: cancelled\n+ ") && unconfirmed.contains("--yes"), "{unconfirmed}");
    assert!(world.reknit(&["test", "--update", "--yes"]).contains("wrote tests/shop.yaml"));
    assert_eq!(fs::read_to_string(world.path().join("tests/shop.yaml")).expect("the test"), text);
}

#[test]
fn a_broken_test_is_no_test() {
    let world = World::new().file("tests/a.yaml", "request: x\nexpect:\n  stats: complete\n");
    insta::assert_snapshot!(world.reknit(&["test"]), @r"
    exit status 2 --- stdout
    FAIL  tests/a.yaml: it cannot be run as a test
      line 3, column 3: `expect.stats`: unknown key (did you mean `status`?)
    1 test: 0 passed, 1 failed
    ");
    assert_refused(
        &World::new().reknit(&["test"]),
        "there is no file or folder `tests`",
        "make a test of a run: `reknit test record last -o tests/first.yaml`",
    );
}

#[test]
fn a_test_that_names_a_device_ends() {
    let test = "plan: /dev/zero\nexpect:\n  status: complete\n";
    let refused = World::new().file("tests/a.yaml", test).reknit(&["test"]);
    assert!(refused.contains("`/dev/zero`: it is a device, not a regular file"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_survives_processes_that_are_really_killed() {
    let world = recorded().await;
    world.reknit(&["test", "record", "last", "--plan", "plan.json", "-o", "tests/shop.yaml"]);
    let report = world.output(&["chaos", "tests/shop.yaml", "--kill-processes", "--json"]);
    let report = Value::parse(&text(&report.stdout)).expect("JSON");
    assert_eq!(report.get("kills").and_then(Value::as_str), Some("process"));
    let cases = report.get("cases").and_then(Value::as_array).expect("cases");
    let killed = cases
        .iter()
        .filter(|case| case.get("fault").and_then(Value::as_str).is_some_and(|fault| fault.contains("killed")));
    let verdicts: Vec<&str> = killed.filter_map(|case| case.get("verdict").and_then(Value::as_str)).collect();
    assert_eq!(verdicts, ["mended"; 8], "four kills at two calls: {report}");
    assert_contains(&world.reknit(&["chaos", "tests/shop.yaml"]), "killed: all tasks of the driver end at one moment");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_changes_something_is_not_run_with_live_tools_unless_that_is_allowed() {
    let (shop, world) = shopping(&PRICE_AND_ORDER).await;
    assert_ended(&world.reknit(&["chaos", "plan.json"]), 2, "--allow-writes");
    assert_eq!(shop.calls(), [], "nothing was called");
    let report = world.reknit(&["chaos", "plan.json", "--allow-writes", "--html", "report.html"]);
    assert!(report.contains(" wrong and silent, "), "{report}");
    let page = fs::read_to_string(world.path().join("report.html")).expect("the page");
    assert!(page.starts_with("<!doctype html>") && page.contains("429 with a date"), "{page}");
}
