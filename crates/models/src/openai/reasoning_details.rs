//! Reasoning as routers send it: a list of typed items, which must be sent back unchanged.

use reknit_model_api::ProviderState;
use reknit_protocol::{Object, Value};

pub(super) const STATE_FORMAT: &str = "openrouter";

/// The fields whose pieces in a stream are concatenated.
const TEXTS: &[&str] = &["text", "summary", "data"];

#[derive(Debug, Default)]
pub(crate) struct ReasoningDetails(Vec<Object>);

impl ReasoningDetails {
    /// Adds items, or the next pieces of items, which carry the same type and index.
    pub(super) fn add(&mut self, items: &[Value]) {
        for item in items.iter().filter_map(Value::as_object) {
            let is_same = |known: &&mut Object| {
                item.contains_key("index") && ["type", "index"].iter().all(|key| known.get(key) == item.get(key))
            };
            match self.0.iter_mut().find(is_same) {
                Some(known) => extend(known, item),
                None => self.0.push(item.clone()),
            }
        }
    }

    /// The list as provider state; none if it is empty.
    pub(crate) fn state(&self) -> Option<ProviderState> {
        let list: Value = self.0.iter().cloned().map(Value::from).collect();
        (!self.0.is_empty()).then(|| ProviderState::new(STATE_FORMAT, list.to_string()))
    }
}

fn extend(known: &mut Object, piece: &Object) {
    for (key, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
        match (known.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) if TEXTS.contains(&key) => text.push_str(more),
            _ => {
                known.insert(key, value.clone());
            }
        }
    }
}
