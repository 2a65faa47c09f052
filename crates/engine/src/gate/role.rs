//! What a parameter is for: declared by its tool, or guessed from its schema, its value and its name.

use reknit_mend::{ValueKind, value_kind};
use reknit_protocol::{Object, SideEffect, Value};

use super::ParameterRole;

/// The key of a schema with which a tool declares the role of a parameter.
const DECLARED: &str = "x-reknit-role";

/// A longer text, or one of several lines, says something; a short one names something.
const LONGEST_NAME: usize = 64;

/// Names of parameters that decide what a call does, without separators.
const SWITCHES: [&str; 10] =
    ["dryrun", "validateonly", "simulate", "sandbox", "testmode", "force", "confirm", "confirmed", "preview", "live"];

/// A leaf of the parameters of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleGuess<'a> {
    pub(crate) class: SideEffect,
    /// The key that the value has; that of the list for an item.
    pub(crate) name: &'a str,
    pub(crate) value: &'a Value,
    pub(crate) schema: Option<&'a Value>,
    pub(crate) siblings: &'a Object,
}

/// The role of a parameter. For an undeclared tool of the protocol only what name, format or digits identify is a target.
pub(crate) fn guess_role(guess: RoleGuess<'_>) -> ParameterRole {
    let RoleGuess { class, name, value, schema, siblings } = guess;
    let declared = schema.and_then(|schema| schema.get(DECLARED)).and_then(Value::as_str);
    if let Some(role) = declared.and_then(ParameterRole::from_word) {
        return role;
    }
    let type_of = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    let plain: String = name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if value.as_bool().is_some() || type_of == Some("boolean") || SWITCHES.contains(&plain.as_str()) {
        return ParameterRole::Switch;
    }
    let text = match value {
        Value::Number(_) => {
            let is_identified = value_kind(name, &Value::from("a"), schema, siblings) == ValueKind::Exact;
            return if is_identified { ParameterRole::Target } else { ParameterRole::Quantity };
        }
        Value::String(text) => text.trim(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => "",
    };
    let is_identified = value_kind(name, &Value::from(text), schema, siblings) == ValueKind::Exact;
    let is_number = matches!(type_of, Some("number" | "integer")) || reknit_protocol::Number::parse(text).is_ok();
    if is_number {
        let is_named = value_kind(name, &Value::from("a"), schema, siblings) == ValueKind::Exact;
        return if is_named { ParameterRole::Target } else { ParameterRole::Quantity };
    }
    let names_something = !text.contains('\n') && text.chars().count() <= LONGEST_NAME;
    if is_identified || class != SideEffect::Undeclared && names_something {
        ParameterRole::Target
    } else {
        ParameterRole::Content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_follows_from_schema_value_and_name() {
        use ParameterRole::{Content, Quantity, Switch, Target};
        use SideEffect::{Keyed, Undeclared};
        let schema = |text: &str| Value::parse(text).unwrap();
        let declared = schema(r#"{"x-reknit-role": "content"}"#);
        let boolean = schema(r#"{"type": "boolean"}"#);
        let email = schema(r#"{"format": "email"}"#);
        let long = "a text that says more than a name can say, so it is something to be read";
        let none = Object::new();
        for (class, name, value, schema, role) in [
            (Undeclared, "city", Value::from("Tokio"), None, Content),
            (Keyed, "city", Value::from("Tokio"), None, Target),
            (Keyed, "text", Value::from(long), None, Content),
            (Keyed, "text", Value::from("a\nb"), None, Content),
            (Undeclared, "customer_id", Value::from(991), None, Target),
            (Undeclared, "account", Value::from("DE1"), None, Target),
            (Undeclared, "account", Value::from("991"), None, Target),
            (Undeclared, "account", Value::from("991"), Some(&declared), Content),
            (Undeclared, "who", Value::from("a"), Some(&email), Target),
            (Undeclared, "amount", Value::from(5), None, Quantity),
            (Undeclared, "amount", Value::from("5"), None, Quantity),
            (Undeclared, "really", Value::from("yes"), Some(&boolean), Switch),
            (Undeclared, "really", Value::from(true), None, Switch),
            (Undeclared, "dry_run", Value::from("yes"), None, Switch),
        ] {
            let guess = RoleGuess { class, name, value: &value, schema, siblings: &none };
            assert_eq!(guess_role(guess), role, "{class:?} {name} {value}");
        }
    }
}
