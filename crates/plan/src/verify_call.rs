//! The read call of a step with `verify`.

use reknit_protocol::{Object, Step, Value};

/// The read call that a step makes after its own one, as a step: `metadata.verify`. `None` if it has none that can be read.
///
/// ```
/// use reknit_plan::{read_plan_file, verify_call};
///
/// let text = "steps: [{id: a, tool: shop/pay, verify: {tool: shop/get_payment, expect: reply.paid}}]";
/// let (plan, _) = read_plan_file(text)?;
/// assert_eq!(verify_call(&plan.steps[0]).and_then(|call| call.capability().map(str::to_owned)), Some("get_payment".to_owned()));
/// # Ok::<(), reknit_plan::PlanError>(())
/// ```
pub fn verify_call(step: &Step) -> Option<Step> {
    let verify = step.metadata.get("verify")?.as_object()?;
    let tool = verify.get("tool")?.as_str()?;
    let (agent, capability) = tool.rsplit_once('/').unwrap_or(("", tool));
    let parameters = verify.get("with").and_then(Value::as_object).cloned().unwrap_or_else(Object::new);
    Some(Step::new(step.step_id.clone(), agent, capability, "").with_parameters(parameters))
}

/// Replaces the tool of a step's `verify`.
pub(crate) fn set_tool(step: &mut Step, call: &Step) {
    let tool = format!("{}/{}", call.tool, call.capability().unwrap_or_default());
    if let Some(Value::Object(mut verify)) = step.metadata.get("verify").cloned() {
        verify.insert("tool", tool);
        step.metadata.insert("verify", Value::Object(verify));
    }
}
