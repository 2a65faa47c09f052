//! Sanitizing of texts from servers for our own messages.

use reknit_protocol::shorten;

const MAX_CHARACTERS: usize = 500;

/// One line of bounded length, without control characters and with the secret redacted.
pub(crate) fn sanitize(text: &str, secret: Option<&str>) -> String {
    // Before anything is cut or joined, because half a secret would not be found.
    let text = redact_secret(text, secret);
    let words =
        text.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty());
    shorten(&words.collect::<Vec<_>>().join(" "), MAX_CHARACTERS).into_owned()
}

pub(crate) fn redact_secret(text: &str, secret: Option<&str>) -> String {
    match secret {
        Some(secret) if !secret.is_empty() => text.replace(secret, "[redacted]"),
        _ => text.to_owned(),
    }
}

/// The message of the innermost source of an error, which is the most specific one.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_line_of_bounded_length() {
        assert_eq!(sanitize("  a\n\tb\u{0}c  ", None), "a b c");
        assert_eq!(sanitize("", None), "");
        let long = sanitize(&"ä".repeat(600), None);
        assert_eq!(long.chars().count(), MAX_CHARACTERS + 1);
        assert!(long.ends_with("ä…"));
        assert_eq!(sanitize(&"a".repeat(MAX_CHARACTERS), None), "a".repeat(MAX_CHARACTERS));
    }

    #[test]
    fn the_secret_is_redacted_before_the_text_is_cut() {
        let text = format!("{} sk-secret is wrong", "x".repeat(MAX_CHARACTERS - 5));
        let line = sanitize(&text, Some("sk-secret"));
        assert!(!line.contains("sk-s"), "{line}");
        assert_eq!(sanitize("key sk-secret, twice sk-secret", Some("sk-secret")), "key [redacted], twice [redacted]");
        assert_eq!(sanitize("abc", Some("")), "abc");
    }
}
