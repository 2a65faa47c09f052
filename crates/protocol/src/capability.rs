//! Capabilities as tools announce them.

mod side_effect;

pub use side_effect::ErrorFields;
pub use side_effect::SideEffect;

use crate::schema::{AdditionalProperties, Summary};
use crate::shape::{ExtraFields, wire_object};
use crate::{CapabilityName, KeyRule, Value};

/// One operation that a tool offers.
///
/// ```
/// use reknit_protocol::{Capability, Value};
///
/// let text = r#"{"name": "get_weather", "description": "Weather at a place", "input_summary":
///     {"required": [{"name": "lat", "type": "float64"}, {"name": "lon", "type": "float64"}]}}"#;
/// let capability = Capability::from_value(&Value::parse(text)?)?;
/// assert_eq!(capability.call_path(), "/api/capabilities/get_weather");
/// let schema = capability.input_schema().expect("there is an input summary");
/// assert_eq!(schema.get("required"), Some(&Value::parse(r#"["lat", "lon"]"#)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The name, unique within the tool.
    pub name: CapabilityName,
    /// A description for people and models; empty if the tool gives none.
    pub description: String,
    /// The path to call if it is not the default; see [`Capability::call_path`].
    pub endpoint: Option<String>,
    /// The kinds of input, as free text.
    pub input_types: Vec<String>,
    /// The kinds of output, as free text.
    pub output_types: Vec<String>,
    pub input_summary: Option<Summary>,
    pub output_summary: Option<Summary>,
    pub error_fields: Option<ErrorFields>,
    /// The path of the full schema if it is not the default; see [`Capability::schema_path`].
    pub schema_endpoint: Option<String>,
    /// Whether planners do not see this capability. It can still be called.
    pub internal: bool,
    pub effect: SideEffect,
    pub business_key: Option<KeyRule>,
    pub extra: ExtraFields,
}

impl Capability {
    /// A capability with a name, undeclared side effects and no other information.
    pub fn new(name: impl Into<CapabilityName>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            endpoint: None,
            input_types: Vec::new(),
            output_types: Vec::new(),
            input_summary: None,
            output_summary: None,
            error_fields: None,
            schema_endpoint: None,
            internal: false,
            effect: SideEffect::Undeclared,
            business_key: None,
            extra: ExtraFields::default(),
        }
    }

    /// The path to call if the tool sets no `endpoint`: `/api/capabilities/<name>`.
    pub fn default_endpoint(&self) -> String {
        format!("/api/capabilities/{}", self.name)
    }

    /// The path to call. An empty `endpoint` counts as absent, because some tools write it so.
    pub fn call_path(&self) -> String {
        non_empty(self.endpoint.as_deref()).map_or_else(|| self.default_endpoint(), str::to_owned)
    }

    /// The path of the full JSON Schema of the input: `schema_endpoint`, or `/schema` below [`Capability::call_path`].
    pub fn schema_path(&self) -> String {
        non_empty(self.schema_endpoint.as_deref()).map_or_else(|| self.call_path() + "/schema", str::to_owned)
    }

    /// The JSON Schema of the parameters, built from `input_summary`; `None` without one.
    ///
    /// The schema forbids other fields: tools publish the same closed schema at [`Capability::schema_path`], and an
    /// undeclared parameter is most likely a mistake.
    pub fn input_schema(&self) -> Option<Value> {
        self.input_summary.as_ref().map(|summary| summary.to_schema(AdditionalProperties::Forbidden))
    }

    /// The JSON Schema of the data in a response, built from `output_summary`; `None` without one.
    ///
    /// The schema allows other fields: a response with more data than announced is still valid.
    pub fn output_schema(&self) -> Option<Value> {
        self.output_summary.as_ref().map(|summary| summary.to_schema(AdditionalProperties::Allowed))
    }
}

fn non_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

wire_object! {
    Capability {
        name: "name" required("a string"),
        description: "description" or_default,
        endpoint: "endpoint" optional,
        input_types: "input_types" or_default,
        output_types: "output_types" or_default,
        input_summary: "input_summary" optional,
        output_summary: "output_summary" optional,
        error_fields: "error_fields" optional,
        schema_endpoint: "schema_endpoint" optional,
        internal: "internal" or_default,
        effect: "effect" or_default,
        business_key: "business_key" optional,
    }
}
