//! The library without any feature: functions with schemas of their own, a model client of the program, and a journal in memory.
//! `./check features` runs these tests without features.
#![cfg(test)]

use reknit::model_api::{ModelAnswer, ModelFailure, ModelRequest, Usage};
use reknit::models::{Target, TargetError};
use reknit::plan::read_plan_file;
use reknit::protocol::SideEffect;
use reknit::tool_service::{CallContext, CapabilityDefinition};
use reknit::{ModelClient, ModelScript, Object, Reknit, StartError, Tool, ToolError, Value};

#[derive(serde::Deserialize)]
struct Order {
    cups: u32,
}

async fn price(_: CallContext, order: Order) -> Result<f64, ToolError> {
    Ok(4.5 * f64::from(order.cups))
}

fn price_tool() -> Tool {
    let schema =
        r#"{"type": "object", "properties": {"cups": {"type": "integer", "minimum": 1}}, "required": ["cups"]}"#;
    let schema = Value::parse(schema).expect("it is JSON");
    let definition = CapabilityDefinition::with_schema("price", SideEffect::Read, schema, price);
    Tool::new(definition.description("The price of tea in euros"))
}

/// A model client of the program, which writes the same plan again and again.
struct Planner;

impl ModelClient for Planner {
    async fn ask(&self, request: &ModelRequest, _: reknit::models::OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        let is_answer = request.messages.iter().any(|message| message.text().contains("13.5"));
        let text = if is_answer {
            "Three cups cost 13.50 euros."
        } else {
            r#"{"plan_id": "p", "original_request": "tea", "mode": "autonomous", "steps": [{"step_id": "tea",
            "agent_name": "functions", "instruction": "price of tea", "depends_on": [],
            "metadata": {"capability": "price", "parameters": {"cups": "3"}}}]}"#
        };
        Ok(ModelAnswer::complete(text, "planner", Usage::reported(0, 0)))
    }
}

#[tokio::test]
async fn a_plan_over_a_function_runs_and_its_parameters_are_fitted_to_the_schema() {
    let reknit = Reknit::builder().tools([price_tool()]).start().await.expect("it starts");
    let (plan, _) = read_plan_file(r#"steps: [{id: tea, tool: functions/price, with: {cups: "3"}}]"#).expect("a plan");
    let answer = reknit.run_plan(plan, Object::new()).await.expect("it is done");
    assert_eq!(answer.output::<Value>().expect("a number").to_string(), "13.5");
    assert_eq!(answer.mends().len(), 1, "the text was fitted: {:?}", answer.mends());
}

#[tokio::test]
async fn a_request_is_planned_by_a_model_client_of_the_program() {
    let reknit = Reknit::builder().tools([price_tool()]).model_client(Planner).start().await.expect("it starts");
    let answer = reknit.ask("What do three cups of tea cost?").await.expect("it is answered");
    assert_eq!(answer.text(), "Three cups cost 13.50 euros.");
}

#[tokio::test]
async fn an_agent_ends_with_a_report() {
    let report = r#"{"status": "success", "report_format": "markdown", "report_content": "Tea is 4.50 euros."}"#;
    let call = Value::parse(r#"{"cups": 1}"#).expect("it is JSON");
    let script = ModelScript::new().call("functions__price", &call).report(&Value::parse(report).expect("it is JSON"));
    let reknit = Reknit::builder().tools([price_tool()]).model_client(script).start().await.expect("it starts");
    let answer = reknit.agent("You sell tea.", "What does tea cost?").expect("it starts").await.expect("it reports");
    assert_eq!(answer.text(), "Tea is 4.50 euros.");
}

#[tokio::test]
async fn what_needs_a_missing_feature_is_an_error_that_names_it() {
    let server = Target::new("local", "http://127.0.0.1:9/v1", "small");
    let outcome = Reknit::builder().model(server).start().await;
    if cfg!(feature = "http") {
        assert!(outcome.is_ok());
    } else {
        let error = outcome.expect_err("there is no HTTP");
        assert!(matches!(&error, StartError::Models(TargetError::WithoutHttp { .. })), "{error:?}");
    }
    let outcome = Reknit::builder().configure(|config| config.journal_path(env!("CARGO_MANIFEST_DIR"))).start().await;
    let error = outcome.expect_err("a folder is no file, or there is no SQLite");
    assert_eq!(matches!(error, StartError::Config(_)), !cfg!(feature = "sqlite"), "{error:?}");
}
