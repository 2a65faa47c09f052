//! The parameters of an operation outside of its body.

use std::collections::{HashMap, HashSet};

use reknit_protocol::{Object, Value, truncate};

use super::path_items::Site;
use super::path_template::PathTemplate;
use super::{Importer, MAX_PARAMETER_DESCRIPTION, media_types};
use crate::files::Node;
use crate::operation::BodyKind;
use crate::parameter::{ApiParameter, ParameterEncoding, ParameterLocation, ParameterStyle};

/// Headers that a document cannot declare as parameters, or that would change how the request itself is read.
const RESERVED_HEADERS: &str = "accept authorization connection content-encoding content-length content-type \
    cookie host te trailer transfer-encoding upgrade";

pub(super) struct ImportedParameter {
    pub(super) parameter: ApiParameter,
    pub(super) schema: Value,
}

/// The parameters of an operation. Swagger 2 declares the body among them.
#[derive(Default)]
pub(super) struct ImportedParameters<'a> {
    pub(super) list: Vec<ImportedParameter>,
    pub(super) body: Option<Node<'a>>,
    pub(super) form: Vec<Node<'a>>,
}

impl<'a> Importer<'a> {
    pub(super) fn parameters(&mut self, site: &Site<'a>, template: &PathTemplate) -> ImportedParameters<'a> {
        let placeholders = &template.placeholders();
        let mut imported = ImportedParameters::default();
        for node in self.declared(site) {
            let name = node.text("name").unwrap_or_default();
            match node.text("in").unwrap_or_default() {
                "body" => imported.body = Some(node),
                "formData" => imported.form.push(node),
                word => {
                    if let Some(location) = ParameterLocation::from_word(word) {
                        imported.list.extend(self.parameter(&node, name, location, template, placeholders));
                    } else {
                        let message = format!("`in: {word}` is no place for a parameter");
                        self.findings.problem(&node, message);
                    }
                }
            }
        }
        for placeholder in placeholders {
            let is_declared = |imported: &ImportedParameter| {
                imported.parameter.location == ParameterLocation::Path && imported.parameter.wire_name == *placeholder
            };
            if !imported.list.iter().any(is_declared) {
                let message =
                    format!("the placeholder `{placeholder}` of the path is not declared; it is read as a text");
                self.findings.problem(&site.node, message);
                let (style, name) = (ParameterStyle::Simple, placeholder.clone());
                let parameter = ApiParameter {
                    wire_name: name.clone(),
                    name,
                    location: ParameterLocation::Path,
                    required: true,
                    encoding: ParameterEncoding::Styled { style, explode: false, allow_reserved: false },
                };
                imported.list.push(ImportedParameter { parameter, schema: Value::from([("type", "string".into())]) });
            }
        }
        imported
    }

    /// The declarations of the path, each replaced by one of the operation with the same name and place, and then the others.
    fn declared(&mut self, site: &Site<'a>) -> Vec<Node<'a>> {
        let lists = [site.shared("parameters"), site.node.get("parameters")];
        let mut declared: Vec<Node<'a>> = Vec::new();
        let mut positions: HashMap<(&str, &str), usize> = HashMap::new();
        for list in lists.into_iter().flatten() {
            if list.value.as_array().is_none() {
                self.findings.problem(&list, "`parameters` must be a list");
                continue;
            }
            let mut of_this_list: HashSet<(&str, &str)> = HashSet::new();
            for item in list.items() {
                let node = match self.findings.files.resolve(&item) {
                    Ok(node) => node,
                    Err(reason) => {
                        self.findings.problem(&item, reason);
                        continue;
                    }
                };
                let name = node.text("name").filter(|name| !name.is_empty());
                let (Some(name), Some(location)) = (name, node.text("in")) else {
                    self.findings.problem(&item, "a parameter must have a `name` and `in`");
                    continue;
                };
                if !of_this_list.insert((name, location)) {
                    let message =
                        format!("the parameter `{name}` in {location} is declared twice; the first one counts");
                    self.findings.problem(&item, message);
                    continue;
                }
                if let Some(earlier) = positions.get(&(name, location)).and_then(|at| declared.get_mut(*at)) {
                    *earlier = node;
                } else {
                    positions.insert((name, location), declared.len());
                    declared.push(node);
                }
            }
        }
        declared
    }

    fn parameter(
        &mut self,
        node: &Node<'a>,
        name: &str,
        location: ParameterLocation,
        template: &PathTemplate,
        placeholders: &[String],
    ) -> Option<ImportedParameter> {
        let is_in_path = placeholders.iter().any(|placeholder| placeholder == name);
        let required = location == ParameterLocation::Path || node.flag("required");
        let (location, wire_name) = match template.query_name(name) {
            Some(key) if location == ParameterLocation::Path && !is_in_path => (ParameterLocation::Query, key),
            _ => (location, name),
        };
        if let Some(reason) = unusable(name, location, placeholders) {
            self.findings.note(node, reason);
            return None;
        }
        let (encoding, schema) = self.encoding(node, location)?;
        let schema = described(schema, node);
        let parameter =
            ApiParameter { name: name.to_owned(), wire_name: wire_name.to_owned(), location, required, encoding };
        Some(ImportedParameter { parameter, schema })
    }

    /// How a parameter is written, and its schema; `None` if it cannot be written, which is then reported.
    fn encoding(&mut self, node: &Node<'a>, location: ParameterLocation) -> Option<(ParameterEncoding, Value)> {
        if let Some(content) = node.get("content") {
            let Some((_, media)) = content.members().find(|(name, _)| media_types::kind(name) == BodyKind::Json) else {
                let message = "the `content` of a parameter must be JSON; the parameter is left out";
                self.findings.problem(&content, message);
                return None;
            };
            let schema = media.get("schema").map(|schema| self.requests.convert(&schema));
            return Some((ParameterEncoding::Json, schema.unwrap_or(Value::Bool(true))));
        }
        if let Some(schema) = node.get("schema") {
            let schema = self.requests.convert(&schema);
            return Some((self.style(node, location), schema));
        }
        if node.value.get("type").is_none() {
            let message = "the parameter has no `schema`; any value is allowed";
            self.findings.problem(node, message);
        }
        let schema = self.requests.convert_parameter(node);
        let encoding = if node.value.get("style").is_some() {
            self.style(node, location)
        } else {
            let (style, explode) = collection_style(node, location);
            ParameterEncoding::Styled { style, explode, allow_reserved: false }
        };
        Some((encoding, schema))
    }

    fn style(&mut self, node: &Node<'a>, location: ParameterLocation) -> ParameterEncoding {
        use ParameterStyle::{DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited};
        let allowed: &[ParameterStyle] = match location {
            ParameterLocation::Path => &[Simple, Label, Matrix],
            ParameterLocation::Query => &[Form, SpaceDelimited, PipeDelimited, DeepObject],
            ParameterLocation::Header => &[Simple],
            ParameterLocation::Cookie => &[Form],
        };
        let default =
            if matches!(location, ParameterLocation::Path | ParameterLocation::Header) { Simple } else { Form };
        let declared = node.get("style").and_then(|declared| {
            let style =
                declared.value.as_str().and_then(ParameterStyle::from_word).filter(|style| allowed.contains(style));
            if style.is_none() {
                let message = format!("the style is not one for the {location}; `{default}` is used");
                self.findings.problem(&declared, message);
            }
            style
        });
        let style = declared.unwrap_or(default);
        let explode = node.value.get("explode").and_then(Value::as_bool).unwrap_or(style == Form);
        let allow_reserved = location == ParameterLocation::Query && node.flag("allowReserved");
        ParameterEncoding::Styled { style, explode, allow_reserved }
    }
}

/// Why a parameter cannot be used; `None` if it can.
fn unusable(name: &str, location: ParameterLocation, placeholders: &[String]) -> Option<String> {
    let is_token =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    match location {
        ParameterLocation::Path if !placeholders.iter().any(|placeholder| placeholder == name) => {
            Some(format!("the path has no placeholder `{name}`; the parameter is left out"))
        }
        ParameterLocation::Header if RESERVED_HEADERS.split(' ').any(|known| name.eq_ignore_ascii_case(known)) => {
            Some(format!("the header `{name}` is not a parameter; it is left out"))
        }
        ParameterLocation::Header | ParameterLocation::Cookie if !is_token(name) => {
            Some(format!("`{name}` cannot be the name of a {location}; the parameter is left out"))
        }
        _ => None,
    }
}

/// The style that `collectionFormat` of Swagger 2 means. Without it, items are separated by commas.
pub(super) fn collection_style(node: &Node<'_>, location: ParameterLocation) -> (ParameterStyle, bool) {
    let is_form = matches!(location, ParameterLocation::Query | ParameterLocation::Cookie);
    match node.text("collectionFormat") {
        Some("multi") if is_form => (ParameterStyle::Form, true),
        Some("ssv") => (ParameterStyle::SpaceDelimited, false),
        Some("tsv") => (ParameterStyle::TabDelimited, false),
        Some("pipes") => (ParameterStyle::PipeDelimited, false),
        _ if is_form => (ParameterStyle::Form, false),
        _ => (ParameterStyle::Simple, false),
    }
}

/// A schema with what the document says about the parameter.
pub(super) fn described(schema: Value, node: &Node<'_>) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => return schema,
        _ => Object::new(),
    };
    if let Some(text) = node.text("description").map(str::trim).filter(|text| !text.is_empty()) {
        schema.insert("description", truncate(text.to_owned(), MAX_PARAMETER_DESCRIPTION));
    }
    if node.flag("deprecated") {
        schema.insert("deprecated", true);
    }
    if let Some(example) = node.value.get("example")
        && !schema.contains_key("examples")
    {
        schema.insert("examples", vec![example.clone()]);
    }
    Value::Object(schema)
}
