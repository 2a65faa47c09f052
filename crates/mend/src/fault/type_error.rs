//! Errors about the type of a parameter: the tool could not even decode the call.

/// What decoders say about a value of the wrong type, in lower case.
const PHRASES: [&str; 7] = [
    "cannot unmarshal",
    "type mismatch",
    "mismatched type",
    "cannot deserialize",
    "failed to deserialize",
    "json value could not be converted",
    "invalid type: ",
];

/// What a message speaks of if the tool could not decode the reply of another service. By then the call was accepted.
const OTHER_SUBJECTS: [&str; 4] = ["response", "reply", "upstream", "backend"];

/// Whether a message says that a parameter has the wrong type.
pub(super) fn is_type_error(message: &str) -> bool {
    let message = message.to_lowercase();
    PHRASES.iter().any(|phrase| message.contains(phrase))
        && !OTHER_SUBJECTS.iter().any(|subject| message.contains(subject))
}
