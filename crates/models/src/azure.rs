//! Addresses of Azure `OpenAI`, which otherwise speaks `chat/completions`.

/// The version of the API for addresses of deployments, which must name one.
const API_VERSION: &str = "api-version=2024-10-21";

/// The path after the base URL, and the query. The base URL is that of the resource, of its newer API (`/openai/v1`), or of
/// one deployment (`/openai/deployments/NAME`).
pub(crate) fn path_and_query(base_url: &str) -> (String, Option<&'static str>) {
    let after_scheme = base_url.trim().split_once("://").map_or(base_url, |(_, rest)| rest);
    match after_scheme.trim_end_matches('/').split_once('/') {
        None => ("/openai/v1/chat/completions".to_owned(), None),
        Some((_, path)) if path.contains("deployments/") => ("/chat/completions".to_owned(), Some(API_VERSION)),
        Some(_) => ("/chat/completions".to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_base_url_leads_to_its_own_address() {
        for (base_url, path, query) in [
            ("https://x.openai.azure.com", "/openai/v1/chat/completions", None),
            ("https://x.openai.azure.com/", "/openai/v1/chat/completions", None),
            ("https://x.openai.azure.com/openai/v1/", "/chat/completions", None),
            ("https://x.openai.azure.com/openai/deployments/gpt", "/chat/completions", Some(API_VERSION)),
        ] {
            assert_eq!(path_and_query(base_url), (path.to_owned(), query), "{base_url}");
        }
    }
}
