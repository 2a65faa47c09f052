//! JSON plan files with comments and extra commas.

use reknit_plan::{Catalogue, Document, PlanAuthor, check, check_structure, read_plan_file};
use reknit_protocol::Value;

#[test]
fn a_json_file_with_comments_and_extra_commas_is_read_as_json() {
    let text = r#"// my plan
    {
      "steps": [
        {"id": "a", "tool": "get_quote", "with": {"symbol": "TSLA", "count": 5 // five
        }},
        {"id": "b", "tool": "convert", /* later */ "with": {"amount": "{{a.price}}",},},
      ],
    }"#;
    let (plan, fixes) = read_plan_file(text).expect("a plan");
    let count = plan.steps[0].parameters().and_then(|parameters| parameters.get("count")).map(ToString::to_string);
    assert_eq!(count.as_deref(), Some("5"), "the comment is no part of the number");
    assert_eq!(plan.steps.len(), 2);
    assert!(!fixes.is_empty(), "the repairs are recorded");
}

#[test]
fn a_protocol_plan_with_comments_is_read_as_json() {
    let text = r#"{"steps": [ // one step
      {"step_id": "a", "agent_name": "t", "metadata": {"capability": "c", "parameters": {"n": 5 // five
      }}},]}"#;
    let (plan, fixes) = read_plan_file(text).expect("a plan");
    let number = plan.steps[0].parameters().and_then(|parameters| parameters.get("n")).map(ToString::to_string);
    assert_eq!((number.as_deref(), fixes.is_empty()), (Some("5"), false));
}

#[test]
fn yaml_in_braces_is_still_yaml() {
    let (plan, fixes) =
        read_plan_file("{steps: [{id: a, tool: t/c, with: {url: https://a.de/x, n: 5}}]}").expect("a plan");
    let url = plan.steps[0].parameters().and_then(|parameters| parameters.get("url")).map(ToString::to_string);
    assert_eq!((url.as_deref(), fixes.len()), (Some(r#""https://a.de/x""#), 0));
}

/// The YAML examples of a page.
fn examples(page: &str) -> Vec<&str> {
    page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn every_plan_in_the_documentation_can_be_read_and_has_no_problem() {
    let examples = examples(include_str!("../../../../docs/plans.md"));
    assert!(examples.len() >= 2, "the page shows plans");
    for text in examples {
        let (plan, fixes) = read_plan_file(text).unwrap_or_else(|error| panic!("{error:?}: {text}"));
        assert!(fixes.is_empty());
        let problems = check_structure(&plan).err().unwrap_or_default();
        assert!(problems.is_empty(), "{problems:?}");
    }
}

#[test]
fn a_problem_of_a_step_has_the_line_and_column_of_what_is_wrong() {
    let text = r#"inputs:
  shares: {type: intger}
steps:
  - id: quote
    tool: stocks/get_qoute
  - id: total
    compute:
      sum: "{{quote.price * inputs.share}}"
    after: [quote, nobody]
  - {id: sell, tool: bank/sell, when: total.sum > , with: {amount: "{{totl.sum}}"}, retry: often}
outputs:
  sum: total.sum +
"#;
    let tools = Value::parse(r#"{"stocks": [{"name": "get_quote"}]}"#).expect("valid JSON");
    let catalogue = Catalogue::from_value(&tools).expect("a catalogue");
    let (plan, _) = read_plan_file(text).expect("a plan");
    let problems = check(&plan, &catalogue, PlanAuthor::Person).expect_err("the plan has problems");
    let document = Document::read(text).expect("YAML");
    let places: Vec<_> =
        problems.iter().map(|problem| (problem.code.as_str(), document.locate(&problem.location))).collect();
    assert_eq!(
        places,
        [
            ("unknown_type", Some((2, 12))),
            ("unknown_capability", Some((5, 5))),
            ("unknown_dependency", Some((9, 20))),
            ("unknown_reference", Some((7, 5))),
            ("unknown_reference", Some((10, 60))),
            ("bad_expression", Some((10, 33))),
            ("bad_control", Some((10, 85))),
            ("unknown_tool", Some((10, 16))),
            ("bad_expression", Some((12, 3))),
        ]
    );
    let bare = "- {id: a, tool: t/x}\n- {id: a, tool: t/x}\n";
    let (plan, _) = read_plan_file(bare).expect("a plan");
    let problems = check_structure(&plan).expect_err("the ids are the same");
    let document = Document::read(bare).expect("YAML");
    assert_eq!(document.locate(&problems[0].location), Some((2, 4)));
    assert_eq!(Document::read("{}").expect("JSON").locate(&problems[0].location), None);
}

#[test]
fn a_plan_that_is_written_and_read_again_is_the_same() {
    let text = r#"
request: "What, now: 1 # no comment?"
inputs:
  shares: 100
  word: "yes"
  map: {default: {type: number}}
  kind: {type: string, enum: [a, b], description: "which: one"}
steps:
  - {id: quote, tool: stocks/get_quote, with: {symbol: TSLA, n: 1.50, on: "true", list: [1, "2"], nothing: null}}
  - {id: "2", tool: convert, do: "turn: dollars into won", with: {amount: "{{inputs.shares * quote.price}}"}, after: quote, timeout: 2 min}
  - {id: sum, compute: "{{quote.price + 1}}", after: [quote, "2"], when: "quote.price > 3", on_failure: {use: 0}, approve: true, retry: 2}
outputs:
  won: quote.price
  typed: {value: sum, type: number}
"#;
    let (plan, _) = read_plan_file(text).expect("it is a plan");
    let written = reknit_plan::write_plan_file(&plan);
    let (again, fixes) = read_plan_file(&written).unwrap_or_else(|error| panic!("{error}:\n{written}"));
    assert_eq!((again, fixes.len()), (plan, 0), "{written}");
}
