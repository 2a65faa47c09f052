//! The tools that a model may call in a session: capabilities of the catalogue, other agents, a plan, and the report.
//!
//! Each step of a plan calls a tool under the name that the model is shown:
//!
//! ```text
//! {"steps": [{"id": "price", "tool": "shop__price", "with": {"item": "ink"}},
//!            {"id": "order", "tool": "shop__order", "with": {"most": "{{price.amount}}"}}]}
//! ```

use reknit_model_api::ToolDefinition;
use reknit_plan::{PlanLanguage, read_plan};
use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{Object, Plan, SideEffect, Step, StepId, Value, error_chain};

use super::call::Callee;
use super::repeated_calls::{add_repeat_argument, needs_repeat_reason};
use super::report_draft::is_report;
use super::stored_results::{READ_TOOL, read_tool};
use crate::answer::StepReport;
use crate::session_start::{Plans, ReportFormat, ReportRules, SessionStarted};
use crate::session_texts::REPORT_TOOL;
use crate::tool_name::{safe_name, tool_name};

/// The tool that runs a whole plan.
pub const PLAN_TOOL: &str = "agent__run_plan";

/// The tools that a model may call. They follow from the session's first event and are not part of a snapshot.
#[derive(Debug)]
pub(super) struct Toolbox {
    entries: Vec<NamedTool>,
    definitions: Vec<ToolDefinition>,
    /// Shown once a result is stored.
    read_tool: ToolDefinition,
    report_tool: ToolDefinition,
}

/// A tool under the name that models are shown.
#[derive(Debug, Clone)]
pub(super) struct NamedTool {
    pub(super) name: String,
    pub(super) callee: Callee,
    /// What its calls change.
    pub(super) class: SideEffect,
    /// The argument that states why a call is repeated, if a repeated call needs a reason.
    pub(super) repeat_argument: Option<String>,
}

/// The tool that a model's call refers to.
#[derive(Debug)]
pub(super) enum ToolLookup<'a> {
    Report,
    Found(&'a NamedTool),
    Unknown { nearest: Option<&'a str> },
}

impl NamedTool {
    /// A tool of the session itself.
    fn of_session(name: String, callee: Callee) -> Self {
        Self { name, callee, class: SideEffect::Undeclared, repeat_argument: None }
    }
}

impl Toolbox {
    /// The tools of a session, with the side effects of their calls as the policy has them.
    pub(super) fn new(started: &SessionStarted) -> Self {
        let SessionStarted { catalogue, agents, rules, policy, .. } = started;
        let mut entries: Vec<NamedTool> = Vec::new();
        let mut definitions = Vec::new();
        for tool in &catalogue.tools {
            for entry in tool.visible_capabilities() {
                let name = unique_name(tool.name.as_str(), entry.capability.name.as_str(), &entries);
                let (agent, capability) = (tool.name.clone(), entry.capability.name.clone());
                let class = policy.effects.class(agent.as_str(), capability.as_str(), entry.capability.effect);
                let mut schema = entry.json_schema().unwrap_or_else(|| schema_of_type("object"));
                let repeat_argument = needs_repeat_reason(class).then(|| add_repeat_argument(&mut schema)).flatten();
                let description = description(&tool.description, &entry.capability.description);
                definitions.push(ToolDefinition { name: name.clone(), description, schema });
                let callee = Callee::Capability { tool: agent, capability };
                entries.push(NamedTool { name, callee, class, repeat_argument });
            }
        }
        for (index, agent) in agents.iter().enumerate() {
            let name = unique_name("agent", &agent.name, &entries);
            definitions.push(agent_tool(&name, &agent.description));
            entries.push(NamedTool::of_session(name, Callee::Agent(index)));
        }
        if rules.plans == Plans::Allowed {
            let tools = entries.iter().filter(|entry| matches!(entry.callee, Callee::Capability { .. }));
            let names: Vec<&str> = tools.map(|entry| entry.name.as_str()).collect();
            definitions.push(plan_tool(&names, policy.planning.language));
            entries.push(NamedTool::of_session(PLAN_TOOL.to_owned(), Callee::Plan));
        }
        let read = NamedTool::of_session(READ_TOOL.to_owned(), Callee::StoredResult);
        entries.push(NamedTool { class: SideEffect::Read, ..read });
        Self { entries, definitions, read_tool: read_tool(), report_tool: report_tool(&rules.report) }
    }

    /// The definitions that a model is shown. In the final turn there is only the report.
    pub(super) fn definitions(&self, final_turn: bool, has_stored_results: bool) -> Vec<ToolDefinition> {
        let others = if final_turn { &[][..] } else { &self.definitions[..] };
        let read = (has_stored_results && !final_turn).then_some(&self.read_tool);
        others.iter().chain(read).chain([&self.report_tool]).cloned().collect()
    }

    /// The name of the tool that a step calls.
    pub(super) fn name_of<'a>(&'a self, step: &'a StepReport) -> &'a str {
        let is_called = |entry: &&NamedTool| {
            matches!(&entry.callee, Callee::Capability { tool: agent, capability }
                if *agent == step.tool && *capability == step.capability)
        };
        self.entries.iter().find(is_called).map_or(step.capability.as_str(), |entry| &entry.name)
    }

    /// The argument that states why a call of this tool is repeated; `None` if it may be repeated without one.
    pub(super) fn repeat_argument(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.name == name)?.repeat_argument.as_deref()
    }

    /// The capability that a tool of this name calls.
    pub(super) fn source_of(&self, name: &str) -> Option<(&str, &str)> {
        match &self.entries.iter().find(|entry| entry.name == name)?.callee {
            Callee::Capability { tool, capability } => Some((tool.as_str(), capability.as_str())),
            _ => None,
        }
    }

    /// What the calls of a tool change.
    pub(super) fn class_of(&self, name: &str) -> Option<SideEffect> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| entry.class)
    }

    /// The schema of the parameters of a tool.
    pub(super) fn schema_of(&self, name: &str) -> Option<&Value> {
        self.definitions.iter().find(|tool| tool.name == name).map(|tool| &tool.schema)
    }

    /// Whether there are tools besides the report.
    pub(super) fn has_tools(&self) -> bool {
        !self.definitions.is_empty()
    }

    /// The names of all tools, for a notice about an unknown tool.
    pub(super) fn names(&self) -> String {
        let callable = self.entries.iter().filter(|entry| entry.callee != Callee::StoredResult);
        let names = callable.map(|entry| entry.name.as_str());
        names.chain([REPORT_TOOL]).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// Finds a tool by name. A different spelling, or a name without its prefix, is accepted if it fits exactly one
    /// tool.
    pub(super) fn find(&self, name: &str) -> ToolLookup<'_> {
        let name: &str = &safe_name(name.trim());
        if let Some(entry) = self.entries.iter().find(|entry| entry.name == name) {
            return ToolLookup::Found(entry);
        }
        if is_report(name) {
            return ToolLookup::Report;
        }
        let is_alike = |entry: &&NamedTool| are_alike(&entry.name, name);
        let is_alike_without_prefix = |entry: &&NamedTool| match &entry.callee {
            Callee::Capability { capability, .. } => are_alike(capability.as_str(), name),
            Callee::Agent(_) | Callee::Plan | Callee::StoredResult | Callee::EarlierResult(_) | Callee::SameTurn(_) => {
                entry.name.strip_prefix("agent__").is_some_and(|bare| are_alike(bare, name))
            }
        };
        if let Some(entry) = exactly_one(self.entries.iter().filter(is_alike))
            .or_else(|| exactly_one(self.entries.iter().filter(is_alike_without_prefix)))
        {
            return ToolLookup::Found(entry);
        }
        let names = self.entries.iter().map(|entry| entry.name.as_str()).chain([REPORT_TOOL]);
        ToolLookup::Unknown { nearest: nearest(name, names) }
    }
}

fn exactly_one<'a>(mut entries: impl Iterator<Item = &'a NamedTool>) -> Option<&'a NamedTool> {
    entries.next().filter(|_| entries.next().is_none())
}

/// A name that no tool has, and no tool of the session itself.
fn unique_name(tool: &str, capability: &str, taken: &[NamedTool]) -> String {
    tool_name(tool, capability, |name| {
        [REPORT_TOOL, READ_TOOL, PLAN_TOOL].contains(&name) || taken.iter().any(|entry| entry.name == name)
    })
}

fn description(tool: &str, capability: &str) -> String {
    match (tool, capability) {
        (tool, "") => tool.to_owned(),
        ("", capability) => capability.to_owned(),
        (tool, capability) => format!("{capability} ({tool})"),
    }
}

fn agent_tool(name: &str, description: &str) -> ToolDefinition {
    let about = "What the agent is asked: all that it must know, for it knows nothing else.";
    let input = Value::from([("type", "string".into()), ("description", about.into())]);
    let schema = Value::from([
        ("type", "object".into()),
        ("properties", Value::from([("input", input)])),
        ("required", Value::from_iter([Value::from("input")])),
    ]);
    let description = match description {
        "" => "Asks another agent, which works on its own and answers with a report.".to_owned(),
        words => format!("Asks another agent: {words}"),
    };
    ToolDefinition { name: name.to_owned(), description, schema }
}

fn report_tool(rules: &ReportRules) -> ToolDefinition {
    let (key, mut content) = match rules.format {
        ReportFormat::Text | ReportFormat::Markdown => ("report_content", schema_of_type("string")),
        ReportFormat::Json => ("content_json", rules.schema.clone().unwrap_or_else(|| schema_of_type("object"))),
    };
    if let Some(object) = content.as_object_mut()
        && object.get("description").is_none()
    {
        object.insert("description", format!("Your whole answer, in {}.", rules.format.as_str()));
    }
    let strings = |strings: &[&str]| strings.iter().map(|string| Value::from(*string)).collect::<Value>();
    let one_of = |choices: &[&str]| Value::from([("type", "string".into()), ("enum", strings(choices))]);
    let properties = Object::from([
        (key, content),
        ("report_format", one_of(&[rules.format.as_str()])),
        ("status", one_of(&["success", "partial", "failure"])),
        ("metadata", schema_of_type("object")),
    ]);
    let schema = Object::from([
        ("type", "object".into()),
        ("properties", Value::Object(properties)),
        ("required", strings(&[key])),
    ]);
    ToolDefinition {
        name: REPORT_TOOL.to_owned(),
        description: "Gives your whole answer to the user and ends the session.".to_owned(),
        schema: Value::Object(schema),
    }
}

fn schema_of_type(name: &str) -> Value {
    Value::from([("type", Value::from(name))])
}

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
