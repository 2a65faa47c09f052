//! The business keys in `[[keys]]`: which parameters identify a deed.

use std::collections::BTreeMap;

use reknit_plan::CatalogueEntry;
use reknit_protocol::spelling::nearest;
use reknit_protocol::{KeyRule, Object, SideEffect, Value};

use super::duration::format_ms;
use super::entry::Entry;
use super::error::ConfigError;

/// Reads the entries of `[[keys]]`, by the capability whose calls they identify.
pub(super) fn read_keys(entries: &[Entry]) -> Result<BTreeMap<String, KeyRule>, ConfigError> {
    let mut keys = BTreeMap::new();
    for entry in entries {
        let capability = entry.text("capability").unwrap_or_default();
        let is_name = |(tool, name): (&str, &str)| !tool.is_empty() && !name.is_empty();
        if !capability.split_once('/').is_some_and(is_name) {
            return Err(entry.invalid("capability", "write the tool and its capability, like `shop/refund`"));
        }
        let mut rule = KeyRule::new(entry.texts("fields"));
        if rule.fields.is_empty() || rule.fields.iter().any(|field| field.trim().is_empty()) {
            let problem = "write the parameters that identify the deed, like `[\"order_id\", \"amount\"]`";
            return Err(entry.invalid("fields", problem));
        }
        if let Some(window) = entry.get::<std::time::Duration>("window") {
            if window.subsec_nanos() > 0 {
                return Err(entry.invalid("window", "write whole seconds, like `24h`"));
            }
            rule.window_s = window.as_secs();
        }
        if keys.insert(capability.to_owned(), rule).is_some() {
            return Err(entry.invalid("capability", "another key has it; write one key for each capability"));
        }
    }
    Ok(keys)
}

/// A key under the names of `[[keys]]`.
pub(super) fn shown_key((capability, rule): (&String, &KeyRule)) -> Object {
    let fields = rule.fields.iter().map(|field| Value::from(field.as_str())).collect();
    let window = format_ms(rule.window_s.saturating_mul(1_000));
    Object::from([("capability", capability.as_str().into()), ("fields", fields), ("window", window.into())])
}

/// Why a key cannot be used for a capability, which has the side effect `class`.
pub(super) fn problem_of_key(rule: &KeyRule, entry: &CatalogueEntry, class: SideEffect) -> Option<String> {
    if class == SideEffect::Read {
        return Some("its calls only read, so there is no deed to identify: remove the key".to_owned());
    }
    let (field, names) = entry.json_schema().as_ref().and_then(|schema| {
        let (field, names) = rule.unknown_field(schema)?;
        Some((field.to_owned(), names))
    })?;
    let hint = match nearest(&field, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is: {}", names.join(", ")),
    };
    Some(format!("it has no parameter `{field}`; {hint}"))
}
