//! `reknit plan check`.

use std::io::Write as _;
use std::process::Stdio;

use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{Capability, Value};

use crate::exit_status::shopping;
use crate::world::{World, assert_refused, plan};

const TOOLS: &str = r#"{
  "stock-tool": {"description": "prices", "capabilities": [
    {"name": "get_quote", "effect": "read", "input_summary": {"required": [{"name": "symbol", "type": "string"}]},
     "output_summary": {"required": [{"name": "current_price", "type": "number"}]}}]},
  "currency-tool": [
    {"name": "convert", "effect": "read", "schema": {"type": "object", "required": ["amount", "to"], "additionalProperties": false,
     "properties": {"amount": {"type": "number"}, "to": {"type": "string", "enum": ["USD", "KRW"]}}}}]
}"#;

const GOOD: &str = "\
inputs:
  shares: {type: integer, default: 100}
steps:
  - id: quote
    tool: get_quote
    with: {symbol: TSLA}
  - id: convert
    tool: Currency_Tool/convert
    with: {amount: \"{{inputs.shares * quote.current_price}}\", to: krw}
outputs:
  won: convert.amount
";

const BAD: &str = "\
inputs:
  shares: {type: intger}
steps:
  - id: quote
    tool: get_qoute
    with: {symbol: TSLA}
  - id: price
    tool: stock-tool/get_quote
    with: {symbol: {name: TSLA}, exchange: NASDAQ}
    after: [convert, qoute]
  - id: convert
    tool: currency-tool/convert
    with:
      amount: \"{{price.curent_price}}\"
      to: won
  - id: convert
    tool: currency-tool/convert
    with: {amount: \"{{inputs.share * }}\"}
outputs:
  won: converted.amount
";

fn world() -> World {
    World::new().file("tools.json", TOOLS).file("good.yaml", GOOD).file("bad.yaml", BAD)
}

#[test]
fn a_valid_plan_is_reported_with_its_corrected_names() {
    insta::assert_snapshot!(world().reknit(&["plan", "check", "good.yaml", "--tools", "tools.json"]), @"
    exit status 0 --- stdout
    `good.yaml` can run: 2 steps, no problems
    --- stderr
    note: step `convert`: corrected the tool `Currency_Tool` to `currency-tool`
    ");
    insta::assert_snapshot!(world().reknit(&["plan", "check", "--json", "good.yaml", "--tools", "tools.json"]), @r#"
    exit status 0 --- stdout
    {"ok":true,"checked":"tools","steps":2,"repairs":[],"fixes":[{"step":"convert","of":"tool","before":"Currency_Tool","after":"currency-tool"}],"notes":[],"problems":[]}
    "#);
}

#[test]
fn plan_check_lists_every_problem_once() {
    let world = world();
    insta::assert_snapshot!(world.reknit(&["plan", "check", "bad.yaml", "--tools", "tools.json"]), @r#"
    exit status 1 --- stderr
    error: the plan in `bad.yaml` is not valid
      - line 2, column 12: input `shares`: there is no type `intger` (did you mean `integer`?)
      - line 5, column 5: step `quote`: no tool has a capability `get_qoute` (did you mean `get_quote`?)
      - line 10, column 22: step `price`: the step depends on `qoute`, but there is no such step (did you mean `quote`?)
      - line 9, column 34: `price.exchange`: `get_quote` has no parameter `exchange` (there is `symbol`)
      - line 9, column 12: `price.symbol`: expected a string, found an object
      - line 15, column 7: `convert.to`: expected "USD" or "KRW", found "won"
      - line 14, column 7: `convert.amount`: `price.curent_price` does not exist: there is no `curent_price` (did you mean `current_price`?)
      - line 16, column 5: step `convert`: the steps 3 and 4 have the same id
      - line 18, column 12: `convert.amount`: character 18: expected a value, found the end of the expression
      - line 18, column 5: step `convert`: `convert` needs the parameter `to`
      - line 20, column 3: output `won`: character 1: there is no step `converted` (did you mean `convert`?)
      - line 3, column 1: these steps wait for each other: `price` runs after `convert`, `convert` reads from `price`

    hint: see the code and path of each problem with `reknit plan check --json --tools tools.json bad.yaml`
    "#);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "--json", "--tools", "tools.json", "bad.yaml"]), @r#"
    exit status 1 --- stdout
    {"ok":false,"checked":"tools","steps":4,"repairs":[],"fixes":[],"notes":[],"problems":[{"code":"unknown_type","path":"$.inputs.shares.type","message":"there is no type `intger`","hint":"did you mean `integer`?","line":2,"column":12},{"code":"unknown_capability","step":"quote","path":"$.steps[0].agent_name","message":"no tool has a capability `get_qoute`","hint":"did you mean `get_quote`?","line":5,"column":5},{"code":"unknown_dependency","step":"price","path":"$.steps[1].depends_on[1]","message":"the step depends on `qoute`, but there is no such step","hint":"did you mean `quote`?","line":10,"column":22},{"code":"unknown_parameter","step":"price","path":"$.steps[1].metadata.parameters.exchange","message":"`get_quote` has no parameter `exchange`","hint":"there is `symbol`","line":9,"column":34},{"code":"bad_value","step":"price","path":"$.steps[1].metadata.parameters.symbol","message":"expected a string, found an object","line":9,"column":12},{"code":"bad_value","step":"convert","path":"$.steps[2].metadata.parameters.to","message":"expected \"USD\" or \"KRW\", found \"won\"","line":15,"column":7},{"code":"bad_path","step":"convert","path":"$.steps[2].metadata.parameters.amount","message":"`price.curent_price` does not exist: there is no `curent_price`","hint":"did you mean `current_price`?","line":14,"column":7},{"code":"duplicate_id","step":"convert","path":"$.steps[3].step_id","message":"the steps 3 and 4 have the same id","line":16,"column":5},{"code":"bad_expression","step":"convert","path":"$.steps[3].metadata.parameters.amount","message":"character 18: expected a value, found the end of the expression","line":18,"column":12},{"code":"missing_parameter","step":"convert","path":"$.steps[3].metadata.parameters","message":"`convert` needs the parameter `to`","line":18,"column":5},{"code":"unknown_reference","path":"$.outputs.won","message":"character 1: there is no step `converted`","hint":"did you mean `convert`?","line":20,"column":3},{"code":"cycle","path":"$.steps","message":"these steps wait for each other: `price` runs after `convert`, `convert` reads from `price`","line":3,"column":1}]}
    "#);
    assert!(!world.path().join("data").exists(), "no journal was made");
}

#[test]
fn a_plan_that_runs_another_file_is_checked_with_it() {
    let inner = "inputs: {symbol: TSLA}\nsteps:\n  - {id: quote, tool: get_quote, with: {symbol: \"{{inputs.symbol}}\"}}\noutputs: {price: quote.current_price}\n";
    let outer = "steps:\n  - {id: stock, plan: parts/middle.yaml}\n  - {id: won, tool: convert, with: {amount: \"{{stock.price}}\", to: KRW}}\n";
    let middle = "steps:\n  - {id: stock, plan: inner.yaml}\noutputs: {price: stock.price}\n";
    let world = world().file("outer.yaml", outer).file("parts/middle.yaml", middle).file("parts/inner.yaml", inner);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "outer.yaml", "--tools", "tools.json"]), @"
    exit status 0 --- stdout
    `outer.yaml` can run: 6 steps, no problems
    ");
    let world = world.file("parts/inner.yaml", &inner.replace("get_quote", "get_qoute"));
    let text = world.reknit(&["plan", "check", "outer.yaml", "--tools", "tools.json"]);
    let problem = "step `stock.stock.quote`: no tool has a capability `get_qoute`";
    assert!(text.contains("in `inner.yaml`: line 3, column") && text.contains(problem), "{text}");
}

#[test]
fn plan_check_without_tools_checks_the_structure_and_notes_it() {
    insta::assert_snapshot!(world().reknit(&["plan", "check", "good.yaml"]), @"
    exit status 0 --- stdout
    `good.yaml` has 2 steps and no problems that can be found without tools
    --- stderr
    note: no tool is configured, so only ids, order, templates and inputs were checked
    hint: name tools with `--tools FILE` or `--tool NAME=URL`, or add `[[tools]]` to reknit.toml
    ");
    insta::assert_snapshot!(world().reknit(&["plan", "check", "bad.yaml"]), @"
    exit status 1 --- stderr
    note: no tool is configured, so only ids, order, templates and inputs were checked
    error: the plan in `bad.yaml` is not valid
      - line 2, column 12: input `shares`: there is no type `intger` (did you mean `integer`?)
      - line 10, column 22: step `price`: the step depends on `qoute`, but there is no such step (did you mean `quote`?)
      - line 16, column 5: step `convert`: the steps 3 and 4 have the same id
      - line 18, column 12: `convert.amount`: character 18: expected a value, found the end of the expression
      - line 20, column 3: output `won`: character 1: there is no step `converted` (did you mean `convert`?)
      - line 3, column 1: these steps wait for each other: `price` runs after `convert`, `convert` reads from `price`

    hint: see the code and path of each problem with `reknit plan check --json bad.yaml`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_check_uses_the_configured_tools_or_a_tools_file() {
    let (shop, world) = shopping(&[("price", "{}"), ("ordr", "{}")]).await;
    insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.json"]), @"
    exit status 1 --- stderr
    error: the plan in `plan.json` is not valid
      - step `ordr`: `shop` has no capability `ordr` (did you mean `order`?)

    hint: see the code and path of each problem with `reknit plan check --json plan.json`
    ");
    let listed = world.output(&["tools", "check", "--json"]).stdout;
    let world =
        World::new().file("tools.json", &crate::world::text(&listed)).file("plan.json", &plan(&[("price", "{}")]));
    insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.json", "--tools", "tools.json"]), @"
    exit status 0 --- stdout
    `plan.json` can run: 1 step, no problems
    ");
    assert_eq!(shop.calls(), []);
}

#[test]
fn a_plan_in_a_models_answer_is_checked_and_its_repairs_are_noted() {
    let world = world();
    let mut command = world.command(&["plan", "check", "-", "--tools", "tools.json"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command can be run");
    let words = "Sure!\n```json\n[{'step_id': 's', 'agent_name': 'stock-tool', 'metadata': {'capability': 'get_quote', 'parameters': {'symbol': 'TSLA'}}},]\n```\n";
    child.stdin.take().expect("it is piped").write_all(words.as_bytes()).expect("it is read");
    insta::assert_snapshot!(world.show(&child.wait_with_output().expect("it ends")), @"
    exit status 0 --- stdout
    standard input can run: 1 step, no problems
    --- stderr
    note: repaired the JSON: replaced other quotes with double quotes
    note: repaired the JSON: dropped an extra comma
    note: repaired the JSON: took the JSON from a fenced block
    ");
}

#[test]
fn a_plan_without_steps_is_valid() {
    let world = world().file("none.yaml", "steps: []\n");
    insta::assert_snapshot!(world.reknit(&["plan", "check", "none.yaml", "--tools", "tools.json"]), @"
    exit status 0 --- stdout
    `none.yaml` has no steps: a run of it ends as `impossible`
    ");
}

#[test]
fn a_plan_that_cannot_be_parsed_is_reported_with_its_position() {
    let world = world()
        .file("typo.yaml", "steps:\n  - id: a\n    tol: b\n    wiht: {}\n")
        .file("broken.yaml", "steps:\n  - id: a\n   tool: b\n")
        .file("list.json", "[]")
        .file("schema.json", r#"{"t": [{"name": "c", "schema": {"required": "x"}}]}"#);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "typo.yaml"]), @"
    exit status 1 --- stderr
    error: the plan in `typo.yaml` is not valid
      - line 2, column 5: `steps[0]`: the step has no `tool` (add one, such as `tool: get_weather`)
      - line 3, column 5: `steps[0].tol`: unknown key (did you mean `tool`?)
      - line 4, column 5: `steps[0].wiht`: unknown key (did you mean `with`?)

    hint: see the code and path of each problem with `reknit plan check --json typo.yaml`
    ");
    insta::assert_snapshot!(world.reknit(&["plan", "check", "--json", "typo.yaml"]), @r#"
    exit status 1 --- stdout
    {"ok":false,"problems":[{"code":"not_a_plan","path":"$.steps[0]","line":2,"column":5,"message":"the step has no `tool`","hint":"add one, such as `tool: get_weather`"},{"code":"not_a_plan","path":"$.steps[0].tol","line":3,"column":5,"message":"unknown key","hint":"did you mean `tool`?"},{"code":"not_a_plan","path":"$.steps[0].wiht","line":4,"column":5,"message":"unknown key","hint":"did you mean `with`?"}]}
    "#);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "broken.yaml"]), @"
    exit status 1 --- stderr
    error: the plan in `broken.yaml` is not valid
      - line 3, column 4: while parsing a block collection, did not find expected '-' indicator

    hint: see the code and path of each problem with `reknit plan check --json broken.yaml`
    ");
    insta::assert_snapshot!(world.reknit(&["plan", "check", "gone.yaml"]), @"
    exit status 2 --- stderr
    error: cannot read `gone.yaml`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
    assert_refused(
        &world.reknit(&["plan", "check", "good.yaml", "--tools", "list.json"]),
        "`list.json` is not a list of tools: expected an object with a tool under each key, found an array",
        "create the file with `reknit tools check --json > tools.json`",
    );
    assert_refused(
        &world.reknit(&["plan", "check", "good.yaml", "--tools", "schema.json"]),
        r#"`schema.json` is not a list of tools: `t`: the schema of `c` is not a valid JSON Schema: the schema is not valid at `$.required`: expected an array, found the string "x""#,
        "create the file with `reknit tools check --json > tools.json`",
    );
}

/// The plan reads a price field that no tool declares, and leaves out the currency.
const VAGUE: &str = "\
steps:
  - id: quote
    tool: get_quote
    with: {symbol: TSLA}
  - id: convert
    tool: convert
    with: {amount: \"{{quote.worth}}\"}
";

#[test]
fn undeclared_outputs_are_noted_beside_the_result() {
    let world = world().file("vague.yaml", VAGUE);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "--tools", "tools.json", "vague.yaml"]), @"
    exit status 0 --- stdout
    `vague.yaml` can run: 2 steps, no problems, but see the notes
    --- stderr
    note: step `convert`: `to` is not given, and no tool declares it in its result: only a model can find it
    note: `convert.amount`: `quote.worth` may be missing: its tool declares no field `worth` (there is `current_price`)
    ");
    insta::assert_snapshot!(world.reknit(&["plan", "check", "--json", "--tools", "tools.json", "vague.yaml"]), @r#"
    exit status 0 --- stdout
    {"ok":true,"checked":"tools","steps":2,"repairs":[],"fixes":[],"notes":[{"code":"missing_parameter","step":"convert","path":"$.steps[1].metadata.parameters","message":"`to` is not given, and no tool declares it in its result: only a model can find it"},{"code":"bad_path","step":"convert","path":"$.steps[1].metadata.parameters.amount","message":"`quote.worth` may be missing: its tool declares no field `worth`","hint":"there is `current_price`"}],"problems":[]}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_needs_a_model_is_rejected_without_one() {
    let capability = |text: &str| Capability::from_value(&Value::parse(text).expect("JSON")).expect("a capability");
    let quote = capability(
        r#"{"name": "quote", "effect": "read", "output_summary": {"required": [{"name": "price", "type": "number"}]}}"#,
    );
    let convert = capability(
        r#"{"name": "convert", "effect": "read", "input_summary": {"required": [{"name": "to", "type": "string"}],
            "optional": [{"name": "amount", "type": "number"}]}}"#,
    );
    let shop = ScriptedTool::new("shop")
        .announce(quote)
        .announce(convert)
        .on("quote", CallMatcher::any(), Reply::data(1))
        .on("convert", CallMatcher::any(), Reply::data(2));
    let shop = shop.start().await.expect("the tool starts");
    let steps = plan(&[("quote", "{}"), ("convert", r#"{"amount": "{{quote.price}}"}"#)]);
    let world = World::with_tools(&[&shop]).file("plan.json", &steps);
    insta::assert_snapshot!(world.reknit(&["run", "plan.json"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - step `convert`: `to` is not given, and no tool declares it in its result: only a model can find it

    hint: write the value into the plan, or name a model: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml
    ");
    assert_eq!(shop.call_count(), 0, "nothing has happened");
}

#[test]
fn the_help_of_run_lists_the_inputs_of_the_plan() {
    let plan = "\
inputs:
  order: {type: integer, description: the number of the order}
  currency: {enum: [EUR, USD], default: EUR}
  limit: 100
steps: []
";
    let world = World::new().file("plan.yaml", plan).file("none.yaml", "steps: []\n");
    let help = world.reknit(&["run", "plan.yaml", "--help"]);
    let (_, inputs) = help.split_once("Inputs of").unwrap_or_else(|| panic!("{help}"));
    insta::assert_snapshot!(inputs, @r#"
     `plan.yaml`, given with `--input NAME=VALUE`:
      order     integer, required: the number of the order
      currency  string, one of "EUR", "USD", default "EUR"
      limit     number, default 100
    "#);
    assert!(!world.reknit(&["run", "none.yaml", "--help"]).contains("Inputs of"));
    assert!(!world.reknit(&["run", "--help"]).contains("Inputs of"));
}
