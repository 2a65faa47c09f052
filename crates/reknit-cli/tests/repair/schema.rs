//! `reknit repair --schema`.

use crate::run::Folder;

const ORDER: &str = r#"{
  "type": "object",
  "properties": {
    "symbol": {"type": "string"},
    "shares": {"type": "integer", "minimum": 1},
    "limitPrice": {"type": "number"}
  },
  "required": ["symbol", "shares"],
  "additionalProperties": false
}"#;

fn with_schema(name: &str, schema: &str, text: &str) -> String {
    let folder = Folder::new(name).with("order.schema.json", schema).with("answer.txt", text);
    folder.run(&["repair", "--explain", "--schema", "order.schema.json", "answer.txt"], "")
}

#[test]
fn a_value_is_converted_to_fit_the_schema() {
    insta::assert_snapshot!(with_schema("changed_to_fit", ORDER, r#"{"symbol": "TSLA", "shares": "1,000", "limit_price": 12}"#), @r#"
    exit status 0 --- stdout
    {"symbol":"TSLA","shares":1000,"limitPrice":12}
    --- stderr
    fixed 2 places:
      $.shares       converted a string to a number          "1,000" -> 1000
      $.limitPrice   renamed a key as the schema spells it   limit_price -> limitPrice
    "#);
}

#[test]
fn a_value_that_fits_comes_back_byte_for_byte() {
    insta::assert_snapshot!(with_schema("fits", ORDER, r#"{ "symbol":"TSLA", "shares": 100 }"#), @r#"
    exit status 0 --- stdout
    { "symbol":"TSLA", "shares": 100 }
    --- stderr
    nothing to fix
    "#);
}

#[test]
fn a_misfit_is_an_error_with_every_problem() {
    insta::assert_snapshot!(with_schema("misfit", ORDER, r#"{"shares": 0, "limitPrice": "a lot", "note": "x"}"#), @r#"
    exit status 1 --- stderr
    error: the value in `answer.txt` does not fit the schema
      - `$`: the property `symbol` is missing
      - `$.shares`: expected at least 1, found 0
      - `$.limitPrice`: expected a number, found the string "a lot"
      - `$`: unknown property `note`

    hint: see the value without the schema with `reknit repair --explain answer.txt`
    "#);
}

#[test]
fn a_misfit_lists_at_most_20_problems() {
    let schema = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let text = format!("[{}]", vec!["true"; 30].join(", "));
    insta::assert_snapshot!(with_schema("many_problems", schema, &text), @"
    exit status 1 --- stderr
    error: the value in `answer.txt` does not fit the schema
      - `$[0]`: expected an integer, found true
      - `$[1]`: expected an integer, found true
      - `$[2]`: expected an integer, found true
      - `$[3]`: expected an integer, found true
      - `$[4]`: expected an integer, found true
      - `$[5]`: expected an integer, found true
      - `$[6]`: expected an integer, found true
      - `$[7]`: expected an integer, found true
      - `$[8]`: expected an integer, found true
      - `$[9]`: expected an integer, found true
      - `$[10]`: expected an integer, found true
      - `$[11]`: expected an integer, found true
      - `$[12]`: expected an integer, found true
      - `$[13]`: expected an integer, found true
      - `$[14]`: expected an integer, found true
      - `$[15]`: expected an integer, found true
      - `$[16]`: expected an integer, found true
      - `$[17]`: expected an integer, found true
      - `$[18]`: expected an integer, found true
      - `$[19]`: expected an integer, found true
      - 10 more problems

    hint: see the value without the schema with `reknit repair --explain answer.txt`
    ");
}

#[test]
fn arithmetic_for_a_number_is_noted() {
    let text = r#"{"symbol": "TSLA", "shares": 2, "limitPrice": 100 * "{{step-1.response.price}}"}"#;
    insta::assert_snapshot!(with_schema("arithmetic", ORDER, text), @r#"
    exit status 0 --- stdout
    {"symbol":"TSLA","shares":2,"limitPrice":"{{100 * step-1.response.price}}"}
    --- stderr
    fixed 1 place:
      $.limitPrice   converted arithmetic to an expression   100 * "{{step-1.response.price}}… -> {{100 * step-1.response.price}}
    note: the value contains an expression instead of a number at $.limitPrice
    "#);
}

#[test]
fn a_schema_chooses_between_two_readings() {
    let folder = Folder::new("chooses").with("b.json", r#"{"type": "object", "required": ["b"]}"#);
    insta::assert_snapshot!(folder.run(&["repair", "--schema", "b.json"], "{\"a\": 1} or {\"b\": 2}"), @r#"
    exit status 0 --- stdout
    {"b":2}
    "#);
}

#[test]
fn a_schema_that_is_not_json_is_bad_usage_with_its_position() {
    insta::assert_snapshot!(with_schema("not_json", "{\n  \"type\": \"object\",\n}", "{}"), @"
    exit status 2 --- stderr
    error: cannot use `order.schema.json` as a schema
      caused by: the file is not JSON: line 3, column 1: expected a key in double quotes, found `}`

      3 | }
        | ^

    hint: see how to repair it with `reknit repair --explain order.schema.json`
    ");
}

#[test]
fn an_invalid_schema_is_bad_usage() {
    insta::assert_snapshot!(with_schema("no_schema", r#"{"type": "objekt"}"#, "{}"), @r#"
    exit status 2 --- stderr
    error: cannot use `order.schema.json` as a schema
      caused by: the schema is not valid at `$.type`: expected "array", "boolean", "integer", "null", "number", "object" or "string", found "objekt"
    "#);
    insta::assert_snapshot!(with_schema("no_schema", "3", "{}"), @"
    exit status 2 --- stderr
    error: cannot use `order.schema.json` as a schema
      caused by: a schema must be an object or a boolean, not a number
    ");
}

#[test]
fn a_schema_that_is_not_utf8_is_bad_usage() {
    let folder = Folder::new("schema_no_text").with("latin1.json", b"{\"title\": \"caf\xe9\"}");
    insta::assert_snapshot!(folder.run(&["repair", "--schema", "latin1.json"], "{}"), @"
    exit status 2 --- stderr
    error: cannot use `latin1.json` as a schema
      caused by: the file is not UTF-8 text: invalid byte 0xe9 at line 1, column 15 (offset 14)
    ");
}

#[test]
fn a_schema_that_is_missing_is_bad_usage() {
    let folder = Folder::new("schema_is_missing");
    insta::assert_snapshot!(folder.run(&["repair", "--schema", "order.schema.json"], "{}"), @"
    exit status 2 --- stderr
    error: cannot read `order.schema.json`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
}
