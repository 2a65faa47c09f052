//! The server receives exactly what was bound, for any JSON.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reknit_protocol::{Object, Value};

use super::{JSON, RawServer, call, import, options};

const DOCUMENT: &str = r#"{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/x/{id}": {"put": {
  "operationId": "put", "parameters": [
    {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
    {"name": "q", "in": "query", "schema": {"type": "string"}},
    {"name": "j", "in": "query", "content": {"application/json": {"schema": {}}}}],
  "requestBody": {"content": {"application/json": {"schema": {"type": "array"}}}}, "responses": {}}}}}"#;

fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        any::<String>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?".prop_map(|text| Value::parse(&text).expect("a number")),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    scalar.prop_recursive(3, 16, 4, |inner| {
        let object = proptest::collection::vec((any::<String>(), inner.clone()), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect::<Object>()));
        prop_oneof![proptest::collection::vec(inner, 0..4).prop_map(Value::Array), object]
    })
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(&after[..2]).expect("two digits");
            bytes.push(u8::from_str_radix(digits, 16).expect("hexadecimal"));
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// Servers drop spaces and the parameters of a segment (`..;x=1`) before they resolve it.
fn may_be_read_as_dots(segment: &str) -> bool {
    matches!(segment.split(';').next().map(str::trim), Some("." | ".."))
}

#[test]
fn the_server_receives_exactly_what_was_bound() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (server, found) = runtime.block_on(async {
        let server = RawServer::start(|_| (200, JSON.to_owned(), DOCUMENT.to_owned())).await;
        let found = import(options(&server.url)).await;
        assert_eq!(found.problems, []);
        (server, found)
    });
    let inputs = ("[^\\x00]{1,12}", any::<String>(), any_json(), proptest::collection::vec(any_json(), 0..4));
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let result = runner.run(&inputs, |(id, q, j, body)| {
        let parameters = Object::from([
            ("id", id.as_str().into()),
            ("q", q.as_str().into()),
            ("j", j.clone()),
            ("body", Value::Array(body.clone())),
        ]);
        server.take_except("");
        let outcome = runtime.block_on(call(&found, "put", &parameters.to_string()));
        let requests = server.take_except("");
        if outcome.is_err() {
            // A path with a segment such as `..` cannot be sent, and is not sent in another form.
            prop_assert_eq!(requests, []);
            prop_assert!(id.split(['/', '\\']).any(may_be_read_as_dots) || id.contains('%'), "{:?}", id);
            return Ok(());
        }
        let (path, query) = requests[0].target.split_once('?').expect("a query");
        prop_assert_eq!(percent_decoded(path.strip_prefix("/x/").expect("the path")), id);
        let (sent_q, sent_j) = query.split_once('&').expect("two parameters");
        prop_assert_eq!(percent_decoded(sent_q.strip_prefix("q=").expect("q")), q);
        let sent_j = percent_decoded(sent_j.strip_prefix("j=").expect("j"));
        prop_assert_eq!(Value::parse(&sent_j).expect("JSON"), j);
        let sent = String::from_utf8(requests[0].body.clone()).expect("UTF-8");
        prop_assert_eq!(Value::parse(&sent).expect("JSON"), Value::Array(body));
        Ok(())
    });
    result.unwrap();
}
