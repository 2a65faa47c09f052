//! The places in which two values differ.

use reknit_protocol::{Path, Value};

#[derive(Debug, PartialEq)]
pub(super) struct ValueChange<'v> {
    pub(super) path: Path,
    pub(super) left: Option<&'v Value>,
    pub(super) right: Option<&'v Value>,
}

/// The first places in which two values differ, one more than `max` if there are more.
pub(super) fn value_changes<'v>(left: Option<&'v Value>, right: Option<&'v Value>, max: usize) -> Vec<ValueChange<'v>> {
    let mut found = Vec::new();
    collect(left, right, &mut Path::root(), max, &mut found);
    found
}

/// The depth is that of the values, which the parser limits.
fn collect<'v>(
    left: Option<&'v Value>,
    right: Option<&'v Value>,
    path: &mut Path,
    max: usize,
    found: &mut Vec<ValueChange<'v>>,
) {
    if left == right || found.len() > max {
        return;
    }
    match (left, right) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.iter().filter(|(key, _)| !old.contains_key(key)).map(|(key, _)| key);
            for key in old.iter().map(|(key, _)| key).chain(added) {
                path.push_key(key);
                collect(old.get(key), new.get(key), path, max, found);
                path.pop();
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                path.push_index(index);
                collect(old.get(index), new.get(index), path, max, found);
                path.pop();
            }
        }
        _ => found.push(ValueChange { path: path.clone(), left, right }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_that_differ_are_found_in_objects_and_lists() {
        let left = Value::parse(r#"{"a": 1, "b": {"c": [1, 2, 3]}, "gone": true}"#).unwrap();
        let right = Value::parse(r#"{"a": 1.0, "b": {"c": [1, 5]}, "new": null}"#).unwrap();
        let shown = |max| {
            let changes = value_changes(Some(&left), Some(&right), max);
            changes.iter().map(|one| format!("{} {:?} {:?}", one.path, one.left, one.right)).collect::<Vec<_>>()
        };
        let expected =
            ["$.b.c[1] Some(2) Some(5)", "$.b.c[2] Some(3) None", "$.gone Some(true) None", "$.new None Some(null)"];
        assert_eq!(shown(10), expected);
        assert_eq!(shown(1).len(), 2, "one more says that there are more");
        assert_eq!(value_changes(None, Some(&left), 10).len(), 1);
    }
}
