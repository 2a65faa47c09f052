//! Addresses of tools.

use std::fmt;

use percent_encoding::percent_decode_str;
use reknit_protocol::{ToolName, redact_url};

use crate::option_words::ComponentType;

/// The name of a tool and its base URL. `Display` and `Debug` redact credentials and the query.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub name: ToolName,
    /// What serves it, if the configuration states it; otherwise the tool's own announcement counts.
    pub component: Option<ComponentType>,
    base: reqwest::Url,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the address of a tool: {problem}; write it like `http://127.0.0.1:8085`")]
pub struct AddressError {
    /// The text, redacted.
    pub text: String,
    pub problem: String,
}

impl Address {
    /// Parses the base URL of a tool. Its path is a prefix of every path that is requested.
    pub fn parse(name: impl Into<ToolName>, text: &str) -> Result<Self, AddressError> {
        let invalid = |problem: String| AddressError { text: redact_url(text), problem };
        let base = reqwest::Url::parse(text).map_err(|error| invalid(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("the scheme must be http or https".to_owned()));
        }
        Ok(Self { name: name.into(), component: None, base })
    }

    pub fn into_base(self) -> reqwest::Url {
        self.base
    }

    /// The address of a service whose base URL was checked before.
    #[cfg(feature = "openapi")]
    pub(crate) fn at(name: ToolName, base: reqwest::Url) -> Self {
        Self { name, component: None, base }
    }

    /// The URL of an encoded path, checked before, and a query below the base URL; an empty path is the base URL.
    pub(crate) fn append(&self, path: &str, query: Option<&str>) -> reqwest::Url {
        let mut url = self.base.clone();
        if !path.is_empty() {
            url.set_path(&format!("{}/{}", self.base.path().trim_end_matches('/'), path.trim_start_matches('/')));
        }
        self.set_query(&mut url, query);
        url
    }

    fn set_query(&self, url: &mut reqwest::Url, query: Option<&str>) {
        let queries: Vec<&str> = self.base.query().into_iter().chain(query).filter(|query| !query.is_empty()).collect();
        url.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
        url.set_fragment(None);
    }

    /// The URL of a path, with or without a query, below the base URL. Fails with the reason if it would leave the base URL.
    pub(crate) fn join(&self, path: &str) -> Result<reqwest::Url, String> {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        if let Some(problem) = leaves_base(path) {
            return Err(format!("the path `{path}` is not below the address of the tool: {problem}"));
        }
        // An empty path is the folder itself here.
        Ok(self.append(if path.is_empty() { "/" } else { path }, query))
    }

    /// A URL of the service without credentials and the query of the base URL. Fails with its host if that is another one.
    pub(crate) fn without_credentials(&self, mut url: reqwest::Url) -> Result<reqwest::Url, String> {
        if url.origin() != self.base.origin() {
            return Err(url.origin().ascii_serialization());
        }
        // Cannot fail: a URL with a host can have both.
        let _ = (url.set_username(""), url.set_password(None));
        url.set_fragment(None);
        let own: Vec<&str> = self.base.query().unwrap_or_default().split('&').collect();
        let pairs: Vec<&str> = url.query().unwrap_or_default().split('&').filter(|pair| !own.contains(pair)).collect();
        let query = Some(pairs.join("&")).filter(|query| !query.is_empty());
        url.set_query(query.as_deref());
        Ok(url)
    }

    /// The URL of [`Self::without_credentials`] as it is requested. Fails with its host if that is another one.
    pub(crate) fn with_credentials(&self, text: &str) -> Result<reqwest::Url, String> {
        let url = reqwest::Url::parse(text).map_err(|error| error.to_string())?;
        let mut url = self.without_credentials(url)?;
        let _ = (url.set_username(self.base.username()), url.set_password(self.base.password()));
        let query = url.query().map(str::to_owned);
        self.set_query(&mut url, query.as_deref());
        Ok(url)
    }
}

/// Why a path that a tool publishes, or that is configured, is not below its address.
pub(crate) fn leaves_base(path: &str) -> Option<&'static str> {
    let Some(decoded) = decode_fully(path) else { return Some("it is percent-encoded again and again") };
    if path.starts_with("//") || decoded.contains("://") {
        return Some("it names a host");
    }
    if decoded.contains('\\') || decoded.chars().any(char::is_control) {
        return Some("it has a backslash or a control character");
    }
    decoded.split('/').any(is_dots).then_some("it has a segment `.` or `..`")
}

/// Whether a path has a segment `.` or `..` after it was decoded; `None` if it is encoded again and again.
pub(crate) fn has_dot_segment(path: &str) -> Option<bool> {
    Some(decode_fully(path)?.split(['/', '\\']).any(is_dots))
}

/// Whether a segment is `.` or `..`. Some servers drop the parameters of a segment (`..;x=1`) before they resolve it.
fn is_dots(segment: &str) -> bool {
    matches!(segment.split(';').next().unwrap_or_default().trim(), "." | "..")
}

/// The path, decoded as often as proxies and servers may; `None` if four rounds are not enough.
fn decode_fully(path: &str) -> Option<String> {
    let mut decoded = path.to_owned();
    for _ in 0..4 {
        let next = percent_decode_str(&decoded).decode_utf8_lossy();
        if next == decoded {
            return Some(decoded);
        }
        decoded = next.into_owned();
    }
    None
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&redact_url(self.base.as_str()))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Address");
        shown.field("name", &self.name).field("component", &self.component).field("base", &self.to_string()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_appended_to_the_path_of_the_address() {
        for (base, path, expected) in [
            ("http://a:1", "/api/capabilities", "http://a:1/api/capabilities"),
            ("http://a:1/", "api/x", "http://a:1/api/x"),
            ("http://a:1/tools/v1/", "/api/x?y=1", "http://a:1/tools/v1/api/x?y=1"),
            ("http://a:1/v1?key=k", "/api/x", "http://a:1/v1/api/x?key=k"),
            ("http://a:1/v1?key=k#part", "/api/x?y=1", "http://a:1/v1/api/x?key=k&y=1"),
            ("http://a:1/v1", "/api/weather 2..3", "http://a:1/v1/api/weather%202..3"),
            ("http://a:1/v1", "/api/x;v=1..2/100%25", "http://a:1/v1/api/x;v=1..2/100%25"),
        ] {
            assert_eq!(Address::parse("t", base).unwrap().join(path).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn a_path_cannot_leave_the_address() {
        let address = Address::parse("t", "http://a:1/tools/v1").unwrap();
        for path in [
            "../admin",
            "/api/../../../admin",
            "/api/%2e%2e/%2E%2e/admin",
            "/api/.%2e/admin",
            "/api/x%2f..%2f..%2fadmin",
            "/api\\..\\admin",
            "/api/..%5cadmin",
            "/api/..%255Cadmin",
            "/api/%252e%252e/admin",
            "/api/%25252525252e%25252525252e/admin",
            "/api/..;/admin",
            "/api/..;jsessionid=1/admin",
            "/api/%2e%2e%3b/admin",
            "/api/.;/x",
            "/api/..%20/admin",
            "/api/./x",
            "http://evil.example/x",
            "http:%2f%2fevil.example/x",
            "//evil.example/x",
            "/api/x\ny",
        ] {
            let error = address.join(path).unwrap_err();
            assert!(error.contains("is not below the address of the tool"), "{path}: {error}");
        }
    }

    #[test]
    fn an_invalid_address_is_rejected_with_an_example() {
        let error = Address::parse("t", "localhost:8085").unwrap_err().to_string();
        assert!(error.contains("write it like `http://127.0.0.1:8085`"), "{error}");
        assert!(Address::parse("t", "nonsense").is_err());
    }

    #[test]
    fn neither_an_address_nor_its_errors_show_a_secret() {
        let address = Address::parse("t", "https://me:hunter2@a:1/v1?key=hunter2").unwrap();
        assert_eq!(address.to_string(), "https://[redacted]@a:1/v1?[redacted]");
        let url = address.join("/x").unwrap();
        assert_eq!(url.as_str(), "https://me:hunter2@a:1/v1/x?key=hunter2", "requests keep the credentials");
        let wrong = ["https://me:hunter2@a:b/", "ftp://me:hunter2@a?hunter2", "me:hunter2@a", "https://me:hun/ter2@a"];
        let wrong = wrong.map(|text| format!("{0} {0:?}", Address::parse("t", text).unwrap_err()));
        for shown in wrong.iter().chain([&format!("{address:?}")]) {
            assert!(shown.contains("[redacted]@a") && !shown.contains("ter2"), "{shown}");
        }
    }
}
