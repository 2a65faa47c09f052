//! The body of an operation.

use std::collections::HashSet;

use reknit_protocol::Value;

use super::parameters::{ImportedParameters, collection_style, described};
use super::path_items::Site;
use super::{Importer, media_types};
use crate::document_text::count_values;
use crate::files::Node;
use crate::operation::{BodyContent, BodyKind, BodyProperty, PartEncoding, RequestBody};
use crate::parameter::{ParameterLocation, ParameterStyle};

/// The largest schema that a body may refer to for its properties to become parameters, in values. A larger one is the parameter
/// `body`, whose schema all operations share.
const MAX_FLAT_VALUES: usize = 5_000;

/// A body whose parameters have no names yet.
pub(super) struct ImportedBody {
    pub(super) body: RequestBody,
    /// The schemas of the parameters: of the whole body, or of each property.
    pub(super) schemas: Vec<Value>,
}

impl ImportedBody {
    /// The names of the parameters in the request, and where they go.
    pub(super) fn names(&self) -> Vec<(String, &'static str)> {
        match &self.body.content {
            BodyContent::Whole { .. } => vec![("body".to_owned(), "body")],
            BodyContent::Properties(list) => list.iter().map(|property| (property.wire_name.clone(), "body")).collect(),
        }
    }
}

/// What is needed of a body, however the document declares it.
struct DeclaredBody<'a> {
    /// For the description.
    node: Node<'a>,
    media_type: String,
    required: bool,
    schema: Option<Node<'a>>,
    encoding: Option<Node<'a>>,
}

impl<'a> Importer<'a> {
    /// The body; an error says why the operation cannot be called.
    pub(super) fn body(
        &mut self,
        site: &Site<'a>,
        parameters: &mut ImportedParameters<'a>,
    ) -> Result<Option<ImportedBody>, String> {
        if !parameters.form.is_empty() {
            if let Some(body) = &parameters.body {
                self.findings.problem(body, "an operation has either a body or a form; the form is used");
            }
            return Ok(Some(self.swagger_form(site, &parameters.form)));
        }
        let declared = match &parameters.body {
            Some(node) => Some(self.swagger_body(site, node)),
            None => self.request_body(site)?,
        };
        let Some(declared) = declared else { return Ok(None) };
        let taken: HashSet<&str> = parameters.list.iter().map(|other| other.parameter.name.as_str()).collect();
        Ok(Some(self.imported(&declared, |name| taken.contains(name))))
    }

    fn request_body(&mut self, site: &Site<'a>) -> Result<Option<DeclaredBody<'a>>, String> {
        let Some(node) = site.node.get("requestBody") else { return Ok(None) };
        let node = self.findings.files.resolve(&node).map_err(|reason| format!("its body is unknown: {reason}"))?;
        let Some(content) = node.get("content").filter(|content| content.value.as_object().is_some()) else {
            return Err("its body has no `content`".to_owned());
        };
        let mut entries: Vec<(&str, Node<'a>)> = content.members().collect();
        entries.retain(|(name, media)| {
            let is_valid = media_types::is_valid(name);
            if !is_valid {
                self.findings.problem(media, "this is no media type");
            }
            is_valid
        });
        let Some((media_type, media)) = media_types::preferred(&entries, |(name, _)| name) else {
            if node.flag("required") {
                return Err("its body has no media type".to_owned());
            }
            self.findings.problem(&content, "the body has no media type; none is sent");
            return Ok(None);
        };
        Ok(Some(DeclaredBody {
            media_type: media_types::concrete(media_type),
            required: node.flag("required"),
            schema: media.get("schema"),
            encoding: media.get("encoding"),
            node,
        }))
    }

    fn swagger_body(&mut self, site: &Site<'a>, node: &Node<'a>) -> DeclaredBody<'a> {
        let types = self.consumes(site);
        let chosen = media_types::preferred(&types, |name| name);
        // A body with a schema is not a form, whatever the list says.
        let media_type = chosen.filter(|name| matches!(media_types::kind(name), BodyKind::Json | BodyKind::Text));
        DeclaredBody {
            media_type: media_type.map_or_else(|| "application/json".to_owned(), |name| media_types::concrete(name)),
            required: node.flag("required"),
            schema: node.get("schema"),
            encoding: None,
            node: node.clone(),
        }
    }

    fn consumes(&self, site: &Site<'a>) -> Vec<String> {
        self.media_types(site, "consumes").into_iter().filter(|name| media_types::is_valid(name)).collect()
    }

    fn swagger_form(&mut self, site: &Site<'a>, form: &[Node<'a>]) -> ImportedBody {
        let types = self.consumes(site);
        let has = |kind| types.iter().find(|name| media_types::kind(name) == kind);
        let has_file = form.iter().any(|node| node.text("type") == Some("file"));
        let (kind, media_type) = match (has(BodyKind::Form), has(BodyKind::Multipart)) {
            (Some(form), _) if !has_file => (BodyKind::Form, form.clone()),
            (_, Some(multipart)) => (BodyKind::Multipart, multipart.clone()),
            _ if has_file => (BodyKind::Multipart, "multipart/form-data".to_owned()),
            _ => (BodyKind::Form, "application/x-www-form-urlencoded".to_owned()),
        };
        let (mut list, mut schemas, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for node in form {
            let name = node.text("name").unwrap_or_default().to_owned();
            let required = node.flag("required");
            list.push(BodyProperty { name: name.clone(), wire_name: name.clone(), required });
            let schema = self.requests.convert_parameter(node);
            schemas.push(described(schema, node));
            parts.push(PartEncoding {
                property: name,
                content_type: None,
                is_file: node.text("type") == Some("file"),
                style: (node.text("type") == Some("array")).then(|| collection_style(node, ParameterLocation::Query)),
            });
        }
        let required = list.iter().any(|property| property.required);
        let body = RequestBody { media_type, kind, required, content: BodyContent::Properties(list), parts };
        ImportedBody { body, schemas }
    }

    fn imported(&mut self, declared: &DeclaredBody<'a>, is_taken: impl Fn(&str) -> bool) -> ImportedBody {
        let kind = media_types::kind(&declared.media_type);
        let mut body = RequestBody {
            media_type: declared.media_type.clone(),
            kind,
            required: declared.required,
            content: BodyContent::Whole { parameter: String::new() },
            parts: Vec::new(),
        };
        let Some(node) = &declared.schema else {
            let any = if kind == BodyKind::Text { Value::from([("type", "string".into())]) } else { Value::Bool(true) };
            let schema = described(any, &declared.node);
            return ImportedBody { body, schemas: vec![schema] };
        };
        if matches!(kind, BodyKind::Form | BodyKind::Multipart) {
            body.parts = self.parts(node, declared.encoding.as_ref());
        }
        if kind != BodyKind::Text
            && !(kind == BodyKind::Json && self.is_large_reference(node))
            && let Some(flat) = self.flattened(node)
            && !flat.properties.iter().any(|(name, _)| is_taken(name))
        {
            let schemas = flat.properties.iter().map(|(_, node)| self.requests.convert(node)).collect();
            let list = flat.properties.into_iter().map(|(name, _)| {
                let required = flat.required.contains(&name);
                BodyProperty { name: name.clone(), wire_name: name, required }
            });
            body.content = BodyContent::Properties(list.collect());
            return ImportedBody { body, schemas };
        }
        let schema = if kind == BodyKind::Text && !self.is_scalar(node) {
            let description = format!("The body as a text of the type {}.", declared.media_type);
            Value::from([("type", "string".into()), ("description", description.into())])
        } else {
            self.requests.convert(node)
        };
        ImportedBody { body, schemas: vec![described(schema, &declared.node)] }
    }

    /// Whether a schema is a reference to a large one. Its properties would be copied into every operation that has this body.
    fn is_large_reference(&self, node: &Node<'a>) -> bool {
        let is_reference = node.text("$ref").is_some();
        is_reference
            && self.findings.files.resolve(node).is_ok_and(|target| count_values(target.value) > MAX_FLAT_VALUES)
    }

    fn is_scalar(&self, node: &Node<'a>) -> bool {
        let target = self.findings.files.resolve(node);
        target.is_ok_and(|node| matches!(node.text("type"), Some("string" | "integer" | "number" | "boolean")))
    }

    /// How the properties of a form are encoded: files by their schema, all else as declared.
    fn parts(&mut self, schema: &Node<'a>, encoding: Option<&Node<'a>>) -> Vec<PartEncoding> {
        let mut parts: Vec<PartEncoding> = Vec::new();
        for (property, node) in self.flattened(schema).unwrap_or_default().properties {
            if self.is_file(&node) {
                parts.push(PartEncoding { property, is_file: true, ..PartEncoding::default() });
            }
        }
        for (name, declared) in encoding.iter().flat_map(|encoding| encoding.members()) {
            let content_type = declared.text("contentType").and_then(|types| types.split(',').next()).map(str::trim);
            if content_type.is_some_and(|name| !media_types::is_valid(name)) {
                self.findings.problem(&declared, "the `contentType` is no media type");
            }
            let content_type = content_type.filter(|name| media_types::is_valid(name)).map(media_types::concrete);
            let style = declared.text("style").and_then(ParameterStyle::from_word);
            let explode = declared.value.get("explode").and_then(Value::as_bool);
            let style = (style.is_some() || explode.is_some()).then(|| {
                let style = style.unwrap_or(ParameterStyle::Form);
                (style, explode.unwrap_or(style == ParameterStyle::Form))
            });
            match parts.iter_mut().find(|part| part.property == name) {
                Some(part) => (part.content_type, part.style) = (content_type, style),
                None => parts.push(PartEncoding { property: name.to_owned(), content_type, is_file: false, style }),
            }
        }
        parts
    }

    fn is_file(&self, property: &Node<'a>) -> bool {
        let Ok(schema) = self.findings.files.resolve(property) else { return false };
        let is_binary = |schema: &Node<'a>| {
            schema.text("format") == Some("binary")
                || (schema.text("contentMediaType").is_some() && schema.text("contentEncoding").is_none())
        };
        is_binary(&schema) || schema.get("items").is_some_and(|items| is_binary(&items))
    }

    /// The properties of a body that is a plain object; `None` if it is anything else.
    fn flattened(&self, schema: &Node<'a>) -> Option<FlatProperties<'a>> {
        let mut flat = FlatProperties::default();
        self.collect(schema, MAX_LEVELS, &mut flat)?;
        let is_known = |name: &String| flat.names.contains(name) || flat.left_out.contains(name);
        (!flat.properties.is_empty() && flat.required.iter().all(is_known)).then_some(flat)
    }

    fn collect(&self, schema: &Node<'a>, levels: usize, out: &mut FlatProperties<'a>) -> Option<()> {
        let has_siblings = |node: &Node<'a>| {
            let is_comment = |key: &str| matches!(key, "$ref" | "description" | "summary" | "title");
            node.members().any(|(key, _)| !is_comment(key) && !key.starts_with("x-"))
        };
        if levels == 0 || (schema.value.get("$ref").is_some() && has_siblings(schema)) {
            return None;
        }
        let schema = self.findings.files.resolve(schema).ok()?;
        schema.value.as_object()?;
        for (keyword, member) in schema.members() {
            match keyword {
                "type" if member.value.as_str() == Some("object") => {}
                "additionalProperties"
                    if member.value.as_bool() == Some(false) && schema.value.get("allOf").is_none() => {}
                "title" | "description" | "example" | "examples" | "externalDocs" | "xml" | "deprecated"
                | "default" => {}
                "nullable" if member.value.as_bool() == Some(false) => {}
                "x-nullable" => return None,
                _ if keyword.starts_with("x-") => {}
                "required" => {
                    let names = member.value.as_array()?.iter();
                    out.required
                        .extend(names.map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?);
                }
                "properties" => {
                    member.value.as_object()?;
                    for (name, property) in member.members() {
                        if self.requests.is_left_out(&property) {
                            out.left_out.insert(name.to_owned());
                        } else if !out.names.insert(name.to_owned()) {
                            return None;
                        } else {
                            out.properties.push((name.to_owned(), property));
                        }
                    }
                }
                "allOf" => {
                    member.value.as_array()?;
                    member.items().try_for_each(|item| self.collect(&item, levels - 1, out))?;
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// How many `allOf` inside of each other are followed.
const MAX_LEVELS: usize = 8;

/// The properties of a body that become parameters of their own.
#[derive(Default)]
struct FlatProperties<'a> {
    properties: Vec<(String, Node<'a>)>,
    names: HashSet<String>,
    left_out: HashSet<String>,
    required: HashSet<String>,
}
