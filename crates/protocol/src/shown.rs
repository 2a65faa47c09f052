//! Addresses as people and logs may see them.

const MARK: &str = "[redacted]";

/// An address without what may be secret in it: who asks, and what stands behind `?` or `#`. It need not be a good one, for
/// errors show bad ones.
///
/// ```
/// use reknit_protocol::shown_url;
///
/// assert_eq!(shown_url("https://me:hunter2@host:1/v1?key=hunter2"), "https://[redacted]@host:1/v1?[redacted]");
/// ```
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + 3));
    let (host, behind) = split_before(rest, &['/', '?', '#']);
    let (host, behind) = match host.rsplit_once('@') {
        Some((_, host)) => (format!("{MARK}@{host}"), behind),
        // A password with a slash in it: what looks like a host is not all of its front.
        None if !has_port(host) && behind.contains('@') => {
            let rest = rest.rsplit_once('@').map_or("", |(_, rest)| rest);
            let (host, behind) = split_before(rest, &['/', '?', '#']);
            (format!("{MARK}@{host}"), behind)
        }
        None => (host.to_owned(), behind),
    };
    let (path, query) = split_before(behind, &['?', '#']);
    let mark = query.get(..1).map_or_else(String::new, |sign| format!("{sign}{MARK}"));
    format!("{scheme}{host}{path}{mark}")
}

/// The same for every address with a scheme that stands in a text.
pub fn shown_urls(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
    let mut shown = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_end) {
        let end = piece.chars().next_back().filter(|c| is_end(*c));
        let word = piece.strip_suffix(is_end).unwrap_or(piece);
        let word = if word.contains("://") { shown_url(word) } else { word.to_owned() };
        shown.push_str(&word);
        shown.extend(end);
    }
    shown
}

/// Whether what stands behind the host's colon is a port, if anything does.
fn has_port(host: &str) -> bool {
    // The address of an IPv6 host has colons of its own.
    let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
    behind.split_once(':').is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn split_before<'a>(text: &'a str, signs: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(signs).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_may_be_secret_in_an_address_is_left_out() {
        for (url, shown) in [
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
            assert_eq!(shown_url(url), shown, "{url}");
        }
    }

    #[test]
    fn in_a_text_every_address_is_shown_so_and_nothing_else_changes() {
        for (text, shown) in [
            ("who? me@home, or 3 # 4", "who? me@home, or 3 # 4"),
            (
                r#"[{ url = "http://a?b=hunter2" }, {url="http://me:hunter2@c"}]"#,
                r#"[{ url = "http://a?[redacted]" }, {url="http://[redacted]@c"}]"#,
            ),
            ("url = http://me:hunter2@c", "url = http://[redacted]@c"),
        ] {
            assert_eq!(shown_urls(text), shown);
        }
    }

    proptest! {
        #[test]
        fn no_address_shows_its_password_or_its_query(
            password in "[A-Z]{8}([:@]{1,3}|[/?#:]{0,3})[A-Z]", query in "[A-Z]{8}", host in "[a-z]{1,9}(:[0-9]{1,4})?",
        ) {
            let shown = shown_url(&format!("https://me:{password}@{host}/v1?key={query}"));
            prop_assert_eq!(shown, format!("https://[redacted]@{host}/v1?[redacted]"));
        }

        #[test]
        fn any_text_can_be_shown(text in ".{0,60}") {
            prop_assert_eq!(shown_urls(&shown_urls(&text)), shown_urls(&text));
        }
    }
}
