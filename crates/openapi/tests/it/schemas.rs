//! Schemas of all versions as JSON Schema 2020-12.

use reknit_protocol::Value;
use reknit_salvage::Schema;

use crate::support::{api, api30, json, operation, problems, properties};

/// The schema of the only parameter, written in the given version.
fn converted(version: &str, schema: &str) -> Value {
    let text = format!(
        "{{openapi: {version}, paths: {{/a: {{get: {{parameters: [{{name: q, in: query, schema: {schema}}}], responses: {{}}}}}}}}}}"
    );
    let document = api(&text);
    assert_eq!(problems(&document), Vec::<String>::new());
    let schema = document.operations[0].input_schema();
    Schema::compile(&schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
    properties(&document.operations[0]).get("q").cloned().expect("the parameter is there")
}

#[test]
fn keywords_of_3_0_become_those_of_2020_12() {
    for (before, after) in [
        ("{type: string, nullable: true}", r#"{"type": ["string", "null"]}"#),
        ("{type: string, nullable: true, enum: [a]}", r#"{"type": ["string", "null"], "enum": ["a", null]}"#),
        (
            "{allOf: [{type: string}], nullable: true}",
            r#"{"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]}"#,
        ),
        ("{type: integer, minimum: 1, exclusiveMinimum: true}", r#"{"type": "integer", "exclusiveMinimum": 1}"#),
        ("{type: integer, maximum: 9, exclusiveMaximum: false}", r#"{"type": "integer", "maximum": 9}"#),
        ("{type: string, example: x}", r#"{"type": "string", "examples": ["x"]}"#),
        (
            "{oneOf: [{type: object}], discriminator: {propertyName: kind}}",
            r#"{"oneOf": [{"type": "object"}], "x-discriminator": "kind"}"#,
        ),
        ("{type: object, xml: {name: x}, externalDocs: {url: u}, x-internal: 1}", r#"{"type": "object"}"#),
    ] {
        assert_eq!(converted("3.0.3", before), json(after), "{before}");
    }
}

#[test]
fn keywords_of_3_1_stay() {
    for (before, after) in [
        ("{type: [string, 'null']}", r#"{"type": ["string", "null"]}"#),
        ("{exclusiveMinimum: 1}", r#"{"exclusiveMinimum": 1}"#),
        ("{const: x, examples: [x]}", r#"{"const": "x", "examples": ["x"]}"#),
        ("{prefixItems: [{type: string}], items: false}", r#"{"prefixItems": [{"type": "string"}], "items": false}"#),
        ("{if: {type: string}, then: {minLength: 1}}", r#"{"if": {"type": "string"}, "then": {"minLength": 1}}"#),
        ("true", "true"),
    ] {
        let after = if after == "true" { json("{}") } else { json(after) };
        assert_eq!(converted("3.1.0", before), after, "{before}");
    }
}

#[test]
fn siblings_of_a_reference_count_in_3_1_and_only_explain_before() {
    for (version, expected) in [
        ("3.0.3", r##"{"$ref": "#/$defs/S", "description": "why"}"##),
        ("3.1.0", r##"{"$ref": "#/$defs/S", "description": "why", "minLength": 3}"##),
    ] {
        let text = format!(
            "{{openapi: {version}, paths: {{/a: {{get: {{parameters: [{{name: q, in: query, schema: {{$ref: '#/components/schemas/S', description: why, minLength: 3}}}}], responses: {{}}}}}}}}, components: {{schemas: {{S: {{type: string}}}}}}}}"
        );
        assert_eq!(properties(&api(&text).operations[0]).get("q"), Some(&json(expected)));
    }
}

#[test]
fn a_tree_stays_a_schema_that_refers_to_itself() {
    let document = api30("
  /a:
    post:
      operationId: a
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}
      responses: {200: {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}}
components:
  schemas:
    Node: {type: object, required: [name], properties: {name: {type: string}, children: {type: array, items: {$ref: '#/components/schemas/Node'}}}}
    Unused: {type: string}");
    let operation = operation(&document, "a");
    let schema = operation.input_schema();
    let definitions = schema.get("$defs").and_then(Value::as_object).expect("there are definitions");
    assert_eq!(definitions.keys().collect::<Vec<_>>(), ["Node"]);
    let schema = Schema::compile(&schema).expect("it is a schema");
    assert!(schema.fits(&json(r#"{"name": "a", "children": [{"name": "b", "children": []}]}"#)));
    assert!(!schema.fits(&json(r#"{"name": "a", "children": [{"children": []}]}"#)));
    assert!(Schema::compile(&operation.output_schema().expect("there is a response")).is_ok());
}

#[test]
fn a_schema_that_is_all_of_itself_is_cut_with_a_note() {
    let document = api30("
  /a: {get: {operationId: a, parameters: [{name: q, in: query, schema: {$ref: '#/components/schemas/A'}}, {name: r, in: query, schema: {$ref: '#/components/schemas/Self'}}], responses: {}}}
components:
  schemas:
    A: {allOf: [{$ref: '#/components/schemas/B'}, {type: object, properties: {a: {type: integer}}}]}
    B: {allOf: [{$ref: '#/components/schemas/A'}, {type: object, properties: {b: {type: integer}}}]}
    Self: {$ref: '#/components/schemas/Self'}");
    let cut = document.findings.iter().filter(|finding| finding.message.contains("refers to itself"));
    assert_eq!(cut.count(), 2, "{:?}", document.findings);
    let schema = Schema::compile(&document.operations[0].input_schema()).expect("it is a schema");
    assert!(schema.fits(&json(r#"{"q": {"a": 5, "b": 6}, "r": 1}"#)));
    assert!(!schema.fits(&json(r#"{"q": {"a": "x"}}"#)) && !schema.fits(&json(r#"{"q": {"b": "x"}}"#)));
}

#[test]
fn a_parent_that_lists_its_children_loses_the_list_and_the_children_stay_whole() {
    let document = api30("
  /a: {get: {operationId: a, parameters: [{name: pet, in: query, schema: {$ref: '#/components/schemas/Pet'}}, {name: dog, in: query, schema: {$ref: '#/components/schemas/Dog'}}], responses: {}}}
components:
  schemas:
    Pet: {type: object, required: [name], oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {claws: {type: integer}}}]}
    Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {tail: {type: integer}}}]}");
    let places: Vec<&str> = document.findings.iter().map(|finding| finding.pointer.as_str()).collect();
    assert_eq!(places, ["#/components/schemas/Pet"]);
    let schema = Schema::compile(&document.operations[0].input_schema()).expect("it is a schema");
    assert!(schema.fits(&json(r#"{"pet": {"name": "a", "claws": 5}, "dog": {"name": "b", "tail": 1}}"#)));
    assert!(!schema.fits(&json(r#"{"dog": {"name": "b", "tail": "long"}}"#)));
    assert!(!schema.fits(&json(r#"{"dog": {"tail": 1}}"#)), "the name is still required");
}

#[test]
fn all_of_keeps_its_siblings() {
    let schema = converted(
        "3.0.3",
        "{type: object, required: [a], allOf: [{required: [b]}, {properties: {a: {type: string}}}], properties: {b: {type: integer}}}",
    );
    let schema = Schema::compile(&schema).expect("it is a schema");
    assert!(schema.fits(&json(r#"{"a": "x", "b": 1}"#)));
    for bad in [r#"{"a": "x"}"#, r#"{"b": 1}"#, r#"{"a": 1, "b": 1}"#, r#"{"a": "x", "b": "y"}"#] {
        assert!(!schema.fits(&json(bad)), "{bad}");
    }
}

#[test]
fn read_only_properties_are_left_out_of_requests_and_write_only_ones_out_of_responses() {
    let document = api30("
  /a:
    post:
      operationId: a
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}}
      responses: {200: {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}}}
components:
  schemas:
    Id: {type: string, readOnly: true}
    User:
      type: object
      required: [id, name, password]
      properties: {id: {$ref: '#/components/schemas/Id'}, name: {type: string}, password: {type: string, writeOnly: true}}");
    let input = document.operations[0].input_schema();
    assert_eq!(input.get("required"), Some(&json(r#"["name", "password"]"#)));
    assert!(input.get("properties").is_some_and(|properties| properties.get("id").is_none()));
    let output = document.operations[0].output_schema().expect("there is a response");
    let user = output.get("$defs").and_then(|definitions| definitions.get("User")).expect("it is defined");
    assert_eq!(user.get("required"), Some(&json(r#"["id", "name"]"#)));
    assert!(user.get("properties").is_some_and(|properties| properties.get("password").is_none()));
}

#[test]
fn broken_keywords_are_reported_and_left_out() {
    let document = api30(
        "  /a: {get: {parameters: [{name: q, in: query, schema: {type: text, minLength: '3', pattern: '(', enum: [], required: true, properties: 5, items: {type: [string, 5]}, maximum: 9}}], responses: {}}}",
    );
    assert_eq!(properties(&document.operations[0]), json(r#"{"q": {"items": {"type": "string"}, "maximum": 9}}"#));
    let base = "#/paths/~1a/get/parameters/0/schema/";
    assert_eq!(
        problems(&document),
        [
            format!("{base}type: the type \"text\" is unknown"),
            format!("{base}minLength: `minLength` must be a count"),
            format!("{base}pattern: the regular expression is not valid"),
            format!("{base}enum: `enum` must be a list of values"),
            format!("{base}properties: `properties` must be an object of schemas"),
            format!("{base}items/type: the type 5 is unknown"),
        ]
    );
}

#[test]
fn two_components_with_the_same_last_name_stay_apart() {
    let document = api30("
  /a: {get: {parameters: [{name: a, in: query, schema: {$ref: '#/components/schemas/S'}}, {name: b, in: query, schema: {$ref: '#/x-more/S'}}], responses: {}}}
components: {schemas: {S: {type: string}}}
x-more: {S: {type: integer}}");
    let schema = document.operations[0].input_schema();
    assert_eq!(schema.get("$defs"), Some(&json(r#"{"S": {"type": "string"}, "S_2": {"type": "integer"}}"#)));
}
