//! The schemas of responses.

use reknit_protocol::Value;

use super::path_items::Site;
use super::{Importer, media_types};
use crate::files::Node;
use crate::operation::BodyKind;
use crate::schema::Dialect;

#[derive(Default)]
pub(super) struct ImportedResponses {
    pub(super) output: Option<Value>,
    pub(super) errors: Vec<(String, Value)>,
    pub(super) accept: Option<String>,
}

impl<'a> Importer<'a> {
    pub(super) fn responses(&mut self, site: &Site<'a>) -> ImportedResponses {
        let mut imported = ImportedResponses::default();
        let Some(responses) = site.node.get("responses") else {
            self.findings.note(&site.node, "the operation has no `responses`");
            return imported;
        };
        if responses.value.as_object().is_none() {
            self.findings.problem(&responses, "`responses` must be an object");
        }
        let has_success = responses.members().any(|(status, _)| status.starts_with('2'));
        for (status, node) in responses.members() {
            if status.starts_with("x-") {
                continue;
            }
            let response = match self.findings.files.resolve(&node) {
                Ok(response) => response,
                Err(reason) => {
                    self.findings.problem(&node, reason);
                    continue;
                }
            };
            if response.value.as_object().is_none() {
                self.findings.problem(&node, "a response must be an object");
                continue;
            }
            let is_success = status.starts_with('2') || (status == "default" && !has_success);
            let is_error = status.starts_with(['4', '5']) || (status == "default" && has_success);
            let (media_type, schema) = self.content(site, &response);
            if is_success && imported.output.is_none() {
                let is_json = media_type.as_deref().is_some_and(|name| media_types::kind(name) == BodyKind::Json);
                if is_json || imported.accept.is_none() {
                    imported.accept =
                        media_type.filter(|name| media_types::is_valid(name)).map(|name| media_types::concrete(&name));
                }
                imported.output = schema.map(|schema| self.responses.convert(&schema));
            } else if is_error && let Some(schema) = schema {
                imported.errors.push((status.to_owned(), self.responses.convert(&schema)));
            }
        }
        imported
    }

    /// The preferred media type of a response, and its schema if it is JSON.
    fn content(&self, site: &Site<'a>, response: &Node<'a>) -> (Option<String>, Option<Node<'a>>) {
        if self.dialect == Dialect::Swagger2 {
            let chosen = media_types::preferred(&self.media_types(site, "produces"), |name| name).cloned();
            let is_json = chosen.as_deref().is_none_or(|name| media_types::kind(name) == BodyKind::Json);
            let schema = response.get("schema").filter(|schema| is_json && schema.text("type") != Some("file"));
            return (chosen, schema);
        }
        let content = response.get("content");
        let entries: Vec<(&str, Node<'a>)> = content.iter().flat_map(Node::members).collect();
        let Some((name, media)) = media_types::preferred(&entries, |(name, _)| name) else { return (None, None) };
        let is_json = media_types::kind(name) == BodyKind::Json;
        ((*name).to_owned().into(), media.get("schema").filter(|_| is_json))
    }
}
