//! One operation of an API, ready to be called.

use std::sync::Arc;

use reknit_protocol::schema::{FieldHint, Summary};
use reknit_protocol::{Capability, CapabilityName, HttpMethod, SideEffect, Value};

use crate::error_fields;
use crate::parameter::{ApiParameter, ParameterStyle};
use crate::schema::Definitions;
use crate::security::SecurityNeed;
use crate::server::ApiServer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    Json,
    Form,
    Multipart,
    /// As text in any other format: the parameter is the text.
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestBody {
    pub media_type: String,
    pub kind: BodyKind,
    /// Whether a request without a body is invalid.
    pub required: bool,
    pub content: BodyContent,
    /// How properties of a form or multipart body are encoded, where the document says so.
    pub(crate) parts: Vec<PartEncoding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyContent {
    /// One parameter is the body.
    Whole { parameter: String },
    /// Each parameter is a property of the body.
    Properties(Vec<BodyProperty>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyProperty {
    /// The name among the parameters of the capability.
    pub name: String,
    /// The name in the body.
    pub wire_name: String,
    /// Whether a body without it is invalid.
    pub required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PartEncoding {
    pub(crate) property: String,
    pub(crate) content_type: Option<String>,
    pub(crate) is_file: bool,
    pub(crate) style: Option<(ParameterStyle, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathPart {
    /// Text, percent-encoded.
    Literal(String),
    /// The wire name of a parameter.
    Parameter(String),
}

/// The schemas of an operation, without the definitions to which they refer.
#[derive(Debug, Clone)]
pub(crate) struct OperationSchemas {
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
    /// By status as written: `404`, `4XX`, `default`.
    pub(crate) errors: Vec<(String, Value)>,
    pub(crate) request_definitions: Arc<Definitions>,
    pub(crate) response_definitions: Arc<Definitions>,
}

#[derive(Debug, Clone)]
pub struct Operation {
    /// The name of the capability, unique in the document.
    pub name: CapabilityName,
    /// The operation id as written.
    pub operation_id: Option<String>,
    pub method: HttpMethod,
    /// The path as written, with its placeholders.
    pub path: String,
    /// The summary and the description, shortened.
    pub description: String,
    pub tags: Vec<String>,
    /// Whether the document advises against its use.
    pub deprecated: bool,
    /// The class of side effect: that of the method, or the declared one if it says that the operation does more.
    pub effect: SideEffect,
    /// The class that the document declares with `x-reknit-effect`. Use it instead only if you trust the author of the document.
    pub declared_effect: Option<SideEffect>,
    /// The header that takes an idempotency key. It is not among the parameters: the sender of the request sets it.
    pub idempotency_header: Option<String>,
    /// The parameters outside of the body.
    pub parameters: Vec<ApiParameter>,
    pub body: Option<RequestBody>,
    /// The servers, the preferred one first.
    pub servers: Vec<ApiServer>,
    /// The ways to authenticate; one of them is enough. None is needed if the list or one of its entries is empty.
    pub security: Vec<Vec<SecurityNeed>>,
    /// The content type of a successful response that is preferred.
    pub accept: Option<String>,
    /// The place in the document, as in findings.
    pub pointer: String,
    pub(crate) path_parts: Vec<PathPart>,
    /// A query that is part of the path as written.
    pub(crate) fixed_query: Option<String>,
    pub(crate) schemas: OperationSchemas,
}

impl Operation {
    /// The JSON Schema (2020-12) of all parameters: an object that allows no others.
    pub fn input_schema(&self) -> Value {
        self.schemas.request_definitions.complete(&self.schemas.input)
    }

    /// How many values [`Operation::input_schema`] has, which may be many more than the document if operations share large schemas.
    pub fn input_schema_size(&self) -> usize {
        self.schemas.request_definitions.complete_size(&self.schemas.input)
    }

    /// The JSON Schema of the body of a successful response.
    pub fn output_schema(&self) -> Option<Value> {
        Some(self.schemas.response_definitions.complete(self.schemas.output.as_ref()?))
    }

    /// The JSON Schemas of errors, by status as written in the document: `404`, `4XX` or `default`.
    pub fn error_schemas(&self) -> Vec<(String, Value)> {
        let complete =
            |(status, schema): &(String, Value)| (status.clone(), self.schemas.response_definitions.complete(schema));
        self.schemas.errors.iter().map(complete).collect()
    }

    /// The capability as a tool would announce it. The schema is [`Operation::input_schema`].
    pub fn capability(&self) -> Capability {
        let mut capability = Capability::new(self.name.clone());
        capability.description.clone_from(&self.description);
        capability.effect = self.effect;
        capability.output_summary = self.schemas.output.as_ref().and_then(|schema| self.output_summary(schema));
        capability.error_fields = error_fields::find(&self.schemas.errors, &self.schemas.response_definitions);
        capability
    }

    fn output_summary(&self, schema: &Value) -> Option<Summary> {
        let schema = self.schemas.response_definitions.resolve(schema);
        let properties = schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty())?;
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|word| word.as_str() == Some(name));
        let hint = |(name, schema): (&str, &Value)| {
            let schema = self.schemas.response_definitions.resolve(schema);
            let type_word = schema.get("type").and_then(Value::as_str).unwrap_or_default();
            let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
            FieldHint { description, ..FieldHint::new(name, type_word) }
        };
        let (required, optional) = properties.iter().map(hint).partition(|hint| is_required(&hint.name));
        Some(Summary { required, optional, ..Summary::default() })
    }
}
