//! Swagger 2.

use reknit_openapi::{BodyKind, SecurityScheme};

use crate::support::{api, body, header, json, operation, problems, properties, render, target};

const PETSTORE: &str = "
swagger: '2.0'
info: {title: Petstore, version: 1.0.0}
host: petstore.example.com
basePath: /v2
schemes: [http, https]
consumes: [application/xml, application/json]
produces: [application/xml, application/json]
securityDefinitions:
  key: {type: apiKey, in: query, name: api_key}
  client: {type: oauth2, flow: application, tokenUrl: https://t.example.com, scopes: {}}
paths:
  /pet:
    post:
      operationId: addPet
      parameters: [{in: body, name: pet, required: true, schema: {$ref: '#/definitions/Pet'}}]
      responses: {405: {description: no}}
  /pet/find:
    get:
      operationId: find
      security: [{key: []}, {client: []}]
      parameters:
        - {name: multi, in: query, type: array, items: {type: string}, collectionFormat: multi}
        - {name: csv, in: query, type: array, items: {type: string}, required: false}
        - {name: pipes, in: query, type: array, items: {type: string}, collectionFormat: pipes}
        - {name: tsv, in: query, type: array, items: {type: string}, collectionFormat: tsv}
      responses: {200: {description: ok, schema: {type: array, items: {$ref: '#/definitions/Pet'}}}, 400: {description: no, schema: {type: string}}}
  /pet/{id}/image:
    post:
      operationId: upload
      schemes: [https]
      consumes: [multipart/form-data]
      parameters:
        - {name: id, in: path, required: true, type: integer, format: int64, minimum: 1, exclusiveMinimum: true}
        - {name: note, in: formData, type: string}
        - {name: file, in: formData, type: file, required: true}
      responses: {200: {description: ok}}
  /pet/{id}/update:
    post:
      operationId: update
      consumes: [application/x-www-form-urlencoded]
      parameters:
        - {name: id, in: path, required: true, type: integer}
        - {name: id, in: formData, type: string}
        - {name: tags, in: formData, type: array, items: {type: string}, collectionFormat: csv}
      responses: {200: {description: ok}}
definitions:
  Pet: {type: object, required: [name], properties: {id: {type: integer, readOnly: true}, name: {type: string, x-nullable: true}, friends: {type: array, items: {$ref: '#/definitions/Pet'}}}}
";

#[test]
fn a_petstore_is_imported_without_problems() {
    let document = api(PETSTORE);
    assert_eq!(problems(&document), Vec::<String>::new());
    assert_eq!(document.operations.len(), 4);
    let urls: Vec<&str> = document.servers.iter().map(|server| server.url.as_str()).collect();
    assert_eq!(urls, ["https://petstore.example.com/v2", "http://petstore.example.com/v2"]);
    assert_eq!(operation(&document, "upload").servers.len(), 1);
}

#[test]
fn a_body_parameter_is_flattened() {
    let document = api(PETSTORE);
    let add = operation(&document, "addPet");
    assert_eq!(
        properties(add),
        json(
            r##"{"name": {"type": ["string", "null"]}, "friends": {"type": "array", "items": {"$ref": "#/$defs/Pet"}}}"##
        )
    );
    let request = render(add, r#"{"name": "Rex"}"#).expect("it can be sent");
    assert_eq!((body(&request), header(&request, "content-type")), (r#"{"name":"Rex"}"#, Some("application/json")));
}

#[test]
fn collection_formats_become_styles() {
    let document = api(PETSTORE);
    let find = operation(&document, "find");
    let parameters = r#"{"multi": ["a", "b"], "csv": ["a", "b"], "pipes": ["a", "b"], "tsv": ["a", "b"]}"#;
    assert_eq!(target(find, parameters), "/pet/find?multi=a&multi=b&csv=a,b&pipes=a%7Cb&tsv=a%09b");
    assert_eq!(find.accept.as_deref(), Some("application/json"));
    assert!(find.output_schema().is_some());
    assert_eq!(find.error_schemas().len(), 1);
    assert!(matches!(find.security[1][0].scheme, SecurityScheme::ClientCredentials { .. }));
}

#[test]
fn form_parameters_become_a_form_or_multipart_body() {
    let document = api(PETSTORE);
    let upload = operation(&document, "upload");
    assert_eq!(upload.body.as_ref().map(|body| body.kind), Some(BodyKind::Multipart));
    assert_eq!(upload.input_schema().get("required"), Some(&json(r#"["id", "file"]"#)));
    assert_eq!(
        properties(upload).get("id"),
        Some(&json(r#"{"type": "integer", "format": "int64", "exclusiveMinimum": 1}"#))
    );
    assert_eq!(properties(upload).get("file"), Some(&json(r#"{"type": "string"}"#)));
    let request = render(upload, r#"{"id": 3, "file": "bytes"}"#).expect("it can be sent");
    assert!(body(&request).contains("name=\"file\"; filename=\"file\"\r\n"), "{}", body(&request));

    let update = operation(&document, "update");
    let request = render(update, r#"{"id_path": 3, "id_body": "x y", "tags": ["a", "b"]}"#).expect("it can be sent");
    assert_eq!((request.target().as_str(), body(&request)), ("/pet/3/update", "id=x%20y&tags=a,b"));
}

#[test]
fn a_document_without_host_or_scheme_is_relative_to_its_address() {
    assert_eq!(api("{swagger: '2.0', paths: {}}").servers[0].url, "/");
    assert_eq!(api("{swagger: '2.0', host: h, basePath: b, paths: {}}").servers[0].url, "//h/b");
}
