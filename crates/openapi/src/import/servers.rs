//! The servers of a document, a path and an operation.

use reknit_protocol::{Object, Value};

use super::path_items::Site;
use super::texts;
use crate::files::{Files, Node};
use crate::finding::Findings;
use crate::schema::Dialect;
use crate::server::{ApiServer, ServerVariable};

pub(super) fn of_document(dialect: Dialect, findings: &Findings<'_>) -> Vec<ApiServer> {
    let root = findings.files.root();
    if dialect == Dialect::Swagger2 {
        return of_swagger(findings.files, &texts(&root, "schemes"));
    }
    let servers = root.get("servers").map(|list| read(&list, findings)).unwrap_or_default();
    if servers.is_empty() { vec![server("/".to_owned())] } else { servers }
}

/// The servers of the operation, else of its path, else of the document.
pub(super) fn of_operation(
    site: &Site<'_>,
    dialect: Dialect,
    of_document: &[ApiServer],
    findings: &Findings<'_>,
) -> Vec<ApiServer> {
    if dialect == Dialect::Swagger2 {
        let schemes = texts(&site.node, "schemes");
        return if schemes.is_empty() { of_document.to_vec() } else { of_swagger(findings.files, &schemes) };
    }
    for list in [site.node.get("servers"), site.shared("servers")].into_iter().flatten() {
        let servers = read(&list, findings);
        if !servers.is_empty() {
            return servers;
        }
    }
    of_document.to_vec()
}

fn server(url: String) -> ApiServer {
    ApiServer { url, description: String::new(), variables: Vec::new() }
}

/// Swagger 2: one server for each scheme, `https` first. Without a scheme it is that of the document's own address.
fn of_swagger(files: &Files, schemes: &[String]) -> Vec<ApiServer> {
    let root = files.root();
    let base = root.text("basePath").unwrap_or("/");
    let base = if base.starts_with('/') { base.to_owned() } else { format!("/{base}") };
    let Some(host) = root.text("host").filter(|host| !host.is_empty()) else {
        return vec![server(base)];
    };
    let mut schemes: Vec<&String> =
        schemes.iter().filter(|scheme| matches!(scheme.as_str(), "http" | "https")).collect();
    schemes.sort_by_key(|scheme| scheme.as_str() != "https");
    if schemes.is_empty() {
        return vec![server(format!("//{host}{base}"))];
    }
    schemes.into_iter().map(|scheme| server(format!("{scheme}://{host}{base}"))).collect()
}

fn read(list: &Node<'_>, findings: &Findings<'_>) -> Vec<ApiServer> {
    if list.value.as_array().is_none() {
        findings.problem(list, "`servers` must be a list");
    }
    let mut servers = Vec::new();
    for node in list.items() {
        let Some(url) = node.text("url") else {
            findings.problem(&node, "a server must have a `url`");
            continue;
        };
        let declared = node.value.get("variables").and_then(Value::as_object);
        servers.push(ApiServer {
            url: url.to_owned(),
            description: node.text("description").unwrap_or_default().to_owned(),
            variables: variables(url, declared),
        });
    }
    servers
}

/// The variables in an address, with what the document declares about them.
fn variables(url: &str, declared: Option<&Object>) -> Vec<ServerVariable> {
    let mut variables: Vec<ServerVariable> = Vec::new();
    for piece in url.split('{').skip(1) {
        let Some((name, _)) = piece.split_once('}') else { continue };
        if variables.iter().any(|variable| variable.name == name) {
            continue;
        }
        let variable = declared.and_then(|declared| declared.get(name));
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        let allowed = variable.and_then(|variable| variable.get("enum")).and_then(Value::as_array).unwrap_or_default();
        variables.push(ServerVariable {
            name: name.to_owned(),
            default: variable.and_then(|variable| text(variable.get("default")?)),
            allowed: allowed.iter().filter_map(text).collect(),
        });
    }
    variables
}
