//! Plays a scenario at a face, with real processes.

use reknit::{ConfigBuilder, Reknit, RunHandle};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::RunningTool;
use reknit_fakes::{Reply, ScriptedModel};
use reknit_runtime::config::Config;
use serde_json::json;

use super::{Expected, Face, Scenario};
use crate::claims::call_over_mcp;
use crate::serve::Serving;
use crate::world::World;

const CLERK: &str = "---\ndescription: Works for a bank.\nmaxTurns: 4\nmending: models\nplans: true\n---\nYou work.\n";

/// Plays the scenarios that have this face, and returns what is otherwise than expected.
pub(super) async fn differences(face: Face, scenarios: Vec<Scenario>) -> Vec<String> {
    let mut found = Vec::new();
    for mut scenario in scenarios {
        let expected = std::mem::take(&mut scenario.expected);
        let Some(expected) = expected.into_iter().find(|expected| expected.faces.contains(&face)) else { continue };
        let name = scenario.name.clone();
        let (sent, told) = play(face, scenario).await;
        found.extend(difference(&expected, &sent, &told).map(|text| format!("{name}, {face:?}: {text}")));
    }
    found
}

fn difference(expected: &Expected, sent: &[String], told: &str) -> Option<String> {
    let lower = told.to_lowercase();
    let missing: Vec<&String> = expected.told.iter().filter(|part| !lower.contains(&part.to_lowercase())).collect();
    let is_as_expected = missing.is_empty() && *sent == expected.sent;
    let wanted = &expected.sent;
    (!is_as_expected).then(|| format!("sent {sent:?}, not {wanted:?}; {missing:?} is missing in:\n{told}\n\n"))
}

/// What arrived at the tools, and what the face told.
async fn play(face: Face, scenario: Scenario) -> (Vec<String>, String) {
    let model = ScriptedModel::start(script(face, &scenario)).await.expect("the model starts");
    let mut tools = Vec::new();
    for tool in scenario.tools {
        tools.push(tool.start().await.expect("the tool starts"));
    }
    let models = format!("[[models]]\nname = \"m\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let world = World::new()
        .configured(&tools.iter().collect::<Vec<_>>(), &(models + &scenario.config))
        .file("clerk.md", CLERK);
    let request = scenario.request.as_str();
    let (called, parameters) = &scenario.call;
    let plan = scenario.plans.first().map(String::as_str).unwrap_or_default();
    let reknit = |arguments: &[&str]| world.reknit(&[arguments, &["--config", "reknit.toml"]].concat());
    let told = match face {
        Face::Ask => reknit(&["ask", request]),
        Face::Api => served(&world, "/v1/runs", &json!({"request": request})),
        Face::Library => library(&world, request).await,
        Face::Run => {
            let plan = plan.replacen('{', &format!("{{\"original_request\": {}, ", json!(request)), 1);
            std::fs::write(world.path().join("plan.json"), plan).expect("the file can be written");
            reknit(&["run", "plan.json"])
        }
        Face::McpPlan => {
            let mut arguments: serde_json::Value = serde_json::from_str(plan).expect("JSON");
            arguments["request"] = json!(request);
            call_over_mcp(&world, &["mcp", "--plans-only", "--config", "reknit.toml"], "run_plan", &arguments)
                .to_string()
        }
        Face::AgentPlan | Face::Agent => reknit(&["agent", "--json", "clerk.md", request]),
        Face::ToolsCall => reknit(&["tools", "call", called, parameters]),
        Face::Mcp => {
            let arguments = serde_json::from_str(parameters).expect("JSON");
            call_over_mcp(&world, &["mcp", "--config", "reknit.toml"], &called.replace('/', "__"), &arguments)
                .to_string()
        }
        Face::Gateway => served(&world, "/v1/chat/completions", &asked_through_the_gateway(request)),
    };
    let calls = tools.iter().flat_map(RunningTool::calls);
    let mut sent: Vec<String> = calls.map(|call| format!("{} {}", call.capability, call.parameters)).collect();
    // Programs that are no services write down that they were called.
    let written = std::fs::read_to_string(world.path().join("charged")).unwrap_or_default();
    sent.extend(written.lines().map(str::to_owned));
    (sent, told)
}

/// What the model says to each question.
fn script(face: Face, scenario: &Scenario) -> Script {
    let advice = &scenario.advice;
    let corrected =
        format!(r#"{{"should_retry": true, "suggested_changes": {advice}, "corrected_parameters": {advice}}}"#);
    let corrected = if advice.is_empty() { r#"{"should_retry": false}"#.to_owned() } else { corrected };
    let asked = |purpose: &str| RequestMatcher::any().purpose(purpose);
    let mut script = Script::new()
        .on(asked("synthesis"), Reply::text("All is done."))
        .on(asked("micro_resolution"), Reply::text(scenario.advice.clone()));
    for purpose in ["correction", "semantic_retry", "error_analysis"] {
        script = script.on(asked(purpose), Reply::text(corrected.clone()));
    }
    if let Some((last, first)) = scenario.plans.split_last() {
        for plan in first {
            script = script.once(asked("plan_generation"), Reply::text(plan.clone()));
        }
        script = script.on(asked("plan_generation"), Reply::text(last.clone()));
    }
    let answers = match scenario.plans.first() {
        Some(plan) if face == Face::AgentPlan => vec![Reply::tool_call("agent__run_plan", plan.clone())],
        _ => scenario.answers.clone(),
    };
    for answer in answers {
        script = script.once(RequestMatcher::any(), answer);
    }
    let report = Reply::tool_call("agent__final_report", r#"{"report_content": "All is done."}"#);
    script.on(RequestMatcher::any(), report)
}

fn served(world: &World, path: &str, body: &serde_json::Value) -> String {
    let server = Serving::start(world, &["--config", "reknit.toml"]);
    let answer = server.request("POST", path, "content-type: application/json\r\n", &body.to_string());
    server.stop();
    answer
}

/// A client with a tool of its own, which `reknit` never calls.
fn asked_through_the_gateway(request: &str) -> serde_json::Value {
    let schema = json!({"type": "object", "required": ["amount"], "additionalProperties": false,
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}}});
    let tool = json!({"type": "function", "function": {"name": "bank__pay", "parameters": schema}});
    json!({"model": "auto", "messages": [{"role": "user", "content": request}], "tools": [tool]})
}

/// The library with the configuration file of the world.
async fn library(world: &World, request: &str) -> String {
    let folder = world.path().display();
    let text = std::fs::read_to_string(world.path().join("reknit.toml")).expect("the file can be read");
    // The programs write down in their folder that they were called.
    let text = text.replace("command = [", &format!("folder = \"{folder}\"\ncommand = ["));
    let config = Config::read(&text, "reknit.toml", &|_| None).expect("a configuration");
    let builder = Reknit::builder().configure(|_| ConfigBuilder::from(config)).journal(world.path().join("library.db"));
    let reknit = builder.start().await.expect("it starts");
    let run: RunHandle = reknit.ask(request);
    run.settled().await.expect("it settles");
    let questions = run.questions().await.expect("it is known");
    if questions.is_empty() { format!("{:?}", run.outcome().await) } else { format!("{questions:?}") }
}
