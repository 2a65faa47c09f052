//! The address to which the requests of an operation go.
//!
//! A document comes from outside, so it cannot decide alone where requests and credentials go: the address must be in the
//! configuration, be where the document itself comes from, or have a host that the configuration allows.

use reknit_openapi::Operation;
use reknit_protocol::redact_url;

use super::{DocumentLocation, OpenApiOptions};

impl OpenApiOptions {
    /// The configured address, or the first allowed one of the document. Fails with a message that says what to write.
    pub(super) fn address_of(&self, operation: &Operation) -> Result<reqwest::Url, String> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        let mut problem = None;
        for server in &operation.servers {
            let address = server.address(&self.server_variables).map_err(|error| error.to_string());
            match address.and_then(|text| self.absolute(&text)).and_then(|url| self.check(url)) {
                Ok(url) => return Ok(url),
                Err(message) => {
                    problem.get_or_insert(message);
                }
            }
        }
        match (problem, self.document_url()) {
            (Some(problem), _) => Err(problem),
            (None, Some(document)) => self.absolute("/").or_else(|_| Ok(document.clone())),
            (None, None) => Err("the document names no server; write its address as `url`".to_owned()),
        }
    }

    fn document_url(&self) -> Option<&reqwest::Url> {
        match &self.document {
            DocumentLocation::Url(url) => Some(url),
            DocumentLocation::File(_) => None,
        }
    }

    /// The address of a server, which may be relative to that of the document.
    fn absolute(&self, text: &str) -> Result<reqwest::Url, String> {
        let parsed = match self.document_url() {
            Some(document) => document.join(text),
            None => reqwest::Url::parse(text),
        };
        let shown = redact_url(text);
        let mut url = parsed.map_err(|_| {
            format!("the document names the server `{shown}`, which is not a whole address; write its address as `url`")
        })?;
        url.set_fragment(None);
        // A document must not bring credentials of its own.
        if url.username() != "" || url.password().is_some() {
            return Err(format!(
                "the document names the server `{shown}` with credentials; write its address as `url`"
            ));
        }
        match url.scheme() {
            "http" | "https" => Ok(url),
            _ => Err(format!("the document names the server `{shown}`, which is not an http or https address")),
        }
    }

    /// Refuses a host that neither the configuration nor the place of the document vouches for.
    fn check(&self, url: reqwest::Url) -> Result<reqwest::Url, String> {
        let is_own = self.document_url().is_some_and(|document| document.origin() == url.origin());
        if is_own || is_allowed(&url, &self.allowed_hosts) {
            return Ok(url);
        }
        let host = host_and_port(&url);
        Err(format!(
            "the document names the server `{url}`, which the configuration does not allow; if it is right, write `url = \
             \"{url}\"` or `allow-hosts = [\"{host}\"]`"
        ))
    }
}

/// Whether a list of hosts has the host of an address, with or without its port.
pub(super) fn is_allowed(url: &reqwest::Url, hosts: &[String]) -> bool {
    let host = url.host_str().unwrap_or_default();
    // A host without a port stands for the usual port only: another one may be another service.
    let is_host = |allowed: &String| url.port().is_none() && allowed.eq_ignore_ascii_case(host);
    hosts.iter().any(|allowed| is_host(allowed) || allowed.eq_ignore_ascii_case(&host_and_port(url)))
}

fn host_and_port(url: &reqwest::Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
