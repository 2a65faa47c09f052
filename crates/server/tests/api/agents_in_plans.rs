//! Plans whose steps run an agent of the server.

use reknit::Reknit;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_models::Target;
use reknit_runtime::NamedAgent;
use reknit_runtime::agent::Agent;
use reknit_server::{Access, Server};
use reqwest::StatusCode;
use serde_json::{Value as Json, json};

use crate::json_of;

async fn post(url: &str, path: &str, body: &Json) -> Json {
    json_of(crate::client().post(format!("{url}{path}")).body(body.to_string()), StatusCode::OK).await
}

/// The address of a server with the agent `clerk`. The model answers with a report. It runs as long as the model.
async fn serve() -> (String, ScriptedModel) {
    let report = r#"{"report_content": "It was sent."}"#;
    let script = Script::new().on(RequestMatcher::any(), Reply::tool_call("agent__final_report", report));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let reknit = Reknit::builder().model(Target::new("m", model.base_url(), "m")).start().await.expect("it starts");
    let agent = Agent::read("---\ndescription: Knows the orders.\n---\nAnswer.", &reknit.runtime().session);
    let named = NamedAgent { name: "clerk".to_owned(), agent: agent.expect("an agent"), agents: Vec::new() };
    (crate::serve(Server::new(reknit, Access::OwnMachine).with_agents([named])).await, model)
}

fn plan(agent: &str) -> Json {
    json!({"plan": format!("request: Where is it?\nsteps:\n  - id: clerk\n    agent: {agent}\n    with: {{task: Where is order 7?}}\n")})
}

#[tokio::test]
async fn a_step_runs_an_agent_of_the_server() {
    let (url, _model) = serve().await;
    let checked = post(&url, "/v1/plans/check", &plan("clerk.md")).await;
    assert_eq!(checked["valid"], true, "{checked}");
    let run = post(&url, "/v1/runs", &plan("clerk.md")).await;
    assert_eq!(run["status"], "complete", "{run}");
    assert!(run.to_string().contains("It was sent."), "{run}");
}

#[tokio::test]
async fn a_plan_with_an_agent_that_the_server_does_not_have_is_refused_before_anything_runs() {
    let (url, model) = serve().await;
    let checked = post(&url, "/v1/plans/check", &plan("driver.md")).await;
    assert_eq!(checked["valid"], false, "{checked}");
    assert!(checked.to_string().contains("`reknit serve --agent FILE` offers it to plans"), "{checked}");
    let run = post(&url, "/v1/runs", &plan("driver.md")).await;
    assert_eq!(run["status"], "failed", "{run}");
    assert!(model.requests().is_empty());
}
