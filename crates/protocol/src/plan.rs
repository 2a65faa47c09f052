//! Plans: which capabilities to call, with which parameters and in which order.

mod input;
mod step;

pub use input::PlanInput;
pub use input::PlanMode;
pub use input::PlanOutput;
pub use step::Step;

use crate::PlanId;
use crate::shape::{ExtraFields, wire_object};

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

wire_object! {
    Plan {
        plan_id: "plan_id" required("a string"),
        original_request: "original_request" required("a string"),
        mode: "mode" optional,
        inputs: "inputs" or_default,
        steps: "steps" required("an array"),
        outputs: "outputs" or_default,
        created_at: "created_at" optional,
    }
}
