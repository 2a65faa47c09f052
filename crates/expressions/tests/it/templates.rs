//! Templates and literals.

use reknit_expressions::{Parameters, Template};
use reknit_protocol::Value;

use crate::support::{Results, bind_json, bound, ids, json, object, reasons, unbound};

#[test]
fn placeholders_are_resolved_in_strings_and_nested_values() {
    let results = Results::new(r#"{"a": {"n": 1000000, "s": "x", "b": true, "p": 1.50, "list": [1], "o": {"k": 1}}}"#);
    for (template, expected) in [
        (r#""{{a.n}} of {{a.s}}""#, r#""1000000 of x""#),
        (r#""{{a.b}}: {{a.p}} and {{2 * a.p}}""#, r#""true: 1.50 and 3""#),
        (r#""{{a.s}}{{a.s}}""#, r#""xx""#),
        (r#"" {{a.n}}""#, r#"" 1000000""#),
        (r#"{"deep": [{"x": "{{a.list}}"}, 1, "{{a.n}}!"]}"#, r#"{"deep":[{"x":[1]},1,"1000000!"]}"#),
        (r#""{{{{a.n}}""#, r#""{{a.n}}""#),
        (r#"["{{{{", "{{a.s}}"]"#, r#"["{{","x"]"#),
        (r#""{{{{{{a.s}}}}""#, r#""{{x}}""#),
        (r#""{\"k\": {{a.n}}}""#, r#""{\"k\": 1000000}""#),
        (r#""}} {a} { {""#, r#""}} {a} { {""#),
        (r#""{{join(a.list, \"}}\")}}""#, r#""1""#),
        (r#""{{100 * {{a.p}}}}""#, "150"),
        ("null", "null"),
        ("1e2", "1e2"),
    ] {
        let bound = bound(bind_json(&format!(r#"{{"p": {template}}}"#), &results, None));
        assert_eq!(bound.parameters.get("p"), Some(&json(expected)), "case: {template}");
        assert_eq!(
            bound.parameters.get("p").map(Value::to_string),
            Some(json(expected).to_string()),
            "case: {template}"
        );
    }
}

#[test]
fn null_arrays_and_objects_cannot_be_inserted_into_a_string() {
    let results = Results::new(r#"{"a": {"null": null, "list": [1], "o": {}}}"#);
    let plan = r#"{"n": "x {{a[\"null\"]}}", "l": "x {{a.list}}", "o": "x {{a.o}}", "m": "x {{a.m}}"}"#;
    insta::assert_snapshot!(reasons(&unbound(bind_json(plan, &results, None))), @"
    `n`: `a.null` is null
    `l`: `a.list` is an array, which cannot be inserted into a string
    `o`: `a.o` is an object, which cannot be inserted into a string
    `m`: `a.m` does not exist: available fields are `null`, `list`, `o`
    ");
}

#[test]
fn braces_in_results_are_not_templates() {
    let results = Results::new(r#"{"a": {"evil": "{{b.secret}}"}, "b": {"secret": "hidden"}}"#);
    let plan =
        r#"{"whole": "{{a.evil}}", "text": "got {{a.evil}}", "made": "{{replace(\"[b.secret]\", \"[\", a.evil)}}"}"#;
    let bound = bound(bind_json(plan, &results, None));
    assert_eq!(
        bound.parameters.to_string(),
        r#"{"whole":"{{b.secret}}","text":"got {{b.secret}}","made":"{{b.secret}}b.secret]"}"#
    );
}

#[test]
fn referenced_steps_are_listed_in_order_of_first_use() {
    let ids = ids(&["a", "b", "c", "d"]);
    let plan = object(r#"{"x": "{{c.x}} {{a.y}}", "y": [{"z": "{{if(a.z, b.z, c.z)}}"}], "w": "d.x"}"#);
    let parameters = Parameters::parse(&plan, &ids).expect("valid templates");
    assert_eq!(parameters.referenced_steps(), [ids[2].clone(), ids[0].clone(), ids[1].clone()]);
    let references: Vec<String> = parameters.references().iter().map(ToString::to_string).collect();
    assert_eq!(references, ["c.x", "a.y", "a.z", "b.z", "c.z"]);
    assert_eq!(parameters.names().collect::<Vec<_>>(), ["x", "y", "w"]);
}

#[test]
fn a_nested_value_without_templates_is_one_literal() {
    let value = json(r#"{"a": [1, {"b": "x"}], "c": null}"#);
    assert_eq!(Template::parse(&value, &[]), Ok(Template::Literal(value)));
}

#[test]
fn plain_arithmetic_parses_as_an_expression_but_ranges_and_dates_do_not() {
    let cases = [
        ("100 * 468.285", Some("46828.5")),
        ("(2 + 3) * 4", Some("20")),
        ("10 - 3 * 2", Some("4")),
        ("2 - 4", None),
        ("10 / 20", None),
        // Dates, telephone numbers, fractions and plain numbers stay strings.
        ("2024-01-15", None),
        ("555-1234", None),
        ("10/12", None),
        ("-5", None),
    ];
    for (written, expected) in cases {
        let calculation = match Template::parse(&written.into(), &[]).expect("a valid template") {
            Template::Text(text) => text.calculation,
            _ => None,
        };
        let results = Results::new("{}");
        let value = calculation.map(|calculation| calculation.evaluate(&results).expect("a number").value.to_string());
        assert_eq!(value.as_deref(), expected, "{written}");
    }
}
