//! Bodies: one schema for all parameters, and the bytes that are sent.

use reknit_openapi::{ApiDocument, BodyContent, BodyKind, Operation, RenderError};

use crate::support::{api, api30, body, header, json, problems, properties, render};

fn with_body(parameters: &str, request_body: &str) -> Operation {
    let document = api30(&format!(
        "  /a: {{post: {{operationId: a, parameters: [{parameters}], requestBody: {request_body}, responses: {{}}}}}}"
    ));
    assert_eq!(problems(&document), Vec::<String>::new());
    document.operations.into_iter().next().expect("there is one operation")
}

#[test]
fn the_properties_of_an_object_become_parameters() {
    let operation = with_body(
        "{name: dry, in: query, schema: {type: boolean}}",
        "{required: true, content: {application/json: {schema: {type: object, required: [name], properties: {name: {type: string}, tags: {type: array}}}}}}",
    );
    assert_eq!(
        operation.input_schema(),
        json(
            r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {"dry": {"type": "boolean"}, "name": {"type": "string"}, "tags": {"type": "array"}},
            "required": ["name"], "additionalProperties": false}"#
        )
    );
    let request = render(&operation, r#"{"name": "x", "dry": true, "tags": [{"a": null}]}"#).expect("it can be sent");
    assert_eq!(body(&request), r#"{"name":"x","tags":[{"a":null}]}"#);
    assert_eq!(
        (request.target().as_str(), header(&request, "content-type")),
        ("/a?dry=true", Some("application/json"))
    );
    assert_eq!(render(&operation, r#"{"tags": []}"#), Err(RenderError::Missing { parameter: "name".to_owned() }));
}

/// A document with operations whose bodies refer to one object with many properties.
fn sharing(operations: usize, properties: usize) -> ApiDocument {
    let property = |number: usize| format!("p{number}: {{type: string, minLength: 1}}");
    let properties = (0..properties).map(property).collect::<Vec<_>>().join(", ");
    let operation = |number: usize| {
        format!(
            "  /o{number}/{{i{number}}}: {{put: {{operationId: o{number}, parameters: [{{name: i{number}, in: path, required: true, \
             schema: {{type: string}}}}], requestBody: {{content: {{application/json: {{schema: {{$ref: \
             '#/components/schemas/Huge'}}}}}}}}, responses: {{}}}}}}\n"
        )
    };
    let paths: String = (0..operations).map(operation).collect();
    api(&format!(
        "openapi: 3.1.0\npaths:\n{paths}components: {{schemas: {{Huge: {{type: object, properties: {{{properties}}}}}}}}}\n"
    ))
}

#[test]
fn a_large_body_that_operations_refer_to_is_shared_by_them() {
    let document = sharing(300, 4_000);
    assert_eq!((document.operations.len(), problems(&document)), (300, Vec::new()), "no operation is left out");
    let operation = &document.operations[7];
    assert_eq!(properties(operation).as_object().map(|all| all.keys().collect()), Some(vec!["i7", "body"]));
    let request = render(operation, r#"{"i7": "x", "body": {"p1": "y"}}"#).expect("it can be sent");
    assert_eq!((request.target().as_str(), body(&request)), ("/o7/x", r#"{"p1":"y"}"#));
    assert!(operation.input_schema_size() > 12_000);
    let small = sharing(2, 4);
    let names =
        properties(&small.operations[1]).as_object().map(|all| all.keys().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(names.map(|names| names.join(" ")), Some("i1 p0 p1 p2 p3".to_owned()));
}

#[test]
fn parts_of_all_of_are_flattened_together() {
    let operation = with_body(
        "",
        "{required: true, content: {application/json: {schema: {allOf: [{type: object, properties: {a: {type: string}}}, {required: [a], properties: {b: {type: integer}}}]}}}}",
    );
    assert_eq!(properties(&operation), json(r#"{"a": {"type": "string"}, "b": {"type": "integer"}}"#));
    assert_eq!(operation.input_schema().get("required"), Some(&json(r#"["a"]"#)));
}

#[test]
fn a_body_whose_properties_clash_or_are_not_plain_is_one_parameter() {
    let clash = with_body(
        "{name: name, in: query, schema: {type: string}}",
        "{required: true, content: {application/json: {schema: {type: object, properties: {name: {type: string}}}}}}",
    );
    assert_eq!(properties(&clash).as_object().map(|all| all.keys().collect()), Some(vec!["name", "body"]));
    let request = render(&clash, r#"{"name": "q", "body": {"name": "b"}}"#).expect("it can be sent");
    assert_eq!((request.target().as_str(), body(&request)), ("/a?name=q", r#"{"name":"b"}"#));
    for schema in [
        "{type: array}",
        "{oneOf: [{type: object}]}",
        "{type: object}",
        "{type: object, properties: {a: {}}, additionalProperties: true}",
        "{type: object, properties: {a: {}}, minProperties: 1}",
        "{type: object, properties: {a: {}}, nullable: true}",
        "{type: object, properties: {a: {}}, required: [b]}",
        "{allOf: [{properties: {a: {}}}, {properties: {a: {}}}]}",
    ] {
        let operation = with_body("", &format!("{{content: {{application/json: {{schema: {schema}}}}}}}"));
        let content = operation.body.map(|body| body.content);
        assert_eq!(content, Some(BodyContent::Whole { parameter: "body".to_owned() }), "{schema}");
    }
}

#[test]
fn a_parameter_called_body_and_a_body_get_suffixes() {
    let operation = with_body(
        "{name: body, in: query, schema: {type: string}}",
        "{content: {application/json: {schema: {type: array}}}}",
    );
    assert_eq!(
        properties(&operation).as_object().map(|all| all.keys().collect()),
        Some(vec!["body_query", "body_body"])
    );
}

#[test]
fn an_optional_body_is_absent_or_complete() {
    let operation = with_body(
        "",
        "{content: {application/json: {schema: {type: object, required: [a], properties: {a: {}, b: {}}}}}}",
    );
    let schema = operation.input_schema();
    assert_eq!(schema.get("required"), None);
    assert_eq!(schema.get("dependentRequired"), Some(&json(r#"{"b": ["a"]}"#)));
    assert_eq!(render(&operation, "{}").expect("nothing is needed").body, None);
    assert_eq!(render(&operation, r#"{"b": 1}"#), Err(RenderError::Missing { parameter: "a".to_owned() }));
}

#[test]
fn json_is_preferred_to_other_types() {
    let operation = with_body(
        "",
        "{content: {text/plain: {}, multipart/form-data: {}, application/vnd.x+json: {schema: {type: array}}}}",
    );
    assert_eq!(
        operation.body.as_ref().map(|body| (body.kind, body.media_type.as_str())),
        Some((BodyKind::Json, "application/vnd.x+json"))
    );
}

#[test]
fn forms_write_lists_as_declared_and_objects_as_json() {
    let operation = with_body(
        "",
        "{required: true, content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {}, b: {}, c: {}, d: {}}}, encoding: {b: {explode: false}, d: {contentType: application/json}}}}}",
    );
    let request = render(&operation, r#"{"a": ["x&y", "z"], "b": ["1,2", "3"], "c": {"k": "v"}, "d": null}"#)
        .expect("it can be sent");
    assert_eq!(body(&request), "a=x%26y&a=z&b=1%2C2,3&c=%7B%22k%22%3A%22v%22%7D&d=null");
    assert!(render(&operation, r#"{"a": null}"#).is_err(), "null has no text");
    assert!(render(&operation, r#"{"a": []}"#).is_err(), "an empty list would be lost");
}

#[test]
fn multipart_bodies_have_files_json_and_a_boundary_that_no_part_contains() {
    let operation = with_body(
        "",
        "{required: true, content: {multipart/form-data: {schema: {type: object, properties: {file: {type: string, format: binary}, meta: {type: object}, note: {type: string}}}, encoding: {file: {contentType: 'image/png, image/jpeg'}}}}}",
    );
    let parameters = r#"{"file": "a reknit-boundary-0 b", "meta": {"k": 1}, "note": "n"}"#;
    let request = render(&operation, parameters).expect("it can be sent");
    assert_eq!(header(&request, "content-type"), Some("multipart/form-data; boundary=reknit-boundary-1"));
    let expected = "--reknit-boundary-1\n\
        Content-Disposition: form-data; name=\"file\"; filename=\"file\"\nContent-Type: image/png\n\na reknit-boundary-0 b\n\
        --reknit-boundary-1\nContent-Disposition: form-data; name=\"meta\"\nContent-Type: application/json\n\n{\"k\":1}\n\
        --reknit-boundary-1\nContent-Disposition: form-data; name=\"note\"\n\nn\n--reknit-boundary-1--\n";
    assert_eq!(body(&request).replace("\r\n", "\n"), expected);
    assert_eq!(render(&operation, parameters), Ok(request), "the same parameters give the same bytes");
}

#[test]
fn other_types_are_sent_as_text() {
    let text = with_body("", "{required: true, content: {text/plain: {schema: {type: integer}}}}");
    assert_eq!(body(&render(&text, r#"{"body": 5}"#).expect("it can be sent")), "5");
    let xml =
        with_body("", "{required: true, content: {application/xml: {schema: {type: object, properties: {a: {}}}}}}");
    assert_eq!(properties(&xml).get("body").and_then(|body| body.get("type")), Some(&json(r#""string""#)));
    let request = render(&xml, r#"{"body": "<a/>"}"#).expect("it can be sent");
    assert_eq!((body(&request), header(&request, "content-type")), ("<a/>", Some("application/xml")));
    assert!(render(&xml, r#"{"body": {"a": 1}}"#).is_err(), "an object is no text");
}
