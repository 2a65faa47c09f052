//! Capabilities that the configuration defines: requests to real servers, and real processes.
#![cfg(test)]

mod command;
mod command_faults;
mod outside_folder;
mod plain_http;
mod recorder;
mod sandbox;

use reknit_protocol::{CallTool, Object, SideEffect, Value};
use reknit_tools::DefinedCapability;

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

fn object(text: &str) -> Object {
    json(text).as_object().cloned().expect("an object")
}

/// A capability with these properties, all of them optional.
fn capability(properties: &str, effect: SideEffect) -> DefinedCapability {
    let schema = format!(r#"{{"type": "object", "properties": {properties}, "additionalProperties": false}}"#);
    DefinedCapability {
        tool: "t".into(),
        name: "c".into(),
        description: "does it".to_owned(),
        effect,
        schema: json(&schema),
    }
}

fn requiring(mut capability: DefinedCapability, names: &[&str]) -> DefinedCapability {
    let Value::Object(schema) = &mut capability.schema else { unreachable!("a schema is an object") };
    schema.insert("required", names.iter().map(|name| Value::from(*name)).collect::<Value>());
    capability
}

fn call(parameters: Object) -> CallTool {
    CallTool {
        id: "s/call/1".parse().expect("an id"),
        step: "s".into(),
        tool: "t".into(),
        capability: "c".into(),
        parameters,
        side_effect: SideEffect::Undeclared,
        idempotency_key: Some("key-1".to_owned()),
        business_key: None,
        timeout_ms: 60_000,
        job: None,
        callback: None,
    }
}
