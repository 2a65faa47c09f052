//! Everruns: an agent on its Base harness (repair of calls, loop detection, compaction, parallel calls), in an engine
//! whose sessions are in SQLite. A process that starts again opens the same session and sends the same message under
//! the same id, and the engine's supervisor goes on with a turn that a kill interrupted.
//!
//! Tools that may be called twice are declared `idempotent`; any other call that a kill interrupted is not made again,
//! and the model is told that its outcome is unknown. Approvals are durable: the turn waits in the database, and
//! another process stores the decision. The idempotency key is that of Everruns. Errors of tools are shown to the
//! model. Everruns has retries of a model server and no second one.

use std::time::Duration;

use everruns::drivers::openai::completions_provider;
use everruns::execution_api::ToolApprovalAnswer;
use everruns::hosting::services::{HostServices, LlmRetryConfig};
use everruns::hosting::{Admission, AdmissionState, AgentBuild, SessionHosting, SqliteHosting, ToolApprovalDecision};
use everruns::{
    Agent, CancellationToken, Engine, FunctionTool, Harness, MessageId, RunError, SessionId, ToolCall, ToolCallContext,
    ToolResponse, Turn, TurnStopReason,
};
use scorecard_peer::{Cell, Error, INSTRUCTIONS, Outcome, Tool, shown};
use serde_json::Value;

/// How a call of its own is named that asks a person.
const APPROVAL: &str = "approve_tool_call";
/// How often the state of a turn is read that may wait for a person.
const POLL: Duration = Duration::from_millis(10);

fn tool_of(cell: &Cell, tool: &Tool) -> FunctionTool {
    let (owner, name) = (cell.clone(), tool.name.clone());
    let handler = move |context: ToolCallContext, arguments: Value| {
        let (cell, name) = (owner.clone(), name.clone());
        async move {
            let key = context.idempotency_key().unwrap_or(context.tool_call_id());
            let result = cell.call(&name, arguments, key).await;
            Ok::<_, String>(result.map_or_else(|error| ToolResponse::error(error.to_string()), ToolResponse::json))
        }
    };
    let mut function = FunctionTool::with_context(&tool.name, &tool.description, tool.schema.clone(), handler);
    if tool.is_repeatable() {
        function = function.idempotent();
    }
    if cell.spec.approve.contains(&tool.name) {
        function = function.always_needs_approval();
    }
    function
}

fn agent(cell: &Cell) -> Result<Agent, Error> {
    let services = HostServices::new()
        .provider_retry(LlmRetryConfig::default())
        .provider_stall_timeout(Duration::from_secs(cell.spec.model_limit));
    let builder = Agent::builder()
        .name("clerk")
        .instructions(INSTRUCTIONS)
        .provider(completions_provider("primary", "none").base_url(cell.model_url("primary")))
        .model("scripted")
        .max_iterations(cell.spec.max_turns)
        .host_services(services)
        .durable_approvals();
    Ok(cell.spec.tools.iter().fold(builder, |builder, tool| builder.tool(tool_of(cell, tool))).build()?)
}

/// The ids of the session and of its message, which are the same in every process of a cell.
fn identity(cell: &Cell) -> Result<(SessionId, MessageId), Error> {
    let file = cell.folder.join("session.txt");
    if !file.exists() {
        std::fs::write(&file, format!("{} {}", SessionId::new(), MessageId::new()))?;
    }
    let text = std::fs::read_to_string(file)?;
    let (session, message) = text.split_once(' ').ok_or("session.txt has no two ids")?;
    Ok((session.parse()?, message.parse()?))
}

/// Stores the decision of the person about every call that waits.
async fn decide(cell: &Cell, hosting: &SqliteHosting, session: SessionId) -> Result<(), Error> {
    let status = hosting.status(session).await?;
    let turn = status.open_turn.ok_or("no turn is open")?;
    let decision = if cell.is_approved() { ToolApprovalDecision::Allow } else { ToolApprovalDecision::Reject };
    let asked = status.waiting.into_iter().filter(|call| call.name == APPROVAL);
    let answers = asked.map(|call| ToolApprovalAnswer { tool_call_id: call.id, decision }).collect();
    hosting.submit_approvals(session, uuid::Uuid::new_v4(), turn, answers).await?;
    Ok(())
}

fn question_of(calls: &[ToolCall]) -> Vec<Value> {
    let show =
        |call: &ToolCall| shown(call.arguments["tool"].as_str().unwrap_or_default(), &call.arguments["arguments"]);
    calls.iter().filter(|call| call.name == APPROVAL).map(show).collect()
}

fn outcome_of(turn: Turn) -> Outcome {
    match turn.stop_reason {
        TurnStopReason::EndTurn if turn.success => Outcome::done(turn.response),
        reason => {
            let message = turn.error.unwrap_or(turn.response);
            Outcome::reported(format!("the turn ended with {reason:?}: {message}"))
        }
    }
}

/// Waits until the turn ended, or waits for a person.
async fn settled(admission: &Admission) -> Result<Outcome, Error> {
    loop {
        match admission.state().await? {
            AdmissionState::Waiting { calls, .. } => return Ok(Outcome::waiting(question_of(&calls))),
            AdmissionState::Complete { turn } => return Ok(outcome_of(turn)),
            AdmissionState::Suspended => return Err(RunError::Suspended.into()),
            AdmissionState::Rejected { failure } => return Err(RunError::Hook(failure).into()),
            _ => tokio::time::sleep(POLL).await,
        }
    }
}

async fn work(cell: Cell) -> Result<Outcome, Error> {
    let (id, message) = identity(&cell)?;
    let hosting = SqliteHosting::open(cell.folder.join("sessions.db"))?;
    if cell.phase == "decide" {
        decide(&cell, &hosting, id).await?;
        return Ok(Outcome::done(""));
    }
    let build = AgentBuild::new("clerk", "1");
    let engine = Engine::builder()
        .hosting(hosting.clone())
        .register_with_harness(build.clone(), agent(&cell)?, Harness::base())
        .build();
    let session = engine.create_registered(id, &build).await?;
    let (supervised, shutdown) = (engine.clone(), CancellationToken::new());
    let stop = shutdown.clone();
    let supervisor = tokio::spawn(async move { hosting.supervise(supervised, stop).await });
    session.send_with_id(message, cell.spec.request.as_str()).await?;
    let admission = session.admission(message).await?.ok_or("the message was not admitted")?;
    let outcome = settled(&admission).await;
    shutdown.cancel();
    supervisor.await??;
    outcome
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    scorecard_peer::main(work).await
}
