//! Words of others, made fit for a message.

/// The most characters of another's words that a message holds.
const MAX: usize = 500;

/// One line of bounded length, without control characters and without the secret.
pub(crate) fn tidy(words: &str, secret: Option<&str>) -> String {
    // Before anything is cut or joined: half a secret would not be found any more.
    let words = without_secret(words, secret);
    let mut line = String::new();
    let mut length = 0;
    for word in
        words.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        for letter in word.chars() {
            if length == MAX {
                line.push('…');
                return line;
            }
            line.push(letter);
            length += 1;
        }
    }
    line
}

/// The words with a mark in place of the secret.
pub(crate) fn without_secret(words: &str, secret: Option<&str>) -> String {
    match secret {
        Some(secret) if !secret.is_empty() => words.replace(secret, "[redacted]"),
        _ => words.to_owned(),
    }
}

/// The deepest reason of an error, which is the one that says something.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_one_bounded_line() {
        assert_eq!(tidy("  a\n\tb\u{0}c  ", None), "a b c");
        assert_eq!(tidy("", None), "");
        let long = tidy(&"ä".repeat(600), None);
        assert_eq!(long.chars().count(), MAX + 1);
        assert!(long.ends_with("ä…"));
        assert_eq!(tidy(&"a".repeat(MAX), None), "a".repeat(MAX));
    }

    #[test]
    fn the_secret_is_taken_out_before_the_words_are_cut() {
        let words = format!("{} sk-secret is wrong", "x".repeat(MAX - 5));
        let line = tidy(&words, Some("sk-secret"));
        assert!(!line.contains("sk-s"), "{line}");
        assert_eq!(tidy("key sk-secret, twice sk-secret", Some("sk-secret")), "key [redacted], twice [redacted]");
        assert_eq!(tidy("abc", Some("")), "abc");
    }
}
