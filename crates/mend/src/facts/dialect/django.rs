//! Django REST: the body itself has a list of sentences for each field.

use reknit_protocol::{Object, Value};

use super::rails::sentences;
use crate::facts::Fact;

/// What the sentences under each name say, if all of the body is such lists.
pub(super) fn facts(body: &Value) -> Vec<Fact> {
    let is_list = |value: &Value| {
        value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(|item| item.as_str().is_some()))
    };
    let lists: Object = match body {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| is_list(value))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect(),
        _ => return Vec::new(),
    };
    sentences(&lists, None)
}
