//! Services over HTTP that the configuration describes.

use std::sync::Arc;

use proptest::prelude::*;
use reknit_protocol::{
    Delivery, HttpMethod, Object, ReplyBody, SideEffect, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_tools::{
    Address, BodyFormat, Client, Credential, HttpOptions, PlainHttpCapability, PlainHttpOptions, PlainHttpService,
    ToolSource, Tools, discover,
};

use crate::recorder::{Recorder, pairs};
use crate::{call, capability, json, object, requiring};

fn options(url: &str, properties: &str) -> PlainHttpOptions {
    PlainHttpOptions {
        capability: capability(properties, SideEffect::Undeclared),
        address: Address::parse("t", url).expect("an address"),
        method: HttpMethod::Get,
        path: String::new(),
        query: Vec::new(),
        headers: Vec::new(),
        body: None,
        body_format: BodyFormat::Json,
        result: None,
        looks_for_errors: true,
        http: HttpOptions::default(),
    }
}

async fn tools(options: PlainHttpOptions) -> Tools {
    let capability = PlainHttpCapability::new(options).expect("the definition is valid");
    let service = PlainHttpService::new(capability, Client::new().expect("a client")).expect("valid credentials");
    let found = discover(&[Arc::new(service) as Arc<dyn ToolSource>]).await;
    assert_eq!(found.problems, []);
    found.tools
}

async fn made(options: PlainHttpOptions, parameters: &str) -> Result<ToolReply, TransportFailure> {
    tools(options).await.call(&call(object(parameters))).await
}

fn texts(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn a_request_has_the_parameters_where_the_templates_put_them() {
    let server = Recorder::start(200, r#"{"ok": true}"#).await;
    let mut options = options(
        &format!("{}/v1?team=a", server.url),
        r#"{"id": {"type": "string"}, "city": {"type": "string"}, "tags": {"type": "array"}, "amount": {"type": "number"},
            "note": {"type": "string"}, "trace": {"type": "string"}}"#,
    );
    options.capability = requiring(options.capability, &["id"]);
    options.method = HttpMethod::Post;
    options.path = "/orders/{id}/items".to_owned();
    options.query = texts(&[("q", "in {city}"), ("tag", "{tags}"), ("fixed", "1"), ("note", "{note}")]);
    options.headers = texts(&[("X-Trace", "t-{trace}")]);
    options.body = Some(json(r#"{"amount": "{amount}", "note": "{note}", "text": "for {city}", "kind": 1}"#));
    options.http.credentials = vec![Credential::Bearer("secret-token".into())];
    let parameters = r#"{"id": "a/b ?", "city": "São Paulo", "tags": ["x", "y&z"], "amount": 10.50, "trace": "7"}"#;
    let reply = made(options, parameters).await.expect("a reply");
    assert_eq!((reply.status, reply.body), (200, ReplyBody::Json(json(r#"{"ok": true}"#))));
    let request = server.last();
    assert_eq!(request.method, "POST");
    assert_eq!(
        request.target, "/v1/orders/a%2Fb%20%3F/items?team=a&q=in%20S%C3%A3o%20Paulo&tag=x&tag=y%26z&fixed=1",
        "a missing parameter leaves out its pair"
    );
    assert_eq!(request.body, r#"{"amount":10.50,"text":"for São Paulo","kind":1}"#);
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-trace"), Some("t-7"));
    assert_eq!(request.header("authorization"), Some("Bearer secret-token"));
    assert_eq!(request.header("idempotency-key"), Some("key-1"));
}

#[tokio::test]
async fn a_body_is_json_a_form_or_a_text() {
    let server = Recorder::start(200, "done").await;
    let properties = r#"{"a": {}, "b": {}}"#;
    for (format, body, expected, content_type) in [
        (BodyFormat::Json, r#""{a}""#, r#"{"x":[1]}"#, "application/json"),
        (
            BodyFormat::Form,
            r#"{"a": "{a}", "b": "{b}", "c": "1"}"#,
            "a=%7B%22x%22%3A%5B1%5D%7D&b=t%20u&c=1",
            "application/x-www-form-urlencoded",
        ),
        (BodyFormat::Text, r#""{{{a}}} {b}""#, r#"{{"x":[1]}} t u"#, "text/plain; charset=utf-8"),
    ] {
        let mut options = options(&server.url, properties);
        (options.method, options.body, options.body_format) = (HttpMethod::Put, Some(json(body)), format);
        if format == BodyFormat::Json {
            options.query = texts(&[("b", "{b}")]);
        }
        made(options, r#"{"a": {"x": [1]}, "b": "t u"}"#).await.expect("a reply");
        assert_eq!(server.last().body, expected, "{format:?}");
        assert_eq!(server.last().header("content-type"), Some(content_type));
    }
}

#[tokio::test]
async fn a_path_cannot_lead_to_another_place() {
    let server = Recorder::start(200, "{}").await;
    for value in ["..", ".", "a/../b", "%2e%2e", "..;x", r"..\\x", "", "%252e%252e/x"] {
        let mut options = options(&server.url, r#"{"id": {"type": "string"}}"#);
        options.capability = requiring(options.capability, &["id"]);
        options.path = "/orders/{id}/items".to_owned();
        let failure = made(options, &format!(r#"{{"id": "{value}"}}"#)).await.expect_err("it is refused");
        assert_eq!((failure.kind, failure.delivery), (TransportKind::NotCallable, Delivery::NotSent), "{value}");
        assert!(failure.message.contains("the path") || failure.message.contains("`id` is empty"), "{failure}");
    }
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_parameter_that_the_definition_does_not_have_is_refused() {
    let server = Recorder::start(200, "{}").await;
    let mut open = options(&server.url, r#"{"a": {}}"#);
    (open.query, open.capability.schema) = (texts(&[("a", "{a}")]), json(r#"{"properties": {"a": {}}}"#));
    let failure = made(open, r#"{"a": 1, "b": 2}"#).await.expect_err("it is refused");
    assert!(failure.message.contains("there is no parameter `b`"), "{failure}");
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn the_result_is_the_named_part_of_the_response() {
    let server = Recorder::start(200, r#"{"data": {"items": [{"id": 1.0}, {"id": 2}]}, "errors": []}"#).await;
    for (path, expected) in
        [("data.items[1].id", "2"), ("data.items.0", r#"{"id":1.0}"#), ("data", r#"{"items":[{"id":1.0},{"id":2}]}"#)]
    {
        let options = PlainHttpOptions { result: Some(path.to_owned()), ..options(&server.url, "{}") };
        let reply = made(options, "{}").await.expect("a reply");
        assert_eq!(reply.body.to_value().to_string(), expected);
    }
}

#[tokio::test]
async fn a_response_without_the_result_is_a_failure_that_names_it() {
    for answer in [r#"{"data": {}}"#, "plain text", "", r#"{"data": {"items": null}}"#] {
        let server = Recorder::start(200, answer).await;
        let options = PlainHttpOptions { result: Some("data.items[0]".to_owned()), ..options(&server.url, "{}") };
        let failure = made(options, "{}").await.expect_err("there is no result");
        assert_eq!((failure.kind, failure.delivery), (TransportKind::Unreadable, Delivery::Possible));
        assert!(failure.message.contains("the response has no `data.items[0]`"), "{failure}");
    }
}

#[tokio::test]
async fn a_response_that_reports_an_error_is_passed_on_whole() {
    for (status, answer) in [
        (422, r#"{"detail": "amount must be positive"}"#),
        (200, r#"{"success": false, "error": {"code": "NO_FUNDS", "message": "no"}, "data": 1}"#),
        (200, r#"{"error": "no such city"}"#),
        (200, r#"{"data": null, "errors": [{"message": "no"}]}"#),
    ] {
        let server = Recorder::start(status, answer).await;
        let options = PlainHttpOptions { result: Some("data".to_owned()), ..options(&server.url, "{}") };
        let reply = made(options, "{}").await.expect("a reply");
        assert_eq!((reply.status, reply.body.to_value()), (status, json(answer)));
    }
}

/// Makes a mistake.
type Change = fn(&mut PlainHttpOptions);

#[test]
fn a_definition_with_a_mistake_says_where_it_is() {
    let url = "http://127.0.0.1:9";
    let mistakes: &[(&str, Change, &str)] = &[
        ("path", |it| it.path = "/x/{ciyt}".to_owned(), "did you mean `{city}`?"),
        ("query", |it| it.query = texts(&[("a", "{town}")]), "`{town}` is not one of the parameters"),
        ("body", |it| it.body = Some(json(r#"{"a": ["{town}"]}"#)), "`{town}`"),
        ("parameters", |it| it.query.clear(), "nothing uses `city`"),
        ("path", |it| it.path = "/x/{city}".to_owned(), "`city` must be required"),
        ("path", |it| it.path = "/x?y=1".to_owned(), "under `query`"),
        ("path", |it| it.path = "x".to_owned(), "begins with `/`"),
        ("path", |it| it.path = "/a/../b".to_owned(), "it is not below the address"),
        ("query", |it| it.query = texts(&[("a", "{city")]), "a brace without its partner"),
        ("request-headers", |it| it.headers = texts(&[("Authorization", "{city}")]), "`auth` and `key-env`"),
        ("result", |it| it.result = Some("a..b".to_owned()), "write a path"),
        ("body", |it| (it.body, it.body_format) = (Some(json("[1]")), BodyFormat::Form), "write a table"),
        ("parameters", |it| it.capability = capability(r#"{"city": {"type": "strin"}}"#, SideEffect::Read), "`string`"),
        ("required", |it| it.capability = requiring(it.capability.clone(), &["town"]), "`town`"),
    ];
    for (key, change, problem) in mistakes {
        let mut options = options(url, r#"{"city": {"type": "string"}}"#);
        options.query = texts(&[("city", "{city}")]);
        change(&mut options);
        let error = PlainHttpCapability::new(options).expect_err("it has a mistake");
        assert_eq!(error.key, *key, "{error}");
        assert!(error.problem.contains(problem), "{error}");
    }
}

/// Any JSON value.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        "-?[1-9][0-9]{0,30}\\.[0-9]{1,10}".prop_map(|number| json(&number)),
        any::<String>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| items.into_iter().collect::<Value>()),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What a value is in a text.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[test]
fn the_server_receives_exactly_what_was_bound() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(Recorder::start(200, "{}"));
    let mut options = options(&server.url, r#"{"id": {}, "q": {}, "b": {}, "f": {}}"#);
    options.capability = requiring(options.capability, &["id"]);
    options.method = HttpMethod::Post;
    options.path = "/p/{id}/end".to_owned();
    options.query = texts(&[("q x", "{q}"), ("part", "<{q}>"), ("b", "{b}")]);
    let mut form = options.clone();
    options.body = Some(json(r#"{"f": "{f}", "inner": [{"b": "{b}"}]}"#));
    (form.body, form.body_format) = (Some(json(r#"{"f": "{f}"}"#)), BodyFormat::Form);
    let (with_json, with_form) = (runtime.block_on(tools(options)), runtime.block_on(tools(form)));
    let config = ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(id in any_value(), q in any_value(), b in any_value(), f in any_value())| {
        let parameters = Object::from([("id", id.clone()), ("q", q.clone()), ("b", b.clone()), ("f", f.clone())]);
        let call = call(parameters);
        match runtime.block_on(with_json.call(&call)) {
            Ok(_) => {
                let request = server.last();
                let segments = request.segments();
                prop_assert_eq!(segments, vec!["p".to_owned(), shown(&id).unwrap_or_default(), "end".to_owned()]);
                let mut expected = expected_pairs("q x", &q);
                expected.extend(shown(&q).map(|text| ("part".to_owned(), format!("<{text}>"))));
                expected.extend(expected_pairs("b", &b));
                prop_assert_eq!(request.query(), expected);
                let body = Object::from([("f", f.clone()), ("inner", [Value::from(Object::from([("b", b)]))].into_iter().collect())]);
                prop_assert_eq!(request.body, body.to_string());
                runtime.block_on(with_form.call(&call)).expect("a reply");
                prop_assert_eq!(pairs(&server.last().body), expected_pairs("f", &f));
            }
            Err(failure) => {
                // Only a path can be refused, and then nothing was sent.
                prop_assert_eq!(failure.delivery, Delivery::NotSent);
                let text = shown(&id).unwrap_or_default();
                prop_assert!(text.is_empty() || text.contains('.') || text.contains('%'), "refused: {}", text);
            }
        }
    });
}

fn expected_pairs(name: &str, value: &Value) -> Vec<(String, String)> {
    let is_plain = |value: &Value| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
    let values = match value {
        Value::Array(items) if items.iter().all(is_plain) => items.iter().filter_map(shown).collect(),
        other => shown(other).into_iter().collect::<Vec<_>>(),
    };
    values.into_iter().map(|text| (name.to_owned(), text)).collect()
}
