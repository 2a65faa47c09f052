//! One step of a plan.

use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, wire};
use crate::{Number, Object, Path, StepId, ToolName, Value};

const CAPABILITY: &str = "capability";
const PARAMETERS: &str = "parameters";
const LIMIT: &str = "limit_ms";

/// One call of a capability, made after the steps it depends on are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub step_id: StepId,
    pub tool: ToolName,
    pub namespace: Option<String>,
    /// The purpose of the step, for people and models; empty if the plan gives none.
    pub instruction: String,
    pub depends_on: Vec<StepId>,
    /// All other information; see [`Step::capability`], [`Step::parameters`], [`Step::limit_ms`], [`Step::is_computed`],
    /// [`Step::sub_plan`] and [`Step::agent_file`].
    /// The check of a plan reads `foreach`, `when`, `on_failure`, `approve`, `retry`, `until`, `expect` and
    /// `verify`.
    pub metadata: Object,
    pub extra: ExtraFields,
}

impl Step {
    /// A step that calls a capability, without parameters.
    pub fn new(
        step_id: impl Into<StepId>,
        tool: impl Into<ToolName>,
        capability: &str,
        instruction: impl Into<String>,
    ) -> Self {
        Self {
            step_id: step_id.into(),
            tool: tool.into(),
            namespace: None,
            instruction: instruction.into(),
            depends_on: Vec::new(),
            metadata: Object::from([(CAPABILITY, capability.into())]),
            extra: ExtraFields::default(),
        }
    }

    #[must_use]
    pub fn with_parameters(mut self, parameters: Object) -> Self {
        self.metadata.insert(PARAMETERS, parameters);
        self
    }

    #[must_use]
    pub fn after(mut self, step: impl Into<StepId>) -> Self {
        self.depends_on.push(step.into());
        self
    }

    /// The capability to call: `metadata.capability`.
    pub fn capability(&self) -> Option<&str> {
        self.metadata.get(CAPABILITY)?.as_str()
    }

    /// The parameters with unresolved references: `metadata.parameters`.
    pub fn parameters(&self) -> Option<&Object> {
        self.metadata.get(PARAMETERS)?.as_object()
    }

    /// Whether the step calls no tool: its result is its parameter `result` (`metadata.compute`).
    pub fn is_computed(&self) -> bool {
        self.metadata.get("compute") == Some(&Value::Bool(true))
    }

    /// The plan file that the step runs: `metadata.plan`.
    pub fn sub_plan(&self) -> Option<&str> {
        self.metadata.get("plan")?.as_str()
    }

    /// The agent file that the step runs: `metadata.agent`.
    pub fn agent_file(&self) -> Option<&str> {
        self.metadata.get("agent")?.as_str()
    }

    /// Whether the step runs once for each item of a list: `metadata.foreach`.
    pub fn has_foreach(&self) -> bool {
        self.has_control("foreach")
    }

    /// Whether `metadata` has a value under a key that the check of a plan reads, such as `until`.
    pub fn has_control(&self, key: &str) -> bool {
        self.metadata.get(key).is_some_and(|value| !value.is_null())
    }

    /// The time limit of the whole step in milliseconds: `metadata.limit_ms`.
    pub fn limit_ms(&self) -> Option<u64> {
        self.metadata.get(LIMIT)?.as_number()?.as_u64()
    }
}

impl Wire for Step {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            step_id: fields.required("step_id", "a string")?,
            tool: fields.required("agent_name", "a string")?,
            namespace: fields.optional("namespace")?,
            instruction: fields.or_default("instruction")?,
            depends_on: fields.or_default("depends_on")?,
            metadata: fields.read("metadata", read_metadata)?.unwrap_or_default(),
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .required("step_id", &self.step_id)
            .required("agent_name", &self.tool)
            .optional("namespace", &self.namespace)
            .or_default("instruction", &self.instruction)
            .or_default("depends_on", &self.depends_on)
            .or_default("metadata", &self.metadata)
            .finish()
    }
}

/// Checks the entries that the accessors of [`Step`] read, which would otherwise report a wrong entry as absent.
fn read_metadata(value: Value, path: &Path) -> Result<Object, ShapeError> {
    let object = Object::read(value, path)?;
    let check = |key: &str, expected, is_valid: fn(&Value) -> bool| match object.get(key) {
        Some(value) if !value.is_null() && !is_valid(value) => Err(ShapeError::kind(path.key(key), expected, value)),
        _ => Ok(()),
    };
    let is_positive = |value: &Value| value.as_number().and_then(Number::as_u64).is_some_and(|number| number > 0);
    check(CAPABILITY, "a string", |value| value.as_str().is_some())?;
    check(PARAMETERS, "an object", |value| value.as_object().is_some())?;
    check(LIMIT, "a whole number of milliseconds above 0", is_positive)?;
    Ok(object)
}

wire!(Step);
