//! Plans: which capabilities to call, with which parameters and in which order.

mod input;
mod step;

pub use input::PlanInput;
pub use input::PlanMode;
pub use input::PlanOutput;
pub use step::Step;

use crate::shape::{ExtraFields, ObjectReader, ObjectWriter, ShapeError, Wire, list, object, wire};
use crate::{Object, Path, PlanId, Value};

/// The steps that answer a request.
///
/// Reading a plan checks only its JSON shape, not whether its tools exist or its dependencies are free of cycles.
///
/// ```
/// use reknit_protocol::{Plan, Value};
///
/// let text = r#"{"plan_id":"p-1","original_request":"Weather in Paris?","mode":"autonomous","steps":[
///     {"step_id":"step-1","agent_name":"weather-service","instruction":"Get the weather",
///      "metadata":{"capability":"get_weather","parameters":{"lat":48.8566,"lon":2.3522}}}]}"#;
/// let plan = Plan::from_value(&Value::parse(text)?)?;
/// assert_eq!(plan.steps[0].capability(), Some("get_weather"));
/// assert_eq!(plan.to_value().to_string(), Value::parse(text)?.to_string());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub plan_id: PlanId,
    /// The request of the user, word for word.
    pub original_request: String,
    /// The origin of the plan; `None` if it is not stated.
    pub mode: Option<PlanMode>,
    pub inputs: Vec<(String, PlanInput)>,
    pub steps: Vec<Step>,
    /// The outputs, by name: expressions over the results of steps and the inputs.
    pub outputs: Vec<(String, PlanOutput)>,
    /// When the plan was made, as text in any format.
    pub created_at: Option<String>,
    pub extra: ExtraFields,
}

impl Plan {
    /// A plan with mode [`PlanMode::Autonomous`].
    pub fn new(plan_id: impl Into<PlanId>, original_request: impl Into<String>, steps: Vec<Step>) -> Self {
        Self {
            plan_id: plan_id.into(),
            original_request: original_request.into(),
            mode: Some(PlanMode::Autonomous),
            inputs: Vec::new(),
            steps,
            outputs: Vec::new(),
            created_at: None,
            extra: ExtraFields::default(),
        }
    }
}

impl Wire for Plan {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = ObjectReader::new(value, path)?;
        Ok(Self {
            plan_id: fields.require_text("plan_id")?.into(),
            original_request: fields.require_text("original_request")?,
            mode: fields.text("mode")?.map(PlanMode::from),
            inputs: read_members(&mut fields, "inputs", PlanInput::read)?,
            steps: fields.require("steps", "an array", |value, path| list(value, path, Step::read))?,
            outputs: read_members(&mut fields, "outputs", PlanOutput::read)?,
            created_at: fields.text("created_at")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        ObjectWriter::new(&self.extra)
            .with("plan_id", self.plan_id.as_str())
            .with("original_request", self.original_request.as_str())
            .with_some("mode", self.mode.as_ref().map(PlanMode::as_str))
            .with_default("inputs", Object::new(), write_members(&self.inputs, PlanInput::to_value))
            .with("steps", self.steps.iter().map(Value::from).collect::<Vec<_>>())
            .with_default("outputs", Object::new(), write_members(&self.outputs, PlanOutput::to_value))
            .with_some("created_at", self.created_at.as_deref())
            .finish()
    }
}

/// Reads an object of named items, in the order of the text; an absent one has no items.
fn read_members<T>(
    fields: &mut ObjectReader<'_>,
    key: &str,
    read: impl Fn(Value, &Path) -> Result<T, ShapeError>,
) -> Result<Vec<(String, T)>, ShapeError> {
    let members = fields.read(key, |value, path| {
        let entries = object(value, path)?.into_iter();
        entries.map(|(name, value)| read(value, &path.key(&name)).map(|item| (name, item))).collect()
    })?;
    Ok(members.unwrap_or_default())
}

fn write_members<T>(members: &[(String, T)], write: impl Fn(&T) -> Value) -> Object {
    members.iter().map(|(name, item)| (name.clone(), write(item))).collect()
}

wire!(Plan);
