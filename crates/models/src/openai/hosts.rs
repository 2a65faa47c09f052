//! Servers that speak `chat/completions` with exceptions, by their host.

/// Hosts, with all their subdomains, that refuse a request with `stream_options`. They report the usage of a stream anyway,
/// or never.
const WITHOUT_STREAM_OPTIONS: &[&str] = &["mistral.ai", "gatewayz.ai", "databricks.com", "azuredatabricks.net"];

/// Whether the server at this URL accepts `stream_options`.
pub(super) fn accepts_stream_options(base_url: &str) -> bool {
    let after_scheme = base_url.trim().split_once("://").map_or(base_url, |(_, rest)| rest);
    let host = after_scheme.split(['/', ':', '?']).next().unwrap_or_default().to_ascii_lowercase();
    !WITHOUT_STREAM_OPTIONS
        .iter()
        .any(|known| host.strip_suffix(known).is_some_and(|subdomain| subdomain.is_empty() || subdomain.ends_with('.')))
}
