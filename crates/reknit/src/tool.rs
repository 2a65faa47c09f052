//! A function of the program as a tool.

use reknit_toolkit::CapabilityDefinition;

/// The service of tools that name no other one.
const DEFAULT_SERVICE: &str = "functions";

/// A function of the program that runs can call. The attribute [`#[reknit::tool]`](macro@crate::tool) makes one.
///
/// ```
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
    /// A tool of the service `functions`.
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
