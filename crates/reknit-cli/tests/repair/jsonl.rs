//! `reknit repair --jsonl`.

use crate::run::{Folder, run};

fn answer(lines: &str) -> String {
    run(&["repair", "--jsonl"], lines)
}

#[test]
fn answers_are_in_order_and_have_ids() {
    let lines = r#"
{"id": 1, "text": "{'a': 1,}"}
{"id": "two", "text": "[1, 2]"}
{"text": "{\"untouched\": 1.50}"}
{"id": {"deep": [1.0]}, "value": {"kept": 1e400}}
{"id": null, "value": null}
"#;
    insta::assert_snapshot!(answer(lines), @r#"
    exit status 0 --- stdout
    {"id":1,"value":{"a":1},"fixes":[{"path":"$","kind":"quotes","before":"'","after":"\"","penalty":1},{"path":"$","kind":"extra_comma","before":",","after":"","penalty":1}]}
    {"id":"two","value":[1,2],"fixes":[]}
    {"value":{"untouched":1.50},"fixes":[]}
    {"id":{"deep":[1.0]},"value":{"kept":1e400},"fixes":[]}
    {"id":null,"value":null,"fixes":[]}
    "#);
}

#[test]
fn a_value_keeps_its_digits_and_order() {
    let line = r#"{"value":{"z":1.000000000000000000000000001,"a":12345678901234567890123},"id":1.10}"#;
    insta::assert_snapshot!(answer(line), @r#"
    exit status 0 --- stdout
    {"id":1.10,"value":{"z":1.000000000000000000000000001,"a":12345678901234567890123},"fixes":[]}
    "#);
}

#[test]
fn a_value_is_fitted_to_the_schema_of_its_line() {
    let lines = r#"{"id": 1, "text": "{\"n\": \"5\"}", "schema": {"properties": {"n": {"type": "integer"}}}}
{"id": 2, "value": {"n": "5"}, "schema": {"properties": {"n": {"type": "integer"}}}}
{"id": 3, "value": {"n": "many"}, "schema": {"properties": {"n": {"type": "integer"}}}}
{"id": 4, "text": "{'n': 'many'}", "schema": {"properties": {"n": {"type": "integer"}}}}
{"id": 5, "value": {"n": "5"}}
"#;
    insta::assert_snapshot!(answer(lines), @r#"
    exit status 0 --- stdout
    {"id":1,"value":{"n":5},"fixes":[{"path":"$.n","kind":"number_in_string","before":"\"5\"","after":"5","penalty":1}]}
    {"id":2,"value":{"n":5},"fixes":[{"path":"$.n","kind":"number_in_string","before":"\"5\"","after":"5","penalty":1}]}
    {"id":3,"error":{"code":"misfit","message":"`$.n`: expected an integer, found the string \"many\"","problems":[{"path":"$.n","message":"expected an integer, found the string \"many\""}]}}
    {"id":4,"error":{"code":"misfit","message":"`$.n`: expected an integer, found the string \"many\"","problems":[{"path":"$.n","message":"expected an integer, found the string \"many\""}]}}
    {"id":5,"value":{"n":"5"},"fixes":[]}
    "#);
}

#[test]
fn the_schema_option_applies_to_lines_without_a_schema() {
    let folder = Folder::new("default_schema").with("integer.json", r#"{"type": "integer"}"#);
    let lines = r#"{"id": 1, "value": "5"}
{"id": 2, "value": "5", "schema": {"type": "string"}}
{"id": 3, "text": "`5`"}
"#;
    insta::assert_snapshot!(folder.run(&["repair", "--jsonl", "--schema", "integer.json"], lines), @r#"
    exit status 0 --- stdout
    {"id":1,"value":5,"fixes":[{"path":"$","kind":"number_in_string","before":"\"5\"","after":"5","penalty":1}]}
    {"id":2,"value":"5","fixes":[]}
    {"id":3,"value":5,"fixes":[{"path":"$","kind":"quotes","before":"`","after":"\"","penalty":1},{"path":"$","kind":"number_in_string","before":"\"5\"","after":"5","penalty":1}]}
    "#);
}

#[test]
fn a_bad_line_has_an_error_answer_and_the_next_line_is_read() {
    let lines = r#"{"id": 1, "text": "[1,]"
[1, 2]
{"id": 3}
{"id": 4, "text": "1", "value": 1}
{"id": 5, "text": 5}
{"id": 6, "text": "1", "shema": {}}
{"id": 7, "id": 7, "text": "1"}
{"id": 8, "text": "1"}
"#;
    insta::assert_snapshot!(answer(lines), @r#"
    exit status 0 --- stdout
    {"error":{"code":"bad_line","message":"the line is not JSON: expected `,` or `}`, found the end of the text","line":1,"column":25}}
    {"error":{"code":"bad_line","message":"the line is not an object","line":2}}
    {"id":3,"error":{"code":"bad_line","message":"the line has neither `text` nor `value`","line":3}}
    {"id":4,"error":{"code":"bad_line","message":"the line has both `text` and `value`","line":4}}
    {"id":5,"error":{"code":"bad_line","message":"`text` is not a string","line":5}}
    {"id":6,"error":{"code":"bad_line","message":"the line has an unknown field \"shema\"","line":6}}
    {"error":{"code":"bad_line","message":"the line is not JSON: duplicate key \"id\"","line":7,"column":11}}
    {"id":8,"value":1,"fixes":[]}
    "#);
}

#[test]
fn a_line_that_is_not_utf8_has_an_error_answer() {
    let folder = Folder::new("line_no_text").with("in.jsonl", b"{\"text\": \"caf\xe9\"}\n{\"value\": 2}\n");
    insta::assert_snapshot!(folder.run(&["repair", "--jsonl", "in.jsonl"], ""), @r#"
    exit status 0 --- stdout
    {"error":{"code":"bad_line","message":"the line is not UTF-8 text: invalid byte 0xe9","line":1,"column":14}}
    {"value":2,"fixes":[]}
    "#);
}

#[test]
fn a_line_with_a_bad_schema_has_an_error_answer() {
    let lines = r#"{"id": 1, "value": 1, "schema": {"type": "objekt"}}
{"id": 2, "value": 1, "schema": 3}
{"id": 3, "value": 1, "schema": null}
{"id": 4, "value": 1, "schema": true}
"#;
    insta::assert_snapshot!(answer(lines), @r#"
    exit status 0 --- stdout
    {"id":1,"error":{"code":"bad_schema","message":"the schema is not valid at `$.type`: expected \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\" or \"string\", found \"objekt\""}}
    {"id":2,"error":{"code":"bad_schema","message":"a schema must be an object or a boolean, not a number"}}
    {"id":3,"error":{"code":"bad_schema","message":"a schema must be an object or a boolean, not null"}}
    {"id":4,"value":1,"fixes":[]}
    "#);
}

#[test]
fn a_line_with_a_schema_that_is_too_complex_has_an_error_answer() {
    let level = |number| {
        let next = format!(r##"{{"$ref": "#/$defs/L{}"}}"##, number + 1);
        format!(r#""L{number}": {{"oneOf": [{next}, {next}]}}"#)
    };
    let levels: Vec<String> = (0..16).map(level).collect();
    let schema = format!(r##"{{"$ref": "#/$defs/L0", "$defs": {{{}, "L16": true}}}}"##, levels.join(", "));
    let lines = format!("{{\"id\": 1, \"value\": 1, \"schema\": {schema}}}\n{{\"id\": 2, \"value\": 1}}\n");
    insta::assert_snapshot!(answer(&lines), @r#"
    exit status 0 --- stdout
    {"id":1,"error":{"code":"too_complex","message":"the schema is too complex: one value may have to be checked against 262142 subschemas; the limit is 10000"}}
    {"id":2,"value":1,"fixes":[]}
    "#);
}

#[test]
fn every_read_error_has_its_code() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    let lines = [
        r#"{"id": "empty", "text": ""}"#.to_owned(),
        r#"{"id": "unreadable", "text": "{\n \"a\": @@}"}"#.to_owned(),
        r#"{"id": "ambiguous", "text": "Either {\"a\": 1} or {\"a\": 2}."}"#.to_owned(),
        format!(r#"{{"id": "deep", "text": "{deep}"}}"#),
    ];
    insta::assert_snapshot!(answer(&lines.join("\n")), @r#"
    exit status 0 --- stdout
    {"id":"empty","error":{"code":"empty","message":"there is no JSON in the text: the text is empty"}}
    {"id":"unreadable","error":{"code":"unreadable","message":"cannot read the text as JSON at line 2, column 7: expected a value, found `@`","line":2,"column":7}}
    {"id":"ambiguous","error":{"code":"ambiguous","message":"the text can be read in two ways","readings":[{"a":1},{"a":2}]}}
    {"id":"deep","error":{"code":"too_deep","message":"the text nests deeper than 512 levels at line 1, column 513","line":1,"column":513}}
    "#);
}

#[test]
fn answers_report_completeness_and_expressions() {
    let lines = r#"{"id": 1, "text": "[1, 2"}
{"id": 2, "text": "[1, 2, ...]"}
{"id": 3, "text": "{\"n\": 2 * 3.5}", "schema": {"properties": {"n": {"type": "number"}}}}
"#;
    insta::assert_snapshot!(answer(lines), @r#"
    exit status 0 --- stdout
    {"id":1,"value":[1,2],"fixes":[{"path":"$[2]","kind":"cut_tail","before":"[1, 2","after":"]","penalty":10}],"completeness":"truncated"}
    {"id":2,"value":[1,2],"fixes":[{"path":"$[2]","kind":"elision","before":"...","after":"","penalty":10}],"completeness":"elided"}
    {"id":3,"value":{"n":"{{2 * 3.5}}"},"fixes":[{"path":"$.n","kind":"bare_text","before":"2 * 3.5","after":"2 * 3.5","penalty":5},{"path":"$.n","kind":"arithmetic","before":"\"2 * 3.5\"","after":"\"{{2 * 3.5}}\"","penalty":3}],"expressions":["$.n"]}
    "#);
}

#[test]
fn a_line_may_be_very_large() {
    let text = format!("[{}1]", "1, ".repeat(3_000_000));
    let shown = answer(&format!("{{\"text\": \"{text}\"}}\n{{\"value\": 2}}\n"));
    assert!(shown.starts_with("exit status 0 --- stdout\n{\"value\":[1,1,"), "{}", &shown[..100]);
    assert!(shown.ends_with(",1],\"fixes\":[]}\n{\"value\":2,\"fixes\":[]}\n"), "{}", &shown[shown.len() - 100..]);
}

#[test]
fn an_empty_input_has_no_answer() {
    assert_eq!(answer(""), "exit status 0\n");
    assert_eq!(answer("\n \r\n"), "exit status 0\n");
}

#[test]
fn a_file_that_is_missing_is_bad_usage() {
    let folder = Folder::new("lines_missing");
    insta::assert_snapshot!(folder.run(&["repair", "--jsonl", "in.jsonl"], ""), @"
    exit status 2 --- stderr
    error: cannot read `in.jsonl`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
}
