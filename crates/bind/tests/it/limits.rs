//! What is too much, and that nothing of it does harm.

use reknit_bind::{Expression, Template};
use reknit_protocol::Value;

use crate::kit::{Results, ids, json, shown};

fn refused(text: &str) -> String {
    Expression::parse(text, &ids(&["a"])).expect_err("it is too much").problem.to_string()
}

#[test]
fn an_expression_has_bounds() {
    assert_eq!(refused(&"(".repeat(100_000)), "more than 65536 bytes");
    assert_eq!(refused(&format!("{}1{}", "(".repeat(60), ")".repeat(60))), "more than 48 levels");
    assert_eq!(refused(&format!("{}1", "-".repeat(60))), "more than 48 levels");
    assert_eq!(refused(&"abs(".repeat(1000)), "more than 48 levels");
    assert_eq!(refused(&vec!["1"; 3000].join("+")), "more than 2000 parts");
    assert_eq!(refused(&format!("a{}", "[0]".repeat(3000))), "more than 2000 parts");
    assert_eq!(refused(&format!("sum({})", vec!["1"; 3000].join(","))), "more than 2000 parts");
}

#[test]
fn the_largest_expressions_are_fine() {
    let sum = vec!["1"; 999].join(" + ");
    assert_eq!(shown(&sum, &Results::default()), "999");
    let nested = format!("{}1{}", "(1 + abs(".repeat(20), "))".repeat(20));
    assert_eq!(shown(&nested, &Results::default()), "21");
}

#[test]
fn a_text_cannot_grow_without_end() {
    let mut text = "\"aaaaaaaaaa\"".to_owned();
    for _ in 0..20 {
        text = format!("replace({text}, \"a\", \"aaaaaaaaaa\")");
    }
    assert!(shown(&text, &Results::default()).ends_with("the calculation takes too much work"));
}

#[test]
fn a_long_list_is_fine_and_a_hostile_use_of_it_is_not() {
    let numbers = (0..50_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": {{"list": [{numbers}]}}}}"#));
    assert_eq!(shown("sum(a.list)", &results), "1249975000");
    let hostile = vec!["sum(a.list)"; 300].join(" + ");
    assert!(shown(&hostile, &results).ends_with("the calculation takes too much work"));
}

#[test]
fn values_nest_as_deep_as_json_does_and_no_deeper() {
    let mut value = json("1");
    for _ in 0..512 {
        value = Value::Array(vec![value]);
    }
    assert!(Template::parse(&value, &[]).is_ok());
    let error = Template::parse(&Value::Array(vec![value]), &[]).expect_err("it is too deep");
    assert_eq!(error.problem.to_string(), "more than 512 levels");
}

#[test]
fn many_texts_taken_for_numbers_are_counted() {
    let texts = (0..80).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": [{texts}]}}"#));
    let evaluated = crate::kit::evaluate("sum(a)", &results).expect("it has a value");
    assert_eq!(evaluated.changes.len(), 51);
    assert_eq!(evaluated.changes[50].after, "30 more");
}

#[test]
fn a_large_value_that_went_into_a_calculation_is_kept_in_outline() {
    let numbers = (0..5_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": {{"list": [{numbers}], "price": 468.285}}}}"#));
    let evaluated = crate::kit::evaluate("sum(a.list) + a.price", &results).expect("it has a value");
    assert!(evaluated.inputs[0].value.to_string().len() < 2_100);
    assert!(evaluated.inputs[0].value.to_string().ends_with("more items\"]"), "{}", evaluated.inputs[0].value);
    assert_eq!(evaluated.inputs[1].value, json("468.285"));
}
