//! A function of the program as a tool.

use reknit_tool_service::CapabilityDefinition;

/// The service of tools that name no other one.
const DEFAULT_SERVICE: &str = "functions";

/// A function of the program that runs can call. The attribute `#[reknit::tool]` makes one.
///
#[cfg_attr(feature = "macros", doc = "```")]
#[cfg_attr(not(feature = "macros"), doc = "```ignore")]
/// /// The area of a square.
/// #[reknit::tool(read)]
/// fn area(side: f64) -> f64 {
///     side * side
/// }
///
/// assert_eq!(area().to_string(), "functions/area");
/// assert_eq!(area().in_service("geometry").to_string(), "geometry/area");
/// assert_eq!(area().definition().announcement().description, "The area of a square.");
/// ```
#[derive(Debug, Clone)]
pub struct Tool {
    service: String,
    definition: CapabilityDefinition,
}

impl Tool {
    /// A tool of the service `functions`, from a definition with a schema of its own:
    ///
    /// ```
    /// use reknit::protocol::SideEffect;
    /// use reknit::tool_service::{CallContext, CapabilityDefinition};
    /// use reknit::{Object, Tool, ToolError, Value};
    ///
    /// async fn greet(_: CallContext, arguments: Object) -> Result<String, ToolError> {
    ///     let name = arguments.get("name").and_then(Value::as_str).unwrap_or("you");
    ///     Ok(format!("Hello, {name}!"))
    /// }
    ///
    /// let schema = Value::parse(r#"{"type": "object", "properties": {"name": {"type": "string"}}}"#)?;
    /// let greet = Tool::new(CapabilityDefinition::with_schema("greet", SideEffect::Read, schema, greet));
    /// assert_eq!(greet.to_string(), "functions/greet");
    /// # Ok::<(), reknit::protocol::ParseError>(())
    /// ```
    pub fn new(definition: CapabilityDefinition) -> Self {
        Self { service: DEFAULT_SERVICE.to_owned(), definition }
    }

    /// The same tool in another service: plans call it `SERVICE/NAME`.
    #[must_use]
    pub fn in_service(self, service: impl Into<String>) -> Self {
        Self { service: service.into(), ..self }
    }

    /// The service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// The name, the description, the schema and the code.
    pub fn definition(&self) -> &CapabilityDefinition {
        &self.definition
    }

    pub(crate) fn into_parts(self) -> (String, CapabilityDefinition) {
        (self.service, self.definition)
    }
}

impl std::fmt::Display for Tool {
    /// Its name in plans.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.service, self.definition.announcement().name)
    }
}
