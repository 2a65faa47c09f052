//! Addresses of pages.

use reknit_protocol::percent_encoded;

pub(crate) fn run_path(run: &str) -> String {
    format!("/runs/{}", percent_encoded(run))
}

pub(crate) fn compare_path(run: &str) -> String {
    format!("/runs/{}/compare", percent_encoded(run))
}

/// The page of a run with a step opened.
pub(crate) fn step_path(run: &str, step: &str) -> String {
    format!("/runs/{}?step={}", percent_encoded(run), percent_encoded(step))
}

pub(crate) fn result_path(run: &str, step: &str, path: &str) -> String {
    format!("{}#{}", step_path(run, step), percent_encoded(&result_id(path)))
}

/// The id of the element that shows a place in a result.
pub(crate) fn result_id(path: &str) -> String {
    format!("at-{}", path.split_whitespace().collect::<Vec<_>>().join("_"))
}

/// An address with its query; fields without a value are left out.
pub(crate) fn with_query(path: &str, fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
        .collect();
    if fields.is_empty() { path.to_owned() } else { format!("{path}?{}", fields.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_and_empty_fields_left_out() {
        assert_eq!(step_path("a/b", "x y&z"), "/runs/a%2Fb?step=x%20y%26z");
        assert_eq!(
            with_query("/", &[("status", "failed"), ("search", ""), ("after", "é")]),
            "/?status=failed&after=%C3%A9"
        );
        assert_eq!(with_query("/", &[("status", "")]), "/");
    }
}
