//! How operations are authenticated.

use std::collections::HashMap;

use super::path_items::Site;
use super::texts;
use crate::files::Node;
use crate::finding::Findings;
use crate::parameter::ParameterLocation;
use crate::schema::Dialect;
use crate::security::{SecurityNeed, SecurityScheme};

/// The schemes of a document by name.
pub(super) type SecuritySchemes = HashMap<String, SecurityScheme>;

pub(super) fn read_schemes(dialect: Dialect, findings: &Findings<'_>) -> SecuritySchemes {
    let root = findings.files.root();
    let declared = match dialect {
        Dialect::Swagger2 => root.get("securityDefinitions"),
        _ => root.get("components").and_then(|components| components.get("securitySchemes")),
    };
    let mut schemes = HashMap::new();
    for (name, node) in declared.iter().flat_map(Node::members) {
        let scheme = findings.files.resolve(&node).and_then(|node| scheme(&node));
        match &scheme {
            Err(reason) => findings.problem(&node, reason.clone()),
            Ok(SecurityScheme::Unsupported { description }) => {
                findings.note(&node, format!("{description} is not supported"));
            }
            Ok(_) => {}
        }
        let unusable = |description| SecurityScheme::Unsupported { description };
        schemes.insert(name.to_owned(), scheme.unwrap_or_else(unusable));
    }
    schemes
}

/// The ways to authenticate an operation; one of them is enough.
pub(super) fn of_operation(
    schemes: &SecuritySchemes,
    site: &Site<'_>,
    findings: &Findings<'_>,
) -> Vec<Vec<SecurityNeed>> {
    let Some(list) = site.node.get("security").or_else(|| findings.files.root().get("security")) else {
        return Vec::new();
    };
    if list.value.as_array().is_none() {
        findings.problem(&list, "`security` must be a list");
    }
    let mut ways = Vec::new();
    for way in list.items() {
        if way.value.as_object().is_none() {
            findings.problem(&way, "an entry of `security` must be an object");
            continue;
        }
        let mut needs = Vec::new();
        for (name, _) in way.members() {
            let scheme = schemes.get(name).cloned().unwrap_or_else(|| {
                findings.problem(&way, format!("the security scheme `{name}` is not declared"));
                SecurityScheme::Unsupported { description: "a scheme that is not declared".to_owned() }
            });
            needs.push(SecurityNeed { name: name.to_owned(), scheme, scopes: texts(&way, name) });
        }
        ways.push(needs);
    }
    ways
}

fn scheme(node: &Node<'_>) -> Result<SecurityScheme, String> {
    let unsupported = |description: String| Ok(SecurityScheme::Unsupported { description });
    match node.text("type") {
        Some("basic") => Ok(SecurityScheme::Basic),
        Some("http") => match node.text("scheme").map(str::to_ascii_lowercase).as_deref() {
            Some("bearer") => Ok(SecurityScheme::Bearer),
            Some("basic") => Ok(SecurityScheme::Basic),
            Some(other) => unsupported(format!("http with the scheme {other}")),
            None => Err("an http scheme must have a `scheme`".to_owned()),
        },
        Some("apiKey") => {
            let parameter =
                node.text("name").filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic()));
            let location = node.text("in").and_then(ParameterLocation::from_word);
            match (parameter, location) {
                (Some(parameter), Some(location)) if location != ParameterLocation::Path => {
                    Ok(SecurityScheme::ApiKey { location, parameter: parameter.to_owned() })
                }
                _ => Err("an apiKey must have a `name`, and `in` must be header, query or cookie".to_owned()),
            }
        }
        Some("oauth2") => oauth2(node),
        Some(other) => unsupported(other.to_owned()),
        None => Err("a security scheme must have a `type`".to_owned()),
    }
}

fn oauth2(node: &Node<'_>) -> Result<SecurityScheme, String> {
    let unsupported = |flows: &str| Ok(SecurityScheme::Unsupported { description: format!("oauth2 with {flows}") });
    let flow = if let Some(flows) = node.get("flows") {
        let Some(flow) = flows.get("clientCredentials") else {
            let names: Vec<&str> = flows.members().map(|(name, _)| name).collect();
            return unsupported(&format!("the flows {}", names.join(", ")));
        };
        flow
    } else {
        match node.text("flow") {
            Some("application") => node.clone(),
            Some(other) => return unsupported(&format!("the flow {other}")),
            None => return Err("oauth2 must have `flows`".to_owned()),
        }
    };
    let token_url = flow.text("tokenUrl").ok_or("client credentials must have a `tokenUrl`")?.to_owned();
    let scopes = flow.get("scopes");
    let scopes = scopes.iter().flat_map(Node::members).map(|(name, _)| name.to_owned()).collect();
    Ok(SecurityScheme::ClientCredentials { token_url, scopes })
}
