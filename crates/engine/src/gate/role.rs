//! What a parameter is for: declared by the configuration or its tool, or guessed from its schema, its value and its name.

use std::fmt;

use reknit_mend::{ValueKind, value_kind};
use reknit_protocol::{Number, Object, SideEffect, Value};

use crate::declared_roles::ParameterRole;

/// The key of a schema with which a tool declares the role of a parameter.
const DECLARED: &str = "x-reknit-role";

/// A longer text, or one of several lines, says something; a short one names something.
const LONGEST_NAME: usize = 64;

/// Names of parameters that decide what a call does, without separators.
const SWITCHES: [&str; 10] =
    ["dryrun", "validateonly", "simulate", "sandbox", "testmode", "force", "confirm", "confirmed", "preview", "live"];

/// From what the role of a short text is guessed.
const BY_LENGTH: &str = "its length";

/// Names of parameters that say something to whoever reads it, without separators.
const TEXTS: [&str; 13] = [
    "body",
    "caption",
    "comment",
    "content",
    "description",
    "message",
    "note",
    "notes",
    "reason",
    "subject",
    "summary",
    "text",
    "title",
];

/// Fewer words are in many texts by chance.
const WORDS_OF_PHRASE: usize = 4;

/// How the role of a parameter was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleSource {
    Configuration,
    Schema,
    /// From what it was guessed.
    Guess(&'static str),
}

impl fmt::Display for RoleSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration => out.write_str("declared in the configuration"),
            Self::Schema => out.write_str("declared in the schema"),
            Self::Guess(from) => write!(out, "guessed from {from}"),
        }
    }
}

/// A leaf of the parameters of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoleGuess<'a> {
    /// The role that the configuration declares.
    pub(crate) configured: Option<ParameterRole>,
    pub(crate) class: SideEffect,
    /// The key that the value has; that of the list for an item.
    pub(crate) name: &'a str,
    pub(crate) value: &'a Value,
    /// The schemas that describe it.
    pub(crate) schemas: &'a [&'a Value],
    pub(crate) siblings: &'a Object,
}

impl RoleGuess<'_> {
    fn is_listed(&self) -> bool {
        self.schemas.iter().any(|schema| schema.get("enum").is_some())
    }

    fn is_text(&self) -> bool {
        let name = self.name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
        TEXTS.contains(&name.collect::<String>().as_str())
    }
}

/// The role of a parameter, and how it was found. For an undeclared tool of the protocol only what name, format or digits
/// identify is a target.
pub(crate) fn find_role(guess: RoleGuess<'_>) -> (ParameterRole, RoleSource) {
    let RoleGuess { configured, class, name, value, schemas, siblings } = guess;
    if let Some(role) = configured {
        return (role, RoleSource::Configuration);
    }
    let declared = schemas.iter().find_map(|schema| ParameterRole::from_word(schema.get(DECLARED)?.as_str()?));
    let (guessed, from) = guess_role(class, name, value, schemas, siblings);
    match declared {
        // A source that is not trusted may only be stricter; a switch has rules of its own and stays one.
        Some(role) if class != SideEffect::Unknown || role < guessed && guessed != ParameterRole::Switch => {
            (role, RoleSource::Schema)
        }
        _ => (guessed, RoleSource::Guess(from)),
    }
}

fn guess_role(
    class: SideEffect,
    name: &str,
    value: &Value,
    schemas: &[&Value],
    siblings: &Object,
) -> (ParameterRole, &'static str) {
    let type_of = schemas.iter().find_map(|schema| type_word(schema));
    let plain: String = name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if SWITCHES.contains(&plain.as_str()) {
        return (ParameterRole::Switch, "its name");
    }
    if value.as_bool().is_some() || type_of == Some("boolean") {
        return (ParameterRole::Switch, "its type");
    }
    let is_exact = |name: &str, text: &str, schema: Option<&Value>| {
        value_kind(name, &Value::from(text), schema, siblings) == ValueKind::Exact
    };
    let (text, is_number) = match value {
        Value::Number(_) => ("", true),
        Value::String(text) => (text.trim(), Number::parse(text.trim()).is_ok()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => ("", false),
    };
    let is_number = is_number || matches!(type_of, Some("number" | "integer"));
    // Any number is exact, so name and format are judged with a word in its place.
    let word = if is_number { "a" } else { text };
    if schemas.iter().any(|schema| is_exact("", "", Some(schema))) {
        return (ParameterRole::Target, "its format");
    }
    if is_exact(name, word, None) {
        return (ParameterRole::Target, if is_exact("", word, None) { "its value" } else { "its name" });
    }
    let names_something = !text.contains('\n') && text.chars().count() <= LONGEST_NAME;
    match class {
        _ if is_number => (ParameterRole::Quantity, "its type"),
        SideEffect::Undeclared => (ParameterRole::Content, "its type"),
        _ if names_something => (ParameterRole::Target, BY_LENGTH),
        _ => (ParameterRole::Content, "its length"),
    }
}

/// Whether a short text that counts as a target names nobody and nothing after all: an agent may write it by itself. It is what
/// a message says, a date, or one of a list of the schema.
pub(crate) fn is_own_word(guess: RoleGuess<'_>) -> bool {
    let is_guess = matches!(find_role(guess).1, RoleSource::Guess(BY_LENGTH));
    is_guess && (guess.is_listed() || guess.is_text() || guess.value.as_str().is_some_and(is_date))
}

/// Whether a value is a text of several words that its reader reads. Whoever has it word for word in another text copied it.
pub(crate) fn is_phrase(guess: RoleGuess<'_>) -> bool {
    let words = guess.value.as_str().map_or(0, |text| text.split_whitespace().count());
    words >= WORDS_OF_PHRASE && guess.is_text() && !guess.is_listed()
}

/// Whether a text is a date or a time: `2026-05-01`, `2026-05-01 10:00`, `10:00`.
fn is_date(text: &str) -> bool {
    let is_of_digits = text.chars().all(|letter| letter.is_ascii_digit() || "-:T+Z. /".contains(letter));
    is_of_digits
        && text.contains(['-', ':'])
        && text.chars().filter(char::is_ascii_digit).count() >= 4
        && text.len() <= 32
}

/// The type of a schema, also of one that allows null.
pub(super) fn type_word(schema: &Value) -> Option<&str> {
    let stated = schema.get("type")?;
    let words = stated.as_array().unwrap_or_default().iter().filter_map(Value::as_str);
    stated.as_str().or_else(|| words.into_iter().find(|word| *word != "null"))
}

/// The longest text that names something.
pub(crate) fn longest_name() -> String {
    "a".repeat(LONGEST_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_is_not_trusted_can_only_make_a_role_stricter() {
        use ParameterRole::{Content, Target};
        let siblings = Object::new();
        for (class, name, declared, role) in [
            (SideEffect::Unknown, "account", Content, Target),
            (SideEffect::Keyed, "account", Content, Content),
            (SideEffect::Unknown, "note", Target, Target),
            (SideEffect::Unknown, "dry_run", Target, ParameterRole::Switch),
        ] {
            let schema = Value::from(Object::from([(DECLARED, Value::from(declared.as_str()))]));
            let value = &Value::from("a text that is longer than a name, because it says something to its reader");
            let guess = RoleGuess { configured: None, class, name, value, schemas: &[&schema], siblings: &siblings };
            assert_eq!(find_role(guess).0, role, "{class:?} {name}");
        }
    }

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
            let guess =
                RoleGuess { configured: None, class, name, value: &value, schemas: schema.as_slice(), siblings: &none };
            assert_eq!(find_role(guess).0, role, "{class:?} {name} {value}");
            let configured = Some(Quantity);
            assert_eq!(find_role(RoleGuess { configured, ..guess }), (Quantity, RoleSource::Configuration));
        }
    }
}
