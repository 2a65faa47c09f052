//! Redacts secrets in parameters, prompts and errors.
//!
//! A value is a secret if the name before it says so (`password: ...`), or if it has the form of an API key. All other text
//! stays as it is.

use reknit_protocol::{Object, Value};

const REDACTED: &str = "[redacted]";

/// The endings of secret names, in lower case and without separators. `tokens` is missing because it is an amount.
const SECRET_NAMES: &str = "password passwd passphrase pwd secret secretkey apikey accesskey privatekey token credential \
    credentials cookie authorization";

/// Names of headers whose value extends to the end of the line.
const HEADERS: &str = "cookie authorization";

/// Authentication schemes, which precede a secret in a header.
const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];

const KEY_PREFIXES: &str = "sk- pk- sk_live_ sk_test_ pk_live_ pk_test_ rk_live_ rk_test_ whsec_ gsk_ xai- hf_ nvapi- pplx- ghp_ \
    gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xapp- AKIA ASIA AIza ya29.";

/// The shortest text that its prefix makes a key.
const MIN_KEY_LENGTH: usize = 16;

/// Redacts the values of secret names, at any depth.
pub fn redact_object(object: &Object) -> Object {
    let redacted = object.iter().map(|(name, value)| {
        let value = if is_secret_name(name) { REDACTED.into() } else { redact_value(value) };
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
    ends_with_one(name, SECRET_NAMES)
}

fn ends_with_one(name: &str, endings: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    endings.split(' ').any(|ending| plain.ends_with(ending))
}

pub(crate) fn redact_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = "";
    let mut rest = text;
    while !rest.is_empty() {
        let (gap, after) = split_at_first(rest, |c| !is_separator(c));
        let (word, after) = split_at_first(after, is_separator);
        out.push_str(gap);
        let follows_scheme = ["bearer", "basic"].iter().any(|scheme| before.eq_ignore_ascii_case(scheme))
            && gap.chars().all(char::is_whitespace)
            && word.len() >= 8;
        let host =
            if before.starts_with("//") && gap == ":" { word.rfind('@').map(|at| word.split_at(at).1) } else { None };
        match host {
            Some(host) => out.extend([REDACTED, host]),
            None if follows_scheme || looks_like_key(word) => out.push_str(REDACTED),
            None => out.push_str(word),
        }
        (before, rest) = (word, after);
        if let Some((between, secret)) = secret_after(word, after) {
            out.extend([between, REDACTED]);
            (before, rest) = ("", after.split_at(between.len() + secret.len()).1);
        }
    }
    out
}

/// The separator between a secret name and its value, and the value; `None` if no value follows.
fn secret_after<'a>(name: &str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let (closing, joined) = split_at_first(after, |c| !(is_quote(c) || c.is_whitespace() || matches!(c, '\\' | ']')));
    if !joined.starts_with([':', '=']) || !is_secret_name(name) {
        return None;
    }
    let value = joined.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '>'));
    let slashes = value.len() - value.trim_start_matches('\\').len();
    let (value, secret) = match value.get(slashes..).and_then(|value| value.chars().next()) {
        Some(quote) if is_quote(quote) => {
            let inner = value.get(slashes + 1..)?;
            (inner, quoted(inner, quote, slashes))
        }
        Some('{' | '[' | '(') => (value, bracketed(value)),
        _ if closing.is_empty() && joined.starts_with(':') && ends_with_one(name, HEADERS) => {
            (value, split_at_first(value, |c| is_quote(c) || c == '\n').0.trim_end_matches('\\'))
        }
        // Backslashes at the end belong to the quote that follows.
        _ => (value, unquoted(value).trim_end_matches('\\')),
    };
    (!secret.is_empty()).then(|| (after.split_at(after.len() - value.len()).0, secret))
}

/// The text up to the closing quote. Each level of JSON within JSON doubles the backslashes, so their number tells the level.
fn quoted(text: &str, quote: char, slashes: usize) -> &str {
    let closes = |at: &usize| {
        let before = text.split_at(*at).0;
        (before.len() - before.trim_end_matches('\\').len()) % (2 * (slashes + 1)) == slashes
    };
    let end = text.match_indices(quote).map(|(at, _)| at).find(closes);
    end.map_or(text, |end| text.split_at(end.saturating_sub(slashes)).0)
}

fn bracketed(text: &str) -> &str {
    let mut open = 0_usize;
    let end = text.char_indices().find(|(_, c)| {
        match c {
            '{' | '[' | '(' => open += 1,
            '}' | ']' | ')' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    });
    end.map_or(text, |(at, _)| text.split_at(at + 1).0)
}

/// The first word, or the first two if the first one is an authentication scheme.
fn unquoted(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || is_quote(c) || matches!(c, ',' | ';' | '&' | '}' | ']' | ')');
    let (word, after) = split_at_first(text, ends);
    if !SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
        return word;
    }
    let (gap, after) = split_at_first(after, |c| !matches!(c, ' ' | '\t'));
    let (second, _) = split_at_first(after, ends);
    text.split_at(word.len() + gap.len() + second.len()).0
}

fn split_at_first(text: &str, matches: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(matches).unwrap_or(text.len()))
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || is_quote(c)
        || matches!(c, ',' | ';' | ':' | '=' | '&' | '?' | '{' | '}' | '[' | ']' | '(' | ')' | '\\')
}

fn looks_like_key(word: &str) -> bool {
    let is_jwt = word.starts_with("eyJ") && word.matches('.').count() == 2;
    word.len() >= MIN_KEY_LENGTH && (is_jwt || KEY_PREFIXES.split(' ').any(|prefix| word.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_text_are_redacted_and_other_text_stays() {
        for (text, expected) in [
            ("amount must be greater than 0", "amount must be greater than 0"),
            (r#"{"city":"Tokyo","password":"hunter2"}"#, r#"{"city":"Tokyo","password":"[redacted]"}"#),
            ("Authorization: Bearer abcdef123456", "Authorization: [redacted]"),
            ("bearer of bad news", "bearer of bad news"),
            ("api_key=abc&city=Tokyo", "api_key=[redacted]&city=Tokyo"),
            ("the key sk-proj-0123456789abcdef is wrong", "the key [redacted] is wrong"),
            ("https://user:secret@host/path", "https://user:[redacted]@host/path"),
            ("max_tokens: 2000, token count 7", "max_tokens: 2000, token count 7"),
            ("eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM", "[redacted]"),
            ("x-api-key: 123", "x-api-key: [redacted]"),
            ("GROQ_API_KEY=gsk_1", "GROQ_API_KEY=[redacted]"),
            ("db_password = 'a b', city: Tokyo", "db_password = '[redacted]', city: Tokyo"),
            ("X-Auth-Token: a:b=c\nHost: d", "X-Auth-Token: [redacted]\nHost: d"),
            ("Cookie: a=b; c=d\nHost: e", "Cookie: [redacted]\nHost: e"),
            ("-H 'Authorization: Token abc123' -v", "-H 'Authorization: [redacted]' -v"),
            ("proxy_token=Token abc123 city", "proxy_token=[redacted] city"),
            (r#"{"id_token":"a","pwd":"b","n":1}"#, r#"{"id_token":"[redacted]","pwd":"[redacted]","n":1}"#),
            (
                "aws_secret_access_key=a stripe_secret_key=b",
                "aws_secret_access_key=[redacted] stripe_secret_key=[redacted]",
            ),
            (r#"{"password": "correct horse battery", "a": 1}"#, r#"{"password": "[redacted]", "a": 1}"#),
            (r#"{"password": "a \" b\\", "a": 1}"#, r#"{"password": "[redacted]", "a": 1}"#),
            (r#""{\"password\": \"a \\\" b\", \"a\": 1}""#, r#""{\"password\": \"[redacted]\", \"a\": 1}""#),
            (r#""api_key=abc\" and on"#, r#""api_key=[redacted]\" and on"#),
            (r#"{"secret": {"a": [1]}, "b": 2}"#, r#"{"secret": [redacted], "b": 2}"#),
            ("password: \"cut in the mid", "password: \"[redacted]"),
            ("api_key=[redacted]&a=1", "api_key=[redacted]&a=1"),
            ("password: \"\", a: 1", "password: \"\", a: 1"),
            ("gsk_0123456789abcdef xai-0123456789abcdef", "[redacted] [redacted]"),
            ("sk_live_0123456789 sk_test_0123456789", "[redacted] [redacted]"),
            ("input_tokens=7, tokens: 8, a secret plan", "input_tokens=7, tokens: 8, a secret plan"),
            ("", ""),
            ("=:=", "=:="),
        ] {
            assert_eq!(redact_text(text), expected);
        }
    }

    #[test]
    fn secret_parameters_are_redacted_at_any_depth() {
        let given = Value::parse(r#"{"user": "a", "auth": {"API-Key": 7, "list": [{"secret": {"a": 1}}]}}"#).unwrap();
        let redacted = redact_object(given.as_object().unwrap()).to_string();
        assert_eq!(redacted, r#"{"user":"a","auth":{"API-Key":"[redacted]","list":[{"secret":"[redacted]"}]}}"#);
    }
}
