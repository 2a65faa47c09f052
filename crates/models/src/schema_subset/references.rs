//! References between parts of a schema.

use reknit_protocol::Value;

/// The reference to a definition or to the whole schema, in the spelling that every provider knows.
pub(super) fn reference(target: &str) -> Option<String> {
    match target.strip_prefix("#/$defs/").or_else(|| target.strip_prefix("#/definitions/")) {
        Some(name) if !name.contains('/') => Some(format!("#/$defs/{name}")),
        None if target == "#" => Some(target.to_owned()),
        _ => None,
    }
}

/// Whether a definition, or the whole schema, refers to itself on any path.
pub(super) fn is_recursive(schema: &Value) -> bool {
    let definition = |name: &str| {
        let groups = ["$defs", "definitions"];
        groups.iter().find_map(|group| schema.get(group)?.get(name))
    };
    let mut done: Vec<String> = Vec::new();
    let mut open: Vec<(String, Vec<String>)> = vec![(String::new(), direct_references(schema))];
    while let Some((_, pending)) = open.last_mut() {
        let Some(next) = pending.pop() else {
            done.extend(open.pop().map(|(name, _)| name));
            continue;
        };
        let name = next.rsplit('/').next().filter(|_| next != "#").unwrap_or_default().to_owned();
        if open.iter().any(|(opened, _)| *opened == name) {
            return true;
        }
        if !done.contains(&name) {
            let references = definition(&name).map(direct_references).unwrap_or_default();
            open.push((name, references));
        }
    }
    false
}

/// The references in a schema, without those in its definitions.
fn direct_references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(members) => {
                if let Some(target) = members.get("$ref").and_then(Value::as_str) {
                    found.push(target.to_owned());
                }
                let inner = members.iter().filter(|(key, _)| !matches!(*key, "$defs" | "definitions"));
                left.extend(inner.map(|(_, member)| member));
            }
            Value::Array(items) => left.extend(items.iter()),
            _ => {}
        }
    }
    found
}
