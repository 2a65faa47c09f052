//! What changed between two sets of parameters, and the places in which two values differ.

use maud::{Markup, html};
use reknit_protocol::{Object, Path, Value};

use crate::outside_text::{cut, exact_text};

const MAX_CHANGES: usize = 100;
/// A value is cut after so many characters.
const MAX_CHARS: usize = 400;

#[derive(Debug, PartialEq)]
pub(crate) struct Change<'v> {
    pub(crate) name: &'v str,
    pub(crate) before: Option<&'v Value>,
    pub(crate) after: Option<&'v Value>,
}

/// The parameters that differ, those that are gone last.
pub(crate) fn changes<'v>(before: &'v Object, after: &'v Object) -> Vec<Change<'v>> {
    let changed = after.iter().filter_map(|(name, after)| {
        let before = before.get(name);
        (before != Some(after)).then_some(Change { name, before, after: Some(after) })
    });
    let gone = before.iter().filter(|(name, _)| !after.contains_key(name));
    let gone = gone.map(|(name, before)| Change { name, before: Some(before), after: None });
    changed.chain(gone).collect()
}

pub(crate) fn diff(before: &Object, after: &Object) -> Markup {
    let changes = changes(before, after);
    let value = |value: &Value| cut(&exact_text(&value.to_string()), MAX_CHARS);
    html! {
        @if changes.is_empty() {
            p.muted { "The same parameters as before." }
        } @else {
            div.diff role="group" aria-label="Changed parameters" {
                @for Change { name, before, after } in changes.iter().take(MAX_CHANGES) {
                    @if let Some(before) = before {
                        del { span.sign aria-hidden="true" { "−" } span.key { (exact_text(name)) ": " } (value(before)) }
                    }
                    @if let Some(after) = after {
                        ins { span.sign aria-hidden="true" { "+" } span.key { (exact_text(name)) ": " } (value(after)) }
                    }
                }
            }
            @if changes.len() > MAX_CHANGES { p.muted { (changes.len() - MAX_CHANGES) " more changes" } }
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ValueChange<'v> {
    pub(crate) path: Path,
    pub(crate) left: Option<&'v Value>,
    pub(crate) right: Option<&'v Value>,
}

/// The first places in which two values differ, one more than `max` if there are more.
pub(crate) fn value_changes<'v>(left: Option<&'v Value>, right: Option<&'v Value>, max: usize) -> Vec<ValueChange<'v>> {
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
    fn changed_added_and_removed_parameters_are_changes() {
        let object = |text: &str| match Value::parse(text) {
            Ok(Value::Object(object)) => object,
            _ => panic!("{text}"),
        };
        let (before, after) = (object(r#"{"a": 1, "b": 2, "c": 3}"#), object(r#"{"a": 1, "b": 20, "d": 4}"#));
        let found: Vec<String> = changes(&before, &after)
            .iter()
            .map(|change| format!("{} {:?} {:?}", change.name, change.before, change.after))
            .collect();
        assert_eq!(found, ["b Some(2) Some(20)", "d None Some(4)", "c Some(3) None"]);
    }

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
