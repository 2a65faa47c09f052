//! Rig: an agent with hooks that ask again after an answer that is cut or empty and after calls of unknown tools, over
//! an HTTP client that sends requests again, as its examples do. If the first model fails before any tool was called,
//! the request goes to the second one.
//!
//! Runs that may be killed, and runs with approvals, are driven step by step (steps.rs), with the run in a file before
//! each step, as the example about durable approvals does. Errors of tools are shown to the model.

mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt;
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use rig::agent::{
    AgentHook, HookContext, InvalidToolCallAction, InvalidToolCallContext, InvalidToolCallReason, ModelTurnAction,
    ModelTurnFinished, MultiTurnStreamItem,
};
use rig::completion::FinishReason;
use rig::message::{AssistantContent, ToolName};
use rig::prelude::*;
use rig::providers::openai::{OpenAI, OpenAIConfig};
use rig::rig_reqwest::ReqwestMiddlewareClient;
use rig::tool::{DynamicTool, ToolExecutionError, ToolOutput};
use scorecard_peer::{Cell, Error, INSTRUCTIONS, Outcome, Tool};

/// How often an answer is asked for again.
const REPEATS: u32 = 2;

/// A model server behind a client with a time limit, which sends requests again after failures that pass.
fn client(cell: &Cell, server: &str) -> Result<OpenAI, Error> {
    let limit = Duration::from_secs(cell.spec.model_limit);
    let plain = reqwest::Client::builder().read_timeout(limit).no_proxy().build()?;
    let policy = ExponentialBackoff::builder().build_with_max_retries(2);
    let http: ReqwestMiddlewareClient = reqwest_middleware::ClientBuilder::new(plain)
        .with(RetryTransientMiddleware::new_with_policy(policy))
        .build()
        .into();
    Ok(OpenAIConfig::new("none").with_base_url(cell.model_url(server)).connect(http))
}

/// A tool with a new idempotency key for each call: tools do not get the id of the model's call.
fn tool_of(cell: &Cell, tool: &Tool, is_used: &Arc<AtomicBool>) -> Result<DynamicTool, Error> {
    let (owner, name, is_used) = (cell.clone(), tool.name.clone(), is_used.clone());
    let callback = move |arguments| {
        let (cell, name) = (owner.clone(), name.clone());
        is_used.store(true, Ordering::Relaxed);
        let call = async move {
            let key = uuid::Uuid::new_v4().to_string();
            let result = cell.call(&name, arguments, &key).await;
            result.map(ToolOutput::json).map_err(|error| ToolExecutionError::provider(error.to_string()))
        };
        Box::pin(call) as _
    };
    Ok(DynamicTool::new(ToolName::new(&tool.name)?, &tool.description, tool.schema.clone(), callback))
}

/// Asks again after answers that are cut or empty, and after calls of tools that do not exist.
#[derive(Default)]
struct AskAgain {
    count: AtomicU32,
}

impl AgentHook for AskAgain {
    async fn on_model_turn_finished(&self, _context: &HookContext, event: ModelTurnFinished<'_>) -> ModelTurnAction {
        let has_call = event.content.iter().any(|part| matches!(part, AssistantContent::ToolCall(_)));
        let has_text = event
            .content
            .iter()
            .any(|part| matches!(part, AssistantContent::Text(text) if !text.text.trim().is_empty()));
        let is_cut = event.finish_reason.is_some_and(FinishReason::truncated_output);
        if has_call || (has_text && !is_cut) {
            return ModelTurnAction::continue_run();
        }
        if self.count.fetch_add(1, Ordering::Relaxed) < REPEATS {
            return ModelTurnAction::repeat();
        }
        ModelTurnAction::stop("the model gave no whole answer")
    }

    async fn on_invalid_tool_call(
        &self,
        _context: &HookContext,
        event: &InvalidToolCallContext,
    ) -> Option<InvalidToolCallAction> {
        let is_unknown = event.reason == InvalidToolCallReason::UnknownTool;
        is_unknown.then(|| {
            InvalidToolCallAction::retry(format!(
                "There is no tool {}. Use one of {}.",
                event.tool_name,
                event.allowed_tools.join(", ")
            ))
        })
    }
}

async fn ask(agent: &Agent, cell: &Cell, model: &str) -> Result<String, Error> {
    let runner = agent
        .prompt(cell.spec.request.as_str())
        .max_turns(cell.spec.max_turns)
        .max_invalid_tool_call_retries(REPEATS as usize)
        .tool_concurrency(10)
        .add_hook(AskAgain::default())
        .using_model(model);
    if !cell.spec.stream {
        return Ok(runner.await?.output());
    }
    let mut stream = runner.stream();
    while let Some(item) = stream.next().await {
        if let MultiTurnStreamItem::FinalResponse(response) = item? {
            return Ok(response.output());
        }
    }
    Err("the stream ended without an answer".into())
}

async fn work(cell: Cell) -> Result<Outcome, Error> {
    if cell.phase == "decide" {
        cell.store_decision()?;
        return Ok(Outcome::done(""));
    }
    if cell.spec.kills || !cell.spec.approve.is_empty() {
        return steps::drive(&cell).await;
    }
    let is_used = Arc::new(AtomicBool::new(false));
    let tools = cell.spec.tools.iter().map(|tool| tool_of(&cell, tool, &is_used)).collect::<Result<_, _>>()?;
    let agent = AgentBuilder::named_model("primary", client(&cell, "primary")?.chat("scripted"))
        .model_route("backup", client(&cell, "backup")?.chat("scripted"))
        .preamble(INSTRUCTIONS)
        .dynamic_tools(tools)
        .build();
    match ask(&agent, &cell, "primary").await {
        Err(error) if !is_used.load(Ordering::Relaxed) => {
            eprintln!("{error}");
            Ok(Outcome::done(ask(&agent, &cell, "backup").await?))
        }
        ended => Ok(Outcome::done(ended?)),
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    scorecard_peer::main(work).await
}
