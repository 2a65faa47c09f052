//! The text of documents: JSON and YAML, with limits.

use reknit_openapi::{ApiDocument, ApiDocumentError, DocumentTextError};

use crate::support::{api, json, names, problems, properties};

#[test]
fn anchors_aliases_and_merge_keys_are_expanded() {
    let document = api("
openapi: 3.0.3
info: {title: T, version: '1'}
x-shared: &id {name: id, in: path, required: true, schema: &text {type: string}}
x-defaults: &defaults
  tags: [shared]
  deprecated: true
paths:
  /a/{id}:
    get: {<<: *defaults, operationId: a, deprecated: false, parameters: [*id, {name: q, in: query, schema: *text}], responses: {}}
");
    assert_eq!(problems(&document), Vec::<String>::new());
    let operation = &document.operations[0];
    assert_eq!(operation.tags, ["shared"]);
    assert!(!operation.deprecated, "a key of the mapping itself wins over a merged one");
    assert_eq!(properties(operation), json(r#"{"id": {"type": "string"}, "q": {"type": "string"}}"#));
}

#[test]
fn aliases_that_expand_without_end_are_refused() {
    let mut text = "openapi: 3.0.3\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let previous = format!("*a{}", level - 1);
        let list = vec![previous; 10].join(", ");
        text = format!("{text}a{level}: &a{level} [{list}]\n");
    }
    let error = ApiDocument::parse(&text).expect_err("it expands to a billion values");
    assert_eq!(error, ApiDocumentError::Text(DocumentTextError::TooManyAliases));
}

#[test]
fn an_alias_inside_its_own_anchor_is_an_error() {
    let error = ApiDocument::parse("openapi: 3.0.3\na: &a {b: *a}\n").expect_err("it has no end");
    assert!(matches!(error, ApiDocumentError::Text(DocumentTextError::Syntax { .. })), "{error:?}");
}

#[test]
fn deep_nesting_is_refused_in_json_and_yaml() {
    let nested = "[".repeat(200) + &"]".repeat(200);
    for text in [format!(r#"{{"openapi": "3.0.3", "x": {nested}}}"#), format!("openapi: 3.0.3\nx: {nested}\n")] {
        let error = ApiDocument::parse(&text).expect_err("it is too deep");
        assert_eq!(error, ApiDocumentError::Text(DocumentTextError::TooDeep));
    }
}

#[test]
fn the_deepest_document_fits_the_stack_of_a_small_thread() {
    let (open, close) = (r#"{"items":"#.repeat(115), "}".repeat(115));
    let parameter = format!(r#"{{"name": "q", "in": "query", "schema": {open}{{}}{close}}}"#);
    let text = format!(
        r#"{{"openapi": "3.1.0", "paths": {{"/a": {{"get": {{"parameters": [{parameter}], "responses": {{}}}}}}}}}}"#
    );
    let read = move || api(&text).operations[0].input_schema().to_string().len();
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(read).expect("a thread starts");
    assert!(thread.join().expect("the stack is large enough") > 1000);
}

#[test]
fn shared_parts_cannot_grow_a_small_text_beyond_all_memory() {
    let servers = "{url: a}, ".repeat(20_000);
    let paths: Vec<String> = (0..200).map(|n| format!("  /{n}: {{$ref: '#/x-item'}}\n")).collect();
    let item = format!("{{servers: [{servers}], get: {{responses: {{}}}}}}");
    let text = format!("openapi: 3.0.3\npaths:\n{}x-item: {item}\n", paths.concat());
    let document = api(&text);
    assert!((1..200).contains(&document.operations.len()), "{}", document.operations.len());
    assert!(problems(&document)[0].contains("have more than"), "{:?}", problems(&document));
}

#[test]
fn a_duplicate_key_is_a_problem_and_does_not_lose_the_document() {
    let document = api(
        r#"{"openapi": "3.0.3", "paths": {"/a": {"get": {"operationId": "one", "operationId": "two", "responses": {}}}}}"#,
    );
    assert_eq!(names(&document), ["two"]);
    assert_eq!(problems(&document), ["#/paths/~1a/get: the key `operationId` exists twice; the last one counts"]);
}

#[test]
fn a_version_without_quotes_is_read() {
    assert_eq!(api("swagger: 2.0\ninfo: {title: T}\npaths: {}\n").title, "T");
    assert_eq!(api("openapi: 3.1\npaths: {}\n").operations.len(), 0);
}

#[test]
fn other_texts_are_no_documents() {
    for text in ["", "[]", "hello", "openapi: 4.0.0", "swagger: '1.2'", "{\"info\": {}}"] {
        let error = ApiDocument::parse(text).expect_err("it is no document");
        assert!(matches!(error, ApiDocumentError::Version(_)), "{text}: {error:?}");
    }
    let error = ApiDocument::parse("openapi: [3\n").expect_err("it is broken");
    assert!(matches!(error, ApiDocumentError::Text(DocumentTextError::Syntax { .. })), "{error:?}");
}
