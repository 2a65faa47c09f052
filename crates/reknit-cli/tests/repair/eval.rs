//! `reknit eval`.

use crate::run::{Folder, run};

const RESULTS: &str = r#"{"quote": {"response": {"price": 468.285, "text": "468.285", "word": "abc", "none": null}},
    "shop-1": {"items": [{"id": 7, "price": 19.99}, {"id": 8, "price": 5}]}, "odd key": 12345678901234567890123}"#;

fn eval(expression: &str) -> String {
    run(&["eval", expression, "--with", "-"], RESULTS)
}

#[test]
fn an_expression_needs_no_document() {
    for (expression, value) in [("3 * 19.99", "59.97"), ("-5 + 3", "-2"), ("{{upper('a')}}", "\"A\"")] {
        assert_eq!(run(&["eval", expression], ""), format!("exit status 0 --- stdout\n{value}\n"), "{expression}");
    }
}

#[test]
fn the_keys_of_a_document_can_be_referenced() {
    for (expression, value) in [
        ("100 * quote.price", "46828.5"),
        ("100 * quote.response.price", "46828.5"),
        ("shop-1.items[0]", r#"{"id":7,"price":19.99}"#),
        (r#"["odd key"]"#, "12345678901234567890123"),
        (r#"quote.missing ?? "none""#, "\"none\""),
        (r#"sum(pluck(it.shop-1.items, "price"))"#, "24.99"),
        ("len(it)", "3"),
    ] {
        assert_eq!(eval(expression), format!("exit status 0 --- stdout\n{value}\n"), "{expression}");
    }
}

#[test]
fn it_names_the_document_unless_a_key_has_that_name() {
    for (document, expression, value) in [
        ("[1, 2.50]", "it[1]", "2.50"),
        ("\"text\"", "upper(it)", "\"TEXT\""),
        (r#"{"a": 1}"#, "it.a", "1"),
        (r#"{"it": {"a": 2}, "a": 1}"#, "it.a", "2"),
    ] {
        let shown = run(&["eval", expression, "--with", "-"], document);
        assert_eq!(shown, format!("exit status 0 --- stdout\n{value}\n"), "{expression} over {document}");
    }
    let folder = Folder::new("eval_file").with("my results.json", "[1, 2]");
    insta::assert_snapshot!(folder.run(&["eval", "--with", "my results.json", "sum(it)"], ""), @r#"
    exit status 0 --- stdout
    3
    "#);
}

#[test]
fn rounding_and_conversions_are_noted() {
    insta::assert_snapshot!(eval("2 * quote.text / 7"), @r#"
    exit status 0 --- stdout
    133.7957142857142857142857142857143
    --- stderr
    note: converted the string "468.285" to a number
    note: rounded to 34 digits
    "#);
    let texts = (0..53).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(",");
    let shown = run(&["eval", "sum(it)", "--with", "-"], &format!("[{texts}]"));
    assert!(shown.ends_with("note: converted 3 more strings to numbers\n"), "{shown}");
}

#[test]
fn json_output_contains_the_inputs_of_the_value() {
    insta::assert_snapshot!(run(&["eval", "--json", "2 * quote.text", "--with", "-"], RESULTS), @r#"
    exit status 0 --- stdout
    {"value":936.57,"inputs":[{"source":"literal","value":2},{"source":{"reference":{"step":"quote","path":"$.response.text"}},"value":"468.285"}],"exact":"exact","changes":[{"path":"$","kind":"number_in_string","before":"\"468.285\"","after":"468.285"}]}
    "#);
}

#[test]
fn a_bad_expression_is_shown_with_its_position() {
    insta::assert_snapshot!(eval("100 * qoute.price"), @r#"
    exit status 1 --- stderr
    error: cannot read the expression
      caused by: character 7: there is no step `qoute`; did you mean `quote`?

      1 | 100 * qoute.price
        |       ^
    "#);
    insta::assert_snapshot!(eval("'가격' == round(1, 2, 3)"), @r#"
    exit status 1 --- stderr
    error: cannot read the expression
      caused by: character 9: `round` takes one or two arguments, found 3

      1 | '가격' == round(1, 2, 3)
        |           ^
    "#);
    insta::assert_snapshot!(eval("1 +\n  summ(quote.price)"), @r#"
    exit status 1 --- stderr
    error: cannot read the expression
      caused by: character 7: there is no function `summ`; did you mean `sum`?

      2 |   summ(quote.price)
        |   ^
    "#);
    insta::assert_snapshot!(eval("quote.price-1"), @"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: `quote.price-1` does not exist: available fields are `response`, `response.price`, `response.text`, `response.word`, `response.none`

      1 | quote.price-1
        | ^
    ");
    insta::assert_snapshot!(run(&["eval", "quote.price * 2"], ""), @"
    exit status 1 --- stderr
    error: cannot read the expression
      caused by: character 1: there is no step `quote`

      1 | quote.price * 2
        | ^

    hint: name the document that contains it: `reknit eval 'quote.price * 2' --with FILE`
    ");
}

#[test]
fn an_expression_without_a_value_is_reported_with_the_available_names() {
    insta::assert_snapshot!(eval("100 * quote.response.prise"), @"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: `quote.response.prise` does not exist: available fields are `price`, `text`, `word`, `none`

      1 | 100 * quote.response.prise
        |       ^
    ");
    insta::assert_snapshot!(eval("100 * quote.word"), @r#"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: cannot evaluate `100 * quote.word`: `*` expects a number, found the string "abc"

      1 | 100 * quote.word
        |     ^
    "#);
    insta::assert_snapshot!(eval("quote.price + 1 + abs(quote.none)"), @r#"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: `quote.none` is null

      1 | quote.price + 1 + abs(quote.none)
        |                       ^
    "#);
    insta::assert_snapshot!(eval("quote.price / 0"), @"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: cannot evaluate `quote.price / 0`: division by zero

      1 | quote.price / 0
        |             ^
    ");
    insta::assert_snapshot!(eval(r#"pluck(shop-1.items, "name")"#), @r#"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: cannot evaluate `pluck(shop-1.items, "name")`: item 0 has no field `name`

      1 | pluck(shop-1.items, "name")
        |                      ^
    "#);
    // If the part occurs twice, no position is better than a wrong one.
    insta::assert_snapshot!(eval("2 * 3 * quote.word"), @r#"
    exit status 1 --- stderr
    error: the expression has no value
      caused by: cannot evaluate `2 * 3 * quote.word`: `*` expects a number, found the string "abc"
    "#);
}

#[test]
fn a_document_that_is_not_json_is_an_error_with_its_position() {
    insta::assert_snapshot!(run(&["eval", "1", "--with", "-"], "{'a': 1}"), @"
    exit status 1 --- stderr
    error: standard input is not JSON
      caused by: line 1, column 2: expected a key in double quotes, found `'`

      1 | {'a': 1}
        |  ^

    hint: see how to repair it with `reknit repair --explain`
    ");
    let folder = Folder::new("eval_document").with("my results.json", "[1, 2,]");
    insta::assert_snapshot!(folder.run(&["eval", "1", "--with", "my results.json"], ""), @"
    exit status 1 --- stderr
    error: `my results.json` is not JSON
      caused by: line 1, column 7: expected a value, found `]`

      1 | [1, 2,]
        |       ^

    hint: see how to repair it with `reknit repair --explain 'my results.json'`
    ");
    insta::assert_snapshot!(folder.run(&["eval", "1", "--with", "missing.json"], ""), @"
    exit status 2 --- stderr
    error: cannot read `missing.json`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
}

#[test]
fn short_help_of_eval_shows_examples() {
    insta::assert_snapshot!(run(&["eval", "-h"], ""), @r#"
    exit status 0 --- stdout
    Evaluate an expression over a JSON document

    Usage: reknit eval [OPTIONS] <EXPRESSION>

    Arguments:
      <EXPRESSION>  The expression, with or without `{{ }}` around it

    Options:
          --with <FILE>  The JSON document to evaluate it over; `-` reads standard input
          --json         Print the value and its inputs as JSON
      -h, --help         Print help (see more with '--help')

    Examples:
      reknit eval '3 * 19.99'
      reknit eval '100 * quote.price' --with results.json
      curl -s https://example.org/orders | reknit eval 'sum(pluck(it, "price"))' --with -
      reknit eval 'first(shop.items).name ?? "none"' --with results.json
      reknit eval 'date_diff("09:00", "14:00", "hours")'

    Exit status: 0 printed a value; 1 there is no value, or the expression or document is not valid; 2 bad usage.
    "#);
}

#[test]
fn long_help_of_eval_describes_the_language() {
    let help = run(&["help", "eval"], "");
    assert_eq!(run(&["eval", "--help"], ""), help);
    insta::assert_snapshot!(help, @r#"
    exit status 0 --- stdout
    Evaluate an expression as plans write it between {{ and }}.

    The keys of the document take the place of the step ids in a plan: with {"quote": {"price": 468.285}}, write
    `quote.price`. `it` is the whole document: `it[0]`, `len(it)`. A key named `it` takes precedence.

    Usage: reknit eval [OPTIONS] <EXPRESSION>

    Arguments:
      <EXPRESSION>
              The expression, with or without `{{ }}` around it

    Options:
          --with <FILE>
              The JSON document to evaluate it over; `-` reads standard input

          --json
              Print the value and its inputs as JSON

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      reknit eval '3 * 19.99'
      reknit eval '100 * quote.price' --with results.json
      curl -s https://example.org/orders | reknit eval 'sum(pluck(it, "price"))' --with -
      reknit eval 'first(shop.items).name ?? "none"' --with results.json
      reknit eval 'date_diff("09:00", "14:00", "hours")'

    The language:
      values      5, 1.50, "text", 'text', true, false, null, [1, 2]
      references  a.b, a[0].b, a.0.b, a["odd key"], ["odd id"].b; one `response`, `data` or `result` may be left out
      operators   + - * / %, == != < <= > >=, in, not in, and, or, not, and `a ?? b`: b if a is missing or null
      functions   if sum len min max avg round abs join first last unique sort_by pluck lower upper trim split replace
                  contains starts_with ends_with date_add date_diff to_number to_string
      for items   filter map any all group_by sum_by: `filter(orders, item.total > 5)`, `map(orders, o => o.total * 2)`

      Numbers are decimals with 34 digits. Subtraction needs a space before the minus: `a-b` is a name. Arithmetic converts a
      string to a number only if the whole string is one number. A note on standard error reports rounding and conversions.

    With --json: {"value", "inputs", "exact", "changes"}
      inputs   the values it was computed from: [{"source": "literal" | {"reference": {"step", "path"}}, "value"}]
      exact    "exact", or "inexact" if something was rounded
      changes  strings converted to numbers: [{"path", "kind", "before", "after"}]

    Exit status:
      0  printed a value
      1  there is no value, or the expression or document is not valid
      2  bad usage: an unknown option, a file that cannot be opened, an output that cannot be written
    "#);
}

#[test]
fn a_mistyped_command_or_option_is_bad_usage() {
    insta::assert_snapshot!(run(&["eval"], ""), @r#"
    exit status 2 --- stderr
    error: the following required arguments were not provided:
      <EXPRESSION>

    Usage: reknit eval <EXPRESSION>

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(run(&["eval", "1", "--wiht", "x"], ""), @r#"
    exit status 2 --- stderr
    error: unexpected argument '--wiht' found

      tip: a similar argument exists: '--with'

    Usage: reknit eval --with <FILE> <EXPRESSION>

    For more information, try '--help'.
    "#);
}
