//! Secrets that stand in parameters, prompts and errors do not leave with them.
//!
//! What is a secret is told by the name in front of it, or by the form that issuers give to their keys. Nothing else is
//! changed: numbers and words must be seen as they were.

use reknit_protocol::{Object, Value};

const MARK: &str = "[redacted]";

/// Names of secrets, in small letters without what separates words.
const NAMES: [&str; 17] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "credential",
    "credentials",
    "password",
    "passwd",
    "privatekey",
    "refreshtoken",
    "secret",
    "secretkey",
    "xapikey",
];

/// How keys begin.
const FORMS: [&str; 9] = ["sk-", "pk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "AIza"];

/// The shortest text that counts as a key by its form.
const SHORTEST: usize = 16;

/// The values of secret names are left out, at any depth.
pub(super) fn redact_object(object: &Object) -> Object {
    let redacted = object.iter().map(|(name, value)| {
        let value = if is_secret_name(name) { MARK.into() } else { redact_value(value) };
        (name.to_owned(), value)
    });
    redacted.collect()
}

fn redact_value(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(redact_object(object)),
        Value::Array(items) => items.iter().map(redact_value).collect(),
        other => other.clone(),
    }
}

fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.contains(&plain.as_str())
}

/// The text without secrets.
pub(crate) fn redact_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = "";
    let mut rest = text;
    while !rest.is_empty() {
        let gap_ends = rest.find(|c| !is_gap(c)).unwrap_or(rest.len());
        let (gap, after) = rest.split_at(gap_ends);
        let (word, after) = after.split_at(after.find(is_gap).unwrap_or(after.len()));
        out.push_str(gap);
        let is_scheme = |word: &str| word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
        let follows_name = gap.contains([':', '=']) && is_secret_name(before);
        let follows_scheme = is_scheme(before) && gap.chars().all(char::is_whitespace) && word.len() >= 8;
        let host =
            if before.starts_with("//") && gap == ":" { word.find('@').map(|at| word.split_at(at).1) } else { None };
        match host {
            Some(host) => out.extend([MARK, host]),
            None if word.is_empty() || is_scheme(word) => out.push_str(word),
            None if follows_name || follows_scheme || has_form_of_key(word) => out.push_str(MARK),
            None => out.push_str(word),
        }
        before = word;
        rest = after;
    }
    out
}

fn is_gap(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '=' | '&' | '?' | '{' | '}' | '[' | ']' | '(' | ')' | '\\')
}

fn has_form_of_key(word: &str) -> bool {
    let is_token = word.starts_with("eyJ") && word.matches('.').count() == 2;
    word.len() >= SHORTEST && (is_token || FORMS.iter().any(|form| word.starts_with(form)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out_and_all_else_stays() {
        for (text, expected) in [
            ("amount must be greater than 0", "amount must be greater than 0"),
            (r#"{"city":"Tokyo","password":"hunter2"}"#, r#"{"city":"Tokyo","password":"[redacted]"}"#),
            ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"),
            ("bearer of bad news", "bearer of bad news"),
            ("api_key=abc&city=Tokyo", "api_key=[redacted]&city=Tokyo"),
            ("the key sk-proj-0123456789abcdef is wrong", "the key [redacted] is wrong"),
            ("https://user:secret@host/path", "https://user:[redacted]@host/path"),
            ("max_tokens: 2000, token count 7", "max_tokens: 2000, token count 7"),
            ("eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM", "[redacted]"),
            ("x-api-key: 123", "x-api-key: [redacted]"),
            ("", ""),
            ("=:=", "=:="),
        ] {
            assert_eq!(redact_text(text), expected);
        }
    }

    #[test]
    fn secret_parameters_are_left_out_at_any_depth() {
        let given = Value::parse(r#"{"user": "a", "auth": {"API-Key": 7, "list": [{"secret": {"a": 1}}]}}"#).unwrap();
        let redacted = redact_object(given.as_object().unwrap()).to_string();
        assert_eq!(redacted, r#"{"user":"a","auth":{"API-Key":"[redacted]","list":[{"secret":"[redacted]"}]}}"#);
    }
}
