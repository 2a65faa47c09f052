//! The tool that runs a whole plan. Each step calls a tool under the name that the model is shown.
//!
//! ```text
//! {"steps": [{"id": "price", "tool": "shop__price", "with": {"item": "ink"}},
//!            {"id": "order", "tool": "shop__order", "with": {"most": "{{price.amount}}"}}]}
//! ```

use reknit_model_api::ToolDefinition;
use reknit_protocol::{Object, Plan, Step, StepId, Value, error_chain};

use super::classify_answer::Callee;
use super::toolbox::{PLAN_TOOL, ToolLookup, Toolbox};
use reknit_plan::{PlanLanguage, read_plan};
use reknit_salvage::read_complete;

/// The key of a step that calls no tool.
const COMPUTE: &str = "compute";

/// Reads the plan in the parameters of a call. Plans in the planner's own format are accepted too. Fails with the
/// reason.
pub(super) fn read_plan_call(
    parameters: &Object,
    toolbox: &Toolbox,
    request: &str,
    language: PlanLanguage,
) -> Result<Plan, String> {
    let value = match parameters.get("plan") {
        Some(Value::String(text)) => read_complete(text)?,
        Some(plan) => plan.clone(),
        None => Value::Object(parameters.clone()),
    };
    let steps = value.get("steps").or(Some(&value)).and_then(Value::as_array).unwrap_or_default();
    if steps.is_empty() {
        return Err("the plan has no `steps`".to_owned());
    }
    let has_controls = language == PlanLanguage::Controls;
    let is_own_form = |step: &Value| step.get("tool").is_some() || has_controls && step.get(COMPUTE).is_some();
    if steps.iter().all(is_own_form) {
        let steps = steps.iter().enumerate().map(|(index, step)| read_step(index, step, toolbox, language));
        return Ok(Plan::new("plan", request, steps.collect::<Result<_, _>>()?));
    }
    let (plan, _) = read_plan(&value.to_string(), request).map_err(|error| error_chain(&error))?;
    Ok(plan)
}

fn read_step(index: usize, step: &Value, toolbox: &Toolbox, language: PlanLanguage) -> Result<Step, String> {
    let text = |name: &str| step.get(name).and_then(Value::as_str);
    let id = text("id").map_or_else(|| format!("step-{}", index + 1), str::to_owned);
    let after = step.get("after").or_else(|| step.get("depends_on")).and_then(Value::as_array);
    let after: Vec<StepId> = after.unwrap_or_default().iter().filter_map(Value::as_str).map(Into::into).collect();
    let control = |key: &str| step.get(key).filter(|value| language == PlanLanguage::Controls && !value.is_null());
    let controls = ["foreach", "when"].into_iter().filter_map(|key| Some((key.to_owned(), control(key)?.clone())));
    if let Some(value) = control(COMPUTE).filter(|_| text("tool").is_none()) {
        let parameters = Object::from([("result", value.clone())]);
        let mut computed = Step::new(id, COMPUTE, "", "").with_parameters(parameters);
        computed.metadata.remove("capability");
        computed.metadata.insert(COMPUTE, true);
        computed.metadata.extend(controls);
        return Ok(Step { depends_on: after, ..computed });
    }
    let name = text("tool").ok_or_else(|| format!("`tool` of step `{id}` is no text"))?;
    let (agent, capability) = match toolbox.find(name) {
        ToolLookup::Found(tool) => match &tool.callee {
            Callee::Capability { tool: agent, capability } => (agent.clone(), capability.clone()),
            Callee::Agent(_) | Callee::Plan | Callee::StoredResult | Callee::EarlierResult(_) | Callee::SameTurn(_) => {
                return Err(format!("step `{id}`: a plan can only call tools, and `{name}` is none"));
            }
        },
        ToolLookup::Report => return Err(format!("step `{id}`: a plan cannot give the report")),
        ToolLookup::Unknown { nearest } => {
            let near = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
            return Err(format!("step `{id}`: there is no tool `{name}`{near}"));
        }
    };
    let parameters = match step.get("with").or_else(|| step.get("parameters")) {
        Some(Value::Object(parameters)) => parameters.clone(),
        Some(Value::Null) | None => Object::new(),
        Some(other) => return Err(format!("step `{id}`: `with` is {}, not an object", other.kind().with_article())),
    };
    let mut planned = Step::new(id, agent, capability.as_str(), "").with_parameters(parameters);
    planned.depends_on = after;
    planned.metadata.extend(controls);
    Ok(planned)
}

/// The definition that models are shown.
pub(super) fn plan_tool(names: &[&str], language: PlanLanguage) -> ToolDefinition {
    let schema = r#"{"type": "object", "required": ["steps"], "properties": {"steps": {"type": "array", "items": {
        "type": "object", "required": ["id", "tool"], "properties": {
            "id": {"type": "string", "description": "What other steps call it."},
            "tool": {"type": "string"},
            "with": {"type": "object", "description": "Its parameters. What an earlier step gives is written as a text: `{{id.field}}`, or with a calculation: `{{100 * id.price}}`."},
            "after": {"type": "array", "items": {"type": "string"}, "description": "Steps to wait for whose results it does not use."}}}}}}"#;
    // The text is a constant that the tests parse.
    let mut schema = Value::parse(schema).unwrap_or(Value::Null);
    let tool = ["properties", "steps", "items", "properties", "tool"];
    let place = tool.iter().try_fold(&mut schema, |value, key| value.get_mut(key));
    if let Some(object) = place.and_then(Value::as_object_mut) {
        object.insert("enum", names.iter().map(|name| Value::from(*name)).collect::<Value>());
    }
    if language == PlanLanguage::Controls {
        add_controls(&mut schema);
    }
    ToolDefinition {
        name: PLAN_TOOL.to_owned(),
        description: "Makes many calls at once, each as soon as the results that it needs are there. Answers with what became of \
                      each step. Better than single calls where it is known beforehand what is called."
            .to_owned(),
        schema,
    }
}

/// Lets steps have a loop and a condition, and compute instead of calling a tool.
fn add_controls(schema: &mut Value) {
    const CONTROLS: &str = r#"{
        "foreach": {"type": "string", "description": "An expression for a list, `id.items`: the step runs once for each item, which `with` calls `{{item}}`. Its result is the list of the results."},
        "when": {"type": "string", "description": "A condition, `id.total > 100`: if it is false, the step is skipped."},
        "compute": {"type": "string", "description": "Instead of `tool`: the result itself, `{{filter(id.items, item.open)}}`, `{{sum_by(id.items, item.total)}}`."}}"#;
    let step = ["properties", "steps", "items"].iter().try_fold(schema, |value, key| value.get_mut(key));
    let Some(step) = step.and_then(Value::as_object_mut) else { return };
    step.insert("required", Value::from_iter([Value::from("id")]));
    // The text is a constant that the tests parse.
    let controls = Value::parse(CONTROLS).unwrap_or(Value::Null);
    let properties = step.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some(properties), Value::Object(controls)) = (properties, controls) {
        properties.extend(controls);
    }
}
