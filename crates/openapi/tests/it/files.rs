//! Documents of several files.

use std::collections::HashMap;

use reknit_openapi::ApiDocument;

use crate::support::{json, problems, properties};

fn parse(main: &str, files: &[(&str, &str)]) -> (ApiDocument, Vec<String>) {
    let files: HashMap<&str, &str> = files.iter().copied().collect();
    let mut asked = Vec::new();
    let mut load = |name: &str| {
        asked.push(name.to_owned());
        files.get(name).map(|text| (*text).to_owned()).ok_or_else(|| "there is no such file".to_owned())
    };
    let document = ApiDocument::parse_with_files(main, "api/main.yaml", &mut load).expect("it is a document");
    (document, asked)
}

#[test]
fn references_across_files_are_relative_to_their_own_file() {
    let main = "{openapi: 3.0.3, paths: {'/a/{id}': {$ref: 'paths/a.yaml#/item'}}}";
    let (document, asked) = parse(
        main,
        &[
            (
                "api/paths/a.yaml",
                "item: {get: {operationId: a, parameters: [{$ref: '../common.json#/parameters/id'}], responses: {}}}",
            ),
            (
                "api/common.json",
                r##"{"parameters": {"id": {"name": "id", "in": "path", "required": true, "schema": {"$ref": "#/Tree"}}},
            "Tree": {"type": "object", "properties": {"next": {"$ref": "common.json#/Tree"}, "back": {"$ref": "main.yaml#/openapi"}}}}"##,
            ),
        ],
    );
    assert_eq!(asked, ["api/paths/a.yaml", "api/common.json"], "each file is loaded once");
    let schema = document.operations[0].input_schema();
    assert_eq!(properties(&document.operations[0]), json(r##"{"id": {"$ref": "#/$defs/Tree"}}"##));
    let tree = schema.get("$defs").and_then(|definitions| definitions.get("Tree")).expect("it is defined");
    assert_eq!(
        tree.get("properties").and_then(|properties| properties.get("next")),
        Some(&json(r##"{"$ref": "#/$defs/Tree"}"##))
    );
    assert_eq!(problems(&document), ["#/openapi: a schema must be an object, found a string"]);
}

#[test]
fn files_that_cannot_be_read_and_remote_ones_are_problems() {
    let main = "
openapi: 3.0.3
paths:
  /a: {get: {operationId: a, parameters: [{$ref: gone.yaml#/a}, {$ref: 'https://example.com/x.yaml#/a'}, {$ref: broken.yaml#/a}], responses: {}}}";
    let (document, asked) = parse(main, &[("api/broken.yaml", "a: [")]);
    assert_eq!(asked, ["api/gone.yaml", "api/broken.yaml"], "nothing remote is asked for");
    let problems = problems(&document);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert_eq!(
        problems[0],
        "#/paths/~1a/get/parameters/0: the file of the reference `gone.yaml#/a` cannot be read: there is no such file"
    );
    assert!(problems[1].contains("is remote"), "{}", problems[1]);
    assert!(problems[2].contains("cannot be read"), "{}", problems[2]);
}
