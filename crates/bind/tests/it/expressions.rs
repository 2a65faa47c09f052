//! What expressions come to.

use reknit_bind::{Exactness, Expression, Input, InputSource};
use reknit_protocol::Path;

use crate::kit::{Results, evaluate, ids, json, shown};

fn results() -> Results {
    Results::new(
        r#"{"step-1": {"price": 19.99, "text": "19.99", "spaced": " 5", "word": "abc", "none": null, "flag": true, "list": [1, 2],
            "empty": [], "big": 12345678901234567890123456789012345678, "qty": 3}, "step-2": {"price": 2}, "min": {"x": 4}}"#,
    )
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(text, &results()), *expected, "case: {text}");
    }
}

#[test]
fn arithmetic_is_exact_and_binds_as_usual() {
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
            "`(step-1).nothing`: no such field (has: price, text, spaced, word, none, flag, list, empty, big, qty)",
        ),
        ("(step-1).nothing ?? 1", "1"),
    ]);
}

#[test]
fn digits_beyond_34_survive_unless_they_are_calculated_with() {
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
fn texts_are_numbers_only_if_they_are_so_strictly() {
    check(&[
        ("2 * step-1.text", "39.98"),
        ("2 * step-1.spaced", r#"cannot calculate `2 * step-1.spaced`: `*` needs a number, found the string " 5""#),
        ("2 * step-1.word", r#"cannot calculate `2 * step-1.word`: `*` needs a number, found the string "abc""#),
        (r#""a" + "b""#, r#"cannot calculate `"a" + "b"`: `+` needs a number, found the string "a""#),
        ("2 * step-1.flag", "cannot calculate `2 * step-1.flag`: `*` needs a number, found true"),
        ("2 * step-1.list", "cannot calculate `2 * step-1.list`: `*` needs a number, found an array"),
    ]);
    let evaluated = evaluate("2 * step-1.text + step-1.text", &results()).expect("it has a value");
    let changes: Vec<String> =
        evaluated.changes.iter().map(|change| format!("{} {} {}", change.kind, change.before, change.after)).collect();
    assert_eq!(changes, [r#"number_in_string "19.99" 19.99"#]);
}

#[test]
fn comparison_is_by_value_and_never_between_kinds() {
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
        ("step-1.word == 3", r#"cannot calculate `step-1.word == 3`: cannot compare the string "abc" with 3"#),
        ("step-1.flag < true", "cannot calculate `step-1.flag < true`: cannot compare true with true"),
        ("step-1.none < 3", "`step-1.none` is null"),
    ]);
}

#[test]
fn only_the_chosen_branch_is_evaluated() {
    check(&[
        (r#"if(step-1.qty > 2, "many", 1 / 0)"#, r#""many""#),
        ("if(step-1.qty > 5, 1 / 0, step-1.qty)", "3"),
        ("if(step-1.qty, 1, 2)", "cannot calculate `if(step-1.qty, 1, 2)`: `if` needs true or false, found 3"),
        ("if(step-1.none, 1, 2)", "`step-1.none` is null"),
    ]);
}

#[test]
fn otherwise_covers_what_is_missing_or_null_and_nothing_else() {
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
            r#"cannot calculate `pluck(step-1.list, "x") ?? 0`: `pluck` needs a list of objects, found 1"#,
        ),
        (
            "step-1.word * 2 ?? 5",
            r#"cannot calculate `step-1.word * 2 ?? 5`: `*` needs a number, found the string "abc""#,
        ),
        ("1 / 0 ?? 5", "cannot calculate `1 / 0 ?? 5`: division by zero"),
        ("step-1.none", "null"),
        (
            "step-1.missing ?? step-1.gone",
            "`step-1.gone`: no such field (has: price, text, spaced, word, none, flag, list, empty, big, qty)",
        ),
    ]);
    let results = results().failed("bad").skipped("left-out").pending("later");
    assert_eq!(shown("bad.x ?? 5", &results), "missing step: `bad` failed");
    assert_eq!(shown("left-out.x ?? 5", &results), "missing step: `left-out` was skipped");
    assert_eq!(shown("later.x ?? 5", &results), "missing step: `later` is not done");
}

#[test]
fn the_inputs_are_what_went_into_the_result() {
    let evaluated = evaluate("100 * step-1.response.price + 0 * step-1.price", &results()).expect("it has a value");
    let price = InputSource::Reference { step: "step-1".into(), path: Path::root().key("price") };
    let input = |source, value: &str| Input { source, value: json(value) };
    assert_eq!(
        evaluated.inputs,
        [input(InputSource::Literal, "100"), input(price, "19.99"), input(InputSource::Literal, "0")]
    );
    assert_eq!(evaluated.exact, Exactness::Exact);
    // What `??` passed over, and the branch not taken, did not go in.
    let evaluated = evaluate("if(true, (9 * step-1.none) ?? 5, 7)", &results()).expect("it has a value");
    let values: Vec<String> = evaluated.inputs.iter().map(|input| input.value.to_string()).collect();
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
