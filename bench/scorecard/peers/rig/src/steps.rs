//! A run that is driven step by step, and is in a file before each step: a process that starts again goes on with the
//! step that was not finished.

use futures::future::try_join_all;
use rig::agent::InvalidToolCallAction;
use rig::completion::{CompletionRequest, ToolDefinition};
use rig::message::{ToolName, ToolResultContent, UserContent};
use rig::run::{AgentRun, AgentRunStep, ModelTurn, ModelTurnOutcome, PendingToolCall, RunSpec, prepare_request};
use scorecard_peer::{Cell, Error, INSTRUCTIONS, Outcome, shown};

use crate::client;

/// The calls that a person was asked about; a decision is about them and about no other one.
const ASKED: &str = "asked.json";

fn needs_approval(cell: &Cell, call: &PendingToolCall) -> bool {
    cell.spec.approve.iter().any(|name| name == call.tool_call.function.name.as_str())
}

fn is_decided(cell: &Cell, call: &PendingToolCall) -> bool {
    let asked = std::fs::read_to_string(cell.folder.join(ASKED)).unwrap_or_default();
    cell.decision().is_some() && asked.contains(&call.tool_call.id.to_string())
}

async fn result_of(cell: &Cell, call: PendingToolCall) -> Result<UserContent, Error> {
    if let Some(result) = call.preresolved_result {
        return Ok(result);
    }
    let (id, function) = (call.tool_call.id.clone(), &call.tool_call.function);
    let text = if needs_approval(cell, &call) && !cell.is_approved() {
        "denied by the human reviewer: not today".to_owned()
    } else {
        let made = cell.call(function.name.as_str(), function.arguments.clone().into(), &id.to_string()).await;
        made.map_or_else(|error| error.to_string(), |value| value.to_string())
    };
    Ok(UserContent::tool_result(id, function.name.clone(), vec![ToolResultContent::text(text)]))
}

pub async fn drive(cell: &Cell) -> Result<Outcome, Error> {
    let file = cell.folder.join("run.json");
    let mut run: AgentRun = match std::fs::read(&file) {
        Ok(text) => serde_json::from_slice(&text)?,
        Err(_) => {
            AgentRun::new(cell.spec.request.as_str()).max_turns(cell.spec.max_turns).max_invalid_tool_call_retries(2)
        }
    };
    let model = client(cell, "primary")?.chat("scripted");
    let spec = RunSpec { preamble: Some(INSTRUCTIONS.to_owned()), ..RunSpec::new() };
    let definition = |tool: &scorecard_peer::Tool| -> Result<ToolDefinition, Error> {
        Ok(ToolDefinition {
            name: ToolName::new(&tool.name)?,
            description: tool.description.clone(),
            parameters: tool.schema.clone(),
        })
    };
    let tools = cell.spec.tools.iter().map(definition).collect::<Result<Vec<_>, _>>()?;
    loop {
        // The state before the step: what the step does is done again if the process is killed.
        std::fs::write(&file, serde_json::to_vec(&run)?)?;
        match run.next_step()? {
            AgentRunStep::CallModel { prompt, history, .. } => {
                let prepared = prepare_request(&spec, &Default::default(), &history, tools.clone(), None, None)?;
                let response = model.call(prepared.clone().apply(CompletionRequest::new(prompt))).await?;
                let mut outcome = run.model_response(ModelTurn::from_response(&response, &prepared))?;
                while let ModelTurnOutcome::NeedsResolution(context) = outcome {
                    let feedback = format!("There is no tool {}.", context.tool_name);
                    outcome = run.resolve_invalid_tool_call(InvalidToolCallAction::retry(feedback))?;
                }
            }
            AgentRunStep::CallTools { calls } => {
                let asked: Vec<_> =
                    calls.iter().filter(|call| needs_approval(cell, call) && !is_decided(cell, call)).collect();
                if !asked.is_empty() {
                    let ids: Vec<_> = asked.iter().map(|call| call.tool_call.id.to_string()).collect();
                    std::fs::write(cell.folder.join(ASKED), serde_json::to_vec(&ids)?)?;
                    let show = |call: &&PendingToolCall| {
                        let function = &call.tool_call.function;
                        shown(function.name.as_str(), &function.arguments.clone().into())
                    };
                    return Ok(Outcome::waiting(asked.iter().map(show).collect()));
                }
                let results = try_join_all(calls.into_iter().map(|call| result_of(cell, call))).await?;
                run.tool_results(results)?;
            }
            AgentRunStep::Done(response) => return Ok(Outcome::done(response.output())),
        }
    }
}
