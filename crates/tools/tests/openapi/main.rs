//! Services with an API description, over real loopback HTTP.
#![cfg(test)]

mod exactness;
mod raw_server;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raw_server::{RawRequest, RawServer};
use reknit_protocol::{CallTool, Delivery, Object, SideEffect, ToolReply, TransportFailure, TransportKind, Value};
use reknit_tools::{
    Client, ConnectionOptions, Credential, Discovery, DocumentLocation, OpenApiOptions, OpenApiService, discover,
};
use support::new_call;

const JSON: &str = "content-type: application/json\r\n";

const SHOP: &str = r#"{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "/v1"}],
  "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "query", "name": "k"}, "app": {"type": "apiKey", "in": "header", "name": "X-App"}}},
  "paths": {
    "/items/{id}": {"get": {"operationId": "item", "tags": ["read"], "parameters": [
      {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
      {"name": "session", "in": "cookie", "schema": {"type": "string"}}],
      "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object",
        "properties": {"price": {"type": "number", "description": "In euros."}}, "required": ["price"]}}}}}}},
    "/orders": {"post": {"operationId": "order", "security": [{"token": []}],
      "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object",
        "properties": {"quantity": {"type": "integer"}}, "required": ["quantity"]}}}},
      "responses": {"201": {"description": ""}}}},
    "/refunds": {"post": {"operationId": "refund", "security": [{"key": [], "app": []}], "parameters": [
      {"name": "X-Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
      "responses": {"200": {"description": ""}}}}}}"#;

/// A server of the document, which answers every other request with its own headers and target.
async fn shop() -> RawServer {
    RawServer::start(|request| {
        let is_document = request.target.contains("/openapi.json");
        (200, JSON.to_owned(), if is_document { SHOP.to_owned() } else { echo(request) })
    })
    .await
}

fn echo(request: &RawRequest) -> String {
    let headers = request.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    let echo = [("target", request.target.as_str().into()), ("headers", Value::Object(headers.collect()))];
    Object::from(echo).to_string()
}

fn options(url: &str) -> OpenApiOptions {
    OpenApiOptions::new("shop", DocumentLocation::parse(&format!("{url}/openapi.json")).expect("an address"))
}

async fn import(options: OpenApiOptions) -> Discovery {
    discover(&[Arc::new(OpenApiService::new(options, Client::new().expect("a client")))]).await
}

async fn call(found: &Discovery, capability: &str, parameters: &str) -> Result<ToolReply, TransportFailure> {
    let parameters = Value::parse(parameters).expect("JSON").as_object().cloned().expect("an object");
    let effect = found.catalogue.entry("shop", capability).expect("the capability exists").capability.effect;
    let idempotency_key = (effect != SideEffect::Read).then(|| "key-1".to_owned());
    let call = CallTool { parameters, idempotency_key, ..new_call("shop", capability, effect) };
    found.tools.call(&call).await
}

#[tokio::test]
async fn every_operation_is_a_capability_with_schema_class_and_result() {
    let server = shop().await;
    let found = import(options(&server.url)).await;
    assert_eq!(found.problems, []);
    let tool = found.catalogue.tool("shop").expect("the tool exists");
    let classes: Vec<String> = tool
        .capabilities
        .iter()
        .map(|entry| format!("{} {}", entry.capability.name, entry.capability.effect.as_str()))
        .collect();
    assert_eq!(classes, ["item read", "order unsafe", "refund keyed"]);
    let item = tool.entry("item").expect("it exists");
    assert_eq!(item.required_parameters(), ["id"]);
    let output = item.capability.output_schema().expect("the response is described");
    assert_eq!(
        output.to_string(),
        r#"{"type":"object","properties":{"price":{"type":"number","description":"In euros."}},"required":["price"]}"#
    );
}

/// A service whose document has these paths and components.
async fn described(document: &'static str) -> RawServer {
    RawServer::start(move |request| {
        let is_document = request.target.contains("/openapi.json");
        (200, JSON.to_owned(), if is_document { document.to_owned() } else { echo(request) })
    })
    .await
}

#[tokio::test]
async fn a_document_is_believed_to_do_more_than_its_methods_say_but_less_only_if_it_is_trusted() {
    let server = described(
        r#"{"openapi": "3.1.0", "paths": {"/a": {
            "post": {"operationId": "wipe", "x-reknit-effect": "read", "responses": {}},
            "get": {"operationId": "look", "x-reknit-effect": "unsafe", "responses": {}}}}}"#,
    )
    .await;
    for (trusted, expected) in [(false, "wipe unsafe, look unsafe"), (true, "wipe read, look unsafe")] {
        let found = import(OpenApiOptions { trusted, ..options(&server.url) }).await;
        let entries = &found.catalogue.tools[0].capabilities;
        let classes: Vec<String> =
            entries.iter().map(|entry| format!("{} {}", entry.capability.name, entry.capability.effect)).collect();
        assert_eq!(classes.join(", "), expected);
        let notes: Vec<&str> = found.notes.iter().map(|note| note.message.as_str()).collect();
        let note = "`wipe` counts as unsafe, although the document says `read`; if it is right, write `trusted = true`";
        assert_eq!(notes, if trusted { vec![] } else { vec![note] });
    }
}

#[tokio::test]
async fn a_document_cannot_have_a_key_sent_in_a_header_that_frames_the_request() {
    for header in ["Host", "content-length", "Transfer-Encoding", "Connection"] {
        let document = r#"{"openapi": "3.1.0", "components": {"securitySchemes": {"k": {"type": "apiKey", "in": "header",
            "name": "HEADER"}}}, "paths": {"/a": {"get": {"operationId": "look", "security": [{"k": []}], "responses": {}}}}}"#
            .replace("HEADER", header);
        let server = described(document.leak()).await;
        let mut options = options(&server.url);
        options.key = Some("secret-token".into());
        let found = import(options).await;
        assert!(
            found.notes.iter().any(|note| note.message.contains("decides where a request goes")),
            "{:?}",
            found.notes
        );
        call(&found, "look", "{}").await.expect("an answer");
        let requests = server.take_except("/openapi.json");
        assert!(requests.iter().all(|request| !format!("{request:?}").contains("secret-token")), "{requests:?}");
    }
}

#[tokio::test]
async fn a_large_schema_that_operations_share_is_compiled_when_it_is_first_used() {
    let fields: Vec<String> = (0..4_000).map(|number| format!(r#""p{number}": {{"type": "string"}}"#)).collect();
    let operation = |number: usize| {
        format!(
            r##""/o{number}": {{"put": {{"operationId": "o{number}", "requestBody": {{"content": {{"application/json": {{"schema":
                {{"$ref": "#/components/schemas/Huge"}}}}}}}}, "responses": {{}}}}}}"##
        )
    };
    let operations: Vec<String> = (0..200).map(operation).collect();
    let document = format!(
        r#"{{"openapi": "3.1.0", "paths": {{{}}}, "components": {{"schemas": {{"Huge": {{"type": "object", "properties": {{{}}}}}}}}}}}"#,
        operations.join(", "),
        fields.join(", ")
    );
    let server = described(document.leak()).await;
    let found = import(options(&server.url)).await;
    assert_eq!(found.problems, []);
    let last = found.catalogue.entry("shop", "o199").expect("no operation is left out");
    assert!(format!("{last:?}").contains("schema: Deferred"), "its schema is not in memory");
    let schema = last.compiled_schema().expect("it is compiled now");
    let value = |text: &str| Value::parse(text).expect("JSON");
    assert!(schema.fits(&value(r#"{"body": {"p1": "x"}}"#)) && !schema.fits(&value(r#"{"body": {"p1": 1}}"#)));
    assert_eq!(last.schema_problem(), None);
    let saved =
        reknit_plan::Catalogue::from_value(&found.catalogue.restricted_to(&["shop/o199".to_owned()]).to_value());
    assert_eq!(saved.expect("a catalogue").entry("shop", "o199"), Some(last));
}

#[tokio::test]
async fn a_call_goes_to_the_server_of_the_document_with_its_key_and_cookies() {
    let server = shop().await;
    let mut options = options(&server.url);
    options.key = Some("secret-token".into());
    let found = import(options).await;
    call(&found, "item", r#"{"id": "a/b c", "session": "s1"}"#).await.expect("an answer");
    call(&found, "order", r#"{"quantity": 12345678901234567890}"#).await.expect("an answer");
    call(&found, "refund", "{}").await.expect("an answer");
    let requests = server.take_except("/openapi.json");
    let [item, order, refund] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((item.method.as_str(), item.target.as_str()), ("GET", "/v1/items/a%2Fb%20c"));
    assert_eq!((item.header("cookie"), item.header("idempotency-key")), (Some("session=s1"), None));
    assert_eq!((order.method.as_str(), order.target.as_str()), ("POST", "/v1/orders"));
    assert_eq!(order.header("authorization"), Some("Bearer secret-token"));
    assert_eq!(order.header("idempotency-key"), Some("key-1"));
    assert_eq!(order.body, br#"{"quantity":12345678901234567890}"#);
    assert_eq!(refund.header("x-idempotency-key"), Some("key-1"), "the header that the document declares");
    assert_eq!((refund.target.as_str(), refund.header("x-app")), ("/v1/refunds?k=secret-token", Some("secret-token")));
    assert_eq!(item.header("authorization"), None, "an operation without security gets no credential");
}

#[tokio::test]
async fn each_security_scheme_can_have_a_key_of_its_own() {
    let server = shop().await;
    let mut options = options(&server.url);
    options.scheme_keys =
        [("key", "query-key"), ("app", "app-key")].map(|(name, key)| (name.to_owned(), key.into())).into();
    let found = import(options).await;
    let notes: Vec<&str> = found.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(notes, ["operations need the credential `token` (a bearer token); write `key-env` or `schemes`"]);
    call(&found, "refund", "{}").await.expect("an answer");
    let requests = server.take_except("/openapi.json");
    assert_eq!(
        (requests[0].target.as_str(), requests[0].header("x-app")),
        ("/v1/refunds?k=query-key", Some("app-key"))
    );
}

#[tokio::test]
async fn a_secret_that_the_service_returns_is_not_in_the_reply() {
    let server = shop().await;
    let mut options = options(&server.url);
    options.http.credentials = vec![Credential::Query { name: "k".to_owned(), key: "hunter2-secret".into() }];
    let found = import(options).await;
    let reply = call(&found, "item", r#"{"id": "1"}"#).await.expect("an answer");
    let shown = reply.body.to_value().to_string();
    assert!(shown.contains(r#""target":"/v1/items/1?k=[redacted]""#), "{shown}");
    assert!(!format!("{found:?}").contains("hunter2"), "no description shows it either");
}

#[tokio::test]
async fn a_document_cannot_send_requests_or_credentials_to_another_host() {
    let elsewhere = shop().await;
    let document = SHOP.replace("\"/v1\"", &format!("\"{}/v1\"", elsewhere.url));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.json");
    std::fs::write(&file, &document).expect("the file is written");
    let mut options = OpenApiOptions::new("shop", DocumentLocation::File(file));
    options.key = Some("secret-token".into());
    let found = import(options.clone()).await;
    assert_eq!(found.catalogue.tool("shop").map(|tool| tool.capabilities.len()), Some(0));
    let refused = &found.problems[0].message;
    assert!(refused.contains("which the configuration does not allow; if it is right, write `url = "), "{refused}");
    // The host is allowed by name and port.
    options.allowed_hosts = vec![elsewhere.url.replace("http://", "")];
    let found = import(options).await;
    assert_eq!(found.problems, []);
    call(&found, "order", r#"{"quantity": 1}"#).await.expect("an answer");
    assert_eq!(elsewhere.take_except("").len(), 1);
}

#[tokio::test]
async fn a_server_with_credentials_or_at_another_port_of_an_allowed_host_is_refused() {
    let elsewhere = shop().await;
    for (server, problem) in [
        (elsewhere.url.replace("http://", "http://me:password@"), "with credentials; write its address as `url`"),
        (elsewhere.url.clone(), "which the configuration does not allow"),
    ] {
        let document = SHOP.replace("\"/v1\"", &format!("\"{server}/v1\""));
        let publisher = described(document.leak()).await;
        let mut options = options(&publisher.url);
        options.allowed_hosts = vec!["127.0.0.1".to_owned()];
        let found = import(options).await;
        assert_eq!(found.catalogue.tool("shop").map(|tool| tool.capabilities.len()), Some(0));
        assert!(found.problems[0].message.contains(problem), "{:?}", found.problems);
    }
}

#[tokio::test]
async fn a_document_cannot_have_the_secret_of_a_client_sent_to_another_host() {
    let elsewhere = shop_with_tokens(9).await;
    let flow = format!(
        r#"{{"type": "oauth2", "flows": {{"clientCredentials": {{"tokenUrl": "{}/token", "scopes": {{}}}}}}}}"#,
        elsewhere.url
    );
    let document = SHOP.replace(r#"{"type": "http", "scheme": "bearer"}"#, &flow);
    let server = described(document.leak()).await;
    let found = import(with_client(&server.url, "s&cret")).await;
    call(&found, "order", r#"{"quantity": 1}"#).await.expect("an answer");
    assert_eq!(elsewhere.take_except(""), []);
    let note = "the document says that tokens come from `127.0.0.1`, which the configuration does not allow";
    assert!(found.notes.iter().any(|found| found.message.starts_with(note)), "{:?}", found.notes);
}

#[tokio::test]
async fn the_credentials_of_a_service_are_not_sent_to_another_host_that_publishes_its_document() {
    let (publisher, service) = (shop().await, shop().await);
    let mut options = options(&publisher.url);
    options.url = Some(service.url.parse().expect("an address"));
    options.http.credentials = vec![Credential::Bearer("secret-token".into())];
    let found = import(options).await;
    call(&found, "item", r#"{"id": "1"}"#).await.expect("an answer");
    assert_eq!(publisher.take_except("").iter().filter_map(|request| request.header("authorization")).count(), 0);
    let requests = service.take_except("");
    assert_eq!(requests[0].header("authorization"), Some("Bearer secret-token"));
    assert_eq!(requests[0].target, "/items/1", "the configured address replaces the server of the document");
}

#[tokio::test]
async fn a_key_is_not_sent_with_the_request_for_the_document_if_the_service_may_be_elsewhere() {
    let publisher = shop().await;
    let mut options = options(&publisher.url);
    options.allowed_hosts = vec!["shop.example.com".to_owned()];
    options.http.credentials = vec![Credential::Bearer("secret-token".into())];
    import(options).await;
    assert_eq!(publisher.take_except("").iter().filter_map(|request| request.header("authorization")).count(), 0);
}

#[tokio::test]
async fn a_secret_in_a_document_is_not_in_the_catalogue() {
    let server = RawServer::start(|request| {
        let token = request.header("authorization").unwrap_or_default();
        (200, JSON.to_owned(), SHOP.replace("\"Shop\"", &format!("\"Shop for {token}\"")))
    })
    .await;
    let mut options = options(&server.url);
    options.http.credentials = vec![Credential::Bearer("secret-token".into())];
    let found = import(options).await;
    assert_eq!(found.catalogue.tool("shop").map(|tool| tool.description.as_str()), Some("Shop for Bearer [redacted]"));
}

#[tokio::test]
async fn a_token_that_is_valid_for_ever_is_used_and_harmless() {
    let document = SHOP.replace(
        r#"{"type": "http", "scheme": "bearer"}"#,
        r#"{"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}}"#,
    );
    let server = RawServer::start(move |request| match request.target.as_str() {
        "/openapi.json" => (200, JSON.to_owned(), document.clone()),
        "/token" => (200, JSON.to_owned(), r#"{"access_token": "t", "expires_in": 18446744073709551615}"#.to_owned()),
        _ => (200, JSON.to_owned(), "{}".to_owned()),
    })
    .await;
    let found = import(with_client(&server.url, "s&cret")).await;
    assert_eq!(call(&found, "order", r#"{"quantity": 1}"#).await.expect("an answer").status, 200);
}

#[tokio::test]
async fn files_that_a_document_refers_to_are_fetched_from_its_own_host_only() {
    let document = r#"{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
      "/a": {"get": {"operationId": "a", "parameters": [{"$ref": "parts/common.json#/limit"}], "responses": {}}},
      "/b": {"get": {"operationId": "b", "parameters": [{"$ref": "http://127.0.0.1:1/x.json#/p"}], "responses": {}}}}}"#;
    let part = r#"{"limit": {"name": "limit", "in": "query", "schema": {"$ref": "more.json"}}}"#;
    let server = RawServer::start(move |request| match request.target.as_str() {
        "/openapi.json" => (200, JSON.to_owned(), document.to_owned()),
        "/parts/common.json" => (200, JSON.to_owned(), part.to_owned()),
        "/parts/more.json" => (200, JSON.to_owned(), r#"{"type": "integer", "maximum": 9}"#.to_owned()),
        _ => (404, String::new(), String::new()),
    })
    .await;
    let found = import(options(&server.url)).await;
    let schema = found.catalogue.entry("shop", "a").expect("it exists").json_schema().expect("a schema").to_string();
    assert!(schema.contains(r#""maximum":9"#), "{schema}");
    let problems: Vec<&str> = found.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert!(problems.iter().any(|problem| problem.contains("/paths/~1b/get")), "{problems:?}");
}

#[tokio::test]
async fn a_document_in_a_file_refers_to_no_absolute_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let (document, other) = (folder.path().join("shop.json"), folder.path().join("other.json"));
    std::fs::write(&other, r#"{"name": "limit", "in": "query", "schema": {"type": "integer"}}"#)
        .expect("it is written");
    for (name, is_read) in [("other.json".to_owned(), true), (other.display().to_string(), false)] {
        let text = SHOP_WITH_PARAMETER.replace("FILE", &name);
        std::fs::write(&document, text).expect("it is written");
        let mut options = OpenApiOptions::new("shop", DocumentLocation::File(document.clone()));
        options.url = Some("http://127.0.0.1:9".parse().expect("an address"));
        let found = import(options).await;
        let entry = found.catalogue.entry("shop", "a");
        let schema = entry.and_then(reknit_plan::CatalogueEntry::json_schema).unwrap_or_default().to_string();
        assert_eq!(schema.contains("limit"), is_read, "{name}: {schema}");
        let refused =
            found.problems.iter().any(|problem| problem.message.contains("the name of a file must be relative"));
        assert_eq!(refused, !is_read, "{name}: {:?}", found.problems);
    }
}

const SHOP_WITH_PARAMETER: &str = r#"{"openapi": "3.1.0", "paths": {
    "/a": {"get": {"operationId": "a", "parameters": [{"$ref": "FILE"}], "responses": {}}}}}"#;

#[tokio::test]
async fn a_filter_keeps_only_the_operations_that_it_matches() {
    let server = shop().await;
    let mut options = options(&server.url);
    options.filter.tags = vec!["read".to_owned()];
    let found = import(options.clone()).await;
    assert_eq!(found.catalogue.tool("shop").map(|tool| tool.capabilities.len()), Some(1));
    options.filter.tags = vec!["reads".to_owned()];
    let found = import(options).await;
    assert!(found.problems[0].message.contains("the filters of the configuration match none"), "{:?}", found.problems);
}

#[tokio::test]
async fn what_is_no_document_is_an_error_that_says_so() {
    for (status, body, expected) in [
        (404, "", "GET /openapi.json returned 404"),
        (200, "<html>login</html>", "the text is not an API description"),
        (200, r#"{"openapi": "4.0"}"#, "the version `4.0` of OpenAPI is not supported"),
        (302, "", "it redirects to http://elsewhere.example/; redirects are not followed"),
    ] {
        let server = RawServer::start(move |_| {
            let headers = if status == 302 { "location: http://elsewhere.example/\r\n" } else { "" };
            (status, headers.to_owned(), body.to_owned())
        })
        .await;
        let found = import(options(&server.url)).await;
        assert!(found.problems[0].message.contains(expected), "{:?}", found.problems);
    }
}

#[tokio::test]
async fn a_parameter_without_an_exact_form_is_not_sent() {
    let server = shop().await;
    let found = import(options(&server.url)).await;
    let failure = call(&found, "item", r#"{"id": ".."}"#).await.expect_err("the path would be another one");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::NotCallable, Delivery::NotSent));
    assert_eq!(server.take_except("/openapi.json"), []);
}

/// The shop, whose orders need a token that is fetched from it. Every token is refused once after `good_for` orders.
async fn shop_with_tokens(good_for: usize) -> RawServer {
    let document = SHOP.replace(
        r#"{"type": "http", "scheme": "bearer"}"#,
        r#"{"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {"buy": ""}}}}"#,
    );
    let document = document.replace(r#"[{"token": []}]"#, r#"[{"token": ["buy"]}]"#);
    let (issued, used) = (AtomicUsize::new(0), AtomicUsize::new(0));
    RawServer::start(move |request| match request.target.as_str() {
        "/openapi.json" => (200, JSON.to_owned(), document.clone()),
        "/token" if request.header("authorization") != Some("Basic Y2xpZW50OnMlMjZjcmV0") => {
            let sent = request.header("authorization").unwrap_or_default();
            let body = format!(r#"{{"error": "invalid_client", "error_description": "{sent} is wrong"}}"#);
            (401, JSON.to_owned(), body)
        }
        "/token" => {
            used.store(0, Ordering::SeqCst);
            let number = issued.fetch_add(1, Ordering::SeqCst) + 1;
            (200, JSON.to_owned(), format!(r#"{{"access_token": "token-number-{number}", "expires_in": 3600}}"#))
        }
        _ if used.fetch_add(1, Ordering::SeqCst) >= good_for => (401, JSON.to_owned(), "{}".to_owned()),
        _ => (200, JSON.to_owned(), echo(request)),
    })
    .await
}

fn with_client(url: &str, secret: &str) -> OpenApiOptions {
    OpenApiOptions { key: Some(secret.into()), user: Some("client".to_owned()), ..options(url) }
}

#[tokio::test]
async fn a_token_is_fetched_once_and_renewed_when_the_service_refuses_it() {
    let server = shop_with_tokens(2).await;
    let found = import(with_client(&server.url, "s&cret")).await;
    for _ in 0..3 {
        let reply = call(&found, "order", r#"{"quantity": 1}"#).await.expect("an answer");
        assert_eq!(reply.status, 200);
        assert!(!reply.body.to_value().to_string().contains("token-number"), "the token is not in the reply");
    }
    let requests = server.take_except("/openapi.json");
    let sent: Vec<&str> = requests.iter().map(|request| request.header("authorization").unwrap_or_default()).collect();
    let basic = "Basic Y2xpZW50OnMlMjZjcmV0";
    let (one, two) = ("Bearer token-number-1", "Bearer token-number-2");
    assert_eq!(sent, [basic, one, one, one, basic, two], "the third order is refused, and sent again with a new token");
    assert_eq!(requests[0].body, b"grant_type=client_credentials&scope=buy");
}

#[tokio::test]
async fn a_client_that_gets_no_token_is_an_authentication_error_without_its_secret() {
    let server = shop_with_tokens(9).await;
    let found = import(with_client(&server.url, "another-secret")).await;
    let reply = call(&found, "order", r#"{"quantity": 1}"#).await.expect("an answer");
    assert_eq!(reply.status, 401);
    let text = reply.body.to_value().to_string();
    let expected =
        "`shop` was not called: no token from 127.0.0.1: it answered 401 Unauthorized Basic [redacted] is wrong";
    assert!(text.contains(expected), "{text}");
    let orders = server.take_except("/openapi.json");
    assert!(orders.iter().all(|request| request.target == "/token"), "the order is not sent");
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, "no certificate").expect("it is written");
    let connection = ConnectionOptions { ca_file: Some(file.clone()), ..ConnectionOptions::default() };
    let error = Client::with_connection(&connection).expect_err("there is no certificate").to_string();
    assert_eq!(error, format!("cannot read `{}`: there is no certificate in it", file.display()));
}

#[tokio::test]
async fn requests_go_through_the_proxy_that_is_configured() {
    let proxy = shop().await;
    let mut options =
        OpenApiOptions { url: Some("http://shop.invalid".parse().expect("an address")), ..options(&proxy.url) };
    options.http.connection.proxy = Some(proxy.url.clone());
    let found = import(options).await;
    assert_eq!(found.problems, []);
    call(&found, "item", r#"{"id": "1"}"#).await.expect("the proxy answers");
    let requests = proxy.take_except("");
    assert_eq!(requests.last().map(|request| request.target.as_str()), Some("http://shop.invalid/items/1"));
}
