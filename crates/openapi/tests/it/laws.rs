//! Properties for any input.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use reknit_openapi::{ApiDocument, FindingKind, Operation};
use reknit_protocol::{HttpMethod, Number, Object, Path, Value};
use reknit_salvage::{Schema, SchemaError};

use crate::decoder;
use crate::support::{api30, body, header, with_parameters};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        "[a-z.,;|=&/ %+#\\[\\]\"-]{0,6}".prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,20})\\.[0-9]{1,20}([eE][+-]?[0-9]{1,3})?"
            .prop_map(|text| Value::Number(Number::parse(&text).expect("it is a number"))),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ]
}

fn object_of(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let key = prop_oneof!["[a-zA-Z]{1,4}", "[a-z.,;|=&\\[\\] ]{0,4}", any::<String>()];
    vec((key, values), 0..4).prop_map(|entries| {
        let mut object = Object::new();
        for (key, value) in entries {
            object.insert(key, value);
        }
        Value::Object(object)
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::Array), object_of(inner)]
    })
}

/// Values that most styles can express, and often their separators.
fn flat_value() -> impl Strategy<Value = Value> {
    prop_oneof![scalar(), vec(scalar(), 0..4).prop_map(Value::Array), object_of(scalar())]
}

/// Values that every style can express, except for the kinds that `has_no_form` names.
fn plain_value() -> impl Strategy<Value = Value> {
    let scalar = || {
        prop_oneof![
            "[a-zA-Z0-9]{1,5}".prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from)
        ]
    };
    let members = vec(("[a-zA-Z]{1,4}", scalar()), 1..4).prop_map(|entries| {
        let mut object = Object::new();
        for (key, value) in entries {
            object.insert(key, value);
        }
        Value::Object(object)
    });
    prop_oneof![scalar(), vec(scalar(), 1..4).prop_map(Value::Array), members]
}

const STYLES: [(&str, &str); 9] = [
    ("path", "simple"),
    ("path", "label"),
    ("path", "matrix"),
    ("query", "form"),
    ("query", "spaceDelimited"),
    ("query", "pipeDelimited"),
    ("query", "deepObject"),
    ("header", "simple"),
    ("cookie", "form"),
];

fn styled(location: &str, style: &str, explode: bool, reserved: bool) -> Operation {
    let path = if location == "path" { "/x/{c}" } else { "/x" };
    with_parameters(
        path,
        &format!(
            "{{name: c, in: {location}, required: true, style: {style}, explode: {explode}, allowReserved: {reserved}, schema: {{}}}}"
        ),
    )
}

/// The value of the only parameter in the request; `None` if it cannot be sent.
fn round_trip(location: &str, style: &str, explode: bool, reserved: bool, value: &Value) -> Option<Value> {
    let request = styled(location, style, explode, reserved).render(&Object::from([("c", value.clone())])).ok()?;
    assert!(request.headers.iter().all(|(_, text)| text.bytes().all(|byte| (b' '..=b'~').contains(&byte))));
    let query = request.query.as_deref();
    assert!(request.target().bytes().all(|byte| byte.is_ascii_graphic()), "{}", request.target());
    Some(match location {
        "path" => {
            let text = request.path.strip_prefix("/x/").expect("the path begins as written");
            assert!(!text.contains('/'), "a value never makes a segment: {text}");
            decoder::path(text, "c", style, explode, value)
        }
        "query" => decoder::pairs(query.expect("there is a query"), "c", style, explode, value),
        "header" => decoder::header(header(&request, "c").expect("there is a header"), explode, value),
        _ => decoder::pairs(&request.cookie_header().expect("there is a cookie"), "c", style, false, value),
    })
}

/// Kinds of values for which a style has no form at all.
fn has_no_form(location: &str, style: &str, explode: bool, value: &Value) -> bool {
    let is_delimited = matches!(style, "spaceDelimited" | "pipeDelimited");
    match value {
        Value::Array(_) => style == "deepObject" || (location == "cookie" && explode),
        Value::Object(_) => explode && (is_delimited || location == "cookie"),
        _ => is_delimited && !explode,
    }
}

proptest! {
    #[test]
    fn a_decoded_request_has_exactly_the_bound_value(
        (location, style) in select(STYLES.to_vec()), explode: bool, reserved: bool, value in flat_value(),
    ) {
        if let Some(decoded) = round_trip(location, style, explode, reserved, &value) {
            prop_assert_eq!(decoded, value);
        }
    }

    #[test]
    fn a_value_that_a_style_can_express_is_sent(
        (location, style) in select(STYLES.to_vec()), explode: bool, value in plain_value(),
    ) {
        let decoded = round_trip(location, style, explode, false, &value);
        prop_assert_eq!(decoded, (!has_no_form(location, style, explode, &value)).then_some(value));
    }

    #[test]
    fn nested_values_and_nulls_are_errors_in_every_style(
        (location, style) in select(STYLES.to_vec()), explode: bool, inner in any_value(),
    ) {
        for value in [Value::Null, vec![Value::from(vec![inner.clone()])].into(), Value::from([("k", Value::from([("n", inner)]))])] {
            prop_assert_eq!(round_trip(location, style, explode, false, &value), None);
        }
    }

    #[test]
    fn content_parameters_and_json_bodies_carry_any_value(value in any_value(), text in any::<String>()) {
        for location in ["query", "header", "cookie"] {
            let operation = with_parameters("/x", &format!("{{name: c, in: {location}, content: {{application/json: {{}}}}}}"));
            let request = operation.render(&Object::from([("c", value.clone())])).expect("JSON has any value");
            let sent = match location {
                "query" => decoder::percent_decode(request.query.as_deref().expect("a query").strip_prefix("c=").expect("its name")),
                "header" => header(&request, "c").expect("a header").to_owned(),
                _ => decoder::percent_decode(request.cookie_header().expect("a cookie").strip_prefix("c=").expect("its name")),
            };
            prop_assert_eq!(&Value::parse(&sent).expect("it is JSON"), &value);
        }
        let schema = "{type: object, required: [a], properties: {a: {}, b: {}}}";
        let document = api30(&format!("  /x: {{post: {{requestBody: {{required: true, content: {{application/json: {{schema: {schema}}}}}}}, responses: {{}}}}}}"));
        let parameters = Object::from([("a", value), ("b", text.into())]);
        let request = document.operations[0].render(&parameters).expect("JSON has any value");
        prop_assert_eq!(Value::parse(body(&request)).expect("it is JSON"), Value::Object(parameters));
    }

    #[test]
    fn forms_and_multipart_bodies_carry_texts_lists_and_json(
        text in any::<String>(), list in vec(any::<String>(), 1..4), members in object_of(any_value()),
    ) {
        let like = |name: &str| match name { "a" => Value::from(text.as_str()), "b" => list.iter().map(|item| item.as_str().into()).collect(), _ => members.clone() };
        for media_type in ["application/x-www-form-urlencoded", "multipart/form-data"] {
            let schema = "{type: object, properties: {a: {type: string}, b: {type: array}, c: {type: object}}}";
            let document = api30(&format!("  /x: {{post: {{requestBody: {{required: true, content: {{{media_type}: {{schema: {schema}}}}}}}, responses: {{}}}}}}"));
            let parameters: Object = ["a", "b", "c"].map(|name| (name, like(name))).into();
            let request = document.operations[0].render(&parameters).expect("it can be sent");
            let content_type = header(&request, "content-type").expect("there is a type");
            let pairs: Vec<(String, String)> = if media_type.starts_with("multipart") {
                decoder::multipart(content_type, body(&request))
            } else {
                let pair = |pair: &str| pair.split_once('=').map(|(key, text)| (decoder::percent_decode(key), decoder::percent_decode(text)));
                body(&request).split('&').map(|text| pair(text).expect("a key and a value")).collect()
            };
            let all = |name: &str| pairs.iter().filter(|(key, _)| key == name).map(|(_, text)| text.clone()).collect::<Vec<_>>();
            prop_assert_eq!(all("a"), vec![text.clone()]);
            prop_assert_eq!(all("b"), list.clone());
            prop_assert_eq!(Value::parse(&all("c")[0]).expect("it is JSON"), members.clone());
            prop_assert_eq!(pairs.len(), 2 + list.len());
        }
    }

    #[test]
    fn parameters_of_all_places_do_not_disturb_each_other(values in vec(plain_value(), 7)) {
        let operation = with_parameters("/x/{a}/y/{b}", "
            {name: a, in: path, required: true, schema: {}}, {name: b, in: path, required: true, style: matrix, explode: true, schema: {}},
            {name: c1, in: query, explode: false, schema: {}}, {name: d1, in: query, style: deepObject, schema: {}},
            {name: e1, in: query, explode: true, schema: {}}, {name: H, in: header, schema: {}}, {name: f, in: cookie, explode: false, schema: {}}");
        let names = ["a", "b", "c1", "d1", "e1", "H", "f"];
        let mut parameters = Object::new();
        for (name, value) in names.iter().zip(&values) {
            parameters.insert(*name, value.clone());
        }
        if values[3].as_array().is_some() {
            parameters.remove("d1");
        }
        let request = operation.render(&parameters).expect("plain values can be sent");
        let segments: Vec<&str> = request.path.split('/').collect();
        prop_assert_eq!(segments.len(), 5);
        prop_assert_eq!(&decoder::path(segments[2], "a", "simple", false, &values[0]), &values[0]);
        prop_assert_eq!(&decoder::path(segments[4], "b", "matrix", true, &values[1]), &values[1]);
        let query = request.query.clone().expect("there is a query");
        let of = |belongs: &dyn Fn(&str) -> bool| {
            query.split('&').filter(|pair| belongs(pair.split('=').next().unwrap_or_default())).collect::<Vec<_>>().join("&")
        };
        prop_assert_eq!(&decoder::pairs(&of(&|key| key == "c1"), "c1", "form", false, &values[2]), &values[2]);
        if parameters.contains_key("d1") {
            prop_assert_eq!(&decoder::pairs(&of(&|key| key.starts_with("d1")), "d1", "deepObject", true, &values[3]), &values[3]);
        }
        let others = of(&|key| key != "c1" && !key.starts_with("d1"));
        prop_assert_eq!(&decoder::pairs(&others, "e1", "form", true, &values[4]), &values[4]);
        prop_assert_eq!(&decoder::header(header(&request, "H").expect("a header"), false, &values[5]), &values[5]);
        prop_assert_eq!(&decoder::pairs(&request.cookie_header().expect("a cookie"), "f", "form", false, &values[6]), &values[6]);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        _ = ApiDocument::parse(&text);
    }

    #[test]
    fn any_yaml_is_read_without_a_panic(
        pieces in vec(select(vec![
            "openapi: 3.0.3\n", "swagger: '2.0'\n", "paths:\n", "  /a/{b}:\n", "    get:\n", "      ", "  ", "- ", "{", "}", "[", "]", ": ",
            ", ", "&a ", "*a", "<<: ", "$ref: ", "'#/paths'", "'#/a~1b/0'", "parameters", "schema", "type", "null", "5", "!!str ", "\n", "? ", "| ", "# ",
        ]), 0..40),
    ) {
        _ = ApiDocument::parse(&pieces.concat());
    }

    #[test]
    fn a_damaged_document_loses_no_operation_silently(
        base in select(vec![BASE_30, BASE_31, BASE_20]),
        damages in vec((any::<Index>(), damage()), 1..6),
        parameters in object_of(any_value()),
    ) {
        let mut value = Value::parse(base).expect("it is JSON");
        for (index, damage) in &damages {
            apply(&mut value, *index, damage);
        }
        let Ok(document) = ApiDocument::parse(&value.to_string()) else { return Ok(()) };
        let dropped: HashSet<&str> = document.findings.iter().filter(|finding| finding.kind == FindingKind::OperationDropped).map(|finding| finding.pointer.as_str()).collect();
        let imported: HashSet<&str> = document.operations.iter().map(|operation| operation.pointer.as_str()).collect();
        for pointer in operations(&value) {
            let item = pointer.rsplit_once('/').expect("it is inside of a path").0;
            let is_known = imported.contains(pointer.as_str()) || dropped.contains(pointer.as_str()) || dropped.contains(item);
            prop_assert!(is_known, "{} is lost in {}", pointer, value);
        }
        let names: HashSet<&str> = document.operations.iter().map(|operation| operation.name.as_str()).collect();
        prop_assert_eq!(names.len(), document.operations.len(), "names are unique");
        let parameters = parameters.as_object().expect("it is an object");
        for operation in &document.operations {
            for schema in [Some(operation.input_schema()), operation.output_schema()].into_iter().flatten() {
                if let Err(error) = Schema::compile(&schema) {
                    prop_assert!(matches!(error, SchemaError::TooComplex { .. } | SchemaError::PatternsTooLarge), "{}: {}", error, schema);
                }
            }
            _ = operation.error_schemas();
            _ = operation.render(parameters);
        }
    }
}

/// The pointers of all values that are operations by their place.
fn operations(document: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten().filter(|(path, _)| !path.starts_with("x-")) {
        for (key, _) in item.as_object().into_iter().flatten() {
            if HttpMethod::ALL.iter().any(|method| method.as_str() == key) {
                pointers.push(format!("#{}", Path::root().key("paths").key(path).key(key).to_pointer()));
            }
        }
    }
    pointers
}

#[derive(Debug, Clone)]
enum Damage {
    Replace(Value),
    Remove,
    Rename(String),
    Refer(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any_value().prop_map(Damage::Replace),
        Just(Damage::Remove),
        select(vec![
            "$ref",
            "get",
            "type",
            "allOf",
            "schema",
            "in",
            "name",
            "required",
            "x-a",
            "nullable",
            "items",
            "properties",
            "parameters",
            "content",
            "enum"
        ])
        .prop_map(|key| Damage::Rename(key.to_owned())),
        any::<Index>().prop_map(Damage::Refer),
    ]
}

fn all_paths(value: &Value, here: &Path, paths: &mut Vec<Path>) {
    paths.push(here.clone());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| all_paths(item, &here.index(index), paths));
        }
        Value::Object(object) => object.iter().for_each(|(key, member)| all_paths(member, &here.key(key), paths)),
        _ => {}
    }
}

fn apply(value: &mut Value, index: Index, damage: &Damage) {
    let mut paths = Vec::new();
    all_paths(value, &Path::root(), &mut paths);
    let mut path = index.get(&paths).clone();
    match damage {
        Damage::Replace(new) => {
            if let Some(place) = value.at_mut(&path) {
                *place = new.clone();
            }
        }
        Damage::Refer(target) => {
            let reference = format!("#{}", target.get(&paths).to_pointer());
            if let Some(place) = value.at_mut(&path) {
                *place = Value::from([("$ref", reference.into())]);
            }
        }
        Damage::Remove | Damage::Rename(_) => {
            let Some(reknit_protocol::Segment::Key(key)) = path.pop() else { return };
            let Some(Value::Object(object)) = value.at_mut(&path) else { return };
            if let Damage::Rename(new) = damage {
                object.rename(&key, new.as_str());
            } else {
                object.remove(&key);
            }
        }
    }
}

const BASE_30: &str = r##"{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "servers": [{"url": "https://{a}.example.com", "variables": {"a": {"default": "x", "enum": ["x"]}}}],
"security": [{"key": []}], "paths": {
  "/pets": {"parameters": [{"$ref": "#/components/parameters/Limit"}], "get": {"operationId": "list", "tags": ["a"], "responses": {"200": {"$ref": "#/components/responses/Pets"}, "default": {"description": "no", "content": {"application/json": {"schema": {"type": "object"}}}}}},
    "post": {"operationId": "add", "requestBody": {"$ref": "#/components/requestBodies/Pet"}, "responses": {"201": {"description": "ok"}}}},
  "/pets/{id}": {"get": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1, "exclusiveMinimum": true}}, {"name": "f", "in": "query", "style": "deepObject", "schema": {"type": "object", "additionalProperties": {"type": "string"}}}], "responses": {}},
    "delete": {"operationId": "list", "parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}], "responses": {}}}},
"components": {"parameters": {"Limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}},
  "responses": {"Pets": {"description": "ok", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}}},
  "requestBodies": {"Pet": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
  "schemas": {"Pet": {"type": "object", "required": ["name"], "properties": {"id": {"type": "string", "readOnly": true}, "name": {"type": "string", "nullable": true, "pattern": "^a"}, "friend": {"$ref": "#/components/schemas/Pet"}, "kind": {"oneOf": [{"$ref": "#/components/schemas/Kind"}, {"type": "string"}]}}},
    "Kind": {"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}], "discriminator": {"propertyName": "a"}}},
  "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}}"##;

const BASE_31: &str = r##"{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "webhooks": {"a": {}}, "paths": {
  "/a/{x}{y}": {"$ref": "#/components/pathItems/A"}, "/up": {"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"f": {"type": "string", "contentMediaType": "image/png"}, "m": {"type": ["object", "null"]}}}, "encoding": {"m": {"contentType": "application/json"}}}}}, "responses": {}},
    "patch": {"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}, "x-reknit-effect": "read", "responses": {"2XX": {"description": "ok", "content": {"application/json": {"schema": true}}}}}}},
"components": {"pathItems": {"A": {"put": {"parameters": [{"name": "q", "in": "query", "content": {"application/json": {"schema": {"prefixItems": [{"const": 1}], "items": false}}}}, {"name": "c", "in": "cookie", "schema": {"$ref": "#/components/schemas/T", "minLength": 2}}], "responses": {}}}},
  "schemas": {"T": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/U"}]}, "U": {"if": {"type": "object"}, "then": {"properties": {"t": {"$ref": "#/components/schemas/T"}}}, "dependentRequired": {"a": ["b"]}}}}}"##;

const BASE_20: &str = r##"{"swagger": "2.0", "info": {"title": "T", "version": "1"}, "host": "example.com", "basePath": "/v1", "schemes": ["https"], "consumes": ["application/json"], "produces": ["application/json"], "paths": {
  "/pets": {"post": {"parameters": [{"in": "body", "name": "b", "required": true, "schema": {"$ref": "#/definitions/Pet"}}], "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"}}}},
    "get": {"parameters": [{"name": "t", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "pipes"}], "responses": {"400": {"description": "no", "schema": {"type": "string"}}}}},
  "/form": {"post": {"consumes": ["multipart/form-data"], "parameters": [{"name": "f", "in": "formData", "type": "file"}, {"name": "t", "in": "formData", "type": "array", "items": {"type": "string"}}], "responses": {}}}},
"definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string", "x-nullable": true}, "all": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}}},
"securityDefinitions": {"o": {"type": "oauth2", "flow": "application", "tokenUrl": "https://t", "scopes": {"r": "reads"}}}}"##;
