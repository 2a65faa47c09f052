//! Names, side effects, references, servers, security and filters of operations.

use reknit_openapi::{ApiDocument, FindingKind, OperationFilter, ParameterLocation, SecurityScheme, ServerUrlError};
use reknit_protocol::SideEffect::{Idempotent, Keyed, Read, Unsafe};
use reknit_protocol::{ErrorFields, HttpMethod};

use crate::support::{api, api30, json, names, object, operation, problems, properties, target};

#[test]
fn a_missing_operation_id_becomes_method_and_path() {
    let document =
        api30("  /pets/{petId}/toys: {get: {responses: {}}, post: {operationId: 'add toy!', responses: {}}}");
    assert_eq!(names(&document), ["get_pets_petId_toys", "add_toy"]);
}

#[test]
fn duplicate_operation_ids_get_unique_names_and_a_report() {
    let document = api30(
        "  /a: {get: {operationId: x, responses: {}}}\n  /b: {get: {operationId: x, responses: {}}}\n  /x_2: {get: {operationId: x_2, responses: {}}}",
    );
    assert_eq!(names(&document), ["x", "x_2", "x_2_2"]);
    assert_eq!(
        problems(&document),
        ["#/paths/~1b/get: the operation id `x` exists twice; this operation is called `x_2`"]
    );
}

#[test]
fn a_name_made_from_a_path_never_takes_the_name_of_an_id() {
    let document = api30("  /a: {get: {responses: {}}}\n  /b: {get: {operationId: get_a, responses: {}}}");
    assert_eq!(names(&document), ["get_a_2", "get_a"]);
}

#[test]
fn a_long_name_is_cut_and_stays_unique() {
    let id = "a".repeat(100);
    let document = api30(&format!(
        "  /a: {{get: {{operationId: {id}1, responses: {{}}}}, put: {{operationId: {id}2, responses: {{}}}}}}"
    ));
    assert_eq!(names(&document), ["a".repeat(64), "a".repeat(62) + "_2"]);
}

#[test]
fn the_method_decides_the_side_effect_unless_the_document_declares_more() {
    let document = api30(
        "
  /a:
    get: {responses: {}}
    head: {responses: {}}
    options: {responses: {}}
    trace: {responses: {}}
    put: {responses: {}}
    delete: {responses: {}}
    post: {responses: {}}
    patch: {responses: {}}
  /b:
    post: {operationId: keyed, parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}], responses: {}}
    patch: {operationId: search, x-reknit-effect: read, responses: {}}
    get: {operationId: odd, x-reknit-effect: harmless, responses: {}}
    put: {operationId: charge, x-reknit-effect: unsafe, responses: {}}",
    );
    let effects: Vec<_> = document.operations.iter().map(|operation| operation.effect).collect();
    assert_eq!(
        effects,
        [Read, Read, Read, Read, Idempotent, Idempotent, Unsafe, Unsafe, Keyed, Unsafe, Unsafe, Unsafe]
    );
    let declared = |name| operation(&document, name).declared_effect;
    assert_eq!([declared("search"), declared("charge"), declared("keyed")], [Some(Read), Some(Unsafe), None]);
    let keyed = operation(&document, "keyed");
    assert_eq!(keyed.idempotency_header.as_deref(), Some("Idempotency-Key"));
    assert_eq!(properties(keyed), json("{}"), "the key is not a parameter");
    assert_eq!(problems(&document).len(), 1, "an unknown word is reported: {:?}", problems(&document));
}

#[test]
fn a_parameter_of_the_operation_replaces_one_of_its_path() {
    let document = api30(
        "
  /a/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: id, in: query, schema: {type: boolean}}
    get:
      operationId: a
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {}",
    );
    let operation = operation(&document, "a");
    assert_eq!(properties(operation), json(r#"{"id_path": {"type": "integer"}, "id_query": {"type": "boolean"}}"#));
    assert_eq!(target(operation, r#"{"id_path": 5, "id_query": true}"#), "/a/5?id=true");
    assert_eq!(operation.input_schema().get("required"), Some(&json(r#"["id_path"]"#)));
}

#[test]
fn references_to_parameters_bodies_responses_and_path_items_are_followed() {
    let document = api("
openapi: 3.1.0
info: {title: T, version: '1'}
paths:
  /a/{id}: {$ref: '#/components/pathItems/A'}
components:
  pathItems:
    A:
      parameters: [{$ref: '#/components/parameters/Id'}]
      post:
        operationId: a
        requestBody: {$ref: '#/components/requestBodies/B'}
        responses: {200: {$ref: '#/components/responses/R'}, 404: {$ref: '#/components/responses/E'}, default: {$ref: '#/components/responses/E'}}
  parameters:
    Id: {$ref: '#/components/parameters/RealId'}
    RealId: {name: id, in: path, required: true, schema: {type: integer}}
  requestBodies:
    B: {required: true, content: {application/json: {schema: {type: object, properties: {n: {type: [string, 'null']}}}}}}
  responses:
    R: {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/S'}}}}
    E: {description: no, content: {application/problem+json: {schema: {type: object}}}}
  schemas:
    S: {type: string}
");
    assert_eq!(problems(&document), Vec::<String>::new());
    let operation = operation(&document, "a");
    assert_eq!(properties(operation), json(r#"{"id": {"type": "integer"}, "n": {"type": ["string", "null"]}}"#));
    let output = operation.output_schema().expect("there is a response");
    assert_eq!(output.get("$defs"), Some(&json(r#"{"S": {"type": "string"}}"#)));
    let statuses: Vec<String> = operation.error_schemas().into_iter().map(|(status, _)| status).collect();
    assert_eq!(statuses, ["404", "default"]);
    assert_eq!(operation.accept.as_deref(), Some("application/json"));
}

#[test]
fn broken_parts_are_reported_one_by_one_and_the_rest_is_imported() {
    let document = api30(
        "
  /ok: {get: {operationId: ok, responses: {}}}
  /not-an-object: 5
  /gone: {$ref: '#/components/pathItems/Gone'}
  /odd/{id: {get: {responses: {}}}
  /remote: {$ref: 'https://example.com/paths.yaml'}
  /loop: {post: {requestBody: {$ref: '#/paths/~1loop/post/requestBody'}, responses: {}}}
  /parts:
    get:
      operationId: parts
      parameters: [5, {name: x}, {$ref: '#/nowhere'}, {name: y, in: query, schema: 7}, {name: z, in: space, schema: {}}]
      responses: {'200': 5, '400': {$ref: other.yaml#/x}}
    put: later
    copy: {responses: {}}",
    );
    assert_eq!(names(&document), ["ok", "parts"]);
    let dropped = document.findings.iter().filter(|finding| finding.kind == FindingKind::OperationDropped);
    assert_eq!(
        dropped.map(|finding| finding.pointer.as_str()).collect::<Vec<_>>(),
        [
            "#/paths/~1not-an-object",
            "#/paths/~1gone",
            "#/paths/~1remote",
            "#/paths/~1parts/put",
            "#/paths/~1parts/copy",
            "#/paths/~1odd~1{id/get",
            "#/paths/~1loop/post",
        ]
    );
    let problems: Vec<String> = problems(&document);
    for expected in [
        "#/paths/~1parts/get/parameters/0: a parameter must have a `name` and `in`",
        "#/paths/~1parts/get/parameters/1: a parameter must have a `name` and `in`",
        "#/paths/~1parts/get/parameters/2: the reference `#/nowhere` leads nowhere",
        "#/paths/~1parts/get/parameters/3/schema: a schema must be an object, found a number",
        "#/paths/~1parts/get/parameters/4: `in: space` is no place for a parameter",
        "#/paths/~1parts/get/responses/200: a response must be an object",
        "#/paths/~1parts/get/responses/400: the file of the reference `other.yaml#/x` cannot be read: the document may not refer to other files",
    ] {
        assert!(problems.iter().any(|problem| problem == expected), "no `{expected}` in {problems:#?}");
    }
}

#[test]
fn a_placeholder_without_a_parameter_is_a_text_and_a_problem() {
    let document = api30("  /a/{id}: {get: {operationId: a, responses: {}}}");
    assert_eq!(properties(&document.operations[0]), json(r#"{"id": {"type": "string"}}"#));
    assert_eq!(problems(&document).len(), 1);
}

#[test]
fn webhooks_are_ignored_with_a_note() {
    let document =
        api("{openapi: 3.1.0, info: {title: T, version: '1'}, webhooks: {new: {post: {responses: {}}}}, paths: {}}");
    assert_eq!(document.operations.len(), 0);
    assert_eq!(document.findings.len(), 1);
    assert_eq!((document.findings[0].kind, document.findings[0].pointer.as_str()), (FindingKind::Note, "#/webhooks"));
}

#[test]
fn servers_of_an_operation_win_over_those_of_its_path_and_of_the_document() {
    let document = api("
openapi: 3.0.3
servers: [{url: 'https://{region}.example.com/v{n}', variables: {region: {default: eu, enum: [eu, us]}, n: {default: 2}}}]
paths:
  /a:
    servers: [{url: https://path.example.com}]
    get: {operationId: a, responses: {}}
    put: {operationId: b, servers: [{url: https://operation.example.com}], responses: {}}
  /c: {get: {operationId: c, responses: {}}}
");
    let url = |name: &str| operation(&document, name).servers[0].url.as_str();
    assert_eq!((url("a"), url("b")), ("https://path.example.com", "https://operation.example.com"));
    let server = &operation(&document, "c").servers[0];
    assert_eq!(server.address(&object("{}")), Ok("https://eu.example.com/v2".to_owned()));
    assert_eq!(server.address(&object(r#"{"region": "us"}"#)), Ok("https://us.example.com/v2".to_owned()));
    assert_eq!(
        server.address(&object(r#"{"region": "evil.com/"}"#)),
        Err(ServerUrlError::NotAllowed("region".to_owned()))
    );
    assert_eq!(server.address(&object(r#"{"x": "y"}"#)), Err(ServerUrlError::Unknown("x".to_owned())));
}

#[test]
fn security_is_data() {
    let document = api("
openapi: 3.0.3
security: [{key: []}, {}]
paths:
  /a:
    get: {operationId: a, responses: {}}
    put: {operationId: b, security: [{bearer: [], basic: []}, {client: [read]}], responses: {}}
    delete: {operationId: c, security: [], responses: {}}
    post: {operationId: d, security: [{login: []}, {gone: []}], responses: {}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    bearer: {type: http, scheme: Bearer}
    basic: {type: http, scheme: basic}
    client: {type: oauth2, flows: {clientCredentials: {tokenUrl: https://t.example.com, scopes: {read: reads}}}}
    login: {type: oauth2, flows: {implicit: {authorizationUrl: https://l.example.com, scopes: {}}}}
");
    let security = |name: &str| &operation(&document, name).security;
    let key = SecurityScheme::ApiKey { location: ParameterLocation::Header, parameter: "X-Key".to_owned() };
    assert_eq!(security("a")[0][0].scheme, key);
    assert!(security("a")[1].is_empty(), "it may be called without");
    assert_eq!(
        security("b")[0].iter().map(|need| &need.scheme).collect::<Vec<_>>(),
        [&SecurityScheme::Bearer, &SecurityScheme::Basic]
    );
    let client = SecurityScheme::ClientCredentials {
        token_url: "https://t.example.com".to_owned(),
        scopes: vec!["read".to_owned()],
    };
    assert_eq!((&security("b")[1][0].scheme, &security("b")[1][0].scopes), (&client, &vec!["read".to_owned()]));
    assert!(security("c").is_empty());
    assert!(security("d").iter().all(|way| matches!(way[0].scheme, SecurityScheme::Unsupported { .. })));
    assert_eq!(problems(&document), ["#/paths/~1a/post/security/1: the security scheme `gone` is not declared"]);
}

fn filtered(document: &ApiDocument, filter: &OperationFilter) -> Vec<String> {
    document.select(filter).map(|operation| operation.name.to_string()).collect()
}

#[test]
fn filters_select_by_tag_path_method_and_id() {
    let document = api30("
  /pets: {get: {operationId: list, tags: [pets], responses: {}}, post: {operationId: add, tags: [pets, write], responses: {}}}
  /pets/{id}: {get: {operationId: 'get one', responses: {}}}
  /pets/{id}/toys: {get: {operationId: toys, responses: {}}}
  /petshops: {get: {operationId: shops, responses: {}}}");
    let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let all = OperationFilter::default();
    assert_eq!(filtered(&document, &all).len(), 5);
    let paths =
        |words: &[&str]| filtered(&document, &OperationFilter { paths: texts(words), ..OperationFilter::default() });
    assert_eq!(paths(&["/pets"]), ["list", "add", "get_one", "toys"]);
    assert_eq!(paths(&["/pets/*"]), ["get_one"]);
    assert_eq!(paths(&["/pets/**", "/petshops"]), ["get_one", "toys", "shops"]);
    assert_eq!(paths(&["/*s"]), ["list", "add", "shops"]);
    let tags = OperationFilter { tags: texts(&["write", "other"]), ..all.clone() };
    assert_eq!(filtered(&document, &tags), ["add"]);
    let methods = OperationFilter { methods: vec![HttpMethod::Post], ..all.clone() };
    assert_eq!(filtered(&document, &methods), ["add"]);
    let ids = OperationFilter { operation_ids: texts(&["get one", "shops", "nothing"]), ..all };
    assert_eq!(filtered(&document, &ids), ["get_one", "shops"]);
}

#[test]
fn summary_and_description_are_joined_and_cut() {
    let long = "x".repeat(5000);
    let document = api30(&format!("  /a: {{get: {{summary: Short., description: {long}, responses: {{}}}}}}"));
    let description = &document.operations[0].description;
    assert!(description.starts_with("Short.\n\nxxx") && description.len() < 1100, "{} bytes", description.len());
    assert_eq!(document.operations[0].capability().description, *description);
}

#[test]
fn an_error_schema_tells_which_field_names_the_parameter() {
    // By name, in a list, behind a reference; by what the document says of a field; and a cycle ends.
    let rows = "
        {properties: {errors: {type: array, items: {$ref: '#/components/schemas/Problem'}}}} => propertyName message
        {properties: {stelle: {type: string, description: The parameter at fault}, hinweis: {type: string, description: Says what is wrong}}} => stelle hinweis
        {allOf: [{properties: {param: {type: string}}}]} => param -
        {properties: {field: {type: integer}, battlefields: {type: string, description: Of all battlefields}}} => none
        {$ref: '#/components/schemas/Loop'} => none
    ";
    for row in rows.trim().lines() {
        let (schema, expected) = row.trim().split_once(" => ").expect("a row has an arrow");
        let schema_of =
            |schema: &str| format!("{{description: d, content: {{application/json: {{schema: {schema}}}}}}}");
        let responses = format!("{{'500': {}, '422': {}}}", schema_of("{type: object}"), schema_of(schema));
        let document = api30(&format!(
            "  /a: {{get: {{operationId: a, responses: {responses}}}}}
components:
  schemas:
    Problem: {{properties: {{code: {{type: string}}, propertyName: {{type: string}}, message: {{type: string}}}}}}
    Loop: {{properties: {{inner: {{$ref: '#/components/schemas/Loop'}}}}}}"
        ));
        let found = operation(&document, "a").capability().error_fields;
        let words = |fields: ErrorFields| format!("{} {}", fields.parameter, fields.message.as_deref().unwrap_or("-"));
        assert_eq!(found.map_or_else(|| "none".to_owned(), words), expected, "{schema}");
    }
}
