//! `reknit runs show`.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use reknit_engine::{HistoryEntry, HistoryKind, Overview, RunOverview, StepState, StepView};
use reknit_journal::{Journal, StoredEvent};
use reknit_plan::ToolSelection;
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::{DriveError, ParkReason, bare_overview};

use super::current_state::CurrentState;
use super::started_with::{start_fields, start_lines};
use super::{VALUE_COLUMNS, bare, llm, open_run, session, step_history};
use crate::output::{
    ApprovalRequest, Failure, count, duration, escape_controls, inbox, one_line, pending_approvals, print_data,
    print_text, result_json, run_lines, usage_summary,
};
use crate::setup::{FileArguments, RunArgument, for_each_event, load_events, stored_overview};

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    run: RunArgument,
    /// Show only this step
    #[arg(long, value_name = "STEP", conflicts_with_all = ["events", "llm", "json"])]
    step: Option<String>,
    /// List the events of the journal
    #[arg(long)]
    events: bool,
    /// Print the full prompts and answers of models; a journal of another user shows them if LLM debugging is enabled for the run
    #[arg(long, conflicts_with = "events")]
    llm: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: FileArguments,
}

pub(super) async fn run(options: &ShowArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&options.journal, &options.run).await?;
    if options.events {
        for_each_event(&journal, &run, |event| print_data(&event_line(event, options.json))).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.llm {
        // Prompts are not stored, but made again from the events.
        let reader = llm::reader_of(&journal);
        return print_data(&llm::text(&run, &load_events(&journal, &run).await?, reader, options.json)?)
            .map(|()| ExitCode::SUCCESS);
    }
    let summary = journal.summary(&run).await.map_err(Failure::journal)?;
    let (overview, approvals) = match stored_overview(&journal, &run).await? {
        Some(overview) => (overview, Vec::new()),
        None => restored_overview(&journal, &run, summary.parked.is_some()).await?,
    };
    let steps: &[StepView] = match &overview {
        Overview::Run(run) => &run.steps,
        Overview::Session(_) | Overview::Bare(_) => &[],
    };
    if let Some(step) = &options.step
        && !steps.iter().any(|view| view.id.as_str() == step)
    {
        let ids: Vec<String> = steps.iter().map(|view| view.id.to_string()).collect();
        let hint = match ids.as_slice() {
            [] => format!("it has no steps; see its status with `reknit runs show {run}`"),
            ids => format!("it has: {}", ids.join(", ")),
        };
        return Err(Failure::usage(format!("run `{run}` has no step `{step}`"), hint));
    }
    let status = match summary.state() {
        "waiting" if approvals.is_empty() => "stopped",
        word => word,
    };
    let state = CurrentState { status, approvals };
    if options.json {
        let document = match &overview {
            Overview::Run(run) => as_json(run, &state)?,
            Overview::Session(session) => session::as_json(session, &state)?,
            Overview::Bare(bare) => bare::as_json(bare)?,
        };
        return print_data(&format!("{document}\n")).map(|()| ExitCode::SUCCESS);
    }
    print_text(&match &overview {
        Overview::Run(run) => page(run, &state, options.step.as_deref()),
        Overview::Session(session) => session::page(session, &state),
        Overview::Bare(bare) => bare::page(bare),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The overview of a run without a stored one, and its open questions.
async fn restored_overview(
    journal: &Journal,
    run: &RunId,
    is_parked: bool,
) -> Result<(Overview, Vec<ApprovalRequest>), Failure> {
    let mut bare = bare_overview(journal, run).await?;
    if !is_parked {
        match reknit_runtime::load_run(journal, run).await {
            Ok(saved) => {
                let overview = saved.overview().map_err(Failure::journal)?;
                return Ok((overview, pending_approvals(&saved.machine, &inbox(journal, run).await?)));
            }
            Err(DriveError::Restore(error)) => bare.problem = Some(ParkReason::of(&error).describe()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((Overview::Bare(Box::new(bare)), Vec::new()))
}

fn as_json(run: &RunOverview, state: &CurrentState<'_>) -> Result<Value, Failure> {
    let mut document = match &run.answer {
        Some(answer) => result_json(&run.run, answer)?,
        None => state_as_json(run, state),
    };
    document.extend(start_fields(&run.metadata, run.fork.as_ref(), &run.attachments));
    document.insert("history", step_history::as_json(&run.history)?);
    if run.retries > 0 {
        document.insert("retries", run.retries);
    }
    if let Some(ToolSelection { shown, fallback_reason, saved_tokens, .. }) = &run.planning.tool_selection {
        let instead = fallback_reason.as_deref().map_or(Value::Null, Value::from);
        let shown = shown.iter().map(|name| Value::from(name.as_str())).collect();
        let tools = [("capabilities", shown), ("instead", instead), ("saved_tokens", (*saved_tokens).into())];
        document.insert("tools_shown", Value::from(tools));
    }
    Ok(Value::Object(document))
}

fn state_as_json(run: &RunOverview, state: &CurrentState<'_>) -> Object {
    let steps = run.steps.iter().map(|view| {
        let mut object = Object::from([
            ("step", view.id.as_str().into()),
            ("capability", view.capability.as_str().into()),
            ("state", state_word(&view.state).into()),
            ("parameters", Value::Object(view.parameters.clone())),
        ]);
        object.extend(view.session.as_ref().map(|session| ("session".to_owned(), session.as_str().into())));
        if let Some(approval) = state.approval_of(view) {
            object.insert("asks", approval.to_value());
        }
        if let StepState::AwaitingJob { since_ms, asked, problem } = &view.state {
            let problem = problem.as_deref().map_or(Value::Null, Value::from);
            object.insert(
                "job",
                Value::from([("since_ms", (*since_ms).into()), ("asked", (*asked).into()), ("problem", problem)]),
            );
        }
        Value::Object(object)
    });
    let mut document =
        Object::from([("run", run.run.as_str().into()), ("status", state.status.into()), ("steps", steps.collect())]);
    document.extend(state.approvals_of_plan().map(|approval| ("asks".to_owned(), approval.to_value())));
    document
}

/// The state as `--json` names it. Programs rely on these words.
fn state_word(state: &StepState) -> &'static str {
    match state {
        StepState::Waiting => "waiting",
        StepState::Queued => "queued",
        StepState::Running => "running",
        StepState::Looping { .. } => "looping",
        StepState::BackingOff { .. } => "resting",
        StepState::Polling { .. } => "polling",
        StepState::BreakerOpen { .. } => "turned_away",
        StepState::KeyHeld { .. } => "key_held",
        StepState::Mending(_) => "mending",
        StepState::Checking => "checking",
        StepState::AwaitingJob { .. } => "awaiting_job",
        StepState::AwaitingApproval(_) => "asking",
        StepState::Done => "done",
        StepState::Verifying => "verifying",
        StepState::Failed { .. } => "failed",
        StepState::Unconfirmed { .. } => "unconfirmed",
        StepState::Skipped { .. } => "skipped",
    }
}

/// The line of an event: its number, time, kind and the start of its body, or its whole body as JSON.
fn event_line(event: &StoredEvent, json: bool) -> String {
    if json {
        return format!("{}\n", event.body);
    }
    let at = jiff::Timestamp::from_millisecond(event.at_ms)
        .map_or_else(|_| event.at_ms.to_string(), |at| format!("{at:.3}"));
    format!("{:>4}  {at}  {:<15}  {}\n", event.seq, event.kind, one_line(&event.body, VALUE_COLUMNS))
}

/// The tools that were selected for the planner, and how many tokens the selection saved.
fn tool_selection_line(all: usize, selection: &ToolSelection) -> String {
    let fallback =
        selection.fallback_reason.as_deref().map_or_else(String::new, |reason| format!(" by keywords ({reason})"));
    let text = format!(
        "tools    {} of {all} selected{fallback}, about {} tokens saved: {}",
        selection.shown.len(),
        selection.saved_tokens,
        selection.shown.join(", ")
    );
    one_line(&text, VALUE_COLUMNS)
}

fn page(run: &RunOverview, state: &CurrentState<'_>, only: Option<&str>) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        let _ = writeln!(page, "{}", escape_controls(&text));
    };
    line(format!("run      {}", run.run));
    line(format!("request  {}", one_line(&run.request, VALUE_COLUMNS)));
    start_lines(&run.metadata, run.fork.as_ref(), &run.attachments).into_iter().for_each(&mut line);
    line(format!("status   {}", status(run, state)));
    if run.retries > 0 {
        line(format!("retried  {}", count(run.retries, "time")));
    }
    line(format!("spent    {}, {}", usage_summary(&run.spent), count(run.events, "event")));
    if let Some(selection) = &run.planning.tool_selection {
        line(tool_selection_line(run.planning.capabilities, selection));
    }
    if !run.planning.plan_repairs.is_empty() {
        line(one_line(&format!("plan     repaired: {}", run.planning.plan_repairs.join("; ")), usize::MAX));
    }
    trouble_lines(&run.run_history).into_iter().for_each(&mut line);
    for (index, rejected) in run.planning.rejected_plans.iter().enumerate() {
        line(format!("plan     attempt {} rejected: {}", index + 1, one_line(&rejected.words, VALUE_COLUMNS)));
        rejected.problems.iter().for_each(|problem| line(format!("           {}", one_line(problem, VALUE_COLUMNS))));
    }
    for replanning in &run.planning.replannings {
        line(one_line(&format!("plan     again {replanning}"), usize::MAX));
    }
    for approval in state.approvals_of_plan() {
        line(format!("plan     {}", approval.description("         ")));
    }
    line(String::new());
    for shown in run_lines((run.progress, run.model_wait_ms), || run.steps.clone(), run.now_ms, VALUE_COLUMNS) {
        line(shown.text);
    }
    for view in run.steps.iter().filter(|view| only.is_none_or(|only| only == view.id.as_str())) {
        line(String::new());
        let entries = run.history.get(&view.id).map(Vec::as_slice).unwrap_or_default();
        step(view, run, entries, state).into_iter().for_each(&mut line);
    }
    if let Some(answer) = run.answer.as_ref().filter(|_| only.is_none()) {
        line(String::new());
        line(answer.full_text());
    }
    page
}

/// A question to a model that took longer than this is mentioned.
const SLOW_MODEL_MS: u64 = 20_000;

/// The questions for the plan and the answer that a model refused, left unanswered, or answered slowly.
fn trouble_lines(entries: &[HistoryEntry]) -> Vec<String> {
    let line = |entry: &HistoryEntry| {
        let HistoryKind::Asked { rung, target, error, .. } = &entry.kind else { return None };
        let (purpose, took) = (rung.replace('_', " "), duration(entry.took_ms));
        match error {
            Some(error) => Some(format!("model    {target} gave no answer for the {purpose}: {error} ({took})")),
            None if entry.took_ms > SLOW_MODEL_MS => {
                Some(format!("model    {target} was slow with the {purpose}: {took}"))
            }
            None => None,
        }
    };
    entries.iter().filter_map(line).map(|line| one_line(&line, VALUE_COLUMNS)).collect()
}

fn status(run: &RunOverview, state: &CurrentState<'_>) -> String {
    match &run.answer {
        Some(answer) => match &answer.reason {
            Some(reason) => format!("{} ({})", answer.status, one_line(reason, VALUE_COLUMNS)),
            None => answer.status.to_string(),
        },
        None => state.status_text(&run.run),
    }
}

fn step(view: &StepView, run: &RunOverview, entries: &[HistoryEntry], state: &CurrentState<'_>) -> Vec<String> {
    let mut lines = vec![one_line(&format!("{} ({} of {})", view.id, view.capability, view.tool), usize::MAX)];
    if !view.instruction.is_empty() {
        lines.push(format!("  for        {}", one_line(&view.instruction, VALUE_COLUMNS)));
    }
    for (name, value) in &view.parameters {
        let origin = view
            .describe_origin(name)
            .map_or_else(String::new, |origin| format!("   ({})", one_line(&origin, VALUE_COLUMNS)));
        let (name, value) = (one_line(name, VALUE_COLUMNS), one_line(&value.to_string(), VALUE_COLUMNS));
        lines.push(format!("  parameter  {name} = {value}{origin}"));
    }
    lines.extend(
        view.session.as_ref().map(|session| format!("  session    {session}: see `reknit runs show {session}`")),
    );
    lines.extend(step_history::lines(entries));
    if let StepState::Failed { reason } | StepState::Unconfirmed { reason } | StepState::Skipped { reason } =
        &view.state
    {
        lines.push(format!("  {:<9}  {}", state_word(&view.state), one_line(reason, VALUE_COLUMNS)));
    }
    if let Some(approval) = state.approval_of(view) {
        lines.push(format!("  approval   {}", approval.description("             ")));
        lines.extend(
            approval.decided.as_ref().map(|decision| format!("  {:<9}  not read by the run yet", decision.as_str())),
        );
    }
    if let Some(value) = run.result(&view.id) {
        lines.push(format!("  result     {}", one_line(&value.to_string(), VALUE_COLUMNS)));
    }
    lines
}
