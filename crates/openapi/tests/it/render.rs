//! Requests: styles, limits of styles, and hostile values.

use reknit_openapi::{Operation, RenderError};

use crate::support::{api30, header, render, target, with_parameters};

fn styled(location: &str, style: &str, explode: bool) -> Operation {
    let required = location == "path";
    let path = if required { "/x/{c}" } else { "/x" };
    with_parameters(
        path,
        &format!("{{name: c, in: {location}, required: {required}, style: {style}, explode: {explode}, schema: {{}}}}"),
    )
}

const ARRAY: &str = r#"{"c": ["a", "b"]}"#;
const OBJECT: &str = r#"{"c": {"R": 100, "G": 200}}"#;

#[test]
fn every_style_is_written_as_the_specification_shows() {
    for (location, style, explode, text, array, object) in [
        ("path", "simple", false, "/x/t", "/x/a,b", "/x/R,100,G,200"),
        ("path", "simple", true, "/x/t", "/x/a,b", "/x/R=100,G=200"),
        ("path", "label", false, "/x/.t", "/x/.a,b", "/x/.R,100,G,200"),
        ("path", "label", true, "/x/.t", "/x/.a.b", "/x/.R=100.G=200"),
        ("path", "matrix", false, "/x/;c=t", "/x/;c=a,b", "/x/;c=R,100,G,200"),
        ("path", "matrix", true, "/x/;c=t", "/x/;c=a;c=b", "/x/;R=100;G=200"),
        ("query", "form", false, "/x?c=t", "/x?c=a,b", "/x?c=R,100,G,200"),
        ("query", "form", true, "/x?c=t", "/x?c=a&c=b", "/x?R=100&G=200"),
        ("query", "spaceDelimited", false, "", "/x?c=a%20b", "/x?c=R%20100%20G%20200"),
        ("query", "pipeDelimited", false, "", "/x?c=a%7Cb", "/x?c=R%7C100%7CG%7C200"),
        ("query", "pipeDelimited", true, "/x?c=t", "/x?c=a&c=b", ""),
        ("query", "deepObject", true, "/x?c=t", "", "/x?c%5BR%5D=100&c%5BG%5D=200"),
    ] {
        let operation = styled(location, style, explode);
        for (parameters, expected) in [(r#"{"c": "t"}"#, text), (ARRAY, array), (OBJECT, object)] {
            match render(&operation, parameters) {
                Ok(request) => assert_eq!(request.target(), expected, "{location} {style} {explode} {parameters}"),
                Err(error) => assert_eq!("", expected, "{location} {style} {explode} {parameters}: {error}"),
            }
        }
    }
}

#[test]
fn headers_and_cookies_are_written_in_their_styles() {
    let operation = styled("header", "simple", true);
    assert_eq!(header(&render(&operation, OBJECT).expect("it can be sent"), "c"), Some("R=100,G=200"));
    let operation = styled("header", "simple", false);
    assert_eq!(header(&render(&operation, ARRAY).expect("it can be sent"), "c"), Some("a,b"));
    let operation = styled("cookie", "form", false);
    assert_eq!(render(&operation, ARRAY).expect("it can be sent").cookie_header().as_deref(), Some("c=a,b"));
    assert!(render(&styled("cookie", "form", true), ARRAY).is_err(), "a cookie cannot be exploded");
}

#[test]
fn content_parameters_are_json() {
    let parameter =
        |location: &str| format!("{{name: c, in: {location}, content: {{application/json: {{schema: {{}}}}}}}}");
    let operation = with_parameters("/x", &parameter("query"));
    assert_eq!(target(&operation, r#"{"c": {"a": [null, "&"]}}"#), "/x?c=%7B%22a%22%3A%5Bnull%2C%22%26%22%5D%7D");
    let operation = with_parameters("/x", &parameter("header"));
    assert_eq!(
        header(&render(&operation, r#"{"c": "ü\n😀"}"#).expect("it can be sent"), "c"),
        Some(r#""\u00fc\n\ud83d\ude00""#)
    );
}

#[test]
fn reserved_characters_stay_only_where_they_are_allowed_and_harmless() {
    let allowed = with_parameters("/x", "{name: c, in: query, allowReserved: true, schema: {}}");
    assert_eq!(target(&allowed, r#"{"c": "https://h:1/p?q=1&r#f+g%"}"#), "/x?c=https://h:1/p?q%3D1%26r%23f%2Bg%25");
    let encoded = with_parameters("/x", "{name: c, in: query, schema: {}}");
    assert_eq!(target(&encoded, r#"{"c": "/?: ü+"}"#), "/x?c=%2F%3F%3A%20%C3%BC%2B");
}

#[test]
fn values_without_an_exact_form_are_errors() {
    for (location, style, explode, value) in [
        ("path", "simple", false, r#"{"a": {"b": 1}}"#),
        ("path", "simple", false, "[[1]]"),
        ("path", "label", true, r#"["a.b"]"#),
        ("query", "form", false, "[]"),
        ("query", "form", true, "{}"),
        ("query", "form", false, "null"),
        ("query", "form", false, "[null]"),
        ("query", "form", true, r#"{"": 1}"#),
        ("query", "spaceDelimited", false, r#"["a b"]"#),
        ("query", "pipeDelimited", false, r#"["a|b"]"#),
        ("query", "deepObject", true, r#"{"a": {"b": 1}}"#),
        ("query", "deepObject", true, r#"{"a[b]": 1}"#),
        ("query", "deepObject", true, "[1]"),
        ("header", "simple", false, r#"["a,b"]"#),
        ("header", "simple", true, r#"{"a=b": 1}"#),
    ] {
        let error = render(&styled(location, style, explode), &format!(r#"{{"c": {value}}}"#)).expect_err(value);
        assert!(matches!(error, RenderError::NotRepresentable { .. }), "{location} {style} {value}: {error}");
    }
}

#[test]
fn a_path_parameter_cannot_lead_to_another_place() {
    let plain = styled("path", "simple", false);
    for value in
        ["..", ".", "../admin", "a/../b", "..\\\\x", "%2e%2e", "%252e%252e/x", "a/..", "%2525252525252525252525252e"]
    {
        let error = render(&plain, &format!(r#"{{"c": "{value}"}}"#)).expect_err(value);
        assert!(matches!(error, RenderError::PathTraversal { .. }), "{value}: {error}");
    }
    assert_eq!(render(&plain, r#"{"c": ""}"#), Err(RenderError::EmptyPathParameter { parameter: "c".to_owned() }));
    assert!(render(&styled("path", "label", false), r#"{"c": "."}"#).is_err());
    for (value, path) in
        [("a/b?c#d", "/x/a%2Fb%3Fc%23d"), ("..a", "/x/..a"), ("1.5", "/x/1.5"), ("a\\r\\nb", "/x/a%0D%0Ab")]
    {
        assert_eq!(target(&plain, &format!(r#"{{"c": "{value}"}}"#)), path);
    }
    let two = with_parameters(
        "/x/{a}{b}/y",
        "{name: a, in: path, required: true, schema: {}}, {name: b, in: path, required: true, schema: {}}",
    );
    assert!(render(&two, r#"{"a": ".", "b": "."}"#).is_err(), "two harmless values make a harmful segment");
}

#[test]
fn a_header_cannot_be_injected() {
    let operation = styled("header", "simple", false);
    for value in ["a\\r\\nX-Admin: 1", "a\\nb", "a\\u0000", "ü", " a", "a\\t"] {
        let error = render(&operation, &format!(r#"{{"c": "{value}"}}"#)).expect_err(value);
        assert!(matches!(error, RenderError::InvalidHeader { .. }), "{value}: {error}");
    }
    let cookie = styled("cookie", "form", false);
    let request = render(&cookie, r#"{"c": "a; admin=1\r\nX: y"}"#).expect("it is encoded");
    assert_eq!(request.cookie_header().as_deref(), Some("c=a%3B%20admin%3D1%0D%0AX%3A%20y"));
}

#[test]
fn header_parameters_that_change_the_request_itself_are_left_out() {
    let names =
        ["Accept", "Content-Type", "Authorization", "Host", "Content-Length", "Transfer-Encoding", "Cookie", "X Bad"];
    for name in names {
        let document = api30(&format!(
            "  /x: {{get: {{parameters: [{{name: '{name}', in: header, schema: {{}}}}], responses: {{}}}}}}"
        ));
        assert!(document.operations[0].parameters.is_empty(), "{name}");
        assert_eq!(document.findings.len(), 1, "{name}: {:?}", document.findings);
    }
}

#[test]
fn an_exploded_object_cannot_take_the_name_of_another_parameter() {
    let operation = with_parameters(
        "/x",
        "{name: filter, in: query, schema: {type: object}}, {name: limit, in: query, schema: {}}, {name: deep, in: query, style: deepObject, schema: {}}",
    );
    assert_eq!(target(&operation, r#"{"filter": {"a": 1}, "limit": 2}"#), "/x?a=1&limit=2");
    for key in ["limit", "deep[x]"] {
        let error = render(&operation, &format!(r#"{{"filter": {{"{key}": 1}}}}"#)).expect_err(key);
        assert!(matches!(error, RenderError::NameClash { .. }), "{error}");
    }
}

#[test]
fn unknown_and_missing_parameters_are_errors() {
    let operation = with_parameters("/x", "{name: a, in: query, required: true, schema: {}}");
    assert_eq!(render(&operation, "{}"), Err(RenderError::Missing { parameter: "a".to_owned() }));
    assert_eq!(render(&operation, r#"{"a": 1, "b": 2}"#), Err(RenderError::Unknown { parameter: "b".to_owned() }));
}

#[test]
fn a_query_in_the_path_is_sent_and_a_fragment_is_not() {
    let operation = with_parameters("/x?action=list#here", "{name: a, in: query, schema: {}}");
    assert_eq!(target(&operation, r#"{"a": 1}"#), "/x?action=list&a=1");
    let operation = with_parameters("/x?a={a}&b=2", "{name: a, in: query, schema: {}}");
    assert_eq!(target(&operation, r#"{"a": 1}"#), "/x?b=2&a=1", "a declared parameter is sent once");
    let operation = with_parameters("/x?a={b}&c=3", "{name: b, in: path, required: true, schema: {}}");
    assert_eq!(
        target(&operation, r#"{"b": "1&2"}"#),
        "/x?c=3&a=1%262",
        "a placeholder in the query is filled in there"
    );
    for path in ["/x?a={b}", "/x#{a}"] {
        let document = api30(&format!("  {path}: {{get: {{responses: {{}}}}}}"));
        assert_eq!((document.operations.len(), document.findings.len()), (0, 1), "{:?}", document.findings);
    }
}
