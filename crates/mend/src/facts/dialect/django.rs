//! Django REST: the body has a list of sentences under the name of each field.

use reknit_protocol::{Object, Value};

use super::rails::sentences;
use crate::facts::Fact;

/// The facts in the sentences under each name.
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
