//! When what happened: a bar for each call and question, hatched where a step only waited; and which steps the run had to wait for.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use reknit_engine::{HistoryEntry, HistoryKind, RunOverview, StepState, StepView};
use reknit_protocol::{StepId, human_duration};

use super::RunFacts;
use crate::frame::PageFrame;
use crate::marks::step_mark;
use crate::outside_text::one_line;
use crate::words::{capability_name, run_path, step_path, with_query};

/// A run with at most so many steps has one page.
const ONE_PAGE: usize = 60;
/// The rows of a page of a larger run: few, because a browser draws them before a reader sees anything.
const ROWS: usize = 30;
const WIDTH: i64 = 1_000;

struct Bar {
    class: &'static str,
    start_ms: i64,
    end_ms: i64,
    title: String,
}

pub(super) fn section(
    frame: &PageFrame<'_>,
    facts: &RunFacts<'_>,
    run: &RunOverview,
    times: &BTreeMap<&StepId, StepTimes>,
    critical: &BTreeSet<&StepId>,
) -> Markup {
    let is_shown = |step: &&StepView| facts.only.is_none_or(|only| capability_name(step) == only);
    let steps: Vec<&StepView> = run.steps.iter().filter(is_shown).collect();
    let now_ms = if facts.status == "running" { frame.now_ms.max(facts.updated_ms) } else { facts.updated_ms };
    let scale = Scale { start_ms: facts.created_ms, end_ms: now_ms.max(facts.created_ms + 1) };
    let shown: Vec<&StepView> = steps.iter().copied().skip(facts.from).take(rows(steps.len())).collect();
    let total = scale.end_ms - scale.start_ms;
    let tick = |part: i64| human_duration(u64::try_from(total * part / 4).unwrap_or(0));
    html! {
        section #timeline aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            @if let Some(only) = facts.only {
                p { "Only " code { (one_line(only, 80)) } ". " a href=(run_path(facts.run)) { "All steps" } }
            }
            table.timeline {
                thead {
                    tr {
                        th scope="col" { "Step" }
                        th.axis scope="col" { span.hidden { "Time" } @for part in 0..=4 { span aria-hidden="true" { (tick(part)) } } }
                        th.number scope="col" { "Took" }
                    }
                }
                tbody {
                    @if facts.from == 0 && !run.run_history.is_empty() && facts.only.is_none() { (row_of_run(&scale, run)) }
                    @for step in &shown { (row(facts, &scale, run, step, times, critical.contains(&step.id), now_ms)) }
                }
            }
            (pages(facts, steps.len()))
            @if !critical.is_empty() && facts.from == 0 {
                p.muted { span.critical-word { "Underlined" } " steps are the critical path: the run could not end before them." }
            }
        }
    }
}

/// Which units a time has in the drawing.
struct Scale {
    start_ms: i64,
    end_ms: i64,
}

impl Scale {
    fn at(&self, ms: i64) -> i64 {
        let total = (self.end_ms - self.start_ms).max(1);
        ((ms - self.start_ms).clamp(0, total) * WIDTH) / total
    }
}

fn row_of_run(scale: &Scale, run: &RunOverview) -> Markup {
    let bars: Vec<Bar> = run.run_history.iter().filter_map(bar).collect();
    html! { tr { th scope="row" { "plan, answer" } td { (draw(scale, &bars)) } td.number {} } }
}

fn row(
    facts: &RunFacts<'_>,
    scale: &Scale,
    run: &RunOverview,
    step: &StepView,
    times: &BTreeMap<&StepId, StepTimes>,
    is_critical: bool,
    now_ms: i64,
) -> Markup {
    let entries = run.history.get(&step.id).map(Vec::as_slice).unwrap_or_default();
    let mut bars: Vec<Bar> = entries.iter().filter_map(bar).collect();
    bars.extend(open_bar(facts, step, entries, times, now_ms));
    let mark = step_mark(step);
    let took = times.get(&step.id).map(|times| human_duration(times.took_ms())).unwrap_or_default();
    let is_selected = facts.step == Some(step.id.as_str());
    html! {
        tr.critical[is_critical].selected[is_selected] {
            th scope="row" {
                span class={"shape " (mark.class)} title=(mark.word) { (mark.shape) span.hidden { (mark.word) } } " "
                a href=(step_path(facts.run, step.id.as_str())) data-step=(step.id.as_str()) { (one_line(step.id.as_str(), 40)) }
            }
            td { (draw(scale, &bars)) }
            td.number { (took) }
        }
    }
}

fn bar(entry: &HistoryEntry) -> Option<Bar> {
    let took = human_duration(entry.took_ms);
    let (class, title) = match &entry.kind {
        HistoryKind::Called { error: None, .. } => ("done", format!("call, {took}")),
        HistoryKind::Called { error: Some(error), .. } => {
            ("failed", format!("call failed, {took}: {}", one_line(error, 120)))
        }
        HistoryKind::Checked { .. } => ("running", format!("check, {took}")),
        HistoryKind::Asked { rung, target, error, .. } => {
            let class = if error.is_some() { "failed" } else { "model" };
            (class, format!("model {} asked: {rung}, {took}", one_line(target.as_str(), 40)))
        }
        HistoryKind::Waited => ("wait", format!("waited {took}")),
        HistoryKind::AwaitedJob { .. } => ("wait", format!("waited for a job, {took}")),
        HistoryKind::Decided { .. } => ("person", format!("waited for a person, {took}")),
        HistoryKind::Interrupted => ("failed", "the process ended during the call".to_owned()),
        HistoryKind::BreakerOpen | HistoryKind::KeyFound(_) | HistoryKind::Mended(_) => return None,
    };
    Some(Bar { class, start_ms: entry.at_ms, end_ms: end_of(entry), title })
}

/// What a step does now. It began when the last entry ended, or when the last needed step did.
fn open_bar(
    facts: &RunFacts<'_>,
    step: &StepView,
    entries: &[HistoryEntry],
    times: &BTreeMap<&StepId, StepTimes>,
    now_ms: i64,
) -> Option<Bar> {
    let class = match step.state {
        StepState::Running | StepState::Checking | StepState::Verifying | StepState::Looping { .. } => "running",
        StepState::Mending(_) => "model",
        StepState::AwaitingApproval(_) => "person",
        StepState::BackingOff { .. }
        | StepState::Polling { .. }
        | StepState::BreakerOpen { .. }
        | StepState::KeyHeld { .. }
        | StepState::AwaitingJob { .. } => "wait",
        _ => return None,
    };
    let needed = step.needs.iter().filter_map(|need| times.get(need)).map(|times| times.end_ms).max();
    let start_ms = entries.iter().map(end_of).max().or(needed).unwrap_or(facts.created_ms);
    Some(Bar { class, start_ms, end_ms: now_ms, title: format!("{} now", step_mark(step).word) })
}

fn draw(scale: &Scale, bars: &[Bar]) -> Markup {
    html! {
        svg.bars viewBox={"0 0 " (WIDTH) " 16"} preserveAspectRatio="none" aria-hidden="true" {
            @for bar in bars {
                @let left = scale.at(bar.start_ms);
                @let width = (scale.at(bar.end_ms) - left).max(4);
                rect class={"bar " (bar.class)} x=(left.min(WIDTH - 4)) y="3" width=(width) height="10" { title { (bar.title) } }
            }
        }
    }
}

fn rows(steps: usize) -> usize {
    if steps > ONE_PAGE { ROWS } else { ONE_PAGE }
}

fn pages(facts: &RunFacts<'_>, steps: usize) -> Markup {
    let path = run_path(facts.run);
    let link = |from: usize, word: &str| {
        let from = if from == 0 { String::new() } else { from.to_string() };
        let href = with_query(&path, &[("only", facts.only.unwrap_or_default()), ("from", &from)]);
        html! { a.button href={(href) "#timeline"} { (word) } }
    };
    html! {
        @if steps > ONE_PAGE {
            p.more {
                @if facts.from > 0 { (link(facts.from.saturating_sub(ROWS), "Earlier steps")) " " }
                span.muted { (facts.from + 1) "–" ((facts.from + ROWS).min(steps)) " of " (steps) } " "
                @if facts.from + ROWS < steps { (link(facts.from + ROWS, "Later steps")) }
            }
        }
    }
}

/// When a step began and ended, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepTimes {
    pub(super) start_ms: i64,
    pub(super) end_ms: i64,
}

impl StepTimes {
    pub(super) fn took_ms(self) -> u64 {
        u64::try_from(self.end_ms.saturating_sub(self.start_ms)).unwrap_or(0)
    }
}

pub(super) fn end_of(entry: &HistoryEntry) -> i64 {
    entry.at_ms.saturating_add_unsigned(entry.took_ms)
}

/// The times of all steps to which anything happened.
pub(super) fn step_times(run: &RunOverview) -> BTreeMap<&StepId, StepTimes> {
    let times = |step: &StepId| {
        let entries = run.history.get(step)?;
        let start_ms = entries.iter().map(|entry| entry.at_ms).min()?;
        Some(StepTimes { start_ms, end_ms: entries.iter().map(end_of).max()? })
    };
    run.steps.iter().filter_map(|step| Some((&step.id, times(&step.id)?))).collect()
}

/// The steps that decided how long the run took: from the one that ended last back to the needed step that ended last, and so on.
pub(super) fn critical_path<'r>(run: &'r RunOverview, times: &BTreeMap<&StepId, StepTimes>) -> BTreeSet<&'r StepId> {
    let steps: BTreeMap<&StepId, &'r StepView> = run.steps.iter().map(|step| (&step.id, step)).collect();
    let end = |step: &StepId| times.get(step).map(|times| times.end_ms);
    let mut path = BTreeSet::new();
    let mut at = run.steps.iter().filter(|step| end(&step.id).is_some()).max_by_key(|step| end(&step.id));
    while let Some(step) = at {
        if !path.insert(&step.id) {
            break;
        }
        let needed = step.needs.iter().filter_map(|need| steps.get(need).copied());
        at = needed.filter(|need| end(&need.id).is_some()).max_by_key(|need| end(&need.id));
    }
    // A run without a second step has nothing to choose from.
    if path.len() < 2 { BTreeSet::new() } else { path }
}
