//! Agents that are offered as tools.

use reknit::Reknit;
use reknit::models::Target;
use reknit::runtime::NamedAgent;
use reknit::runtime::agent::Agent;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_mcp_server::{McpServer, Offering};
use reknit_protocol::SideEffect;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::json;

use crate::connection::{Client, texts};

#[tokio::test]
async fn an_agent_is_a_tool_that_works_on_a_task_and_returns_its_report() {
    let report = r#"{"report_content": "It is 21 degrees."}"#;
    let script = Script::new().on(RequestMatcher::any(), Reply::tool_call("agent__final_report", report));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let reknit = Reknit::builder().model(Target::new("m", model.base_url(), "m")).start().await.expect("it starts");
    let file = "---\ndescription: Knows the weather.\n---\nAnswer.";
    let agent = Agent::read(file, &reknit.runtime().session).expect("an agent");
    let named = NamedAgent { name: "weather".to_owned(), agent, agents: Vec::new() };
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(reknit, Offering::Plans).with_agents([named]);
    tokio::spawn(async move { server.serve_on(tokio::io::split(ours)).await });
    let client = Client { answer: None }.serve(theirs).await.expect("the client connects");
    let tools = client.list_all_tools().await.expect("the list");
    let offered = tools.iter().find(|tool| tool.name == "agent__weather").expect("the agent is offered");
    assert_eq!(offered.description.as_deref(), Some("Knows the weather."));
    let call = |arguments: serde_json::Value| {
        let arguments = arguments.as_object().expect("an object").clone();
        client.call_tool(CallToolRequestParams::new("agent__weather").with_arguments(arguments))
    };
    let answered = call(json!({"task": "How warm is it?"})).await.expect("a result");
    assert!(format!("{answered:?}").contains("It is 21 degrees."), "{answered:?}");
    let refused = call(json!({"task": " "})).await.expect("a result");
    assert!(format!("{refused:?}").contains("`task` is missing"), "{refused:?}");
}

#[tokio::test]
async fn a_report_of_an_agent_whose_call_failed_is_an_error_that_says_what_was_not_done() {
    let tool = ScriptedTool::new("t").capability("pay", SideEffect::Keyed).on(
        "pay",
        CallMatcher::any(),
        Reply::status(400).body(r#"{"error": "the account is closed"}"#),
    );
    let tool = tool.start().await.expect("the tool starts");
    let report = r#"{"report_content": "Paid ann 5 dollars."}"#;
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::tool_call("t__pay", r#"{"to": "ann", "amount": 5}"#))
        .on(RequestMatcher::any(), Reply::tool_call("agent__final_report", report));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let builder = Reknit::builder().tool_service("t", &tool.base_url()).model(Target::new("m", model.base_url(), "m"));
    let reknit = builder.start().await.expect("it starts");
    let agent =
        Agent::read("---\ndescription: Pays.\ntools: [t]\n---\nPay.", &reknit.runtime().session).expect("an agent");
    let named = NamedAgent { name: "clerk".to_owned(), agent, agents: Vec::new() };
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(reknit, Offering::Plans).with_agents([named]);
    tokio::spawn(async move { server.serve_on(tokio::io::split(ours)).await });
    let client = Client { answer: None }.serve(theirs).await.expect("the client connects");
    let arguments = json!({"task": "Pay ann 5."}).as_object().cloned().expect("an object");
    let call = client.call_tool(CallToolRequestParams::new("agent__clerk").with_arguments(arguments));
    let result = call.await.expect("a result");
    let text = texts(&result).concat();
    assert!(text.starts_with("Paid ann 5 dollars.\n\nStatus: partial: `pay` of `t` with"), "{text}");
    let meta = &result.meta.as_ref().expect("it has metadata").0;
    assert_eq!((result.is_error, &meta["reknit/status"]), (Some(true), &json!("partial")));
    assert!(
        meta["reknit/shortcomings"][0].as_str().is_some_and(|line| line.contains("the account is closed")),
        "{meta:?}"
    );
}
