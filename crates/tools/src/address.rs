//! Where a tool is.

use reknit_protocol::AgentName;

/// A tool's name and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It is a URL of another kind.
    #[error("`{text}` is no address of a tool: only http and https are spoken; write it like `http://127.0.0.1:8085`")]
    OtherScheme {
        /// What was written.
        text: String,
    },
}

impl Address {
    /// Reads an address. A path in it stays in front of every path that is called.
    pub fn parse(name: impl Into<AgentName>, text: &str) -> Result<Self, AddressError> {
        let base = reqwest::Url::parse(text)
            .map_err(|error| AddressError::NoUrl { text: text.to_owned(), problem: error.to_string() })?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(AddressError::OtherScheme { text: text.to_owned() });
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

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.base)
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
}
