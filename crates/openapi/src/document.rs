//! A whole API description.

use reknit_protocol::Value;

use crate::document_text::{self, DocumentTextError};
use crate::files::{FileLoader, Files};
use crate::filter::OperationFilter;
use crate::finding::{Finding, Findings};
use crate::import;
use crate::operation::Operation;
use crate::schema::Dialect;
use crate::server::ApiServer;

/// An API description: its operations, and what was found while they were imported.
#[derive(Debug)]
pub struct ApiDocument {
    pub title: String,
    pub version: String,
    /// The servers of the whole API.
    pub servers: Vec<ApiServer>,
    /// The operations, in the order of the document.
    pub operations: Vec<Operation>,
    /// The parts that are broken, not supported or without effect.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiDocumentError {
    #[error("the text is neither JSON nor YAML")]
    Text(#[from] DocumentTextError),
    /// The text has neither `openapi: 3.x` nor `swagger: 2.0` at its top.
    #[error("the text is not an API description: {0}")]
    Version(String),
}

impl ApiDocument {
    /// Reads a document that is one text, JSON or YAML.
    ///
    /// Fails only if the text is no API description at all. Broken parts become [`findings`](Self::findings).
    pub fn parse(text: &str) -> Result<Self, ApiDocumentError> {
        let no_files = |_: &str| Err("the document may not refer to other files".to_owned());
        Self::parse_with_files(text, "", &mut { no_files })
    }

    /// Reads a document that may refer to other files. `name` is its own name, to which their names are relative.
    pub fn parse_with_files(text: &str, name: &str, loader: &mut dyn FileLoader) -> Result<Self, ApiDocumentError> {
        let (root, duplicates) = document_text::read(text)?;
        let dialect = dialect(&root).map_err(ApiDocumentError::Version)?;
        let files = Files::load(name, root, duplicates, loader);
        let findings = Findings::new(&files);
        let info = |key| files.root().get("info").and_then(|info| Some(info.value.get(key)?.as_str()?.to_owned()));
        let (title, version) = (info("title").unwrap_or_default(), info("version").unwrap_or_default());
        let (servers, operations) = import::import(dialect, &findings);
        Ok(Self { title, version, servers, operations, findings: findings.finish() })
    }

    /// The operations that a filter wants.
    pub fn select<'a>(&'a self, filter: &'a OperationFilter) -> impl Iterator<Item = &'a Operation> {
        self.operations.iter().filter(|operation| filter.matches(operation))
    }
}

fn dialect(root: &Value) -> Result<Dialect, String> {
    // In YAML, a version without quotes is a number.
    let text = |key: &str| match root.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match (text("openapi"), text("swagger")) {
        (Some(version), _) if version == "3.0" || version.starts_with("3.0.") => Ok(Dialect::OpenApi30),
        (Some(version), _) if version.starts_with("3.") => Ok(Dialect::OpenApi31),
        (None, Some(version)) if version == "2" || version.starts_with("2.") => Ok(Dialect::Swagger2),
        (Some(version), _) => Err(format!("the version `{version}` of OpenAPI is not supported")),
        (None, Some(version)) => Err(format!("the version `{version}` of Swagger is not supported")),
        (None, None) => Err("it has neither `openapi` nor `swagger` at its top".to_owned()),
    }
}
