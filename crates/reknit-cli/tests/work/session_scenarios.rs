//! Sessions as data: each file in `scenarios` has an agent, scripted models and tools, and what must come of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use reknit_fakes::model::{ReceivedRequest, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{Object, SideEffect, Value, exact};
use serde::Deserialize;

use crate::world::{World, text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionScenario {
    /// The behaviour, as a sentence.
    about: String,
    /// The agent file.
    agent: String,
    input: String,
    /// More files in the folder of the agent.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// More lines for `reknit.toml`.
    #[serde(default)]
    config: String,
    /// The script of each model target, in the order of their names.
    #[serde(with = "exact")]
    models: Object,
    tools: BTreeMap<String, ToolScript>,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolScript {
    capabilities: BTreeMap<String, CapabilityScript>,
    rules: Vec<ToolRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilityScript {
    #[serde(default)]
    effect: SideEffect,
    #[serde(default, with = "exact::option")]
    schema: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolRule {
    capability: String,
    #[serde(default, with = "exact")]
    when: Object,
    #[serde(default = "always")]
    times: u32,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    delay_ms: u64,
    #[serde(with = "exact")]
    body: Value,
}

fn always() -> u32 {
    u32::MAX
}

fn ok() -> u16 {
    200
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    exit_status: i32,
    /// These keys of the report as JSON.
    #[serde(default, with = "exact")]
    report: Object,
    /// All calls that reached a tool, in order: `shop/cancel {"id":7}`.
    calls: Vec<String>,
    /// Parts of the last request that a model got.
    #[serde(default)]
    last_request: Vec<String>,
    /// Parts that no request to a model has.
    #[serde(default)]
    no_request: Vec<String>,
    /// `max_tokens` of each request.
    #[serde(default)]
    max_tokens: Vec<u64>,
    /// Parts of what `runs show` prints.
    #[serde(default)]
    runs_show: Vec<String>,
    /// Parts of what `runs show --json` prints.
    #[serde(default)]
    runs_show_json: Vec<String>,
    /// Parts that `runs show` must not print.
    #[serde(default)]
    not_in_runs_show: Vec<String>,
    /// Parts of standard error.
    #[serde(default)]
    stderr: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_scenario_ends_as_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/work/scenarios");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() > 10, "the scenarios are found");
    let mut failures = Vec::new();
    for file in files {
        let json = fs::read_to_string(&file).expect("the file can be read");
        let value = Value::parse(&json).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let scenario: SessionScenario =
            serde_json::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = differences(&scenario.expect, &play(&scenario).await);
        failures.extend(found.into_iter().map(|difference| format!("{name} ({}): {difference}", scenario.about)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// What came of a scenario.
struct Outcome {
    exit_status: Option<i32>,
    report: Value,
    calls: Vec<String>,
    requests: Vec<ReceivedRequest>,
    runs_show: String,
    runs_show_json: String,
    stdout: String,
    stderr: String,
}

async fn play(scenario: &SessionScenario) -> Outcome {
    let mut tools = Vec::new();
    for (name, script) in &scenario.tools {
        tools.push(start_tool(name, script).await);
    }
    let (mut models, mut config) = (Vec::new(), Vec::new());
    for (name, script) in &scenario.models {
        let script = Script::from_value(script).expect("a valid script");
        let model = ScriptedModel::start(script).await.expect("the model starts");
        config.push(format!("[[models]]\nname = \"{name}\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url()));
        models.push(model);
    }
    let world = World::new()
        .configured(&tools.iter().collect::<Vec<_>>(), &(config.concat() + &scenario.config))
        .file("agent.md", &scenario.agent);
    let world = scenario.files.iter().fold(world, |world, (name, content)| world.file(name, content));
    let output = world.output(&["agent", "agent.md", "--json", "--config", "reknit.toml", &scenario.input]);
    let stdout = text(&output.stdout);
    let calls_of = |tool: &RunningTool| {
        let name = tool.name().to_owned();
        tool.calls().into_iter().map(move |call| format!("{name}/{} {}", call.capability, call.parameters))
    };
    Outcome {
        exit_status: output.status.code(),
        report: Value::parse(&stdout).unwrap_or(Value::Null),
        calls: tools.iter().flat_map(calls_of).collect(),
        requests: models.iter().flat_map(ScriptedModel::requests).collect(),
        runs_show: text(&world.output(&["runs", "show", "last"]).stdout),
        runs_show_json: text(&world.output(&["runs", "show", "last", "--json"]).stdout),
        stdout,
        stderr: text(&output.stderr),
    }
}

/// Everything in which the outcome differs from the expectation.
fn differences(expected: &Expected, outcome: &Outcome) -> Vec<String> {
    let mut differences = Vec::new();
    let mut same = |what: &str, found: String, expected: String| {
        if found != expected {
            differences.push(format!("{what} is {found}, not {expected}"));
        }
    };
    same("the exit status", format!("{:?}", outcome.exit_status), format!("{:?}", Some(expected.exit_status)));
    for (key, value) in &expected.report {
        same(&format!("`{key}`"), outcome.report.get(key).unwrap_or(&Value::Null).to_string(), value.to_string());
    }
    same("the list of calls", format!("{:#?}", outcome.calls), format!("{:#?}", expected.calls));
    if !expected.max_tokens.is_empty() {
        let limit = |request: &ReceivedRequest| request.body.get("max_tokens").unwrap_or(&Value::Null).to_string();
        let limits: Vec<String> = outcome.requests.iter().map(limit).collect();
        same("`max_tokens`", limits.join(" "), join(&expected.max_tokens));
    }
    let last = outcome.requests.last().map(ReceivedRequest::text).unwrap_or_default();
    for (place, found, parts) in [
        ("the last request", &last, &expected.last_request),
        ("`runs show`", &outcome.runs_show, &expected.runs_show),
        ("`runs show --json`", &outcome.runs_show_json, &expected.runs_show_json),
        ("standard error", &outcome.stderr, &expected.stderr),
    ] {
        let missing = parts.iter().filter(|part| !found.contains(part.as_str()));
        differences.extend(missing.map(|part| format!("{place} lacks {part:?}:\n{found}")));
    }
    let requests = outcome.requests.iter().map(ReceivedRequest::text).collect::<Vec<_>>().join("\n");
    for (place, found, parts) in [
        ("a request", &requests, &expected.no_request),
        ("`runs show`", &outcome.runs_show, &expected.not_in_runs_show),
    ] {
        let present = parts.iter().filter(|part| found.contains(part.as_str()));
        differences.extend(present.map(|part| format!("{place} has {part:?}:\n{found}")));
    }
    if !differences.is_empty() {
        differences.push(format!("standard output:\n{}\nstandard error:\n{}", outcome.stdout, outcome.stderr));
    }
    differences
}

fn join(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

async fn start_tool(name: &str, script: &ToolScript) -> RunningTool {
    let mut tool = ScriptedTool::new(name);
    for (capability, CapabilityScript { effect, schema }) in &script.capabilities {
        tool = tool.capability(capability.as_str(), *effect);
        if let Some(schema) = schema {
            tool = tool.schema(schema.clone());
        }
    }
    for ToolRule { capability, when, times, status, delay_ms, body } in &script.rules {
        let matcher =
            when.iter().fold(CallMatcher::any(), |matcher, (name, value)| matcher.parameter(name, value.clone()));
        let reply = Reply::status(*status)
            .body(body.to_string())
            .content_type("application/json")
            .delay(std::time::Duration::from_millis(*delay_ms));
        tool = tool.times(*times, capability.as_str(), matcher, reply);
    }
    tool.start().await.expect("the tool starts")
}
