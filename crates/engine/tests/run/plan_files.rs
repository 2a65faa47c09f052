//! Plan files in YAML and JSON.

use reknit_engine::{Started, Status};
use reknit_plan::{PlanError, ProblemCode as Code, read_plan_file, resolve_inputs};
use reknit_protocol::{Object, Plan, PlanInput, PlanMode, Value};

use crate::world::{Play, json, object, plan, policy, read, started, step};

const FILE: &str = r#"
request: What are my shares worth?
inputs:
  symbol: TSLA
  shares: {type: integer, default: 100, description: how many}
steps:
  - id: quote
    tool: read
    with: {symbol: "{{inputs.symbol}}"}
  - id: convert
    tool: t/convert
    do: turn dollars into won
    with:
      amount: "{{inputs.shares * quote.price}}"
      to: KRW
    after: quote
outputs:
  won: convert.amount
  note: '"for " != "x"'
"#;

fn error_text(error: &PlanError) -> String {
    match error {
        PlanError::File(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

fn problems(text: &str) -> String {
    error_text(&read_plan_file(text).expect_err(text))
}

/// A plan file with one step that has these parameters.
fn with_parameters(parameters: &str) -> Plan {
    read(&format!("steps:\n  - id: s\n    tool: t/read\n    with: {parameters}\n"))
}

fn parameter(plan: &Plan, name: &str) -> String {
    plan.steps[0].parameters().and_then(|all| all.get(name)).map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_yaml_file_becomes_a_plan_of_the_protocol() {
    let plan = read(FILE);
    assert_eq!(plan.mode, Some(PlanMode::Workflow));
    insta::assert_snapshot!(plan.to_value().to_pretty(), @r#"
    {
      "plan_id": "plan",
      "original_request": "What are my shares worth?",
      "mode": "workflow",
      "inputs": {
        "symbol": {
          "default": "TSLA"
        },
        "shares": {
          "type": "integer",
          "default": 100,
          "description": "how many"
        }
      },
      "steps": [
        {
          "step_id": "quote",
          "agent_name": "",
          "metadata": {
            "capability": "read",
            "parameters": {
              "symbol": "{{inputs.symbol}}"
            }
          }
        },
        {
          "step_id": "convert",
          "agent_name": "t",
          "instruction": "turn dollars into won",
          "depends_on": [
            "quote"
          ],
          "metadata": {
            "capability": "convert",
            "parameters": {
              "amount": "{{inputs.shares * quote.price}}",
              "to": "KRW"
            }
          }
        }
      ],
      "outputs": {
        "won": "convert.amount",
        "note": "\"for \" != \"x\""
      }
    }
    "#);
}

#[test]
fn every_notation_gives_the_same_plan() {
    let plan = read(FILE);
    let written = plan.to_value();
    assert_eq!(read(&written.to_string()), plan, "JSON of the protocol");
    assert_eq!(read(&written.to_pretty()), plan, "JSON on several lines");
    assert_eq!(read(&format!("Here it is:\n```json\n{written}\n```\n")), plan, "JSON in prose");
    let short = json(
        r#"{"request": "What are my shares worth?",
            "inputs": {"symbol": "TSLA", "shares": {"type": "integer", "default": 100, "description": "how many"}},
            "steps": [{"id": "quote", "tool": "read", "with": {"symbol": "{{inputs.symbol}}"}},
                      {"id": "convert", "tool": "t/convert", "do": "turn dollars into won", "after": ["quote"],
                       "with": {"amount": "{{inputs.shares * quote.price}}", "to": "KRW"}}],
            "outputs": {"won": "convert.amount", "note": "\"for \" != \"x\""}}"#,
    );
    assert_eq!(read(&short.to_string()), plan, "JSON with the keys of a plan file");
    let steps = "- {id: a, tool: read}\n- {id: b, tool: read, after: [a]}\n";
    let bare = read(steps);
    assert_eq!(bare.steps.len(), 2);
    assert_eq!(read(&format!("steps:\n{steps}")), bare, "a bare array of steps");
}

#[test]
fn numbers_words_and_dates_keep_their_spelling() {
    for (written, expected) in [
        ("12345678901234567890123456789.10", "12345678901234567890123456789.10"),
        ("9007199254740993", "9007199254740993"),
        ("-0.00", "-0.00"),
        ("1e5", "1e5"),
        ("0x1F", r#""0x1F""#),
        ("017", r#""017""#),
        ("+1", r#""+1""#),
        (".5", r#"".5""#),
        ("1_000", r#""1_000""#),
        (".inf", r#"".inf""#),
        ("no", r#""no""#),
        ("Yes", r#""Yes""#),
        ("on", r#""on""#),
        ("True", r#""True""#),
        ("true", "true"),
        ("null", "null"),
        ("~", "null"),
        ("", "null"),
        ("2024-01-01", r#""2024-01-01""#),
        ("12:30:45", r#""12:30:45""#),
        ("'12'", r#""12""#),
        (r#""12""#, r#""12""#),
        (r#""{{a.b}}""#, r#""{{a.b}}""#),
        ("|\n        a\n        b", r#""a\nb\n""#),
    ] {
        let plan = with_parameters(&format!("\n      x: {written}"));
        assert_eq!(parameter(&plan, "x"), expected, "case: {written}");
    }
}

#[test]
fn all_mistakes_in_a_file_are_reported_with_line_and_column() {
    let file = "
requst: x
inputs:
  a: {typ: integer}
  b: {type: [1]}
steps:
  - id: q
    tol: t/read
    with: [1]
  - tool: t/read
    after: {a: 1}
    colour: red
  - just words
outputs: won
";
    insta::assert_snapshot!(problems(file), @"
    line 2, column 1: `requst`: unknown key (did you mean `request`?)
    line 4, column 7: `inputs.a.typ`: unknown key (did you mean `type`?)
    line 5, column 7: `inputs.b.type`: expected a string, found an array
    line 7, column 5: `steps[0]`: the step has no `tool` (add one, such as `tool: get_weather`)
    line 8, column 5: `steps[0].tol`: unknown key (did you mean `tool`?)
    line 9, column 5: `steps[0].with`: expected names with values, such as `with: {name: value}`, found an array
    line 10, column 5: `steps[1]`: the step has no `id` (add one, such as `id: weather`)
    line 11, column 5: `steps[1].after`: expected a string, found an object
    line 12, column 5: `steps[1].colour`: unknown key (there is `id`, `tool`, `do`, `with`, `after`, `compute`, `plan`, `agent` and 11 more)
    line 13, column 5: `steps[2]`: expected a step with the keys `id` and `tool`, found a string
    line 14, column 1: `outputs`: expected names with values, such as `outputs: {name: value}`, found a string
    ");
    insta::assert_snapshot!(problems("stepz: []"), @"
    the plan has no `steps` (add `steps:` with a list of steps, each with an `id` and a `tool`)
    line 1, column 1: `stepz`: unknown key (did you mean `steps`?)
    ");
}

#[test]
fn ambiguous_yaml_is_rejected_with_its_position() {
    for (text, expected) in [
        ("steps:\n  - id: a\n   tool: b\n", "line 3"),
        ("steps:\n  - {id: a, tool: t, with: {x: {{a.b}}}}\n", "put what has braces in quotes"),
        ("steps: &all\n  - {id: a, tool: t}\n", "line 1, column 8: anchors are not supported"),
        ("steps:\n  - *all\n", "unknown anchor"),
        ("steps:\n  - !!str a\n", "line 2, column 5: tags are not supported"),
        ("steps: []\nsteps: []\n", "line 2, column 1: duplicate key `steps`"),
        ("steps: []\n---\nsteps: []\n", "line 2, column 1: a second document begins here"),
    ] {
        let problems = problems(text);
        assert!(problems.contains(expected), "case: {text}\n{problems}");
    }
    let deep = format!("steps: {}", "[".repeat(10_000));
    assert!(read_plan_file(&deep).is_err());
    let deep = format!("steps:\n{}x", "- ".repeat(10_000));
    assert!(problems(&deep).contains("nested deeper than"), "{}", problems(&deep));
}

#[test]
fn an_input_needs_a_value_or_a_default_that_fits_its_type() {
    let plan = read(
        "inputs:\n  shares: {type: integer, default: 100}\n  symbol: {type: string}\n  price: 1.50\n  free:\n  tags: {type: '[]string', default: [a]}\nsteps: []\n",
    );
    let resolve = |given: &str| resolve_inputs(&plan, &object(given));
    assert_eq!(
        resolve(r#"{"symbol": "TSLA", "free": {"a": 1}}"#).map(|inputs| inputs.to_string()).ok().as_deref(),
        Some(r#"{"shares":100,"symbol":"TSLA","price":1.50,"free":{"a":1},"tags":["a"]}"#)
    );
    let given = resolve(r#"{"symbol": "no", "free": null, "shares": "12345678901234567890", "tags": "b"}"#)
        .expect("the inputs fit");
    assert_eq!(given.get("shares").map(ToString::to_string).as_deref(), Some("12345678901234567890"));
    assert_eq!(given.get("tags").map(ToString::to_string).as_deref(), Some(r#"["b"]"#));
    let problems = resolve(r#"{"shares": 1.5, "symbl": "x", "free": 1}"#).expect_err("three inputs are invalid");
    insta::assert_snapshot!(problems.iter().map(|problem| format!("{}: {problem}", problem.code)).collect::<Vec<_>>().join("\n"), @"
    unknown_input: input `symbl`: the plan has no such input (did you mean `symbol`?)
    bad_value: input `shares`: expected an integer, found the number 1.5
    missing_input: input `symbol`: it has no default, and no value was given
    ");
}

/// A run of a plan file with the tools of `world::catalogue`.
fn run(text: &str, inputs: &str) -> Play {
    let started = Started { inputs: object(inputs), ..started(Some(read(text)), policy()) };
    Play::begin(started)
}

#[test]
fn a_file_runs_with_its_inputs_and_gives_its_outputs_digit_for_digit() {
    let mut play = run(FILE, r#"{"shares": 3}"#);
    assert_eq!(play.call("quote/call/1").parameters.to_string(), r#"{"symbol":"TSLA"}"#);
    play.answer_tool("quote/call/1", 200, r#"{"price": 19.99}"#);
    assert_eq!(play.call("convert/call/1").parameters.to_string(), r#"{"amount":59.97,"to":"KRW"}"#);
    play.answer_tool("convert/call/1", 200, r#"{"data": {"amount": 12345678901234567890.10}}"#);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Complete);
    assert_eq!(answer.outputs.to_string(), r#"{"won":12345678901234567890.10,"note":true}"#);
    assert!(answer.text.contains("Outputs:\n- won: 12345678901234567890.10"), "{}", answer.text);
    let written = play.run.snapshot().expect("a run can be written to a snapshot");
    assert!(written.contains("{{inputs.shares * quote.price}}"), "the plan keeps its templates");
    assert_eq!(reknit_engine::Run::restore(&written).expect("a snapshot can be restored").answer(), Some(answer));
}

#[test]
fn a_run_without_one_of_its_outputs_is_partial() {
    let mut play = run("steps: [{id: a, tool: read}]\noutputs: {x: a.price, y: a.other}\n", "{}");
    play.answer_tool("a/call/1", 200, r#"{"price": 1}"#);
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!(answer.status, Status::Partial);
    insta::assert_snapshot!(answer.text, @r#"
    Some steps were done.

    Missing:
    - output y: `a.other` does not exist: available fields are `price`

    Outputs:
    - x: 1

    Done:
    - a (read): {"price":1}
    "#);
}

#[test]
fn problems_of_inputs_and_outputs_are_reported_with_the_others() {
    let text = "inputs:\n  shares: {type: intger, default: 1}\n  price: {type: number, default: many}\n  tags: []\nsteps:\n  - {id: a, tool: t/convert}\n  - {id: b, tool: t/convert, with: {amount: '{{inputs.tags}}', to: '{{inputs.sharez}}'}}\noutputs: {x: a.y +, z: c.d, w: inputs.nothing}\n";
    let plan = read(text);
    let problems = reknit_plan::check(&plan, &crate::world::catalogue(), reknit_plan::PlanAuthor::Person)
        .expect_err("the plan has problems");
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("{} at {}: {problem}", problem.code, problem.location.path)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    unknown_type at $.inputs.shares.type: input `shares`: there is no type `intger` (did you mean `integer`?)
    bad_value at $.inputs.price: input `price`: expected a number, found the string "many"
    missing_parameter at $.steps[0].metadata.parameters: step `a`: `convert` needs the parameter `amount`
    bad_type at $.steps[1].metadata.parameters.amount: `b.amount`: `inputs.tags` is an array, and `amount` takes a number
    unknown_reference at $.steps[1].metadata.parameters.to: `b.to`: `inputs.sharez` does not exist: there is no `sharez` (did you mean `shares`?)
    bad_expression at $.outputs.x: output `x`: character 6: expected a value, found the end of the expression
    unknown_reference at $.outputs.z: output `z`: character 1: there is no step `c` (did you mean `a`?)
    unknown_reference at $.outputs.w: output `w`: `inputs.nothing` does not exist: there is no `nothing` (there is `shares`, `price`, `tags`)
    "#);
    let plan = read("inputs: {a: 1}\nsteps: [{id: inputs, tool: t/read}]\n");
    let reserved = reknit_plan::check_structure(&plan).expect_err("the id is reserved");
    assert_eq!(reserved.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::ReservedId]);
    let plan = read("inputs: {a: }\nsteps: [{id: s, tool: read}]\n");
    let missing = resolve_inputs(&plan, &Object::new()).expect_err("the input has no value");
    assert_eq!(missing.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::MissingInput]);
    assert_eq!(
        Play::begin(started(Some(plan), policy())).run.answer().map(|answer| answer.status),
        Some(Status::Failed)
    );
}

#[test]
fn an_input_takes_only_its_allowed_values() {
    let text = "inputs:\n  to: {enum: [KRW, EUR], default: KRW, description: the currency}\n  level: {type: integer, enum: [1, 2]}\nsteps: []\n";
    let plan = read(text);
    assert_eq!(Plan::from_value(&plan.to_value()), Ok(plan.clone()), "the allowed values survive serialization");
    let resolve = |given: &str| resolve_inputs(&plan, &object(given)).map(|inputs| inputs.to_string());
    assert_eq!(resolve(r#"{"level": "2"}"#).ok().as_deref(), Some(r#"{"to":"KRW","level":2}"#));
    let problems = resolve(r#"{"level": 3, "to": "USD"}"#).expect_err("both values are not allowed");
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::BadValue; 2]);
    assert!(problems[0].message.contains("KRW"), "{}", problems[0]);
    let bad = read("inputs: {to: {enum: [KRW], default: USD}}\nsteps: [{id: a, tool: t/read}]\n");
    let found = reknit_plan::check_structure(&bad).expect_err("the default is not allowed");
    assert_eq!(found.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::BadValue]);
}

#[test]
fn an_output_has_its_declared_type_or_is_missing() {
    let text = "steps: [{id: a, tool: read}]\noutputs:\n  x: {value: a.price, type: number, description: in euros}\n  y: {value: a.name, type: integer}\n  z: a.name\n";
    let plan = read(text);
    assert_eq!(Plan::from_value(&plan.to_value()), Ok(plan.clone()), "the types survive serialization");
    let mut started_run = run(text, "{}");
    started_run.answer_tool("a/call/1", 200, r#"{"price": "1.50", "name": "chair"}"#);
    let answer = started_run.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.outputs.to_string().as_str()), (Status::Partial, r#"{"x":1.50,"z":"chair"}"#));
    let reason = &answer.missing_outputs[0].reason;
    assert!(reason.starts_with("its value does not have the declared type: "), "{reason}");
    let plan = read("steps: [{id: a, tool: read}]\noutputs: {x: {value: a.price, type: intger}}\n");
    let found = reknit_plan::check_structure(&plan).expect_err("there is no such type");
    assert_eq!(found[0].to_string(), "output `x`: there is no type `intger` (did you mean `integer`?)");
    assert_eq!(
        problems("steps: []\noutputs: {x: {typ: number}}\n"),
        "line 2, column 11: `outputs.x`: the output has no `value` (add an expression, such as `value: convert.amount`)\nline 2, column 15: `outputs.x.typ`: unknown key (did you mean `type`?)"
    );
}

#[test]
fn inputs_of_one_run_do_not_leak_into_the_next() {
    let plan = read(FILE);
    for (inputs, symbol) in [(r#"{"symbol": "A"}"#, "A"), (r#"{"symbol": "B"}"#, "B"), ("{}", "TSLA")] {
        let started = Started { inputs: object(inputs), ..started(Some(plan.clone()), policy()) };
        let call = Play::begin(started).call("quote/call/1");
        assert_eq!(call.parameters.get("symbol"), Some(&Value::from(symbol)));
    }
}

#[test]
fn a_null_default_counts_as_no_default_also_after_serialization() {
    let mut plan = plan(vec![step("s", "read", r#"{"x": "{{inputs.n}}"}"#)]);
    plan.inputs.push(("n".to_owned(), PlanInput { default: Some(Value::Null), ..PlanInput::default() }));
    let again = Plan::from_value(&plan.to_value()).expect("it is a plan");
    for plan in [plan, again] {
        let problems = resolve_inputs(&plan, &Object::new()).expect_err("the input has no value");
        assert_eq!(problems.first().map(|problem| problem.code), Some(Code::MissingInput));
    }
}
