//! Errors about the type of a parameter: the tool could not even decode the call.

/// What decoders say about a value of the wrong type, in lower case.
const PHRASES: [&str; 7] = [
    "cannot unmarshal",
    "type mismatch",
    "mismatched type",
    "cannot deserialize",
    "failed to deserialize",
    "json value could not be converted",
    "invalid type",
];

/// The types in "expected number".
const TYPES: [&str; 10] = ["number", "string", "boolean", "bool", "integer", "int", "float", "array", "object", "list"];

/// Words that may stand between "expected" and the type.
const FILLERS: [&str; 5] = ["a", "an", "type", "of", "value"];

/// What a message speaks of if the tool could not decode the answer of another service. By then the call was accepted.
const OTHER_SUBJECTS: [&str; 4] = ["response", "reply", "upstream", "backend"];

/// Words before the name of a parameter.
const NOUNS_BEFORE_NAMES: [&str; 5] = ["field", "parameter", "property", "argument", "key"];

/// Whether a message says that a value has the wrong type.
pub(super) fn speaks_of_type(message: &str) -> bool {
    let message = message.to_lowercase();
    PHRASES.iter().any(|phrase| message.contains(phrase)) || expects_type(&message)
}

/// Whether a message says "expected number" and not "expected number of rows" or "unexpected string".
fn expects_type(message: &str) -> bool {
    let words: Vec<&str> =
        message.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let starts = words.iter().enumerate().filter(|(_, word)| **word == "expected").map(|(at, _)| at + 1);
    starts.into_iter().any(|start| {
        let mut rest = words.iter().skip(start).skip_while(|word| FILLERS.contains(word));
        let (word, next) = (rest.next().copied().unwrap_or_default(), rest.next().copied());
        let is_quantity = (word == "number" && next == Some("of")) || matches!(next, Some("length" | "size"));
        TYPES.contains(&word) && !is_quantity
    })
}

pub(super) fn speaks_of_invalid_value(message: &str) -> bool {
    message.to_lowercase().contains("invalid value")
}

/// Whether a message speaks of the answer of another service, as in "cannot unmarshal response from upstream". A part of a
/// name, as in `ReplyRequest.count`, does not count.
pub(super) fn speaks_of_other_service(message: &str) -> bool {
    let message = message.to_lowercase();
    OTHER_SUBJECTS.iter().any(|subject| {
        message.match_indices(subject).any(|(at, _)| {
            let before = message.get(..at).unwrap_or_default();
            let after = message.get(at + subject.len()..).unwrap_or_default();
            !is_in_name(before, after)
        })
    })
}

/// Whether the word between these texts is a name or a part of one.
fn is_in_name(before: &str, after: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '\'' | '`');
    let mut behind = after.chars();
    let is_continued = match behind.next() {
        Some('.') => behind.next().is_some_and(char::is_alphanumeric),
        next => next.is_some_and(is_letter),
    };
    let last_word = before.split_whitespace().next_back().unwrap_or_default();
    is_continued
        || before.ends_with(|letter: char| is_letter(letter) || letter == '.')
        || NOUNS_BEFORE_NAMES.contains(&last_word)
}
