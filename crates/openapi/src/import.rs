//! From the values of a document to operations.

mod body;
mod effect;
mod input_schema;
mod media_types;
mod names;
mod parameters;
mod path_items;
mod path_template;
mod responses;
mod security;
mod servers;

use std::sync::Arc;

use reknit_protocol::{Value, truncate};

use crate::files::Node;
use crate::finding::Findings;
use crate::operation::{Operation, OperationSchemas};
use crate::parameter::{ApiParameter, ParameterLocation};
use crate::schema::{Dialect, Direction, SchemaConverter};
use crate::server::ApiServer;
use names::OperationNames;
use path_items::Site;
use security::SecuritySchemes;

/// The longest description of an operation, in bytes.
const MAX_DESCRIPTION: usize = 1000;

/// How many schemas, parameters, servers and credentials all operations may have together. Operations share parts by reference, so
/// a small text could otherwise become a document that fits no memory.
const MAX_PARTS: usize = 2_000_000;

/// The longest description of a parameter, in bytes.
const MAX_PARAMETER_DESCRIPTION: usize = 500;

/// The servers and the operations of a document.
pub(crate) fn import(dialect: Dialect, findings: &Findings<'_>) -> (Vec<ApiServer>, Vec<Operation>) {
    let mut importer = Importer {
        findings,
        dialect,
        requests: SchemaConverter::new(findings, dialect, Direction::Request),
        responses: SchemaConverter::new(findings, dialect, Direction::Response),
        schemes: security::read_schemes(dialect, findings),
        servers: servers::of_document(dialect, findings),
        parts: 0,
    };
    let operations = importer.operations();
    let Importer { requests, responses, servers, .. } = importer;
    let (requests, responses) = (Arc::new(requests.finish()), Arc::new(responses.finish()));
    let with_definitions = |mut operation: Operation| {
        operation.schemas.request_definitions = Arc::clone(&requests);
        operation.schemas.response_definitions = Arc::clone(&responses);
        operation
    };
    (servers, operations.into_iter().map(with_definitions).collect())
}

/// What all operations of a document share while they are imported.
struct Importer<'a> {
    findings: &'a Findings<'a>,
    dialect: Dialect,
    requests: SchemaConverter<'a>,
    responses: SchemaConverter<'a>,
    schemes: SecuritySchemes,
    servers: Vec<ApiServer>,
    /// How many parts the operations so far have, except for schemas.
    parts: usize,
}

impl<'a> Importer<'a> {
    fn operations(&mut self) -> Vec<Operation> {
        let sites = path_items::sites(self.findings);
        let names = OperationNames::choose(&sites, self.findings);
        sites.iter().zip(names).filter_map(|(site, name)| self.operation(site, name)).collect()
    }

    /// One operation, whose definitions are not known yet; `None` if it is left out, which is then reported.
    fn operation(&mut self, site: &Site<'a>, name: String) -> Option<Operation> {
        if self.parts + self.requests.converted + self.responses.converted > MAX_PARTS {
            self.findings.dropped(&site.node, format!("the operations before it have more than {MAX_PARTS} parts"));
            return None;
        }
        let template = path_template::read(&site.path);
        let template = template.map_err(|reason| self.findings.dropped(&site.node, reason)).ok()?;
        if template.has_fragment {
            self.findings.note(&site.node, "the part of the path after `#` is never sent");
        }
        let mut parameters = self.parameters(site, &template);
        let is_parameter = |name: &str| {
            let of_query = |other: &ApiParameter| other.location == ParameterLocation::Query && other.wire_name == name;
            parameters.list.iter().any(|imported| of_query(&imported.parameter))
        };
        let fixed_query = path_template::fixed_query(&template.query, is_parameter);
        let idempotency_header = effect::take_idempotency_header(&mut parameters.list);
        let (body, fixed_query) = match (self.body(site, &mut parameters), fixed_query) {
            (Ok(body), Ok(fixed_query)) => (body, fixed_query),
            (Err(reason), _) | (_, Err(reason)) => {
                self.findings.dropped(&site.node, reason);
                return None;
            }
        };
        let (input, parameters, body) = input_schema::merge(parameters.list, body);
        let responses = self.responses(site);
        let servers = servers::of_operation(site, self.dialect, &self.servers, self.findings);
        let security = security::of_operation(&self.schemes, site, self.findings);
        let (effect, declared_effect) = effect::side_effect(site, idempotency_header.is_some(), self.findings);
        self.parts += parameters.len() + servers.len() + security.iter().map(|way| 1 + way.len()).sum::<usize>();
        Some(Operation {
            name: name.into(),
            operation_id: site.node.text("operationId").map(str::to_owned),
            method: site.method,
            path: site.path.clone(),
            description: description(&site.node),
            tags: texts(&site.node, "tags"),
            deprecated: site.node.flag("deprecated"),
            effect,
            declared_effect,
            idempotency_header,
            parameters,
            body,
            servers,
            security,
            accept: responses.accept,
            pointer: self.findings.files.place(&site.node),
            path_parts: template.parts,
            fixed_query,
            schemas: OperationSchemas {
                input,
                output: responses.output,
                errors: responses.errors,
                request_definitions: Arc::default(),
                response_definitions: Arc::default(),
            },
        })
    }

    /// Swagger 2: the media types of an operation, or else those of the document.
    fn media_types(&self, site: &Site<'_>, key: &str) -> Vec<String> {
        let own = texts(&site.node, key);
        if own.is_empty() { texts(&self.findings.files.root(), key) } else { own }
    }
}

fn description(node: &Node<'_>) -> String {
    let part = |key| node.text(key).map(str::trim).filter(|text| !text.is_empty());
    let text = match (part("summary"), part("description")) {
        (Some(summary), Some(description)) if description.starts_with(summary) => description.to_owned(),
        (Some(summary), Some(description)) => format!("{summary}\n\n{description}"),
        (Some(text), None) | (None, Some(text)) => text.to_owned(),
        (None, None) => String::new(),
    };
    truncate(text, MAX_DESCRIPTION)
}

fn texts(node: &Node<'_>, key: &str) -> Vec<String> {
    let items = node.value.get(key).and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}
