//! Text in URLs: percent-encoding, and removal of credentials and query strings from URLs that people and logs see.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const REDACTED: &str = "[redacted]";

/// Replaces the user info, and the query or fragment, of a URL by `[redacted]`.
///
/// The URL need not be valid, because error messages show invalid ones.
pub fn redact_url(url: &str) -> String {
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + 3));
    let (authority, tail) = split_before(rest, &['/', '?', '#']);
    let (authority, tail) = match authority.rsplit_once('@') {
        Some((_, host)) => (format!("{REDACTED}@{host}"), tail),
        // The password contains `/`, `?` or `#`, so the user info reaches to the last `@`.
        None if !has_valid_port(authority) && tail.contains('@') => {
            let rest = rest.rsplit_once('@').map_or("", |(_, rest)| rest);
            let (host, tail) = split_before(rest, &['/', '?', '#']);
            (format!("{REDACTED}@{host}"), tail)
        }
        None => (authority.to_owned(), tail),
    };
    let (path, query) = split_before(tail, &['?', '#']);
    let query = query.get(..1).map_or_else(String::new, |separator| format!("{separator}{REDACTED}"));
    format!("{scheme}{authority}{path}{query}")
}

/// Applies [`redact_url`] to every URL with a scheme inside a text.
pub fn redact_urls(text: &str) -> String {
    let is_delimiter = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let mut redacted = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_delimiter) {
        let word = piece.strip_suffix(is_delimiter).unwrap_or(piece);
        redacted.push_str(&if word.contains("://") { redact_url(word) } else { word.to_owned() });
        redacted.push_str(piece.get(word.len()..).unwrap_or_default());
    }
    redacted
}

/// Whether the host has a numeric port or none.
fn has_valid_port(host: &str) -> bool {
    // An IPv6 address has colons of its own, inside brackets.
    let after_address = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    let port = after_address.split_once(':').map(|(_, port)| port);
    port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn split_before<'a>(text: &'a str, separators: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(separators).unwrap_or(text.len()))
}

/// All bytes except letters, digits and `-._~`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The text with all bytes encoded except letters, digits and `-._~`.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The text with all bytes encoded except letters, digits, `-._~` and the characters in `kept`.
pub fn percent_encoded_except(text: &str, kept: &str) -> String {
    let pieces = text.split_inclusive(|c| kept.contains(c));
    let encoded = pieces.flat_map(|piece| {
        let before = piece.trim_end_matches(|c| kept.contains(c));
        utf8_percent_encode(before, RESERVED).chain([piece.get(before.len()..).unwrap_or_default()])
    });
    encoded.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn credentials_and_queries_of_a_url_are_redacted() {
        for (url, redacted) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("https://host", "https://host"),
            ("http://[::1]:8080/v1/@me", "http://[::1]:8080/v1/@me"),
            ("http://host:80/@me", "http://host:80/@me"),
            ("https://me:hunter2@host/v1", "https://[redacted]@host/v1"),
            ("https://hunter2@host", "https://[redacted]@host"),
            ("https://me:hunter@2@host/v1", "https://[redacted]@host/v1"),
            ("https://me:hun/ter2@host:1/v1", "https://[redacted]@host:1/v1"),
            ("https://me:hun?ter2@host/v1?key=hunter2", "https://[redacted]@host/v1?[redacted]"),
            ("https://host/v1?key=hunter2#hunter2", "https://host/v1?[redacted]"),
            ("https://host?token=hunter2", "https://host?[redacted]"),
            ("https://host/#hunter2", "https://host/#[redacted]"),
            ("me:hunter2@host:1", "[redacted]@host:1"),
            ("http:/me:hunter2@host", "[redacted]@host"),
            ("", ""),
        ] {
            assert_eq!(redact_url(url), redacted, "{url}");
        }
    }

    #[test]
    fn every_url_in_a_text_is_redacted_and_nothing_else_changes() {
        for (text, redacted) in [
            ("who? me@home, or 3 # 4", "who? me@home, or 3 # 4"),
            (
                r#"[{ url = "http://a?b=hunter2" }, {url="http://me:hunter2@c"}]"#,
                r#"[{ url = "http://a?[redacted]" }, {url="http://[redacted]@c"}]"#,
            ),
            ("url = http://me:hunter2@c", "url = http://[redacted]@c"),
        ] {
            assert_eq!(redact_urls(text), redacted);
        }
    }

    proptest! {
        #[test]
        fn no_password_or_query_survives(
            password in "[A-Z]{8}([:@]{1,3}|[/?#:]{0,3})[A-Z]", query in "[A-Z]{8}", host in "[a-z]{1,9}(:[0-9]{1,4})?",
        ) {
            let redacted = redact_url(&format!("https://me:{password}@{host}/v1?key={query}"));
            prop_assert_eq!(redacted, format!("https://[redacted]@{host}/v1?[redacted]"));
        }

        #[test]
        fn redacting_twice_changes_nothing_more(text in ".{0,60}") {
            prop_assert_eq!(redact_urls(&redact_urls(&text)), redact_urls(&text));
        }
    }
}
