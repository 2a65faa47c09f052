//! `and`, `or`, `not`, `in`, lists, and functions that evaluate an expression for each item.

use proptest::prelude::*;
use reknit_expressions::{Binding, Exactness, Expression, InputSource, Provenance};
use reknit_protocol::Value;

use crate::generators::value;
use crate::support::{Results, bind_json, bound, evaluate, evaluate_to_text};

fn orders() -> Results {
    Results::new(
        r#"{"shop": {"orders": [
            {"id": "a", "status": "lost", "total": 19.99, "lines": [{"sku": "x", "count": 2}]},
            {"id": "b", "status": "done", "total": 5, "lines": []},
            {"id": "c", "status": "lost", "total": "0.01", "lines": [{"sku": "y", "count": 1}, {"sku": "x", "count": 3}]}],
            "rush": false, "gone": null, "limit": 10, "words": ["lost", "late"]},
           "item": {"x": 1}, "item.y": {"x": 2}, "not": {"x": true}, "and": {"x": true}}"#,
    )
}

const CASES: &[(&str, &str)] = &[
    ("true and false", "false"),
    ("true or false and false", "true"),
    ("not true or true", "true"),
    ("not (true or true)", "false"),
    ("not 1 == 2", "true"),
    ("not not true", "true"),
    ("true && false || true", "true"),
    ("shop.rush and 1 / 0 == 1", "false"),
    ("true or shop.missing", "true"),
    ("shop.rush or shop.gone", "`shop.gone` is null"),
    ("(shop.gone ?? false) or shop.limit > 5", "true"),
    ("(shop.missing and true) ?? \"none\"", "\"none\""),
    ("shop.limit and true", "cannot evaluate `shop.limit and true`: `and` expects a boolean, found 10"),
    ("not \"true\"", "cannot evaluate `not \"true\"`: `not` expects a boolean, found the string \"true\""),
    ("\"lost\" in shop.words", "true"),
    ("\"lost\" not in shop.words", "false"),
    ("\"lost\"   not   in shop.words", "false"),
    ("not \"done\" in shop.words", "true"),
    ("shop.orders[1].status in [\"lost\", 'done']", "true"),
    ("\"lost\" in [\"lost\"]", "true"),
    ("5 in [\"x\", \"5\", true]", "true"),
    ("null in [1, null]", "true"),
    ("[1] in [[1], 2]", "true"),
    ("\"os\" in \"lost\"", "true"),
    ("\"total\" in shop.orders[0]", "true"),
    ("5 in \"5\"", "cannot evaluate `5 in \"5\"`: `in` expects a string, found 5"),
    ("5 in shop.gone", "`shop.gone` is null"),
    ("[1, 2, 3,][1]", "2"),
    ("len([])", "0"),
    ("sum([1, 2] ?? [])", "3"),
    ("map(filter(shop.orders, item.status == \"lost\"), item.id)", "[\"a\",\"c\"]"),
    ("sum_by(filter(shop.orders, item.status == \"lost\"), \"total\")", "20"),
    ("len(filter(shop.orders, order => any(order.lines, line => line.count > order.total)))", "1"),
    ("map(shop.orders, order => sum_by(order.lines, item.count))", "[2,0,4]"),
    (
        "filter(shop.orders, item.price > 1)",
        "cannot evaluate `filter(shop.orders, item.price > 1)`: item 0 has no field `price`",
    ),
    ("len(filter(shop.orders, (item.price ?? 2) > 1))", "3"),
    ("map([1, 2], item + shop.limit)", "[11,12]"),
    ("map([1], item + [\"item\"].x + [\"item.y\"].x)", "[4]"),
    ("map([[1, 2], [3]], item[0])", "[1,3]"),
    ("map([1, 2], x => map([10, 20], y => x * y))", "[[10,20],[20,40]]"),
    ("map(map(shop.orders, \"lines\"), len(item))", "[1,0,2]"),
    ("item.x + item.y.x", "3"),
    ("and.x and [\"not\"].x and and.x", "true"),
    ("first(filter(shop.orders, false)) ?? \"none\"", "\"none\""),
    ("if(all(shop.orders, item.total > 0), \"paid\", \"open\")", "\"paid\""),
];

#[test]
fn conditions_and_lists_have_the_documented_value() {
    let results = orders();
    for (text, expected) in CASES {
        assert_eq!(evaluate_to_text(text, &results), *expected, "case: {text}");
    }
}

#[test]
fn a_printed_condition_parses_to_the_same_expression() {
    let ids = orders().ids();
    for (text, _) in CASES {
        let parsed = Expression::parse(text, &ids).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(Expression::parse(&parsed.to_string(), &ids).as_ref(), Ok(&parsed), "{text} became {parsed}");
    }
}

#[test]
fn a_filtered_sum_is_exact_and_has_its_list_as_input() {
    let evaluation = evaluate("sum_by(filter(shop.orders, item.status == \"lost\"), item.total * 3)", &orders());
    let evaluation = evaluation.expect("the expression has a value");
    assert_eq!((evaluation.value.to_string().as_str(), evaluation.exact), ("60", Exactness::Exact));
    let sources: Vec<String> = evaluation
        .inputs
        .iter()
        .map(|input| match &input.source {
            InputSource::Literal => input.value.to_string(),
            InputSource::Reference { step, path } => format!("{step}{path}"),
        })
        .collect();
    assert_eq!(sources, ["shop$.orders", "\"lost\"", "3"]);
    assert_eq!(evaluation.changes.len(), 1, "the total in a string was coerced");
}

#[test]
fn a_bound_filter_has_the_provenance_of_an_expression() {
    let binding =
        bind_json(r#"{"ids": "{{map(filter(shop.orders, item.status == 'lost'), item.id)}}"}"#, &orders(), None);
    let Binding::Bound(parameters) = &binding else { panic!("every parameter has a value: {binding:?}") };
    assert!(matches!(&parameters.provenance[0].1, Provenance::Expression { text, .. }
        if text == "map(filter(shop.orders, item.status == \"lost\"), item.id)"));
    assert_eq!(bound(binding).parameters.to_string(), r#"{"ids":["a","c"]}"#);
}

#[test]
fn words_between_placeholders_are_text() {
    let schema = crate::support::schema(r#"{"properties": {"note": {"type": "string"}}}"#);
    let binding = bind_json(r#"{"note": "{{shop.rush}} and {{shop.rush}}"}"#, &orders(), Some(&schema));
    assert_eq!(bound(binding).parameters.to_string(), r#"{"note":"false and false"}"#);
}

#[test]
fn work_for_items_is_limited() {
    let numbers = (0..3_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let results = Results::new(&format!(r#"{{"a": [{numbers}], "text": "{}"}}"#, "x".repeat(5_000)));
    assert_eq!(evaluate_to_text("len(filter(a, item % 2 == 0))", &results), "1500");
    for hostile in [
        "map(a, x => map(a, y => x * y))",
        "any(a, x => all(a, y => \"z\" in text and x == y))",
        "map(a, upper(text))",
        "filter(a, a == a)",
    ] {
        let error = evaluate(hostile, &results).expect_err(hostile).to_string();
        assert!(error.ends_with("the evaluation exceeds its work limit"), "{hostile}: {error}");
    }
}

#[test]
fn a_long_literal_is_recorded_once_for_all_items() {
    let results = Results::new(r#"{"a": [1, 2, 3, 4]}"#);
    let text = format!("map(a, \"{}\" == \"y\")", "x".repeat(3_000));
    let evaluation = evaluate(&text, &results).expect("the expression has a value");
    assert_eq!(evaluation.inputs.len(), 3);
}

fn value_of(text: &str, results: &Results) -> Option<Value> {
    evaluate(text, results).ok().map(|evaluation| evaluation.value)
}

proptest! {
    #[test]
    fn a_list_is_split_by_a_condition_and_its_opposite(items in prop::collection::vec(value(), 0..12)) {
        let results = Results::new(&format!(r#"{{"a": {}}}"#, Value::from(items.clone())));
        let kept = value_of("len(filter(a, item in [1, \"a\", null, true]))", &results);
        let dropped = value_of("len(filter(a, item not in [1, \"a\", null, true]))", &results);
        let total = kept.iter().chain(&dropped).filter_map(|value| value.to_string().parse::<usize>().ok()).sum::<usize>();
        prop_assert_eq!(total, items.len());
    }

    #[test]
    fn groups_hold_every_item_once(numbers in prop::collection::vec(-9_i64..9, 0..30)) {
        let list = Value::from(numbers.iter().map(|number| Value::from(*number)).collect::<Vec<_>>());
        let results = Results::new(&format!(r#"{{"a": {list}}}"#));
        prop_assert_eq!(
            value_of("sum_by(group_by(a, item % 3), sum(item.items))", &results),
            value_of("sum(a)", &results)
        );
        prop_assert_eq!(value_of("len(group_by(a, item))", &results), value_of("len(unique(a))", &results));
    }

    #[test]
    fn any_and_all_follow_de_morgan(numbers in prop::collection::vec(-3_i64..3, 0..6), limit in -3_i64..3) {
        let list = Value::from(numbers.iter().map(|number| Value::from(*number)).collect::<Vec<_>>());
        let results = Results::new(&format!(r#"{{"a": {list}, "limit": {limit}}}"#));
        prop_assert_eq!(
            value_of("not any(a, item > limit)", &results),
            value_of("all(a, not item > limit)", &results)
        );
    }
}
