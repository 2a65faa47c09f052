//! The leaves of the parameters of a call, each with what was written in its place.

use reknit_mend::{is_same_value, schemas_at};
use reknit_protocol::{Object, Path, Segment, Value};

use crate::gate::ValueDifference;
use crate::synthesis::used_numbers::is_word_for;

/// A leaf of the parameters, with what was written in its place.
pub(super) struct Leaf<'a> {
    pub(super) at: Path,
    /// The key that the value has; that of the list for an item.
    pub(super) name: &'a str,
    /// `None` if it is left out.
    pub(super) value: Option<&'a Value>,
    pub(super) written: Option<&'a Value>,
    /// The schema of all parameters.
    pub(super) root: Option<&'a Value>,
    pub(super) siblings: &'a Object,
    pub(super) difference: ValueDifference,
    /// Whether the difference is from the call of the first plan that the step replaces.
    pub(super) is_of_first_plan: bool,
}

impl<'a> Leaf<'a> {
    /// A parameter that is left out.
    pub(super) fn left_out(name: &'a str, written: &'a Value, root: Option<&'a Value>, siblings: &'a Object) -> Self {
        let (at, difference) = (Path::root().key(name), ValueDifference::Dropped);
        Self { at, name, value: None, written: Some(written), root, siblings, difference, is_of_first_plan: false }
    }

    /// The schemas that describe it.
    pub(super) fn schemas(&self) -> Vec<&'a Value> {
        self.root.map(|root| schemas_at(root, &self.at)).unwrap_or_default()
    }

    /// Whether it is another value than was written.
    pub(super) fn is_changed(&self) -> bool {
        is_other_value(self.difference)
    }
}

pub(super) fn is_other_value(difference: ValueDifference) -> bool {
    !matches!(difference, ValueDifference::None | ValueDifference::Respelled)
}

/// Marks what a second plan changes of the call that it replaces.
pub(super) fn compare_with_replaced<'a>(first: &'a Object, parameters: &'a Object, leaves: &mut Vec<Leaf<'a>>) {
    for leaf in leaves.iter_mut().filter(|leaf| leaf.difference == ValueDifference::None) {
        let old = value_at(first, &leaf.at);
        if let Some(old) = old.filter(|old| !leaf.value.is_some_and(|new| is_same_value(old, new))) {
            (leaf.written, leaf.difference, leaf.is_of_first_plan) = (Some(old), ValueDifference::Replaced, true);
        }
    }
    for (name, value) in first.iter().filter(|(name, _)| !parameters.contains_key(name)) {
        let left_out = Leaf { is_of_first_plan: true, ..Leaf::left_out(name, value, None, parameters) };
        collect(left_out, leaves);
    }
}

/// Whether a schema lists the new value, and it is the only one listed that shortens the old word or is shortened by it: `Euro`
/// for `EUR`.
fn is_listed_form(old: &Value, new: &Value, schemas: &[&Value]) -> bool {
    let listed = schemas.iter().find_map(|schema| schema.get("enum")?.as_array()).unwrap_or_default();
    let (Some(old), Some(new)) = (old.as_str().map(str::to_lowercase), new.as_str()) else { return false };
    let is_form = |word: &str| {
        let word = word.to_lowercase();
        word.len().min(old.len()) >= 3 && (word.starts_with(&old) || old.starts_with(&word))
    };
    let mut forms = listed.iter().filter_map(Value::as_str).filter(|word| is_form(word));
    forms.next() == Some(new) && forms.next().is_none()
}

/// Collects the leaves of a parameter, each with what was written in its place.
pub(super) fn collect<'a>(leaf: Leaf<'a>, leaves: &mut Vec<Leaf<'a>>) {
    let difference = match (leaf.written, leaf.value) {
        (Some(old), Some(new)) if old == new => ValueDifference::None,
        (Some(old), Some(new))
            if is_same_value(old, new)
                || is_word_for(old, new)
                || is_list_of(old, new)
                || is_listed_form(old, new, &leaf.schemas()) =>
        {
            leaves.push(Leaf { difference: ValueDifference::Respelled, ..leaf });
            return;
        }
        (None, Some(_)) => ValueDifference::Added,
        (Some(old), None | Some(Value::Null)) if is_empty(old) => return,
        (_, None) | (Some(_), Some(Value::Null)) => ValueDifference::Dropped,
        (Some(_), Some(_)) => ValueDifference::Replaced,
    };
    let part = |inner: Option<&'a Value>, key: &str| inner.and_then(|inner| inner.as_object()?.get(key));
    let item = |inner: Option<&'a Value>, index: usize| inner.and_then(|inner| inner.as_array()?.get(index));
    // Something else stood in the place of the whole.
    let old_scalar = leaf.written.filter(|old| old.as_object().is_none() && old.as_array().is_none());
    match leaf.value.or(leaf.written) {
        Some(Value::Object(object)) if !object.is_empty() => {
            let written = leaf.written.and_then(Value::as_object);
            let lost = written.into_iter().flat_map(Object::keys).filter(|key| !object.contains_key(key));
            for key in object.keys().chain(lost) {
                let written = part(leaf.written, key).or(old_scalar);
                let value = part(leaf.value, key);
                let at = leaf.at.key(key);
                collect(Leaf { at, name: key, value, written, siblings: object, ..leaf }, leaves);
            }
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let count = leaf.written.and_then(Value::as_array).map_or(0, <[Value]>::len).max(items.len());
            for index in 0..count {
                let (value, written) = (item(leaf.value, index), item(leaf.written, index).or(old_scalar));
                collect(Leaf { at: leaf.at.index(index), value, written, ..leaf }, leaves);
            }
        }
        _ => leaves.push(Leaf { difference, ..leaf }),
    }
}

/// The leaves of parameters, each with its place.
pub(crate) fn leaves_of(parameters: &Object) -> impl Iterator<Item = (Path, &Value)> {
    let mut leaves = Vec::new();
    for (name, value) in parameters {
        let (at, difference, is_of_first_plan) = (Path::root().key(name), ValueDifference::None, false);
        let (root, siblings) = (None, parameters);
        collect(
            Leaf { at, name, value: Some(value), written: None, root, siblings, difference, is_of_first_plan },
            &mut leaves,
        );
    }
    leaves.into_iter().filter_map(|leaf| Some((leaf.at, leaf.value?)))
}

/// Whether a value is a list of the other one alone.
fn is_list_of(one: &Value, list: &Value) -> bool {
    matches!(list.as_array(), Some([only]) if is_same_value(one, only))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn value_at<'a>(parameters: &'a Object, at: &Path) -> Option<&'a Value> {
    let [Segment::Key(name), inner @ ..] = at.segments() else { return None };
    parameters.get(name)?.at(&inner.iter().cloned().collect())
}

pub(super) fn top_level(at: &Path) -> Option<&str> {
    match at.segments().first()? {
        Segment::Key(name) => Some(name),
        Segment::Index(_) => None,
    }
}

/// A place as people write it: `payment.to.iban`.
pub(super) fn display_path(at: &Path) -> String {
    let text = at.to_string();
    text.strip_prefix("$.").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_single_listed_form_of_a_word_is_another_spelling() {
        let schema = Value::parse(r#"{"enum": ["EUR", "USD", "USDT", "cancelled"]}"#).expect("valid");
        for (old, new, expected) in [
            ("Euro", "EUR", true),
            ("Euro", "USD", false),
            ("cancel", "cancelled", true),
            ("USDTether", "USDT", false),
            ("Eu", "EUR", false),
            ("Euro", "EUR1", false),
        ] {
            assert_eq!(is_listed_form(&old.into(), &new.into(), &[&schema]), expected, "{old} {new}");
        }
        assert!(!is_listed_form(&"Euro".into(), &"EUR".into(), &[]));
    }
}
