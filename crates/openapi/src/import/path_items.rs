//! Where the operations of a document are.

use reknit_protocol::{HttpMethod, Value};

use crate::files::Node;
use crate::finding::Findings;

pub(super) struct Site<'a> {
    pub(super) method: HttpMethod,
    pub(super) path: String,
    pub(super) node: Node<'a>,
    /// The path item around it, and what that refers to.
    pub(super) items: Vec<Node<'a>>,
}

impl<'a> Site<'a> {
    /// A field of the path item.
    pub(super) fn shared(&self, key: &str) -> Option<Node<'a>> {
        self.items.iter().find_map(|item| item.get(key))
    }
}

/// All operations in the document, in its order.
pub(super) fn sites<'a>(findings: &Findings<'a>) -> Vec<Site<'a>> {
    let root = findings.files.root();
    for ignored in ["webhooks", "x-webhooks"] {
        if let Some(webhooks) = root.get(ignored) {
            let message = "webhooks are requests that the API sends; they are not imported";
            findings.note(&webhooks, message);
        }
    }
    let mut sites = Vec::new();
    let Some(paths) = root.get("paths") else {
        findings.note(&root, "the document has no `paths`");
        return sites;
    };
    if paths.value.as_object().is_none() {
        findings.problem(&paths, "`paths` must be an object");
    }
    for (path, item) in paths.members() {
        if path.starts_with("x-") {
            continue;
        }
        if item.value.as_object().is_none() {
            findings.dropped(&item, "a path must be an object of operations");
            continue;
        }
        let mut items = vec![item.clone()];
        if item.value.get("$ref").is_some() {
            match findings.files.resolve(&item) {
                Ok(target) if target.value.as_object().is_some() => items.push(target),
                Ok(_) => findings.dropped(&item, "a path must be an object of operations"),
                Err(reason) => findings.dropped(&item, reason),
            }
        }
        for item in &items {
            collect(path, item, &items, &mut sites, findings);
        }
    }
    sites
}

fn collect<'a>(path: &str, item: &Node<'a>, items: &[Node<'a>], sites: &mut Vec<Site<'a>>, findings: &Findings<'a>) {
    for (key, node) in item.members() {
        let Some(method) = HttpMethod::from_word(&key.to_ascii_lowercase()) else {
            let is_known = matches!(key, "$ref" | "summary" | "description" | "servers" | "parameters");
            if !is_known && !key.starts_with("x-") {
                let is_operation = node.value.get("responses").is_some();
                let message = format!("`{key}` is no method that is supported");
                if is_operation {
                    findings.dropped(&node, message);
                } else {
                    findings.note(&node, message);
                }
            }
            continue;
        };
        match node.value {
            Value::Object(_) => {
                sites.push(Site { method, path: path.to_owned(), node, items: items.to_vec() });
            }
            other => {
                let found = other.kind().with_article();
                findings.dropped(&node, format!("an operation must be an object, found {found}"));
            }
        }
    }
}
