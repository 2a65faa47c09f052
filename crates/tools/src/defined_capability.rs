//! A capability that the configuration describes in full, because what it calls cannot describe itself.

use reknit_plan::CatalogueEntry;
use reknit_protocol::schema::unknown_types;
use reknit_protocol::spelling::nearest;
use reknit_protocol::{CallTool, Capability, CapabilityName, Object, SideEffect, ToolName, TransportFailure, Value};

use crate::source::not_callable;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedCapability {
    pub tool: ToolName,
    pub name: CapabilityName,
    pub description: String,
    pub effect: SideEffect,
    /// The JSON Schema of the parameters. Its `properties` are the parameters that placeholders may name.
    pub schema: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {problem}")]
pub struct InvalidDefinition {
    /// The key of the configuration with the mistake.
    pub key: &'static str,
    pub problem: String,
}

impl InvalidDefinition {
    pub(crate) fn new(key: &'static str, problem: impl Into<String>) -> Self {
        Self { key, problem: problem.into() }
    }
}

impl DefinedCapability {
    /// The entry of the catalogue. Fails if the schema is not valid.
    pub(crate) fn entry(&self) -> Result<CatalogueEntry, InvalidDefinition> {
        if let Some(unknown) = unknown_types(&self.schema).first() {
            return Err(InvalidDefinition::new("parameters", unknown.to_string()));
        }
        let mut capability = Capability::new(self.name.clone());
        capability.description.clone_from(&self.description);
        capability.effect = self.effect;
        let entry = CatalogueEntry::new(capability, Some(self.schema.clone()));
        entry.map_err(|error| InvalidDefinition::new("parameters", format!("it is not a valid JSON Schema: {error}")))
    }

    fn properties(&self) -> impl Iterator<Item = &str> {
        self.schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::keys)
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        let list = self.schema.get("required").and_then(Value::as_array).unwrap_or_default();
        list.iter().filter_map(Value::as_str)
    }

    pub(crate) fn declares(&self, parameter: &str) -> bool {
        self.properties().any(|name| name == parameter)
    }

    pub(crate) fn is_required(&self, parameter: &str) -> bool {
        self.required().any(|name| name == parameter)
    }

    /// Fails unless every placeholder (the key of the configuration and the name) is a parameter, and every parameter has one.
    pub(crate) fn check_placeholders(&self, placeholders: &[(&'static str, String)]) -> Result<(), InvalidDefinition> {
        let names: Vec<&str> = self.properties().collect();
        if let Some((key, unknown)) = placeholders.iter().find(|(_, name)| !names.contains(&name.as_str())) {
            let hint = match (nearest(unknown, names.iter().copied()), names.as_slice()) {
                (Some(name), _) => format!("did you mean `{{{name}}}`?"),
                (None, []) => "declare it under `parameters`".to_owned(),
                (None, names) => format!("there is: {}", names.join(", ")),
            };
            return Err(InvalidDefinition::new(key, format!("`{{{unknown}}}` is not one of the parameters; {hint}")));
        }
        let is_unused = |name: &&&str| !placeholders.iter().any(|(_, used)| used == **name);
        if let Some(unused) = names.iter().find(is_unused) {
            let problem =
                format!("nothing uses `{unused}`; write `{{{unused}}}` where its value belongs, or remove it");
            return Err(InvalidDefinition::new("parameters", problem));
        }
        let is_undeclared = |name: &&str| !names.contains(name);
        match self.required().find(is_undeclared) {
            Some(name) => Err(InvalidDefinition::new("required", format!("`{name}` is not one of the parameters"))),
            None => Ok(()),
        }
    }

    /// Fails if a required parameter is missing, or if there is one that no placeholder can use.
    pub(crate) fn check_parameters(&self, parameters: &Object) -> Result<(), String> {
        if let Some(missing) = self.required().find(|name| !parameters.contains_key(name)) {
            return Err(format!("the parameter `{missing}` is missing"));
        }
        match parameters.keys().find(|name| !self.declares(name)) {
            Some(unknown) => Err(format!("there is no parameter `{unknown}`")),
            None => Ok(()),
        }
    }
}

pub(crate) fn not_made(call: &CallTool, problem: &str) -> TransportFailure {
    not_callable(format!("the call of `{}` of `{}` cannot be made: {problem}", call.capability, call.tool))
}
