//! Turns OpenAPI 3.0, 3.1 and Swagger 2 documents into operations that Reknit can call.
//!
//! ```text
//! text --> ApiDocument::parse --> operations --> Operation::input_schema, capability
//!                |                    '--------> Operation::render(parameters) --> HttpRequest
//!                '--> findings: every part that is broken, not supported or without effect
//! ```
//!
//! One broken part does not lose the document: it is left out and reported with its place. No operation is left out without a
//! report. The crate does no I/O: other files are read by a [`FileLoader`] of the caller, and requests are sent by the caller.
//!
//! ```
//! use reknit_openapi::ApiDocument;
//! use reknit_protocol::Value;
//!
//! let api = ApiDocument::parse(r#"
//! openapi: 3.0.3
//! info: {title: Pets, version: "1"}
//! paths:
//!   /pets/{petId}:
//!     get:
//!       operationId: getPet
//!       parameters:
//!         - {name: petId, in: path, required: true, schema: {type: string}}
//!         - {name: fields, in: query, explode: false, schema: {type: array, items: {type: string}}}
//!       responses: {"200": {description: a pet}}
//! "#)?;
//! let operation = &api.operations[0];
//! let parameters = Value::parse(r#"{"petId": "a/b", "fields": ["name", "age"]}"#)?;
//! let request = operation.render(parameters.as_object().expect("an object"))?;
//! assert_eq!(request.target(), "/pets/a%2Fb?fields=name,age");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
mod document_text;
mod error_fields;
mod files;
mod filter;
mod finding;
mod import;
mod operation;
mod parameter;
mod render;
mod schema;
mod security;
mod server;

pub use document::{ApiDocument, ApiDocumentError};
pub use document_text::{DocumentTextError, MAX_DOCUMENT_BYTES};
pub use files::FileLoader;
pub use filter::OperationFilter;
pub use finding::{Finding, FindingKind};
pub use operation::{BodyContent, BodyKind, BodyProperty, Operation, RequestBody};
pub use parameter::{ApiParameter, ParameterEncoding, ParameterLocation, ParameterStyle};
pub use render::{HttpRequest, RenderError};
pub use security::{SecurityNeed, SecurityScheme};
pub use server::{ApiServer, ServerUrlError, ServerVariable};
