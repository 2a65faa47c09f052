//! The announcement, the schema and the health of a service, and unknown paths.

use reknit_protocol::{Capability, SideEffect, ToolError, Value};
use reknit_tool_service::{BuildError, CallContext, CapabilityDefinition, Service};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::{bank, client, echo};

#[tokio::test]
async fn the_list_announces_effects_paths_and_field_hints() {
    let (_running, caller, _) = bank().await;
    let list = caller.get("/api/capabilities").await.json();
    let shown: Vec<String> = list.as_array().unwrap().iter().map(summary).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    echo read Returns its arguments
      /api/capabilities/echo /api/capabilities/echo/schema
      input required to string "alice" Who gets it.
      input required amount number 12.5 How much.
      input optional times integer null How often.
      input optional speed string null How fast. (one of "slow", "fast")
      input optional legs array<object> null Where to.
      output required to string "alice" Who gets it.
      output required amount number 12.5 How much.
      output required times integer null How often.
      output required speed string null How fast. (one of "slow", "fast")
      output required legs array<object> null Where to.
    pay keyed Pays, once for each key
      /api/capabilities/pay /api/capabilities/pay/schema
      input required to string "alice" Who gets it.
      input required amount number 12.5 How much.
      input optional times integer null How often.
      input optional speed string null How fast. (one of "slow", "fast")
      input optional legs array<object> null Where to.
    "#);
}

/// One line for the capability, one for each field: name, type, example, description.
fn summary(announcement: &Value) -> String {
    let announced = Capability::from_value(announcement).unwrap();
    let mut lines = vec![
        format!("{} {} {}", announced.name, announced.effect, announced.description),
        format!("  {} {}", announced.endpoint.unwrap(), announced.schema_endpoint.unwrap()),
    ];
    for (which, hints) in [("input", announced.input_summary), ("output", announced.output_summary)] {
        let Some(hints) = hints else { continue };
        for (need, fields) in [("required", hints.required), ("optional", hints.optional)] {
            for field in fields {
                let (example, description) = (field.example.unwrap_or_default(), field.description.unwrap());
                lines.push(format!("  {which} {need} {} {} {example} {description}", field.name, field.type_word));
            }
        }
    }
    lines.join("\n")
}

#[tokio::test]
async fn the_schema_is_closed_at_every_level() {
    let (_running, caller, _) = bank().await;
    let schema = caller.get("/api/capabilities/echo/schema").await.json();
    assert_eq!(schema.get("required").unwrap().to_string(), r#"["to","amount"]"#);
    assert_eq!(schema.get("additionalProperties"), Some(&Value::Bool(false)));
    let fields = schema.get("properties").unwrap().as_object().unwrap();
    let fields: Vec<String> = fields.iter().map(|(name, field)| format!("{name}: {field}")).collect();
    insta::assert_snapshot!(fields.join("\n"), @r#"
    to: {"type":"string","description":"Who gets it.","examples":["alice"]}
    amount: {"type":"number","description":"How much.","examples":[12.5]}
    times: {"type":["integer","null"],"format":"uint32","minimum":1,"description":"How often.","maximum":12}
    speed: {"type":"string","enum":["slow","fast"],"description":"How fast.","default":"slow"}
    legs: {"type":"array","items":{"type":"object","properties":{"bank":{"type":"string"},"fee":{"type":["number","null"],"format":"double"}},"required":["bank"],"additionalProperties":false},"description":"Where to.","default":[]}
    "#);
}

#[tokio::test]
async fn health_reports_name_and_description() {
    let (_running, caller, _) = bank().await;
    let answer = caller.get("/health").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, r#"{"status":"healthy","name":"bank","description":"Moves money","capabilities":2}"#);
}

#[tokio::test]
async fn an_unknown_capability_is_answered_with_the_known_ones() {
    let (_running, caller, _) = bank().await;
    insta::assert_snapshot!(caller.call("ekho", "{}").await.to_snapshot(), @r#"
    404
    {
      "success": false,
      "error": {
        "code": "CAPABILITY_NOT_FOUND",
        "message": "there is no capability `ekho`",
        "category": "NOT_FOUND",
        "retryable": false,
        "details": {
          "capabilities": [
            "echo",
            "pay"
          ],
          "did_you_mean": "echo"
        }
      }
    }
    "#);
    assert_eq!(caller.get("/api/capabilities/ekho/schema").await.code(), "CAPABILITY_NOT_FOUND");
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_are_answered_in_the_envelope() {
    let (_running, caller, _) = bank().await;
    let answer = caller.delete("/api/capabilities/echo").await;
    insta::assert_snapshot!(answer.to_snapshot(), @r#"
    405
    {
      "success": false,
      "error": {
        "code": "METHOD_NOT_ALLOWED",
        "message": "`/api/capabilities/echo` does not take DELETE",
        "category": "INPUT_ERROR",
        "retryable": false
      }
    }
    "#);
    assert_eq!(answer.headers["allow"], "POST");
    insta::assert_snapshot!(caller.get("/api/tools").await.to_snapshot(), @r#"
    404
    {
      "success": false,
      "error": {
        "code": "RESOURCE_NOT_FOUND",
        "message": "there is nothing at `/api/tools`",
        "category": "NOT_FOUND",
        "retryable": false,
        "details": {
          "hint": "GET /api/capabilities lists the capabilities"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_service_can_be_nested_into_another_server() {
    let router =
        Service::new("inner").capability(CapabilityDefinition::new("echo", SideEffect::Read, echo)).router().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/tools/inner/health", listener.local_addr().unwrap());
    let server =
        tokio::spawn(async move { axum::serve(listener, axum::Router::new().nest("/tools/inner", router)).await });
    assert_eq!(client().get(url).send().await.unwrap().status(), 200);
    server.abort();
}

#[test]
fn duplicate_and_invalid_names_are_build_errors() {
    let capability = |name: &str| CapabilityDefinition::new(name, SideEffect::Read, echo);
    let twice = Service::new("twice").capability(capability("a")).capability(capability("a")).router();
    assert_eq!(twice.unwrap_err(), BuildError::DuplicateName { name: "a".into() });
    for invalid in ["", "a b", "a/b", "..", ".", "ü"] {
        let error = Service::new("invalid").capability(capability(invalid)).router().unwrap_err();
        assert_eq!(error, BuildError::InvalidName { name: invalid.into() }, "name: {invalid}");
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct BadPattern {
    #[schemars(regex(pattern = "("))]
    text: String,
}

#[test]
fn an_invalid_schema_is_a_build_error() {
    let handler = |_: CallContext, _: BadPattern| std::future::ready(Ok::<_, ToolError>(()));
    let error = Service::new("bad").capability(CapabilityDefinition::new("a", SideEffect::Read, handler)).router();
    assert_eq!(error.unwrap_err().to_string(), "the schema of the capability `a` is not valid");
}
