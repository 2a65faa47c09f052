//! Which operations of a document are wanted.

use reknit_protocol::HttpMethod;

use crate::operation::Operation;

/// Which operations are wanted. Every list that is not empty must have an entry that matches.
///
/// ```
/// use reknit_openapi::OperationFilter;
/// use reknit_protocol::HttpMethod;
///
/// let filter = OperationFilter { paths: vec!["/pets/*".to_owned()], methods: vec![HttpMethod::Get], ..Default::default() };
/// assert!(filter.matches_path("/pets/{id}"));
/// assert!(!filter.matches_path("/pets/{id}/toys"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperationFilter {
    /// Tags. The operation has at least one of them.
    pub tags: Vec<String>,
    /// The beginnings of paths, up to the end of a segment: `/pets` matches `/pets/{id}`. With `*` the whole path must match:
    /// `*` is any text inside of a segment, `**` any text.
    pub paths: Vec<String>,
    pub methods: Vec<HttpMethod>,
    /// Operation ids as written, or names of capabilities.
    pub operation_ids: Vec<String>,
}

impl OperationFilter {
    pub fn matches(&self, operation: &Operation) -> bool {
        let is_named =
            |id: &String| operation.operation_id.as_ref() == Some(id) || operation.name.as_str() == id.as_str();
        (self.tags.is_empty() || self.tags.iter().any(|tag| operation.tags.contains(tag)))
            && self.matches_path(&operation.path)
            && (self.methods.is_empty() || self.methods.contains(&operation.method))
            && (self.operation_ids.is_empty() || self.operation_ids.iter().any(is_named))
    }

    /// Whether a path as written in the document is wanted.
    pub fn matches_path(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|pattern| path_matches(pattern, path))
    }
}

fn path_matches(pattern: &str, path: &str) -> bool {
    if pattern.contains('*') {
        return glob_matches(pattern.as_bytes(), path.as_bytes());
    }
    let prefix = pattern.trim_end_matches('/');
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a pattern matches a text. The time is the product of both lengths: each row says which beginnings of the text the
/// pattern up to here can match.
fn glob_matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut row = vec![false; text.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = true;
    }
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        let crosses = *first == b'*' && after.first() == Some(&b'*');
        let mut next = Vec::with_capacity(row.len());
        let mut is_reached = false;
        for (at, could) in row.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
            is_reached = if *first == b'*' {
                *could || (is_reached && (crosses || before != Some(b'/')))
            } else {
                before == Some(*first) && at.checked_sub(1).and_then(|at| row.get(at)) == Some(&true)
            };
            next.push(is_reached);
        }
        row = next;
        rest = if crosses { after.get(1..).unwrap_or_default() } else { after };
    }
    row.last() == Some(&true)
}
