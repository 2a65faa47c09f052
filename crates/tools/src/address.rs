//! Where a tool is.

use std::fmt;

use reknit_protocol::{AgentName, shown_url};

/// A tool's name and where it is. What may be secret in an address is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// What plans call it.
    pub name: AgentName,
    base: reqwest::Url,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no URL.
    #[error("`{text}` is no address of a tool: {problem}; write it like `http://127.0.0.1:8085`")]
    NoUrl {
        /// What was written, but for what may be secret in it.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It is a URL of another kind.
    #[error("`{text}` is no address of a tool: only http and https are spoken; write it like `http://127.0.0.1:8085`")]
    OtherScheme {
        /// What was written, but for what may be secret in it.
        text: String,
    },
}

impl Address {
    /// Reads an address. A path in it stays in front of every path that is called.
    pub fn parse(name: impl Into<AgentName>, text: &str) -> Result<Self, AddressError> {
        let base = reqwest::Url::parse(text)
            .map_err(|error| AddressError::NoUrl { text: shown_url(text), problem: error.to_string() })?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(AddressError::OtherScheme { text: shown_url(text) });
        }
        Ok(Self { name: name.into(), base })
    }

    /// The address of a path below this one.
    pub(crate) fn join(&self, path: &str) -> reqwest::Url {
        let mut url = self.base.clone();
        let front = url.path().trim_end_matches('/').to_owned();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{front}/{}", path.trim_start_matches('/')));
        url.set_query(query);
        url
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&shown_url(self.base.as_str()))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Address").field("name", &self.name).field("base", &self.to_string()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_joined_behind_the_path_of_the_address() {
        for (base, path, expected) in [
            ("http://a:1", "/api/capabilities", "http://a:1/api/capabilities"),
            ("http://a:1/", "api/x", "http://a:1/api/x"),
            ("http://a:1/tools/v1/", "/api/x?y=1", "http://a:1/tools/v1/api/x?y=1"),
        ] {
            assert_eq!(Address::parse("t", base).unwrap().join(path).as_str(), expected);
        }
    }

    #[test]
    fn what_is_no_address_says_what_to_write() {
        let error = Address::parse("t", "localhost:8085").unwrap_err().to_string();
        assert!(error.contains("write it like `http://127.0.0.1:8085`"), "{error}");
        assert!(Address::parse("t", "nonsense").is_err());
    }

    #[test]
    fn no_form_of_an_address_and_no_error_about_it_shows_a_secret() {
        let address = Address::parse("t", "https://me:hunter2@a:1/v1?key=hunter2").unwrap();
        assert_eq!(address.to_string(), "https://[redacted]@a:1/v1?[redacted]");
        assert_eq!(address.join("/x").as_str(), "https://me:hunter2@a:1/v1/x", "it is called with it");
        let wrong = ["https://me:hunter2@a:b/", "ftp://me:hunter2@a?hunter2", "me:hunter2@a", "https://me:hun/ter2@a"];
        let wrong = wrong.map(|text| format!("{0} {0:?}", Address::parse("t", text).unwrap_err()));
        for shown in wrong.iter().chain([&format!("{address:?}")]) {
            assert!(shown.contains("[redacted]@a") && !shown.contains("ter2"), "{shown}");
        }
    }
}
