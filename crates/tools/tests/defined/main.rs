//! Capabilities that the configuration defines: requests to real servers, and real processes.
#![cfg(test)]

mod command;
mod command_faults;
mod outside_folder;
mod plain_http;
mod recorder;
mod sandbox;
#[path = "../support/mod.rs"]
mod support;

use reknit_protocol::{CallTool, Object, SideEffect, Value};
use reknit_tools::DefinedCapability;
use support::new_call;

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
    CallTool { parameters, idempotency_key: Some("key-1".to_owned()), ..new_call("t", "c", SideEffect::Undeclared) }
}
