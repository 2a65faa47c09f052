//! Addresses of tools.

use std::fmt;

use reknit_protocol::{AgentName, redact_url};

reknit_protocol::word_enum! {
    /// What serves an address. It decides about the body of a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ComponentType {
        /// A tool: the body is the object of the parameters.
        #[default]
        Tool = "tool",
        /// An agent: the body is `{"data": {...}}` with the parameters inside.
        Agent = "agent",
    }
}

/// The name of a tool and its base URL. `Display` and `Debug` redact credentials and the query.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The name of the tool in plans.
    pub name: AgentName,
    /// What serves it, if the configuration states it; otherwise the tool's own announcement counts.
    pub component: Option<ComponentType>,
    base: reqwest::Url,
}

/// Why an address is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the address of a tool: {problem}; write it like `http://127.0.0.1:8085`")]
pub struct AddressError {
    /// The text, redacted.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Address {
    /// Parses the base URL of a tool. Its path is a prefix of every path that is requested.
    pub fn parse(name: impl Into<AgentName>, text: &str) -> Result<Self, AddressError> {
        let invalid = |problem: String| AddressError { text: redact_url(text), problem };
        let base = reqwest::Url::parse(text).map_err(|error| invalid(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid("the scheme must be http or https".to_owned()));
        }
        Ok(Self { name: name.into(), component: None, base })
    }

    /// The URL of a path, which may have a query, below the base URL.
    pub(crate) fn join(&self, path: &str) -> reqwest::Url {
        let mut url = self.base.clone();
        let prefix = url.path().trim_end_matches('/').to_owned();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        url.set_path(&format!("{prefix}/{}", path.trim_start_matches('/')));
        url.set_query(query);
        url
    }
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
        ] {
            assert_eq!(Address::parse("t", base).unwrap().join(path).as_str(), expected);
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
        assert_eq!(address.join("/x").as_str(), "https://me:hunter2@a:1/v1/x", "requests keep the credentials");
        let wrong = ["https://me:hunter2@a:b/", "ftp://me:hunter2@a?hunter2", "me:hunter2@a", "https://me:hun/ter2@a"];
        let wrong = wrong.map(|text| format!("{0} {0:?}", Address::parse("t", text).unwrap_err()));
        for shown in wrong.iter().chain([&format!("{address:?}")]) {
            assert!(shown.contains("[redacted]@a") && !shown.contains("ter2"), "{shown}");
        }
    }
}
