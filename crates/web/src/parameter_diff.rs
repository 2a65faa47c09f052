//! What changed between two sets of parameters.

use maud::{Markup, html};
use reknit_protocol::{Object, Value};

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

/// The changes, each with its value before and after.
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
}
