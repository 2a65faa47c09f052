//! Evaluation of expressions.

use reknit_expressions::{EvaluationInput, Exactness, Expression, InputSource};
use reknit_protocol::Path;

use crate::support::{Results, evaluate, evaluate_to_text, ids, json};

fn results() -> Results {
    Results::new(
        r#"{"step-1": {"price": 19.99, "text": "19.99", "spaced": " 5", "word": "abc", "none": null, "flag": true, "list": [1, 2],
            "empty": [], "big": 12345678901234567890123456789012345678, "qty": 3}, "step-2": {"price": 2}, "min": {"x": 4}}"#,
    )
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(evaluate_to_text(text, &results()), *expected, "case: {text}");
    }
}

#[test]
fn arithmetic_is_exact_with_the_usual_precedence() {
    check(&[
        ("3 * step-1.price", "59.97"),
        ("3*step-1.response.price", "59.97"),
        ("100 * 468.285", "46828.5"),
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 2 - 3", "5"),
        ("step-1.price - step-2.price", "17.99"),
        ("step-1.qty -2", "1"),
        ("-step-1.qty + 1", "-2"),
        ("--2", "2"),
        ("2 * -3", "-6"),
        ("0.1 + 0.2", "0.3"),
        ("1e3 + 1", "1001"),
        ("7 % 4 * 2", "6"),
        ("10 / 4", "2.5"),
        ("1 / 3", "~0.3333333333333333333333333333333333"),
        ("1 / 3 * 3", "~0.9999999999999999999999999999999999"),
        ("{{step-1.qty}} * 2", "6"),
        ("min.x * 2", "8"),
        ("min(min.x, 2)", "2"),
        ("first(step-1.list) * 2", "2"),
        ("(step-1.missing ?? step-1).qty * 2", "6"),
        ("last(sort_by(split(\"b,a\", \",\"))) == \"b\"", "true"),
        (
            "(step-1).nothing",
            "`(step-1).nothing` does not exist: available fields are `price`, `text`, `spaced`, `word`, `none`, `flag`, `list`, `empty`, `big`, `qty`",
        ),
        ("(step-1).nothing ?? 1", "1"),
    ]);
}

#[test]
fn a_number_that_is_only_passed_on_keeps_more_than_34_digits() {
    check(&[
        ("step-1.big", "12345678901234567890123456789012345678"),
        ("-step-1.big", "-12345678901234567890123456789012345678"),
        ("step-1.missing ?? step-1.big", "12345678901234567890123456789012345678"),
        ("max(step-1.big, 1)", "12345678901234567890123456789012345678"),
        ("step-1.big + 0", "~12345678901234567890123456789012350000"),
        ("step-1.big > 12345678901234567890123456789012345677", "true"),
    ]);
}

#[test]
fn only_strict_json_numbers_are_coerced_from_strings() {
    check(&[
        ("2 * step-1.text", "39.98"),
        ("2 * step-1.spaced", r#"cannot evaluate `2 * step-1.spaced`: `*` expects a number, found the string " 5""#),
        ("2 * step-1.word", r#"cannot evaluate `2 * step-1.word`: `*` expects a number, found the string "abc""#),
        (r#""a" + "b""#, r#"cannot evaluate `"a" + "b"`: `+` expects a number, found the string "a""#),
        ("2 * step-1.flag", "cannot evaluate `2 * step-1.flag`: `*` expects a number, found true"),
        ("2 * step-1.list", "cannot evaluate `2 * step-1.list`: `*` expects a number, found an array"),
    ]);
    let evaluation = evaluate("2 * step-1.text + step-1.text", &results()).expect("the expression has a value");
    let changes: Vec<String> =
        evaluation.changes.iter().map(|change| format!("{} {} {}", change.kind, change.before, change.after)).collect();
    assert_eq!(changes, [r#"number_in_string "19.99" 19.99"#]);
}

#[test]
fn values_of_different_types_cannot_be_compared() {
    check(&[
        ("step-1.qty == 3.0", "true"),
        ("step-1.qty != 3", "false"),
        ("1 + 1 >= 2", "true"),
        ("2 < 10", "true"),
        (r#""2" < "10""#, "true"),
        (r#""9.50" > "10.10""#, "false"),
        (r#""9.50" > "ten""#, "false"),
        (r#""1.0" == "1""#, "false"),
        (r#"step-1.word == "abc""#, "true"),
        ("step-1.text == 19.99", "true"),
        ("step-1.none == null", "true"),
        ("step-1.qty == null", "false"),
        ("step-1.list == step-1.list", "true"),
        ("step-1.flag == true", "true"),
        ("step-1.word == 3", r#"cannot evaluate `step-1.word == 3`: cannot compare the string "abc" with 3"#),
        ("step-1.flag < true", "cannot evaluate `step-1.flag < true`: cannot compare true with true"),
        ("step-1.none < 3", "`step-1.none` is null"),
    ]);
}

#[test]
fn only_the_selected_branch_is_evaluated() {
    check(&[
        (r#"if(step-1.qty > 2, "many", 1 / 0)"#, r#""many""#),
        ("if(step-1.qty > 5, 1 / 0, step-1.qty)", "3"),
        ("if(step-1.qty, 1, 2)", "cannot evaluate `if(step-1.qty, 1, 2)`: `if` expects a boolean, found 3"),
        ("if(step-1.none, 1, 2)", "`step-1.none` is null"),
    ]);
}

#[test]
fn coalescing_replaces_missing_and_null_values_only() {
    check(&[
        ("step-1.missing ?? 5", "5"),
        ("step-1.none ?? 5", "5"),
        ("step-1.none ?? step-1.missing ?? 7", "7"),
        ("step-1.missing ?? null", "null"),
        ("step-1.price ?? 5", "19.99"),
        ("2 * step-1.missing ?? 5", "5"),
        ("2 * step-1.none ?? 5", "5"),
        ("2 * (step-1.none ?? 5)", "10"),
        ("first(step-1.empty) ?? 0", "0"),
        (
            r#"pluck(step-1.list, "x") ?? 0"#,
            r#"cannot evaluate `pluck(step-1.list, "x") ?? 0`: `pluck` expects an array of objects, found 1"#,
        ),
        (
            "step-1.word * 2 ?? 5",
            r#"cannot evaluate `step-1.word * 2 ?? 5`: `*` expects a number, found the string "abc""#,
        ),
        ("1 / 0 ?? 5", "cannot evaluate `1 / 0 ?? 5`: division by zero"),
        ("step-1.none", "null"),
        (
            "step-1.missing ?? step-1.gone",
            "`step-1.gone` does not exist: available fields are `price`, `text`, `spaced`, `word`, `none`, `flag`, `list`, `empty`, `big`, `qty`",
        ),
    ]);
    let results = results().failed("bad").skipped("left-out").pending("later");
    assert_eq!(evaluate_to_text("bad.x ?? 5", &results), "step `bad` failed and has no result");
    assert_eq!(evaluate_to_text("left-out.x ?? 5", &results), "step `left-out` was skipped and has no result");
    assert_eq!(evaluate_to_text("later.x ?? 5", &results), "step `later` has not finished");
}

#[test]
fn the_inputs_are_the_literals_and_references_that_were_used() {
    let evaluation =
        evaluate("100 * step-1.response.price + 0 * step-1.price", &results()).expect("the expression has a value");
    let price = InputSource::Reference { step: "step-1".into(), path: Path::root().key("price") };
    let input = |source, value: &str| EvaluationInput { source, value: json(value) };
    assert_eq!(
        evaluation.inputs,
        [input(InputSource::Literal, "100"), input(price, "19.99"), input(InputSource::Literal, "0")]
    );
    assert_eq!(evaluation.exact, Exactness::Exact);
    // Skipped operands of `??` and branches of `if` are not inputs.
    let evaluation = evaluate("if(true, (9 * step-1.none) ?? 5, 7)", &results()).expect("the expression has a value");
    let values: Vec<String> = evaluation.inputs.iter().map(|input| input.value.to_string()).collect();
    assert_eq!(values, ["true", "5"]);
}

#[test]
fn an_expression_prints_with_the_parentheses_it_needs() {
    let ids = ids(&["a", "a.b", "step-1", "odd id", "true", "1", "sum"]);
    for (text, printed) in [
        ("1+2*3", "1 + 2 * 3"),
        ("(1+2)*3", "(1 + 2) * 3"),
        ("(1+2)+3", "(1 + 2) + 3"),
        ("1-(2-3)", ""),
        ("1 -(2 -3)", "1 - (2 - 3)"),
        ("-(1 + 2)", "-(1 + 2)"),
        ("(-1) * 2", "-1 * 2"),
        ("(a.x ?? 1) == 2 ?? true", "(a.x ?? 1) == 2 ?? true"),
        ("if( a.x>1 , 'it''s' , 2 )", ""),
        ("if( a.x>1 , 'it\\'s' , 2 )", r#"if(a.x > 1, "it's", 2)"#),
        ("{{a.x}} * 2", "a.x * 2"),
        ("a.b.c", "a.b.c"),
        (r#"a["b"].c"#, r#"["a"].b.c"#),
        (r#"["odd id"]['x y'][0].0"#, r#"["odd id"]["x y"][0].0"#),
        (r#"["true"]"#, r#"["true"]"#),
        ("1.x", "1.x"),
        (r#"["1"]"#, r#"["1"]"#),
        (r#"["1"].0"#, r#"["1"].0"#),
        ("sum(sum.x)", "sum(sum.x)"),
        ("first(a.x).y[0]", "first(a.x).y[0]"),
        ("(a ?? a.b).c", "(a ?? a.b).c"),
        ("(step-1).x", "(step-1).x"),
        ("((step-1).x).y", "((step-1).x).y"),
        ("-first(a.x).y * 2", "-first(a.x).y * 2"),
        ("1e2 + 1.0", "1e2 + 1.0"),
    ] {
        match Expression::parse(text, &ids) {
            Ok(expression) => {
                assert_eq!(expression.to_string(), printed, "case: {text}");
                assert_eq!(Expression::parse(printed, &ids).as_ref(), Ok(&expression), "case: {text}");
            }
            Err(error) => assert_eq!(printed, "", "case: {text}: {error}"),
        }
    }
}
