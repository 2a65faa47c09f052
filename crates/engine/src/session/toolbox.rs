//! What a model may call in a session: the capabilities of the catalogue, other agents, a plan, and the report.

use std::sync::Arc;

use reknit_dialogue::Tool;
use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{Object, Value};

use super::draft::is_report;
use super::handing::plan_tool;
use super::report::REPORT_TOOL;
use super::sorting::Callee;
use super::started::{Plans, ReportFormat, ReportRules, SubAgent};
use super::stored::{READ_TOOL, read_tool};
use reknit_plan::Catalogue;

/// The tool with which a model hands over a whole plan.
pub const PLAN_TOOL: &str = "agent__run_plan";

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// What a model may call. It follows from the beginning of a session and is never written down.
#[derive(Debug)]
pub(super) struct Toolbox {
    entries: Vec<Named>,
    shown: Vec<Tool>,
    /// Shown as soon as there is something to read.
    read: Tool,
    report: Tool,
}

/// What may be called, under the name that models see.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) callee: Callee,
}

/// What a name in a model's call means.
#[derive(Debug)]
pub(super) enum Meaning<'a> {
    Report,
    Known(&'a Named),
    Unknown { nearest: Option<&'a str> },
}

impl Toolbox {
    pub(super) fn new(catalogue: &Arc<Catalogue>, agents: &[SubAgent], plans: Plans, report: &ReportRules) -> Self {
        let mut entries: Vec<Named> = Vec::new();
        let mut shown = Vec::new();
        for tool in &catalogue.tools {
            for entry in tool.capabilities.iter().filter(|entry| !entry.capability.internal) {
                let name = free_name(tool.name.as_str(), entry.capability.name.as_str(), &entries);
                shown.push(Tool {
                    name: name.clone(),
                    description: description(&tool.description, &entry.capability.description),
                    schema: entry.source().unwrap_or_else(|| typed("object")),
                });
                let (agent, capability) = (tool.name.clone(), entry.capability.name.clone());
                entries.push(Named { name, callee: Callee::Capability { agent, capability } });
            }
        }
        for (index, agent) in agents.iter().enumerate() {
            let name = free_name("agent", &agent.name, &entries);
            shown.push(agent_tool(&name, &agent.description));
            entries.push(Named { name, callee: Callee::Agent(index) });
        }
        if plans == Plans::Allowed {
            let tools = entries.iter().filter(|entry| matches!(entry.callee, Callee::Capability { .. }));
            let names: Vec<&str> = tools.map(|entry| entry.name.as_str()).collect();
            shown.push(plan_tool(&names));
            entries.push(Named { name: PLAN_TOOL.to_owned(), callee: Callee::Plan });
        }
        entries.push(Named { name: READ_TOOL.to_owned(), callee: Callee::Stored });
        Self { entries, shown, read: read_tool(), report: report_tool(report) }
    }

    /// What is shown to a model. In the last turn it is the report and nothing else.
    pub(super) fn shown(&self, last_turn: bool, something_stored: bool) -> Vec<Tool> {
        let others = if last_turn { &[][..] } else { &self.shown[..] };
        let read = (something_stored && !last_turn).then_some(&self.read);
        others.iter().chain(read).chain([&self.report]).cloned().collect()
    }

    /// The names, for a model that has missed them.
    pub(super) fn names(&self) -> String {
        let shown = self.entries.iter().filter(|entry| entry.callee != Callee::Stored);
        let names = shown.map(|entry| entry.name.as_str());
        names.chain([REPORT_TOOL]).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// What a name means. One that can only be meant for one tool is taken for it: another spelling, or without the tool's
    /// own name in front.
    pub(super) fn find(&self, name: &str) -> Meaning<'_> {
        let name: &str = &name.trim().chars().map(letter).collect::<String>();
        if let Some(entry) = self.entries.iter().find(|entry| entry.name == name) {
            return Meaning::Known(entry);
        }
        if is_report(name) {
            return Meaning::Report;
        }
        let spelt = |entry: &&Named| are_alike(&entry.name, name);
        let bare = |entry: &&Named| match &entry.callee {
            Callee::Capability { capability, .. } => are_alike(capability.as_str(), name),
            Callee::Agent(_) | Callee::Plan | Callee::Stored => {
                entry.name.strip_prefix("agent__").is_some_and(|bare| are_alike(bare, name))
            }
        };
        if let Some(entry) = only(self.entries.iter().filter(spelt)).or_else(|| only(self.entries.iter().filter(bare)))
        {
            return Meaning::Known(entry);
        }
        let names = self.entries.iter().map(|entry| entry.name.as_str()).chain([REPORT_TOOL]);
        Meaning::Unknown { nearest: nearest(name, names) }
    }
}

fn only<'a>(mut found: impl Iterator<Item = &'a Named>) -> Option<&'a Named> {
    found.next().filter(|_| found.next().is_none())
}

/// The letter, if every provider takes it in a name.
fn letter(letter: char) -> char {
    if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }
}

/// `tool__capability` in letters that every provider takes, with a number behind it if that name is taken.
fn free_name(tool: &str, capability: &str, taken: &[Named]) -> String {
    let whole: String = format!("{tool}__{capability}").chars().map(letter).collect();
    let mut number = 1;
    loop {
        let tail = if number == 1 { String::new() } else { format!("_{number}") };
        let room = LONGEST_NAME.saturating_sub(tail.len());
        let name: String = whole.chars().take(room).collect::<String>() + &tail;
        if ![REPORT_TOOL, READ_TOOL, PLAN_TOOL].contains(&name.as_str())
            && !taken.iter().any(|entry| entry.name == name)
        {
            return name;
        }
        number += 1;
    }
}

fn description(tool: &str, capability: &str) -> String {
    match (tool, capability) {
        (tool, "") => tool.to_owned(),
        ("", capability) => capability.to_owned(),
        (tool, capability) => format!("{capability} ({tool})"),
    }
}

fn agent_tool(name: &str, description: &str) -> Tool {
    let mut input = typed("string");
    if let Some(object) = input.as_object_mut() {
        object.insert("description", "What the agent is asked: all that it must know, for it knows nothing else.");
    }
    let schema = Object::from([
        ("type", "object".into()),
        ("properties", Value::Object(Object::from([("input", input)]))),
        ("required", Value::from_iter([Value::from("input")])),
    ]);
    let description = match description {
        "" => "Asks another agent, which works on its own and answers with a report.".to_owned(),
        words => format!("Asks another agent: {words}"),
    };
    Tool { name: name.to_owned(), description, schema: Value::Object(schema) }
}

fn report_tool(rules: &ReportRules) -> Tool {
    let (key, mut content) = match rules.format {
        ReportFormat::Text | ReportFormat::Markdown => ("report_content", typed("string")),
        ReportFormat::Json => ("content_json", rules.schema.clone().unwrap_or_else(|| typed("object"))),
    };
    if let Some(object) = content.as_object_mut()
        && object.get("description").is_none()
    {
        object.insert("description", format!("Your whole answer, in {}.", rules.format.as_str()));
    }
    let words = |words: &[&str]| words.iter().map(|word| Value::from(*word)).collect::<Value>();
    let one_of = |choices: &[&str]| Value::Object(Object::from([("type", "string".into()), ("enum", words(choices))]));
    let properties = Object::from([
        (key, content),
        ("report_format", one_of(&[rules.format.as_str()])),
        ("status", one_of(&["success", "partial", "failure"])),
        ("metadata", typed("object")),
    ]);
    let schema = Object::from([
        ("type", "object".into()),
        ("properties", Value::Object(properties)),
        ("required", words(&[key])),
    ]);
    Tool {
        name: REPORT_TOOL.to_owned(),
        description: "Gives your whole answer to the user and ends the session.".to_owned(),
        schema: Value::Object(schema),
    }
}

fn typed(name: &str) -> Value {
    Value::Object(Object::from([("type", Value::from(name))]))
}
