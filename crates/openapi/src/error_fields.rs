//! Where errors name a parameter, found in their schemas: by what the schema says of a field, or by its name.

use std::collections::VecDeque;

use reknit_protocol::spelling::folded;
use reknit_protocol::{ErrorFields, Value};

use crate::schema::Definitions;

/// The most schemas in which one error is searched. Errors are small, and their schemas may be cyclic.
const MAX_SCHEMAS: usize = 100;
/// Names of fields that name a parameter, without spaces and in small letters.
const PARAMETER_NAMES: &str = "field fieldname parameter parametername param property propertyname propertypath \
    attribute argument pointer location loc path";
/// Names of fields that say what is wrong.
const MESSAGE_NAMES: &str = "message msg reason detail details description explanation text error";
/// What the description of a field says that names a parameter, each after a comma.
const PARAMETER_WORDS: &str = "field,parameter,property,attribute,argument";
/// What the description of a field says that tells what is wrong.
const MESSAGE_WORDS: &str =
    "message,what is wrong,what went wrong,explanation,reason,human-readable,human readable,why";

/// The first error schema with a field for the name of a parameter decides; those of rejected input come first.
pub(crate) fn find(errors: &[(String, Value)], definitions: &Definitions) -> Option<ErrorFields> {
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(|(status, _)| !matches!(status.as_str(), "400" | "422"));
    errors.iter().find_map(|(_, schema)| in_schema(schema, definitions))
}

fn in_schema(schema: &Value, definitions: &Definitions) -> Option<ErrorFields> {
    let mut waiting = VecDeque::from([schema]);
    for _ in 0..MAX_SCHEMAS {
        let schema = definitions.resolve(waiting.pop_front()?);
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields: Vec<(&str, &Value)> =
            properties.into_iter().flatten().map(|(name, field)| (name, definitions.resolve(field))).collect();
        if let Some(parameter) = pick(&fields, is_path, PARAMETER_WORDS, PARAMETER_NAMES, None) {
            let message = pick(&fields, is_text, MESSAGE_WORDS, MESSAGE_NAMES, Some(parameter));
            return Some(ErrorFields::new(parameter, message.map(str::to_owned)));
        }
        let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|word| schema.get(word)?.as_array()).flatten();
        waiting
            .extend(parts.chain(schema.get("items")).chain(fields.iter().map(|(_, field)| *field)).take(MAX_SCHEMAS));
    }
    None
}

/// The first field with one of the names, or else whose description has one of the words.
fn pick<'a>(
    fields: &[(&'a str, &Value)],
    fits: fn(&Value) -> bool,
    words: &str,
    names: &str,
    except: Option<&str>,
) -> Option<&'a str> {
    let candidates = || fields.iter().filter(|(name, schema)| Some(*name) != except && fits(schema));
    let described = |schema: &Value| {
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        words.split(',').any(|word| has_word(&text, word))
    };
    let by_name = candidates().find(|(name, _)| names.split(' ').any(|known| known == folded(name)));
    by_name.or_else(|| candidates().find(|(_, schema)| described(schema))).map(|(name, _)| *name)
}

/// Whether a text has a word, perhaps in the plural.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let after = text.get(at + word.len()..).unwrap_or_default();
        let after = after.strip_prefix('s').unwrap_or(after);
        !is_letter(text.get(..at).and_then(|before| before.chars().next_back())) && !is_letter(after.chars().next())
    })
}

fn is_text(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("string") && schema.get("format").is_none()
}

/// A path is written as a text or as a list of its segments.
fn is_path(schema: &Value) -> bool {
    let items = || schema.get("items").is_some_and(|items| items.get("properties").is_none());
    is_text(schema) || (schema.get("type").and_then(Value::as_str) == Some("array") && items())
}
