//! The values at any depth of parameters and results, with their paths.

use reknit_protocol::{Object, Path, Value};

const MAX_VALUES: usize = 10_000;

/// The values at any depth of parameters, with their paths.
pub(super) fn values_within(parameters: &Object) -> Vec<(Path, &Value)> {
    collect_values(parameters.iter().map(|(name, value)| (Path::root().key(name), value)).collect())
}

/// These values and all values inside them, with their paths.
pub(super) fn collect_values(mut open: Vec<(Path, &Value)>) -> Vec<(Path, &Value)> {
    let mut found = Vec::new();
    while let Some((at, value)) = open.pop() {
        if found.len() >= MAX_VALUES {
            break;
        }
        found.push((at.clone(), value));
        match value {
            Value::Object(object) => open.extend(object.iter().map(|(name, value)| (at.key(name), value))),
            Value::Array(items) => open.extend(items.iter().enumerate().map(|(index, item)| {
                let mut at = at.clone();
                at.push_index(index);
                (at, item)
            })),
            _ => {}
        }
    }
    found
}
