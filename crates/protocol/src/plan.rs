//! A plan: which capability to call with what, and in which order.

mod input;
mod mode;
mod step;

pub use input::Input;
pub use mode::Mode;
pub use step::Step;

use crate::shape::{Extra, Fields, ShapeError, Wire, Writer, text, wire};
use crate::{Object, Path, PlanId, Value};

/// A request turned into steps.
///
/// This is the plan as written; whether its steps exist, agree and end is for others to check.
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
    /// Which plan this is.
    pub plan_id: PlanId,
    /// What the user asked for, in the user's words.
    pub original_request: String,
    /// How the plan came to be; `None` if it does not say.
    pub mode: Option<Mode>,
    /// What it asks for when it is run, by name.
    pub inputs: Vec<(String, Input)>,
    /// The steps, in the order they were written.
    pub steps: Vec<Step>,
    /// What it gives, by name: expressions over steps and inputs.
    pub outputs: Vec<(String, String)>,
    /// When the plan was made, as written.
    pub created_at: Option<String>,
    /// Fields the protocol does not know.
    pub extra: Extra,
}

impl Plan {
    /// A plan that was made for a request, in mode [`Mode::Autonomous`].
    pub fn new(plan_id: impl Into<PlanId>, original_request: impl Into<String>, steps: Vec<Step>) -> Self {
        Self {
            plan_id: plan_id.into(),
            original_request: original_request.into(),
            mode: Some(Mode::Autonomous),
            inputs: Vec::new(),
            steps,
            outputs: Vec::new(),
            created_at: None,
            extra: Extra::default(),
        }
    }
}

impl Wire for Plan {
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            plan_id: fields.require_text("plan_id")?.into(),
            original_request: fields.require_text("original_request")?,
            mode: fields.text("mode")?.map(Mode::from),
            inputs: members(&mut fields, "inputs", Input::read)?,
            steps: fields.require_list("steps", Step::read)?,
            outputs: members(&mut fields, "outputs", text)?,
            created_at: fields.text("created_at")?,
            extra: fields.finish(),
        })
    }

    fn write(&self) -> Value {
        Writer::new(&self.extra)
            .with("plan_id", self.plan_id.as_str())
            .with("original_request", self.original_request.as_str())
            .with_some("mode", self.mode.as_ref().map(Mode::as_str))
            .with_unless("inputs", Object::new(), object(&self.inputs, Input::to_value))
            .with("steps", self.steps.iter().map(Value::from).collect::<Vec<_>>())
            .with_unless("outputs", Object::new(), object(&self.outputs, |text| text.as_str().into()))
            .with_some("created_at", self.created_at.as_deref())
            .finish()
    }
}

/// Things with names, in the order they were written.
fn members<T>(
    fields: &mut Fields<'_>,
    key: &str,
    read: impl Fn(Value, &Path) -> Result<T, ShapeError>,
) -> Result<Vec<(String, T)>, ShapeError> {
    let members = fields.read(key, |value, path| {
        let members = crate::shape::object(value, path)?.into_iter();
        let member = |(name, value): (String, Value)| {
            let thing = read(value, &path.key(&name))?;
            Ok((name, thing))
        };
        members.map(member).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(members.unwrap_or_default())
}

fn object<T>(members: &[(String, T)], write: impl Fn(&T) -> Value) -> Object {
    members.iter().map(|(name, thing)| (name.clone(), write(thing))).collect()
}

wire!(Plan);
