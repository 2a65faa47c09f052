//! One step of a plan.

use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, wire};
use crate::{AgentName, Number, Object, Path, StepId, Value};

const CAPABILITY: &str = "capability";
const PARAMETERS: &str = "parameters";
const LIMIT: &str = "limit_ms";

/// One call to make, once the steps it depends on are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which step this is, within its plan.
    pub step_id: StepId,
    /// The tool or agent to call.
    pub agent_name: AgentName,
    /// Where that tool or agent is registered, if the plan says so.
    pub namespace: Option<String>,
    /// What the step is for, in words; empty if the plan does not say.
    pub instruction: String,
    /// The steps whose results it needs.
    pub depends_on: Vec<StepId>,
    /// Everything else; see [`Step::capability`], [`Step::parameters`] and [`Step::limit_ms`].
    pub metadata: Object,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

impl Step {
    /// A step that calls a capability, without parameters.
    pub fn new(
        step_id: impl Into<StepId>,
        agent_name: impl Into<AgentName>,
        capability: &str,
        instruction: impl Into<String>,
    ) -> Self {
        Self {
            step_id: step_id.into(),
            agent_name: agent_name.into(),
            namespace: None,
            instruction: instruction.into(),
            depends_on: Vec::new(),
            metadata: Object::from([(CAPABILITY, capability.into())]),
            extra: Extra::default(),
        }
    }

    /// Sets the parameters.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Object) -> Self {
        self.metadata.insert(PARAMETERS, parameters);
        self
    }

    /// Adds a step whose result this one needs.
    #[must_use]
    pub fn after(mut self, step: impl Into<StepId>) -> Self {
        self.depends_on.push(step.into());
        self
    }

    /// The capability to call: `metadata.capability`.
    pub fn capability(&self) -> Option<&str> {
        self.metadata.get(CAPABILITY)?.as_str()
    }

    /// The parameters as the plan has them, references unresolved: `metadata.parameters`.
    pub fn parameters(&self) -> Option<&Object> {
        self.metadata.get(PARAMETERS)?.as_object()
    }

    /// How long the step may take in all, in milliseconds: `metadata.limit_ms`.
    pub fn limit_ms(&self) -> Option<u64> {
        self.metadata.get(LIMIT)?.as_number()?.as_u64()
    }

    /// The parameters, to change in place.
    pub fn parameters_mut(&mut self) -> Option<&mut Object> {
        self.metadata.get_mut(PARAMETERS)?.as_object_mut()
    }
}

impl Wire for Step {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            step_id: fields.require_text("step_id")?.into(),
            agent_name: fields.require_text("agent_name")?.into(),
            namespace: fields.text("namespace")?,
            instruction: fields.text("instruction")?.unwrap_or_default(),
            depends_on: fields.list("depends_on", StepId::read)?,
            metadata: fields.read("metadata", metadata)?.unwrap_or_default(),
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with("step_id", self.step_id.as_str())
            .with("agent_name", self.agent_name.as_str())
            .with_some("namespace", self.namespace.as_deref())
            .with_unless("instruction", "", self.instruction.as_str())
            .with_texts("depends_on", self.depends_on.iter().map(StepId::as_str))
            .with_unless("metadata", Object::new(), self.metadata.clone())
            .finish()
    }
}

/// The keys that matter are checked here, so that the accessors cannot mistake a wrong one for an absent one.
fn metadata(value: Value, path: &Path) -> Result<Object, ShapeError> {
    let object = crate::shape::object(value, path)?;
    if let Some(wrong) = object.get(CAPABILITY).filter(|value| !matches!(value, Value::String(_) | Value::Null)) {
        return Err(ShapeError::kind(path.key(CAPABILITY), "a string", wrong));
    }
    if let Some(wrong) = object.get(PARAMETERS).filter(|value| !matches!(value, Value::Object(_) | Value::Null)) {
        return Err(ShapeError::kind(path.key(PARAMETERS), "an object", wrong));
    }
    let is_limit = |value: &Value| value.as_number().and_then(Number::as_u64).is_some_and(|ms| ms > 0);
    if let Some(wrong) = object.get(LIMIT).filter(|value| !value.is_null() && !is_limit(value)) {
        return Err(ShapeError::kind(path.key(LIMIT), "a whole number of milliseconds", wrong));
    }
    Ok(object)
}

wire!(Step);
