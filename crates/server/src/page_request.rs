//! Requests of browsers for pages: which paths are pages, whose page sent a form, and the token in the cookie.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HOST, ORIGIN};

/// The cookie with the token over HTTPS. A browser takes it only from this host, and never sends it without encryption.
pub(crate) const SECURE_TOKEN: &str = "__Host-reknit-token";
/// The cookie with the token over plain HTTP.
pub(crate) const PLAIN_TOKEN: &str = "reknit-token";

/// Whether the path is a page for people. Cookies and forms count only there, so that no page can use the API.
pub(crate) fn is_page(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    matches!(
        first,
        "" | "runs" | "ui" | "sign-in" | "sign-out" | "questions" | "new" | "tools" | "models" | "stats" | "rules"
    )
}

/// Whether everybody may ask for the page: it shows nothing of runs.
pub(crate) fn is_open_page(path: &str) -> bool {
    matches!(path, "/sign-in" | "/sign-out" | "/ui/theme" | "/ui/style.css" | "/ui/script.js" | "/ui/icon.svg")
}

pub(crate) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let pairs =
        headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The token with which a browser has signed in.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    cookie(headers, SECURE_TOKEN).or_else(|| cookie(headers, PLAIN_TOKEN))
}

/// Whether a form was sent by a page of this server. Browsers say which page sends (`Origin`), and pages cannot change that.
pub(crate) fn is_own_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = headers.get(ORIGIN) else { return true };
    // A browser sends one. With two it is unknown which one counts.
    if headers.get_all(ORIGIN).iter().count() > 1 {
        return false;
    }
    // A proxy may have changed the name of the host. The browser knows the one that the reader sees.
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let origin = origin.to_str().unwrap_or_default();
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(|host| !host.is_empty() && text(HOST.as_str()) == Some(host))
}

/// The address as a place to return to, if it is one of this server.
pub(crate) fn own_address(address: &str) -> &str {
    let is_own =
        address.starts_with('/') && !address.starts_with("//") && !address.contains(['\\', '\r', '\n', '\t', '\0']);
    if is_own { address } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_a_page_of_this_server_may_send_a_form() {
        for (pairs, expected) in [
            (&[("host", "localhost:8320")][..], true),
            (&[("host", "localhost:8320"), ("origin", "http://localhost:8320")], true),
            (&[("host", "localhost:8320"), ("origin", "http://localhost:9999")], false),
            (&[("host", "localhost:8320"), ("origin", "https://evil.example")], false),
            (&[("host", "localhost:8320"), ("origin", "null")], false),
            (&[("host", "null"), ("origin", "null")], false),
            (&[("host", ""), ("origin", "http://")], false),
            (&[("host", "inside"), ("origin", "https://runs.example"), ("sec-fetch-site", "same-origin")], true),
            (&[("host", "a.example"), ("origin", "http://a.example"), ("sec-fetch-site", "cross-site")], false),
        ] {
            assert_eq!(is_own_origin(&headers(pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn the_token_is_read_from_its_cookie_among_others() {
        assert_eq!(token(&headers(&[("cookie", "theme=dark; reknit-token=rk-1; x=y")])), Some("rk-1"));
        assert_eq!(token(&headers(&[("cookie", "reknit-token=rk-1; __Host-reknit-token=rk-2")])), Some("rk-2"));
        assert_eq!(token(&headers(&[("cookie", "xreknit-token=rk-1")])), None);
    }

    #[test]
    fn one_returns_only_to_addresses_of_this_server() {
        for (address, expected) in [
            ("/runs/a?step=b", "/runs/a?step=b"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/a\r\nset-cookie: x", "/"),
            ("", "/"),
        ] {
            assert_eq!(own_address(address), expected);
        }
    }
}
