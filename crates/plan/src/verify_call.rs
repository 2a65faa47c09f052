//! The read call of a step with `verify`.

use reknit_protocol::{Object, Step, Value};

/// The read call that a step makes after its own one, as a step: `metadata.verify`. `None` if it has none that can be read.
pub(crate) fn verify_call(step: &Step) -> Option<Step> {
    let verify = step.metadata.get("verify")?.as_object()?;
    let tool = verify.get("tool")?.as_str()?;
    let (tool, capability) = tool.rsplit_once('/').unwrap_or(("", tool));
    let parameters = verify.get("with").and_then(Value::as_object).cloned().unwrap_or_else(Object::new);
    Some(Step::new(step.step_id.clone(), tool, capability, "").with_parameters(parameters))
}

pub(crate) fn set_tool(step: &mut Step, call: &Step) {
    let tool = format!("{}/{}", call.tool, call.capability().unwrap_or_default());
    if let Some(Value::Object(mut verify)) = step.metadata.get("verify").cloned() {
        verify.insert("tool", tool);
        step.metadata.insert("verify", Value::Object(verify));
    }
}
