//! What a tool can do, as it announces it.

mod effect;

pub use effect::Effect;

use crate::schema::{OtherFields, Summary};
use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, text, wire};
use crate::{CapabilityName, Path, Value};

/// One thing a tool can do.
///
/// ```
/// use reknit_protocol::{Capability, Value};
///
/// let text = r#"{"name": "get_weather", "description": "Weather at a place", "input_summary":
///     {"required": [{"name": "lat", "type": "float64"}, {"name": "lon", "type": "float64"}]}}"#;
/// let capability = Capability::from_value(&Value::parse(text)?)?;
/// assert_eq!(capability.call_path(), "/api/capabilities/get_weather");
/// let schema = capability.input_schema().expect("the tool has hinted at its input");
/// assert_eq!(schema.get("required"), Some(&Value::parse(r#"["lat", "lon"]"#)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// What it is called, within its tool.
    pub name: CapabilityName,
    /// What it does, in words; empty if the tool does not say.
    pub description: String,
    /// The path to call, if it is not the default one; see [`Capability::call_path`].
    pub endpoint: Option<String>,
    /// What kinds of things go in, in the tool's own words.
    pub input_types: Vec<String>,
    /// What kinds of things come out, in the tool's own words.
    pub output_types: Vec<String>,
    /// Hints at the input.
    pub input_summary: Option<Summary>,
    /// Hints at the output.
    pub output_summary: Option<Summary>,
    /// The path of the full schema, if it is not the default one; see [`Capability::schema_path`].
    pub schema_endpoint: Option<String>,
    /// Whether planners should not see it; it can be called all the same.
    pub internal: bool,
    /// What a call does to the world; decides what may be sent twice.
    pub effect: Effect,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

impl Capability {
    /// A capability of which nothing but the name is known.
    pub fn new(name: impl Into<CapabilityName>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            endpoint: None,
            input_types: Vec::new(),
            output_types: Vec::new(),
            input_summary: None,
            output_summary: None,
            schema_endpoint: None,
            internal: false,
            effect: Effect::Undeclared,
            extra: Extra::default(),
        }
    }

    /// The path that is called unless the tool names another: `/api/capabilities/<name>`.
    pub fn default_endpoint(&self) -> String {
        format!("/api/capabilities/{}", self.name)
    }

    /// The path to call. An empty `endpoint` counts as none: that is how some writers print "none".
    pub fn call_path(&self) -> String {
        non_empty(self.endpoint.as_deref()).map_or_else(|| self.default_endpoint(), str::to_owned)
    }

    /// The path of the full JSON Schema of the input: `schema_endpoint`, or `/schema` below the path to call.
    pub fn schema_path(&self) -> String {
        non_empty(self.schema_endpoint.as_deref()).map_or_else(|| self.call_path() + "/schema", str::to_owned)
    }

    /// The JSON Schema of the parameters, from the hints; `None` without hints.
    ///
    /// Fields that are not hinted at are refused: tools of the protocol publish the same closed schema at
    /// [`Capability::schema_path`], and a parameter nobody declared is more likely a mistake than a secret.
    pub fn input_schema(&self) -> Option<Value> {
        self.input_summary.as_ref().map(|summary| summary.to_schema(OtherFields::Refused))
    }

    /// The JSON Schema of the data in an answer, from the hints; `None` without hints.
    ///
    /// Fields that are not hinted at are allowed: an answer that says more than announced is still an answer.
    pub fn output_schema(&self) -> Option<Value> {
        self.output_summary.as_ref().map(|summary| summary.to_schema(OtherFields::Allowed))
    }
}

fn non_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

impl Wire for Capability {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            name: fields.require_text("name")?.into(),
            description: fields.text("description")?.unwrap_or_default(),
            endpoint: fields.text("endpoint")?,
            input_types: fields.list("input_types", text)?,
            output_types: fields.list("output_types", text)?,
            input_summary: fields.read("input_summary", Summary::read)?,
            output_summary: fields.read("output_summary", Summary::read)?,
            schema_endpoint: fields.text("schema_endpoint")?,
            internal: fields.flag("internal")?.unwrap_or(false),
            effect: fields.read("effect", Effect::read)?.unwrap_or_default(),
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with("name", self.name.as_str())
            .with_unless("description", "", self.description.as_str())
            .with_some("endpoint", self.endpoint.as_deref())
            .with_texts("input_types", self.input_types.iter().map(String::as_str))
            .with_texts("output_types", self.output_types.iter().map(String::as_str))
            .with_some("input_summary", self.input_summary.as_ref())
            .with_some("output_summary", self.output_summary.as_ref())
            .with_some("schema_endpoint", self.schema_endpoint.as_deref())
            .with_unless("internal", false, self.internal)
            .with_unless("effect", Effect::Undeclared.as_str(), self.effect.as_str())
            .finish()
    }
}

wire!(Capability);
