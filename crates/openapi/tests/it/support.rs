//! Short forms for tests.

use reknit_openapi::{ApiDocument, FindingKind, HttpRequest, Operation, RenderError};
use reknit_protocol::{Object, Value};

pub(crate) fn api(text: &str) -> ApiDocument {
    ApiDocument::parse(text).unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

/// A document of OpenAPI 3.0 with these `paths` and, after them, other top-level fields.
pub(crate) fn api30(paths: &str) -> ApiDocument {
    api(&format!("openapi: 3.0.3\ninfo: {{title: T, version: '1'}}\npaths:\n{paths}"))
}

/// One GET operation at `/x` with these parameters, in YAML flow style.
pub(crate) fn with_parameters(path: &str, parameters: &str) -> Operation {
    let document = api30(&format!("  {path}: {{get: {{parameters: [{parameters}], responses: {{}}}}}}"));
    assert_eq!(problems(&document), Vec::<String>::new());
    document.operations.into_iter().next().expect("there is one operation")
}

pub(crate) fn operation<'a>(document: &'a ApiDocument, name: &str) -> &'a Operation {
    let found = document.operations.iter().find(|operation| operation.name.as_str() == name);
    found.unwrap_or_else(|| panic!("no `{name}` among {:?}", names(document)))
}

pub(crate) fn names(document: &ApiDocument) -> Vec<&str> {
    document.operations.iter().map(|operation| operation.name.as_str()).collect()
}

/// All findings that are more than notes.
pub(crate) fn problems(document: &ApiDocument) -> Vec<String> {
    let severe = document.findings.iter().filter(|finding| finding.kind != FindingKind::Note);
    severe.map(ToString::to_string).collect()
}

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().cloned().expect("an object")
}

pub(crate) fn render(operation: &Operation, parameters: &str) -> Result<HttpRequest, RenderError> {
    operation.render(&object(parameters))
}

/// The path and query of a request that can be made.
pub(crate) fn target(operation: &Operation, parameters: &str) -> String {
    render(operation, parameters).unwrap_or_else(|error| panic!("{error}")).target()
}

pub(crate) fn body(request: &HttpRequest) -> &str {
    std::str::from_utf8(request.body.as_deref().expect("there is a body")).expect("it is text")
}

pub(crate) fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// The properties of the input schema.
pub(crate) fn properties(operation: &Operation) -> Value {
    operation.input_schema().get("properties").cloned().expect("there are properties")
}
