//! Functions of the program as tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reknit_engine::Synthesis;
use reknit_protocol::{Category, Plan, SideEffect, Step, ToolError, Value};
use reknit_runtime::config::ConfigBuilder;
use reknit_runtime::{DriveOutcome, Runtime};
use reknit_tool_service::{CallContext, CapabilityDefinition};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Square {
    /// The length of a side.
    side: f64,
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

async fn area(square: Square) -> Result<f64, ToolError> {
    Ok(square.side * square.side)
}

async fn started(builder: ConfigBuilder) -> Runtime {
    // Nobody waits for the retries of a call that keeps failing.
    let builder = builder.answer_by(Synthesis::Template).first_wait(Duration::ZERO).longest_wait(Duration::ZERO);
    let reknit = Runtime::from_builder(builder).await.expect("it starts");
    assert_eq!(reknit.problems, []);
    reknit
}

/// The answer of a plan with one step.
async fn answer(reknit: &Runtime, capability: &str, parameters: &str) -> String {
    let parameters = Value::parse(parameters).expect("JSON").as_object().cloned().expect("an object");
    let step = Step::new("step-1", "geometry", capability, "do it").with_parameters(parameters);
    match reknit.run(Plan::new("plan-1", "request", vec![step])).await.expect("it runs") {
        DriveOutcome::Finished(answer) => answer.text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_function_is_called_with_arguments_that_fit_its_type() {
    let cube = |_: CallContext, square: Square| async move { Ok::<_, ToolError>(square.side.powi(3)) };
    let cube = CapabilityDefinition::new("cube", SideEffect::Read, cube).description("The volume of a cube");
    let reknit = started(Runtime::builder().tool_fn("geometry", "area", area).tool_capability("geometry", cube)).await;
    let entry = reknit.catalogue.entry("geometry", "area").expect("the function is in the catalogue");
    assert_eq!((entry.required_parameters(), entry.capability.effect), (vec!["side".to_owned()], SideEffect::Unknown));
    let cube = reknit.catalogue.entry("geometry", "cube").expect("the function is in the catalogue");
    assert_eq!(
        (cube.capability.description.as_str(), cube.capability.effect),
        ("The volume of a cube", SideEffect::Read)
    );
    let text = answer(&reknit, "area", r#"{"side": "12"}"#).await;
    assert!(text.contains("144"), "a text is fitted to the schema: {text}");
    let text = answer(&reknit, "cube", r#"{"side": 3}"#).await;
    assert!(text.contains("27"), "{text}");
}

#[tokio::test]
async fn an_error_of_a_function_is_the_error_of_its_step() {
    let fails =
        |_: NoArguments| async { Err::<(), _>(ToolError::new("NO_SUCH_SQUARE", "there is none", Category::NotFound)) };
    let reknit = started(Runtime::builder().tool_fn("geometry", "find", fails)).await;
    let text = answer(&reknit, "find", "{}").await;
    assert!(text.contains("there is none"), "{text}");
}

#[tokio::test]
async fn a_panic_of_a_function_is_a_failed_call() {
    for effect in [SideEffect::Read, SideEffect::Idempotent] {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let panics = move |_: CallContext, _: NoArguments| {
            let call = counted.fetch_add(1, Ordering::SeqCst);
            async move { if call == 0 { panic!("on purpose") } else { Ok::<_, ToolError>("recovered") } }
        };
        let definition = CapabilityDefinition::new("panic", effect, panics);
        let reknit = started(Runtime::builder().tool_capability("geometry", definition)).await;
        let text = answer(&reknit, "panic", "{}").await;
        assert!(text.contains("recovered"), "the call was sent again: {text}");
        assert_eq!(calls.load(Ordering::SeqCst), 2, "{effect:?}");
    }
}

#[test]
fn a_later_function_replaces_the_one_with_its_names_only() {
    let config = Runtime::builder().tool_fn("geometry", "area", area).tool_fn("geometry", "other", area);
    let config = config.tool_fn("geometry", "area", area).build().expect("it is valid");
    let names: Vec<&str> = config.tools.iter().filter_map(|tool| Some(tool.capability.as_ref()?.as_str())).collect();
    assert_eq!(names, ["area", "other"]);
    let config = ConfigBuilder::from(config).tool("geometry", "http://127.0.0.1:9").build().expect("it is valid");
    assert_eq!(config.tools.len(), 1, "a service replaces all functions of its name");
}
