//! Expressions that explain a number.

use std::collections::BTreeMap;

use reknit_expressions::{Expression, explain_number};
use reknit_protocol::{Number, StepId, Value};

fn number(text: &str) -> Number {
    Number::parse(text).expect("a number")
}

fn explanation(written: &str, result: &str, request: &[&str]) -> Option<String> {
    let steps: [StepId; 1] = ["a".into()];
    let results = BTreeMap::from([(steps[0].clone(), Value::parse(result).expect("JSON"))]);
    let request: Vec<Number> = request.iter().map(|text| number(text)).collect();
    let found = explain_number(&number(written), &results, &steps, &request)?;
    let value = Expression::parse(&found, &steps).expect("it parses").evaluate(&results).expect("it has a value");
    assert_eq!(value.value, Value::Number(number(written)), "{found}");
    Some(found)
}

#[test]
fn a_number_is_explained_by_the_simplest_calculation_that_gives_it() {
    let cases: &[(&str, &str, &[&str], Option<&str>)] = &[
        ("468.29", r#"{"price": 468.29}"#, &[], Some("a.price")),
        ("46829", r#"{"price": 468.29}"#, &["100"], Some("100 * a.price")),
        ("3.7", r#"{"items": [{"wt": 2.5}, {"wt": 1.2}]}"#, &[], Some(r#"sum(pluck(a.items, "wt"))"#)),
        ("59.97", r#"{"unit_price": 19.99, "qty": 3}"#, &[], Some("a.unit_price * a.qty")),
        ("12", r#"{"list": [3, 4, 5]}"#, &[], Some("sum(a.list)")),
        ("31.5", r#"{"price": 30}"#, &["1.5"], Some("1.5 + a.price")),
        ("0.25", r#"{"odd key": 100}"#, &["400"], Some(r#"a["odd key"] / 400"#)),
        // Neither a wrong digit nor a rounded number is explained.
        ("46828.99", r#"{"price": 468.29}"#, &["100"], None),
        ("33.33", r#"{"price": 100}"#, &["3"], None),
        // Too many calculations give a small integer, so only a field with that value counts.
        ("5", r#"{"x": 2, "y": 3}"#, &[], None),
        ("5", r#"{"x": 5}"#, &[], Some("a.x")),
        ("0", r#"{"x": 12}"#, &["12"], None),
        ("46829", "{}", &["46829"], None),
    ];
    for (written, result, request, expected) in cases {
        assert_eq!(
            explanation(written, result, request).as_deref(),
            *expected,
            "{written} from {result} and {request:?}"
        );
    }
}

#[test]
fn the_search_in_a_large_result_is_bounded() {
    let items: Vec<String> = (0..10_000).map(|index| format!("{index}.5")).collect();
    assert_eq!(explanation("123456789.125", &format!("[{}]", items.join(",")), &["7"]), None);
}
