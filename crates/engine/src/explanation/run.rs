//! A run in plain words.

use reknit_mend::{Fate, Mend, tried_in_vain};
use reknit_plan::{AGENT_TOOL, GraphState, GraphStep, PlanAuthor, StepGraph};

use super::{ExplainedLine, ExplainedStep, Explanation, cost_lines, decision_sentence, entry_lines, rung_words};
use crate::answer::{Answer, AnswerAuthor, Outcome, Status};
use crate::history::{ANSWER, HistoryKind};
use crate::overview::RunOverview;
use crate::run::{StepState, StepView};

pub(super) fn explain(run: &RunOverview, status: &str) -> Explanation {
    Explanation {
        run: run.run.clone(),
        asked: run.request.clone(),
        outcome: outcome(run, status),
        planning: planning(run),
        steps: run.steps.iter().map(|step| explained_step(run, step)).collect(),
        conversation: Vec::new(),
        failed: failed(run),
        mended: run.steps.iter().flat_map(mended).collect(),
        tried: run.steps.iter().flat_map(tried).collect(),
        missing: run.answer.as_ref().map(missing).unwrap_or_default(),
        decided: decided(run),
        cost: cost_lines(&run.spent),
        graph: graph(run),
    }
}

fn outcome(run: &RunOverview, status: &str) -> String {
    let done = run.steps.iter().filter(|step| step.state == StepState::Done).count();
    let steps = match run.steps.len() {
        0 => "it has no steps".to_owned(),
        1 => format!("{done} of 1 step has a result"),
        all => format!("{done} of {all} steps have a result"),
    };
    let Some(answer) = &run.answer else { return format!("The run has not ended ({status}); so far {steps}.") };
    let words = match answer.status {
        Status::Complete => "Everything was done",
        Status::Partial => "A part was done",
        Status::Failed => "Nothing could be done",
        Status::Impossible => "The tools cannot serve the request",
        Status::Cancelled => "The run was cancelled",
        Status::BudgetExhausted => "The run reached a limit",
    };
    let reason = answer.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    format!("{words}{reason}: {steps}.")
}

fn planning(run: &RunOverview) -> Vec<ExplainedLine> {
    let plain = |text: String| ExplainedLine { at_ms: None, took_ms: None, text };
    let mut lines = Vec::new();
    lines.extend(match run.planned_by {
        Some(PlanAuthor::Model) => Some(plain("A model planned the request.".to_owned())),
        Some(PlanAuthor::Person) => Some(plain("The plan was given; no model planned it.".to_owned())),
        None => None,
    });
    if let Some(tools) = &run.planning.tool_selection {
        lines.push(plain(format!(
            "The planner was shown {} of {} capabilities.",
            tools.shown.len(),
            run.planning.capabilities
        )));
    }
    let is_answer = |kind: &HistoryKind| matches!(kind, HistoryKind::Asked { rung, .. } if rung == ANSWER);
    let before: Vec<_> = run.run_history.iter().filter(|entry| !is_answer(&entry.kind)).cloned().collect();
    lines.extend(entry_lines(&before));
    for (index, rejected) in run.planning.rejected_plans.iter().enumerate() {
        let problems =
            if rejected.problems.is_empty() { String::new() } else { format!(": {}", rejected.problems.join("; ")) };
        lines.push(plain(format!("Plan {} was rejected ({}){problems}", index + 1, rejected.words)));
    }
    lines.extend(run.planning.replannings.iter().map(|replanning| plain(format!("Planned again {replanning}."))));
    if !run.planning.plan_repairs.is_empty() {
        lines.push(plain(format!("The text of the plan was repaired: {}.", run.planning.plan_repairs.join("; "))));
    }
    lines
}

fn explained_step(run: &RunOverview, step: &StepView) -> ExplainedStep {
    let purpose = if step.instruction.is_empty() { String::new() } else { format!(": {}", step.instruction) };
    let call = match (step.tool.as_str(), &step.session) {
        ("", _) => step.capability.to_string(),
        (_, Some(session)) => format!("agent {}, as session {session}", step.capability),
        (AGENT_TOOL, None) => format!("agent {}", step.capability),
        (agent, None) => format!("{} of {agent}", step.capability),
    };
    ExplainedStep {
        step: step.id.to_string(),
        does: format!("{call}{purpose}"),
        outcome: state_words(step),
        lines: entry_lines(run.history.get(&step.id).map(Vec::as_slice).unwrap_or_default()),
    }
}

fn state_words(step: &StepView) -> String {
    match &step.state {
        StepState::Waiting | StepState::Queued => "waiting".to_owned(),
        StepState::Running => "running".to_owned(),
        StepState::Looping { items, done, .. } => format!("running, {done} of {items} items done"),
        StepState::BackingOff { .. } | StepState::BreakerOpen { .. } => "waiting before the next attempt".to_owned(),
        StepState::Polling { polls, .. } => format!("waiting before it asks again: {polls} results were not as wished"),
        StepState::KeyHeld { by, .. } => format!("waiting for the same call of run {by}"),
        StepState::Mending(rung) => format!("being mended by {}", rung.as_str()),
        StepState::Checking => "checking whether the call took effect".to_owned(),
        StepState::Verifying => "verifying its effect".to_owned(),
        StepState::AwaitingJob { .. } => match &step.session {
            Some(session) => format!("waiting for session {session}"),
            None => "waiting for a job of the tool".to_owned(),
        },
        StepState::AwaitingApproval(_) => "waiting for approval".to_owned(),
        StepState::Done if step.mended().next().is_some() => "done, after it was mended".to_owned(),
        StepState::Done => "done".to_owned(),
        StepState::Failed { .. } if step.replaced => "failed, and planned again".to_owned(),
        StepState::Skipped { .. } if step.replaced => "skipped, and planned again".to_owned(),
        StepState::Failed { .. } => "failed".to_owned(),
        StepState::Unconfirmed { .. } => "unconfirmed".to_owned(),
        StepState::Skipped { .. } => "skipped".to_owned(),
    }
}

/// The steps as a graph, each with its state.
fn graph(run: &RunOverview) -> StepGraph {
    let step = |step: &StepView| GraphStep {
        id: step.id.clone(),
        label: if step.tool.as_str().is_empty() {
            step.capability.to_string()
        } else {
            format!("{}/{}", step.tool, step.capability)
        },
        state: match &step.state {
            StepState::Done if step.mended().next().is_some() => GraphState::Mended,
            StepState::Done => GraphState::Done,
            StepState::Failed { .. } | StepState::Unconfirmed { .. } => GraphState::Failed,
            StepState::Skipped { .. } => GraphState::Skipped,
            StepState::Running
            | StepState::Looping { .. }
            | StepState::Mending(_)
            | StepState::Checking
            | StepState::Verifying => GraphState::Running,
            _ => GraphState::Waiting,
        },
        needs: step.needs.clone(),
    };
    StepGraph::new(run.steps.iter().map(step).collect())
}

/// The steps that failed, then the errors of calls whose steps went on.
fn failed(run: &RunOverview) -> Vec<String> {
    let mut lines = Vec::new();
    for step in &run.steps {
        let errors = run.history.get(&step.id).into_iter().flatten().filter_map(|entry| match &entry.kind {
            HistoryKind::Called { error, .. } => error.as_ref(),
            _ => None,
        });
        match &step.state {
            StepState::Failed { reason } => lines.push(format!("{}: {reason}", step.id)),
            StepState::Unconfirmed { reason } => lines.push(format!("{}, which is unconfirmed: {reason}", step.id)),
            StepState::Done => lines.extend(errors.map(|error| format!("{}, which went on: {error}", step.id))),
            _ => lines.extend(errors.map(|error| format!("{}, so far: {error}", step.id))),
        }
    }
    lines
}

fn mended(step: &StepView) -> Vec<String> {
    let line = |mend: &Mend| {
        format!("{} by {} ({}): {}", step.id, mend.rung.as_str(), rung_words(mend.rung), mend.description)
    };
    step.mended().map(line).collect()
}

fn tried(step: &StepView) -> Vec<String> {
    tried_in_vain(step.id.as_str(), step.tried().map(|mend| (mend.rung, mend.description.as_str())))
}

fn missing(answer: &Answer) -> Vec<String> {
    let steps = answer.steps.iter().filter_map(|step| match &step.outcome {
        Outcome::Done(_) => None,
        Outcome::Failed { reason, fate: Fate::Unknown } => {
            Some(format!("The result of {}, whose call may have taken effect: {reason}", step.step))
        }
        Outcome::Failed { reason, .. } => Some(format!("The result of {}, which failed: {reason}", step.step)),
        Outcome::Unconfirmed { reason, .. } => {
            Some(format!("The confirmation of {}, whose call was made: {reason}", step.step))
        }
        Outcome::Skipped { reason } => Some(format!("The result of {}, which was skipped: {reason}", step.step)),
    });
    let outputs = answer.missing_outputs.iter().map(|output| format!("The output {}: {}", output.name, output.reason));
    steps.chain(outputs).collect()
}

/// Who planned, who approved what, whose corrections were sent, and who wrote the answer.
fn decided(run: &RunOverview) -> Vec<String> {
    let mut lines = Vec::new();
    let decisions = |name: &str, entries: &[crate::history::HistoryEntry]| -> Vec<String> {
        let decision = entries.iter().filter_map(|entry| match &entry.kind {
            HistoryKind::Decided { decision, by } => Some(decision_sentence(decision, by.as_str())),
            _ => None,
        });
        decision.map(|decision| format!("{name}: {decision}")).collect()
    };
    match run.planned_by {
        Some(PlanAuthor::Model) => lines.push("The plan: a model wrote it.".to_owned()),
        Some(PlanAuthor::Person) => lines.push("The plan: it was given with the request.".to_owned()),
        None => {}
    }
    lines.extend(decisions("The plan", &run.run_history));
    for step in &run.steps {
        let entries = run.history.get(&step.id).map(Vec::as_slice).unwrap_or_default();
        lines.extend(decisions(step.id.as_str(), entries));
    }
    lines.extend(run.answer.as_ref().map(|answer| match &answer.written_by {
        AnswerAuthor::Model => "The answer: a model wrote it from the results.".to_owned(),
        AnswerAuthor::Template => "The answer: code listed the results.".to_owned(),
        AnswerAuthor::Raw => "The answer: the results as JSON.".to_owned(),
        AnswerAuthor::TemplateInstead(reason) => format!("The answer: code listed the results, because {reason}."),
    }));
    lines
}
