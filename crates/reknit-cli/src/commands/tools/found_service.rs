//! What an attempt to find a service at an address needs, and what it finds.

use std::time::Duration;

use reknit_tools::Listing;
use secrecy::SecretString;

/// How long an address may take to answer.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct FoundService {
    /// The list of the configuration that it belongs to.
    pub(super) list: &'static str,
    /// The keys of its entry without its name, in their order, with their values as TOML.
    pub(super) keys: Vec<(&'static str, String)>,
    /// A name for it.
    pub(super) title: String,
    pub(super) listing: Listing,
    /// Whether its protocol has idempotency keys.
    pub(super) has_keys: bool,
}

/// What a person says about a service.
pub(super) struct Wanted<'a> {
    pub(super) target: &'a str,
    pub(super) url: Option<&'a str>,
    pub(super) key: Option<SecretString>,
}

/// The result of an attempt, or an error if it takes too long.
pub(super) async fn within_limit<T>(attempt: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let outcome = tokio::time::timeout(LIMIT, attempt).await;
    outcome.unwrap_or_else(|_| Err(format!("it did not answer within {LIMIT:?}")))
}

/// The first label of the host, or `tool` if the host is a number.
pub(super) fn host_name(address: &str) -> String {
    let host = address.split("://").nth(1).unwrap_or_default().split(['/', ':', '?']).next().unwrap_or_default();
    let label = host.split('.').find(|label| !matches!(*label, "www" | "api")).unwrap_or_default();
    let is_number = label.is_empty() || label.chars().all(|letter| letter.is_ascii_digit());
    if is_number || label == "localhost" { "tool".to_owned() } else { label.to_owned() }
}
