//! io-harness: a run under a policy with registered tools, a fallback provider, and a trace in SQLite from which a
//! killed run is resumed.
//!
//! Tools that may be called twice are declared `Replayable`; a run that was killed within any other one waits for an
//! operator. The policy asks about tools that a person approves, and the approver defers, so that the decision outlives
//! the process; the model then makes the call again. A tool gets no id of its call, so the idempotency key is made of
//! its name and the arguments. Errors of tools are shown to the model.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use io_harness::approve::DecisionFuture;
use io_harness::provider::{Auth, Compatible, Fallback};
use io_harness::tools::{Tool, ToolEffect, ToolFuture, ToolRecovery, Toolbox};
use io_harness::{
    Approver, Decision, Policy, Request, RunOutcome, Store, TaskContract, ToolSpec, resume_with, resume_with_decision,
    run_with,
};
use scorecard_peer::{Cell, Error, INSTRUCTIONS, Outcome, shown};
use serde_json::Value;

struct Remote {
    cell: Cell,
    tool: scorecard_peer::Tool,
}

impl Tool for Remote {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.tool.name.clone(),
            description: self.tool.description.clone(),
            parameters: self.tool.schema.clone(),
        }
    }

    fn invoke<'a>(&'a self, arguments: &'a Value) -> ToolFuture<'a> {
        let mut hasher = DefaultHasher::new();
        (&self.tool.name, arguments.to_string()).hash(&mut hasher);
        let key = format!("cell-{:016x}", hasher.finish());
        Box::pin(async move {
            let result = self.cell.call(&self.tool.name, arguments.clone(), &key).await;
            result.map(|value| value.to_string()).map_err(|error| io_harness::Error::Config(error.to_string()))
        })
    }

    fn effect(&self) -> ToolEffect {
        if self.tool.is_read() { ToolEffect::ReadOnly } else { ToolEffect::Mutating }
    }

    fn recovery(&self) -> ToolRecovery {
        if self.tool.is_repeatable() { ToolRecovery::Replayable } else { ToolRecovery::Indeterminate }
    }
}

/// Leaves every question to a person, who answers when this process is gone.
struct Later;

impl Approver for Later {
    fn decide<'a>(&'a self, _request: &'a Request) -> DecisionFuture<'a> {
        Box::pin(async { Decision::Defer })
    }
}

fn provider(cell: &Cell, server: &str) -> Compatible {
    let limit = Duration::from_secs(cell.spec.model_limit);
    Compatible::new(cell.model_url(server), Auth::None, "", "scripted").with_name(server).with_timeout(limit)
}

/// Tools that need no approval are allowed; the policy asks about every other one by default.
fn policy(cell: &Cell) -> Policy {
    let allowed = cell.spec.tools.iter().filter(|tool| !cell.spec.approve.contains(&tool.name));
    let policy = Policy::default().layer("shop").allow_net("127.0.0.1*");
    allowed.fold(policy, |policy, tool| policy.allow_exec(&tool.name))
}

/// The calls of the last turn that wait for a person. The request itself has no more than the name of the tool.
fn question_of(store: &Store, run: i64, request: i64) -> Result<Vec<Value>, Error> {
    let target = store.pending(request)?.map(|pending| pending.target).unwrap_or_default();
    let calls = store.step_turns(run)?.pop().map(|turn| turn.calls).unwrap_or_default();
    Ok(calls.iter().filter(|call| call.name == target).map(|call| shown(&call.name, &call.arguments)).collect())
}

fn last_words(store: &Store, run: i64) -> Result<String, Error> {
    Ok(store.step_turns(run)?.pop().and_then(|turn| turn.text).unwrap_or_default())
}

async fn work(cell: Cell) -> Result<Outcome, Error> {
    if cell.phase == "decide" {
        cell.store_decision()?;
        return Ok(Outcome::done(""));
    }
    let root = cell.folder.join("workspace");
    std::fs::create_dir_all(&root)?;
    let tools = cell.spec.tools.iter().cloned();
    let toolbox = tools.fold(Toolbox::new(), |toolbox, tool| toolbox.with(Remote { cell: cell.clone(), tool }));
    let contract = TaskContract::workspace(&cell.spec.request, root)
        .with_instruction(INSTRUCTIONS)
        .with_tools(toolbox)
        .with_max_steps(cell.spec.max_turns as u32);
    let provider = Fallback::new(provider(&cell, "primary"), provider(&cell, "backup"));
    let (store, policy) = (Store::open(cell.folder.join("runs.db"))?, policy(&cell));

    let known = store.last_run()?;
    let waiting = known.map(|run| store.unresolved_approvals(run)).transpose()?.and_then(|mut all| all.pop());
    let result = match (known, waiting, cell.decision()) {
        (None, ..) => run_with(&contract, &provider, &store, &policy, &Later).await?,
        (Some(run), Some(pending), Some(_)) => {
            let decision = if cell.is_approved() { Decision::approve() } else { Decision::deny("not today") };
            resume_with_decision(&contract, &provider, &store, run, pending.id, decision, &policy, &Later).await?
        }
        (Some(run), ..) => resume_with(&contract, &provider, &store, run, &policy, &Later).await?,
    };
    Ok(match result.outcome {
        RunOutcome::Finished { .. } | RunOutcome::Success { .. } => Outcome::done(last_words(&store, result.run_id)?),
        RunOutcome::AwaitingApproval { request_id, .. } => {
            Outcome::waiting(question_of(&store, result.run_id, request_id)?)
        }
        other => Outcome::reported(format!("the run ended with {other:?}")),
    })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    scorecard_peer::main(work).await
}
