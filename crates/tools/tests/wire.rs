//! Tools over real loopback HTTP.
#![cfg(test)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{CallTool, Delivery, ReplyBody, TransportKind};
use reknit_protocol::{Capability, Object, SideEffect, Value};
use reknit_tools::{Address, Client, ComponentType, Discovery};
use support::new_call;

async fn discover(name: &str, url: &str) -> Discovery {
    let addresses = [Address::parse(name, url).expect("an address")];
    // A task needs a future that is `Send`.
    tokio::spawn(async move { Client::new().expect("a client").discover(&addresses).await }).await.expect("no panic")
}

async fn tool(reply: Reply) -> RunningTool {
    ScriptedTool::new("t")
        .capability("c", SideEffect::Keyed)
        .on("c", CallMatcher::any(), reply)
        .start()
        .await
        .expect("the tool starts")
}

fn call(parameters: &str) -> CallTool {
    CallTool {
        parameters: object(parameters),
        idempotency_key: Some("key-1".to_owned()),
        ..new_call("t", "c", SideEffect::Keyed)
    }
}

fn object(text: &str) -> Object {
    Value::parse(text).expect("JSON").as_object().cloned().expect("an object")
}

#[tokio::test]
async fn a_call_carries_its_key_and_every_digit_both_ways() {
    let data = Value::parse(r#"{"id": 123456789012345678901234567890, "price": 0.10}"#).expect("JSON");
    let tool = tool(Reply::data(data.clone())).await;
    let discovery = discover("t", &tool.base_url()).await;
    assert_eq!(discovery.problems, []);
    let reply = discovery.tools.call(&call(r#"{"amount": 98765432109876543210.50}"#)).await.expect("an answer");
    assert_eq!(reply.status, 200);
    let ReplyBody::Json(body) = &reply.body else { unreachable!("the tool answers JSON") };
    assert_eq!(body.get("data").map(ToString::to_string), Some(data.to_string()));
    let calls = tool.calls();
    assert_eq!(calls[0].body, r#"{"amount":98765432109876543210.50}"#);
    assert_eq!(calls[0].idempotency_key.as_deref(), Some("key-1"));
}

#[tokio::test]
async fn the_catalogue_contains_what_the_tool_announced() {
    let tool = tool(Reply::data(1)).await;
    let discovery = discover("t", &tool.base_url()).await;
    let entry = discovery.catalogue.entry("t", "c").expect("the capability is announced");
    assert_eq!(entry.capability.effect, SideEffect::Keyed);
}

#[tokio::test]
async fn a_published_schema_with_type_words_of_go_is_normalised() {
    let schema = r#"{"type": "object", "required": ["lat"], "properties": {"lat": {"type": "float64"}}}"#;
    let discovery = discover_with_schema(schema).await;
    assert_eq!(discovery.problems, []);
    let schema = discovery.catalogue.entry("t", "c").expect("the capability is usable").json_schema();
    let expected = r#"{"type":"object","required":["lat"],"properties":{"lat":{"type":"number"}}}"#;
    assert_eq!(schema.expect("a schema").to_string(), expected);
}

#[tokio::test]
async fn a_misspelt_type_of_a_published_schema_is_noted_and_the_capability_is_kept() {
    let schema = r#"{"type": "object", "properties": {
        "city": {"type": "strin", "minLength": 2},
        "days": {"type": "array", "items": {"type": ["interger", "null"]}},
        "type": {"type": "string", "enum": ["strin"]},
        "price": {"type": "Money"}}}"#;
    let discovery = discover_with_schema(schema).await;
    assert_eq!(discovery.problems, []);
    let notes: Vec<&str> = discovery.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(
        notes,
        [
            "schema of `c`: unknown type `strin` at `$.properties.city` allows any value; did you mean `string`?",
            "schema of `c`: unknown type `interger` at `$.properties.days.items` allows any value; did you mean `integer`?",
            "schema of `c`: unknown type `Money` at `$.properties.price` allows any value",
        ]
    );
    let schema = discovery.catalogue.entry("t", "c").expect("the capability is usable").json_schema();
    let city = schema.as_ref().and_then(|schema| schema.get("properties")?.get("city"));
    assert_eq!(city.map(ToString::to_string).as_deref(), Some(r#"{"minLength":2,"x-type":"strin"}"#));
}

#[tokio::test]
async fn the_field_hints_replace_a_published_schema_that_is_invalid() {
    let discovery = discover_with_schema(r#"{"type": "object", "required": "lat"}"#).await;
    let problem = discovery.problems[0].message.clone();
    assert!(problem.starts_with("invalid schema of `c`, its field hints are used instead: "), "{problem}");
    let entry = discovery.catalogue.entry("t", "c").expect("the capability is usable");
    assert_eq!(entry.required_parameters(), ["lat"]);
}

#[tokio::test]
async fn an_answer_that_is_no_schema_of_parameters_is_reported_and_the_field_hints_stay() {
    let used = "its field hints are used instead";
    let no_keyword = format!("invalid schema of `c`, {used}: it has no keyword that restricts parameters");
    let no_object = format!("invalid schema of `c`, {used}: it is not an object");
    let other_type = format!("invalid schema of `c`, {used}: its type is not `object`");
    let empty = format!("the schema of `c` is empty, {used}");
    for (answer, problem, note) in [
        (r#"{"status": "ok"}"#, Some(&no_keyword), None),
        (r#"{"type": "error", "title": "Not found", "detail": "no such page"}"#, Some(&no_keyword), None),
        (r#"{"title": "C", "description": "Looks something up."}"#, Some(&no_keyword), None),
        (r#"{"schema": {"type": "object"}}"#, Some(&no_keyword), None),
        (r#"{"amount": {"type": "number"}}"#, Some(&no_keyword), None),
        ("true", Some(&no_object), None),
        (r#"["type"]"#, Some(&no_object), None),
        (r#""ok""#, Some(&no_object), None),
        (r#"{"type": "string"}"#, Some(&other_type), None),
        (r#"{"type": ["array", "null"], "properties": {}}"#, Some(&other_type), None),
        ("{}", None, Some(&empty)),
    ] {
        let discovery = discover_with_schema(answer).await;
        let problems: Vec<&String> = discovery.problems.iter().map(|problem| &problem.message).collect();
        let notes: Vec<&String> = discovery.notes.iter().map(|note| &note.message).collect();
        assert_eq!((problems, notes), (problem.into_iter().collect(), note.into_iter().collect()), "{answer}");
        let entry = discovery.catalogue.entry("t", "c").expect("the capability is usable");
        assert_eq!(entry.required_parameters(), ["lat"], "{answer}");
    }
}

#[tokio::test]
async fn a_schema_of_parameters_has_a_keyword_that_restricts_them() {
    for schema in [
        r#"{"type":"object"}"#,
        r#"{"properties":{"lon":{"type":"number"}}}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
        r#"{"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
        r#"{"additionalProperties":false}"#,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
        r#"{"type":["object","null"]}"#,
    ] {
        let discovery = discover_with_schema(schema).await;
        assert_eq!((discovery.problems, discovery.notes), (vec![], vec![]), "{schema}");
        let entry = discovery.catalogue.entry("t", "c").expect("the capability is usable");
        assert_eq!(entry.json_schema().map(|schema| schema.to_string()).as_deref(), Some(schema));
    }
    // Type words of other languages count, and without field hints an empty schema replaces nothing.
    let discovery = discover_with_schema(r#"{"type": "struct"}"#).await;
    assert_eq!(discovery.problems, []);
    let capability = Capability::new("c");
    let tool = ScriptedTool::new("t").announce(capability).schema(Value::parse("{}").expect("JSON"));
    let tool = tool.start().await.expect("the tool starts");
    let discovery = discover("t", &tool.base_url()).await;
    assert_eq!((discovery.problems, discovery.notes), (vec![], vec![]));
}

async fn discover_with_schema(schema: &str) -> Discovery {
    let hints = r#"{"name": "c", "input_summary": {"required": [{"name": "lat", "type": "float64"}]}}"#;
    let capability = Capability::from_value(&Value::parse(hints).expect("JSON")).expect("a capability");
    let tool = ScriptedTool::new("t").announce(capability).schema(Value::parse(schema).expect("JSON"));
    let tool = tool.start().await.expect("the tool starts");
    discover("t", &tool.base_url()).await
}

#[tokio::test]
async fn an_agent_gets_the_parameters_inside_data() {
    let mut agent = Capability::new("c");
    agent.extra.insert("type", "agent");
    for (case, capability, component, body) in [
        ("announced", agent.clone(), None, r#"{"data":{"amount":1}}"#),
        ("configured", Capability::new("c"), Some(ComponentType::Agent), r#"{"data":{"amount":1}}"#),
        ("a tool", Capability::new("c"), None, r#"{"amount":1}"#),
    ] {
        let tool = ScriptedTool::new("t").announce(capability).on("c", CallMatcher::any(), Reply::data(1));
        let tool = tool.start().await.expect("the tool starts");
        let mut address = Address::parse("t", &tool.base_url()).expect("an address");
        address.component = component;
        let discovery = Client::new().expect("a client").discover(&[address]).await;
        discovery.tools.call(&call(r#"{"amount": 1}"#)).await.expect("an answer");
        assert_eq!(tool.calls()[0].body, body, "case: {case}");
    }
}

/// Answers three requests: for the list of capabilities, for a schema, and for a call. Returns the body of the call.
fn serve_component(listener: &TcpListener, list: &str) -> String {
    let mut body = String::new();
    for (status, answer) in [("200 OK", list), ("404 Not Found", "{}"), ("200 OK", "{}")] {
        let (stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).expect("the body");
        body = String::from_utf8(bytes).expect("text");
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
        let answer = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
        reader.get_mut().write_all(answer.as_bytes()).expect("the answer is sent");
    }
    body
}

#[tokio::test]
async fn a_component_that_calls_itself_an_agent_gets_the_parameters_inside_data() {
    for (kind, body) in [("agent", r#"{"data":{"amount":1}}"#), ("tool", r#"{"amount":1}"#)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let list = format!(r#"{{"type": "{kind}", "capabilities": [{{"name": "c"}}]}}"#);
        let server = std::thread::spawn(move || serve_component(&listener, &list));
        let discovery = discover("t", &url).await;
        discovery.tools.call(&call(r#"{"amount": 1}"#)).await.expect("an answer");
        assert_eq!(server.join().expect("the server answered"), body, "{kind}");
    }
}

#[tokio::test]
async fn an_unreachable_tool_is_a_problem_and_others_are_still_discovered() {
    let tool = tool(Reply::data(1)).await;
    let addresses = [
        Address::parse("gone", "http://127.0.0.1:9").expect("an address"),
        Address::parse("t", &tool.base_url()).expect("an address"),
    ];
    let discovery = Client::new().expect("a client").discover(&addresses).await;
    assert_eq!(discovery.catalogue.tools.len(), 1);
    assert_eq!(
        discovery.problems[0].to_string(),
        "tool `gone` at http://127.0.0.1:9/: connection refused; is the tool running?"
    );
}

#[tokio::test]
async fn the_problem_of_an_unreachable_tool_contains_the_cause() {
    let tool = tool(Reply::data(1)).await;
    for (url, prefix) in [
        (tool.base_url().replace("http:", "https:"), "it cannot be reached: "),
        ("http://nowhere.invalid".to_owned(), "it cannot be reached: "),
    ] {
        let problem = discover("t", &url).await.problems[0].message.clone();
        assert!(problem.starts_with(prefix) && problem.len() > prefix.len(), "{url}: {problem}");
    }
}

#[tokio::test]
async fn only_a_refused_connection_proves_that_nothing_was_sent() {
    for (case, reply, kind) in [
        ("reset", Reply::reset(), TransportKind::Reset),
        ("silence", Reply::silence(), TransportKind::TimedOut),
        ("a cut body", Reply::data("a long answer").cut_after(5), TransportKind::Reset),
    ] {
        let tool = tool(reply).await;
        let timeout_ms = if kind == TransportKind::TimedOut { 300 } else { 60_000 };
        let call = CallTool { timeout_ms, ..call("{}") };
        let failure = discover("t", &tool.base_url()).await.tools.call(&call).await.expect_err(case);
        assert_eq!((failure.kind, failure.delivery), (kind, Delivery::Possible), "case: {case}");
    }
    let tool = tool(Reply::data(1)).await;
    let discovery = discover("t", &tool.base_url()).await;
    drop(tool);
    let failure = discovery.tools.call(&call("{}")).await.expect_err("the tool has stopped");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Refused, Delivery::NotSent), "{failure}");
}

/// Passes connections on to a tool, and counts them.
async fn counting_proxy(target: String) -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut inbound, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let target = target.trim_start_matches("http://").to_owned();
            tokio::spawn(async move {
                let mut outbound = tokio::net::TcpStream::connect(target).await.expect("the tool accepts");
                // A closed connection ends it, whichever side closes it.
                let _ = tokio::io::copy_bidirectional(&mut inbound, &mut outbound).await;
            });
        }
    });
    (url, connections)
}

#[tokio::test]
async fn a_call_that_must_not_be_sent_twice_has_a_connection_of_its_own() {
    use SideEffect::{Idempotent, Keyed, Read, Undeclared, Unsafe};
    let tool = tool(Reply::data(1)).await;
    let (url, connections) = counting_proxy(tool.base_url()).await;
    let discovery = discover("t", &url).await;
    for (side_effect, expected) in [(Read, 0), (Idempotent, 1), (Keyed, 0), (Undeclared, 3), (Unsafe, 3)] {
        let before = connections.load(Ordering::SeqCst);
        for _ in 0..3 {
            let call = CallTool { side_effect, ..call("{}") };
            assert_eq!(discovery.tools.call(&call).await.expect("an answer").status, 200);
        }
        assert_eq!(connections.load(Ordering::SeqCst) - before, expected, "{side_effect:?}");
    }
}

#[tokio::test]
async fn an_error_status_is_a_reply_with_the_requested_wait() {
    let tool = tool(Reply::status(429).retry_after(7)).await;
    let reply = discover("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
    assert_eq!((reply.status, reply.retry_after_ms), (429, Some(7_000)));
}

#[tokio::test]
async fn a_requested_wait_is_a_duration_or_a_date_but_not_a_rate_limit_reset() {
    for (name, value, expected) in [
        ("retry-after", "1m30s", Some(90_000)),
        ("retry-after-ms", "250", Some(250)),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("x-ratelimit-reset", "3600", None),
    ] {
        let tool = tool(Reply::status(503).header(name, value)).await;
        let reply = discover("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
        assert_eq!(reply.retry_after_ms, expected, "{name}: {value}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let tool = tool(Reply::status(307).header("Location", "/elsewhere")).await;
    let reply = discover("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
    let note = format!(
        "it redirects to {}/elsewhere; redirects are not followed: use that address if it is the right one",
        tool.base_url()
    );
    assert_eq!((reply.status, reply.body), (307, ReplyBody::Text(note)));
    assert_eq!(tool.call_count(), 1);
}

#[tokio::test]
async fn a_call_without_a_known_address_is_not_sent() {
    let discovery = Client::new().expect("a client").discover(&[]).await;
    let failure = discovery.tools.call(&call("{}")).await.expect_err("there is no tool");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::NotCallable, Delivery::NotSent));
}

#[tokio::test]
async fn a_body_beyond_the_size_limit_is_rejected() {
    let tool = tool(Reply::data("x".repeat(17 << 20))).await;
    let discovery = discover("t", &tool.base_url()).await;
    let failure = discovery.tools.call(&call("{}")).await.expect_err("the body is too large");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TooLarge, Delivery::Possible), "{failure}");
    assert!(failure.to_string().contains("larger than 16777216 bytes"), "{failure}");
}

#[tokio::test]
async fn an_html_page_that_claims_to_be_json_is_kept_as_text_with_a_note_or_as_the_text_of_an_error() {
    let page = "\n<!DOCTYPE html><html><body>Sign in</body></html>";
    let kept =
        |value: &str| ReplyBody::Repaired { value: value.into(), fixes: vec!["kept an HTML page as text".to_owned()] };
    for (case, status, body, expected) in [
        ("a page", 200, page, Ok(kept(page))),
        ("an upper-case page", 200, "<HTML>ok</HTML>", Ok(kept("<HTML>ok</HTML>"))),
        ("the page of a gateway", 502, page, Ok(ReplyBody::Text(page.to_owned()))),
        ("other markup", 200, "<result/>", Err(TransportKind::Unreadable)),
    ] {
        let reply = Reply::status(status).content_type("application/json; charset=utf-8").body(body);
        let tool = tool(reply).await;
        let outcome = discover("t", &tool.base_url()).await.tools.call(&call("{}")).await;
        assert_eq!(outcome.map(|reply| reply.body).map_err(|failure| failure.kind), expected, "case: {case}");
    }
}

#[tokio::test]
async fn a_slow_reply_within_the_timeout_is_returned() {
    let tool = tool(Reply::data(1).delay(Duration::from_millis(30))).await;
    let reply = discover("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
    assert_eq!(reply.status, 200);
}
