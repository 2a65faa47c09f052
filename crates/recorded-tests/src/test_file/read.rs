//! Reads a test.

use reknit_plan::{Catalogue, Document, FileProblem};
use reknit_protocol::{Number, Object, Path, Value, error_chain};

use super::fields::{Fields, Problems};
use super::read_expectations::expectations;
use super::read_recordings::{call, decision, matching, model};
use super::{AgentSource, PlanSource, TestAgent, TestFile, TestStart};
use crate::expectations::Expectations;
use crate::json::from_value;
use crate::recording::ModelMatch;

impl TestFile {
    /// Reads a test. Fails with all problems of the file, each with its place.
    pub fn read(text: &str) -> Result<Self, Vec<FileProblem>> {
        read_text(text, read_document)
    }
}

impl Expectations {
    /// Reads what a test has under `expect`, as YAML or JSON. Fails with all problems, each with its place.
    pub fn read(text: &str) -> Result<Self, Vec<FileProblem>> {
        read_text(text, |problems, value| {
            Fields::new(problems, Path::root(), value).map(|fields| expectations(&fields))
        })
    }
}

fn read_text<T>(
    text: &str,
    read: impl for<'d> FnOnce(&'d Problems<'d>, &'d Value) -> Option<T>,
) -> Result<T, Vec<FileProblem>> {
    let document = Document::read(text).map_err(|problem| vec![problem])?;
    let problems = Problems::new(&document);
    let read = read(&problems, &document.value);
    let mut found = problems.into_found();
    found.sort_by_key(|problem| problem.position);
    read.filter(|_| found.is_empty()).ok_or(found)
}

fn read_document<'d>(problems: &'d Problems<'d>, value: &'d Value) -> Option<TestFile> {
    let fields = Fields::new(problems, Path::root(), value)?;
    let about = fields.text("about");
    let start = start(&fields);
    let matching = matching(&fields, ModelMatch::Digest);
    let tools = fields.value("tools").map_or_else(|| Ok(Catalogue::default()), Catalogue::from_value);
    let tools = tools.unwrap_or_else(|error| {
        fields.problem("tools", error_chain(&error));
        Catalogue::default()
    });
    let mappings = fields
        .list("mappings")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(path, value)| from_value(value).map_err(|message| problems.add(&path, message, None)).ok());
    let mappings = mappings.collect();
    let counts = fields.list("token_counts").unwrap_or_default();
    let token_counts = counts.into_iter().map(|(_, count)| count.as_number().and_then(Number::as_u64));
    let expect = fields.value("expect").and_then(|value| {
        let inner = Fields::new(problems, fields.at("expect"), value)?;
        Some(expectations(&inner))
    });
    let file = TestFile {
        about,
        at_ms: fields.signed("at_ms").unwrap_or_default(),
        seed: fields.number("seed").unwrap_or_default(),
        metadata: fields.object("metadata").cloned().unwrap_or_default(),
        targets: fields.texts("targets").unwrap_or_default(),
        policy: differences(&fields, "policy"),
        prompts: differences(&fields, "prompts"),
        mappings,
        tools,
        calls: fields.objects("calls", call).unwrap_or_default(),
        models: fields.objects("models", |fields| model(fields, matching)).unwrap_or_default(),
        decisions: fields.objects("decisions", decision).unwrap_or_default(),
        token_counts: token_counts.collect(),
        expect: expect.unwrap_or_else(|| {
            if fields.value("expect").is_none() {
                let hint = "write at least `expect: {status: complete}`".to_owned();
                problems.add(&Path::root(), "the test expects nothing", Some(hint));
            }
            Expectations::default()
        }),
        start: start?,
    };
    fields.finish();
    Some(file)
}

fn differences(fields: &Fields<'_>, key: &'static str) -> Value {
    Value::Object(fields.object(key).cloned().unwrap_or_default())
}

fn start(fields: &Fields<'_>) -> Option<TestStart> {
    let (plan, agent) = (fields.value("plan"), fields.value("agent"));
    let (request, input) = (fields.text("request"), fields.text("input"));
    let inputs = fields.object("inputs").cloned();
    let messages = fields.texts("messages");
    let agents = fields.objects("agents", test_agent);
    let refuse = |key: &str, given: bool, why: &str| {
        if given {
            fields.problem(key, format!("only {why} has it"));
        }
    };
    if let (Some(plan), None) = (plan, agent) {
        refuse("input", input.is_some(), "an agent");
        refuse("messages", messages.is_some(), "an agent");
        let plan = match plan {
            Value::String(path) => PlanSource::File(path.clone()),
            inline => PlanSource::Inline(inline.clone()),
        };
        let (inputs, agents) = (inputs.unwrap_or_default(), agents.unwrap_or_default());
        return Some(TestStart::Plan { plan, request, inputs, agents });
    }
    refuse("inputs", inputs.is_some(), "a plan");
    refuse("agents", agents.is_some(), "a plan");
    match (agent, request, input) {
        (Some(agent), None, Some(input)) if plan.is_none() => {
            let agent = match agent {
                Value::String(path) => AgentSource::File(path.clone()),
                inline => {
                    let inner = Fields::new(fields.problems, fields.at("agent"), inline)?;
                    let agent = test_agent(&inner);
                    inner.finish();
                    AgentSource::Inline(Box::new(agent?))
                }
            };
            Some(TestStart::Agent { agent, input, messages: messages.unwrap_or_default() })
        }
        (None, Some(request), None) => Some(TestStart::Request(request)),
        _ => {
            let hint = "write `request:`, or `plan:` with `inputs:`, or `agent:` with `input:`".to_owned();
            fields.problems.add(&Path::root(), "the test does not say what it runs", Some(hint));
            None
        }
    }
}

fn test_agent(fields: &Fields<'_>) -> Option<TestAgent> {
    let (name, prompt) = (fields.text("name"), fields.text("prompt"));
    for (key, value) in [("name", &name), ("prompt", &prompt)] {
        if value.is_none() {
            fields.problems.add(&fields.path, format!("the agent has no `{key}`"), None);
        }
    }
    let description = fields.text("description").unwrap_or_default();
    let (rules, tools, targets) = (differences(fields, "rules"), fields.texts("tools"), fields.texts("targets"));
    let policy = fields.object("policy").map(|policy: &Object| Value::Object(policy.clone()));
    let agents = fields.objects("agents", test_agent).unwrap_or_default();
    Some(TestAgent { name: name?, description, prompt: prompt?, rules, tools, targets, policy, agents })
}
