//! Plans and requests that cannot run.

use reknit_fakes::ScriptedTool;
use reknit_fakes::tool::RunningTool;
use reknit_protocol::SideEffect;

use crate::world::{World, assert_refused, plan};

async fn shop() -> RunningTool {
    let shop = ScriptedTool::new("shop").capability("price", SideEffect::Read).capability("order", SideEffect::Keyed);
    shop.start().await.expect("the tool starts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_problem_of_a_plan_is_listed_and_nothing_is_called() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]).file(
        "plan.json",
        &plan(&[
            ("price", r#"{"of": "{{nothing.id}}"}"#),
            ("ordr", "{}"),
            ("price", "{}"),
            ("order", r#"{"at": "{{price.price"}"#),
        ]),
    );
    insta::assert_snapshot!(world.reknit(&["run", "plan.json"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - `price.of`: character 3: there is no step `nothing` (there is `price`, `ordr`, `price`, `order`)
      - step `ordr`: `shop` has no capability `ordr` (did you mean `order`?)
      - step `price`: the steps 1 and 3 have the same id
      - `order.at`: character 1: unclosed `{{`: add `}}`, or write `{{{{` for literal braces
    ");
    assert_eq!(shop.calls(), []);
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0 --- stderr
    the journal has no runs

    hint: start one with `reknit demo`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_with_a_cycle_is_rejected() {
    let shop = shop().await;
    let circle = plan(&[("price", r#"{"of": "{{order.id}}"}"#), ("order", r#"{"at": "{{price.price}}"}"#)]);
    let world = World::with_tools(&[&shop]).file("plan.json", &circle);
    insta::assert_snapshot!(world.reknit(&["run", "plan.json"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - these steps wait for each other: `price` reads from `order`, `order` reads from `price`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_a_plan_is_rejected() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop])
        .file("prose.txt", "I am sorry, I cannot help with that.")
        .file("other.json", r#"{"steps": "none"}"#)
        .file("empty.json", r#"{"plan_id": "p", "original_request": "nothing", "steps": []}"#);
    insta::assert_snapshot!(world.reknit(&["run", "prose.txt"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - found no plan: cannot read the text as JSON at line 1, column 1: expected a value, found text (a plan has `steps:`, a list whose steps have `id`, `tool` and `with`)
    ");
    insta::assert_snapshot!(world.reknit(&["run", "other.json"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - `steps`: expected a list of steps, found a string
    ");
    insta::assert_snapshot!(world.reknit(&["run", "empty.json"]), @"
    exit status 4 --- stdout
    no tool can serve the request
    --- stderr

    impossible: 0 of 0 steps done, 0 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    insta::assert_snapshot!(world.reknit(&["run", "missing.json"]), @"
    exit status 2 --- stderr
    error: cannot read `missing.json`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
}

#[test]
fn ask_and_run_need_a_tool() {
    let world = World::new().file("plan.json", &plan(&[("price", "{}")]));
    assert_refused(
        &world.reknit(&["run", "plan.json"]),
        "no tool is available",
        "name one with `--tool NAME=URL`, or add `[[tools]]` to reknit.toml; `reknit demo --serve` starts four",
    );
    assert_refused(
        &world.reknit(&["ask", "what does it cost?"]),
        "no tool is available",
        "name one with `--tool NAME=URL`, or add `[[tools]]` to reknit.toml; `reknit demo --serve` starts four",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ask_needs_a_model() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    assert_refused(
        &world.reknit(&["ask", "what does it cost?"]),
        "no model is configured to plan the request",
        "name one with `--model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml",
    );
}

#[test]
fn a_missing_tool_is_reported_by_name() {
    let world = World::new().file("plan.json", &plan(&[("price", "{}")]));
    // No server listens on port 9, which is reserved for the discard protocol.
    insta::assert_snapshot!(world.reknit(&["run", "--tool", "shop=http://127.0.0.1:9", "plan.json"]), @"
    exit status 2 --- stderr
    warning: tool `shop` at http://127.0.0.1:9/: connection refused; is the tool running?
    error: no tool is available

    hint: name one with `--tool NAME=URL`, or add `[[tools]]` to reknit.toml; `reknit demo --serve` starts four
    ");
}

#[test]
fn a_malformed_tool_argument_is_bad_usage() {
    let world = World::new().file("plan.json", &plan(&[("price", "{}")]));
    assert_refused(
        &world.reknit(&["run", "--tool", "http://127.0.0.1:8085", "plan.json"]),
        "`--tool http://127.0.0.1:8085` has no `=`",
        "write `--tool weather=http://127.0.0.1:8085`",
    );
    assert_refused(
        &world.reknit(&["run", "--tool", "shop=127.0.0.1", "plan.json"]),
        "`127.0.0.1` is not the address of a tool: relative URL without a base; write it like `http://127.0.0.1:8085`",
        "write `--tool weather=http://127.0.0.1:8085`",
    );
    assert_refused(
        &world.reknit(&["run", "--tool", "shop=ftp://x", "plan.json"]),
        "`ftp://x` is not the address of a tool: the scheme must be http or https; write it like `http://127.0.0.1:8085`",
        "write `--tool weather=http://127.0.0.1:8085`",
    );
    assert_refused(
        &world.reknit(&["run", "--tool", "=http://127.0.0.1:9", "plan.json"]),
        "`--tool =http://127.0.0.1:9` has no name before the `=`",
        "write `--tool weather=http://127.0.0.1:8085`",
    );
}

#[test]
fn model_options_need_a_model_url() {
    let world = World::new();
    insta::assert_snapshot!(world.reknit(&["ask", "--model", "m", "x"]), @"
    exit status 2 --- stderr
    error: the following required arguments were not provided:
      --model-url <URL>

    Usage: reknit ask --model-url <URL> --model <NAME> <REQUEST>

    For more information, try '--help'.
    ");
    assert_refused(
        &world.reknit(&["ask", "--model-url", "http://127.0.0.1:9/v1", "--model-key-env", "NO_KEY", "x"]),
        "the environment variable `NO_KEY` is not set",
        "set it: `export NO_KEY=...`",
    );
    assert_refused(
        &world.reknit(&["ask", "--model-url", "no url", "x"]),
        "the base URL of model `model` is not usable: relative URL without a base",
        "write an address like `http://127.0.0.1:8080/v1`",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_yaml_plan_runs_with_inputs_and_prints_outputs() {
    let shop = crate::exit_status::shop().await;
    let file = "inputs:\n  of: {type: string}\n  count: 2\nsteps:\n  - id: first\n    tool: price\n    with: {of: '{{inputs.of}}', n: '{{inputs.count * 2}}'}\noutputs:\n  seen: inputs.count * first.price\n";
    let world = World::with_tools(&[&shop]).file("plan.yaml", file);
    insta::assert_snapshot!(world.reknit(&["run", "plan.yaml", "--input", "of=tea", "--input", "count=3"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Outputs:
    - seen: 37.5

    Done:
    - first (price): {"price":12.50}
    --- stderr
    > first  price  running
    ✓ first  price  done


    complete: 1 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    let output = world.output(&["run", "--json", "plan.yaml", "--input", "of=tea"]).stdout;
    assert!(crate::world::text(&output).contains(r#""outputs":{"seen":25}"#), "{}", crate::world::text(&output));
    insta::assert_snapshot!(world.reknit(&["run", "plan.yaml"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - input `of`: it has no default, and no value was given

    hint: add `--input of=VALUE`
    ");
    insta::assert_snapshot!(world.reknit(&["run", "plan.yaml", "--input", "off=tea", "--input", "count=many"]), @r#"
    exit status 2 --- stderr
    error: cannot run the plan
      - input `off`: the plan has no such input (did you mean `of`?)
      - input `of`: it has no default, and no value was given
      - input `count`: expected a number, found the string "many"

    hint: add `--input of=VALUE`
    "#);
    assert_refused(
        &world.reknit(&["run", "plan.yaml", "--input", "of"]),
        "`--input of` has no `=`",
        "write `--input shares=100`",
    );
}
