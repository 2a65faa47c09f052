//! Limits on expressions, templates and work.

use reknit_expressions::{Expression, Template};
use reknit_protocol::Value;

use crate::support::{Results, evaluate, evaluate_to_text, ids, json};

fn problem(text: &str) -> String {
    Expression::parse(text, &ids(&["a"])).expect_err("the limit is exceeded").problem.to_string()
}

#[test]
fn an_expression_is_limited_in_length_depth_and_parts() {
    assert_eq!(problem(&"(".repeat(100_000)), "exceeds the limit of 65536 bytes");
    assert_eq!(problem(&format!("{}1{}", "(".repeat(60), ")".repeat(60))), "exceeds the limit of 48 nesting levels");
    assert_eq!(problem(&format!("{}1", "-".repeat(60))), "exceeds the limit of 48 nesting levels");
    assert_eq!(problem(&"abs(".repeat(1000)), "exceeds the limit of 48 nesting levels");
    assert_eq!(problem(&vec!["1"; 3000].join("+")), "exceeds the limit of 2000 parts");
    assert_eq!(problem(&format!("a{}", "[0]".repeat(3000))), "exceeds the limit of 2000 parts");
    assert_eq!(problem(&format!("sum({})", vec!["1"; 3000].join(","))), "exceeds the limit of 2000 parts");
}

#[test]
fn expressions_just_below_the_limits_are_evaluated() {
    let sum = vec!["1"; 999].join(" + ");
    assert_eq!(evaluate_to_text(&sum, &Results::default()), "999");
    let nested = format!("{}1{}", "(1 + abs(".repeat(20), "))".repeat(20));
    assert_eq!(evaluate_to_text(&nested, &Results::default()), "21");
}

#[test]
fn the_growth_of_a_string_is_limited() {
    let mut text = "\"aaaaaaaaaa\"".to_owned();
    for _ in 0..20 {
        text = format!("replace({text}, \"a\", \"aaaaaaaaaa\")");
    }
    assert!(evaluate_to_text(&text, &Results::default()).ends_with("the evaluation exceeds its work limit"));
}

#[test]
fn a_long_array_can_be_summed_once_but_not_hundreds_of_times() {
    let numbers = (0..50_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": {{"list": [{numbers}]}}}}"#));
    assert_eq!(evaluate_to_text("sum(a.list)", &results), "1249975000");
    let hostile = vec!["sum(a.list)"; 300].join(" + ");
    assert!(evaluate_to_text(&hostile, &results).ends_with("the evaluation exceeds its work limit"));
}

#[test]
fn values_nest_as_deep_as_json_and_no_deeper() {
    let mut value = json("1");
    for _ in 0..512 {
        value = Value::Array(vec![value]);
    }
    assert!(Template::parse(&value, &[]).is_ok());
    let error = Template::parse(&Value::Array(vec![value]), &[]).expect_err("the value is too deep");
    assert_eq!(error.problem.to_string(), "exceeds the limit of 512 nesting levels");
}

#[test]
fn coerced_strings_beyond_the_list_are_counted() {
    let texts = (0..80).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": [{texts}]}}"#));
    let evaluation = evaluate("sum(a)", &results).expect("the expression has a value");
    assert_eq!(evaluation.changes.len(), 51);
    assert_eq!(evaluation.changes[50].after, "30 more");
}

#[test]
fn a_large_input_is_recorded_abridged() {
    let numbers = (0..5_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": {{"list": [{numbers}], "price": 468.285}}}}"#));
    let evaluation = evaluate("sum(a.list) + a.price", &results).expect("the expression has a value");
    assert!(evaluation.inputs[0].value.to_string().len() < 2_100);
    assert!(evaluation.inputs[0].value.to_string().ends_with("more items\"]"), "{}", evaluation.inputs[0].value);
    assert_eq!(evaluation.inputs[1].value, json("468.285"));
}
