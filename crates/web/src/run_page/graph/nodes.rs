//! What is drawn as one box: a step, a loop with its items, or steps of the same kind in a large plan.

use std::collections::{BTreeMap, BTreeSet};

use reknit_engine::{RunOverview, StepState, StepView};
use reknit_plan::{GraphState, GraphStep, StepGraph};
use reknit_protocol::{StepId, human_duration, percent_encoded};

use crate::links::step_path;
use crate::marks::{Mark, applied_rungs, rung_class, step_mark};
use crate::outside_text::one_line;
use crate::run_page::step_times::StepTimes;
use crate::sourced_value::{short, taken_values};

/// With more boxes, steps of the same capability in the same layer are one box.
const MAX_BOXES: usize = 60;
/// The letters that fit between two layers.
const LABEL_LETTERS: usize = 13;

/// A box.
#[derive(Debug)]
pub(super) struct GraphNode {
    /// The id of the step, or a name of the group.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) label: String,
    /// What was special, with the class of its colour.
    pub(super) note: Option<(&'static str, String)>,
    pub(super) took: String,
    pub(super) mark: Mark,
    pub(super) href: String,
    /// Everything in one sentence, for readers who do not see the box.
    pub(super) description: String,
    pub(super) layer: usize,
    pub(super) is_critical: bool,
    /// How many steps are in which state, if there are several.
    pub(super) parts: Vec<(&'static str, usize)>,
    /// The steps of the box.
    steps: Vec<StepId>,
}

/// A line from a box to one that needs it.
#[derive(Debug)]
pub(super) struct GraphLine {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The value that flows, in short.
    pub(super) label: Option<String>,
    pub(super) is_critical: bool,
}

/// The boxes of a run.
pub(super) fn nodes(
    run: &RunOverview,
    times: &BTreeMap<&StepId, StepTimes>,
    critical: &BTreeSet<&StepId>,
) -> Vec<GraphNode> {
    let written: Vec<&StepView> = run.steps.iter().filter(|step| step.item_of.is_none()).collect();
    let mut items: BTreeMap<&StepId, Vec<&StepView>> = BTreeMap::new();
    for step in &run.steps {
        if let Some(of) = &step.item_of {
            items.entry(of).or_default().push(step);
        }
    }
    let layers = layers(&written);
    let layer = |step: &StepView| layers.get(&step.id).copied().unwrap_or(0);
    let mut groups: BTreeMap<(usize, String), Vec<&StepView>> = BTreeMap::new();
    for (index, step) in written.iter().enumerate() {
        let key = if written.len() > MAX_BOXES { kind(step) } else { format!("{index:06}") };
        groups.entry((layer(step), key)).or_default().push(step);
    }
    let context = NodeContext { run: run.run.as_str(), times, critical };
    let mut nodes: Vec<(usize, GraphNode)> = Vec::new();
    for ((layer, _), steps) in &groups {
        let first = steps.first().and_then(|first| written.iter().position(|step| step.id == first.id)).unwrap_or(0);
        let node = match steps.as_slice() {
            [step] => context.of_step(step, items.get(&step.id).map(Vec::as_slice).unwrap_or_default(), *layer),
            steps => context.of_group(steps, *layer),
        };
        nodes.push((first, node));
    }
    nodes.sort_by_key(|(first, _)| *first);
    nodes.into_iter().map(|(_, node)| node).collect()
}

/// The layer of each step, by the graph that `reknit plan draw` draws.
fn layers(steps: &[&StepView]) -> BTreeMap<StepId, usize> {
    let step = |step: &&StepView| GraphStep {
        id: step.id.clone(),
        label: String::new(),
        state: GraphState::Planned,
        needs: step.needs.clone(),
    };
    let graph = StepGraph::new(steps.iter().map(step).collect());
    graph.layers().map(|placed| (placed.step.id.clone(), placed.layer)).collect()
}

fn kind(step: &StepView) -> String {
    match step.agent.as_str() {
        "" => step.capability.to_string(),
        agent => format!("{agent}/{}", step.capability),
    }
}

struct NodeContext<'c> {
    run: &'c str,
    times: &'c BTreeMap<&'c StepId, StepTimes>,
    critical: &'c BTreeSet<&'c StepId>,
}

impl NodeContext<'_> {
    fn of_step(&self, step: &StepView, items: &[&StepView], layer: usize) -> GraphNode {
        let mark = step_mark(step);
        let took = self.times.get(&step.id).map(|times| human_duration(times.took_ms())).unwrap_or_default();
        let note = note(step, items.len());
        let id = one_line(step.id.as_str(), 80);
        let words = note.as_ref().map_or_else(String::new, |(_, note)| format!(", {note}"));
        GraphNode {
            name: step.id.to_string(),
            title: id.clone(),
            label: one_line(step.capability.as_str(), 80),
            description: format!("{id}: {}, {}{words}", one_line(&kind(step), 80), mark.word),
            note,
            took,
            mark,
            href: step_path(self.run, step.id.as_str()),
            layer,
            is_critical: self.critical.contains(&step.id),
            parts: parts(items),
            steps: std::iter::once(step).chain(items.iter().copied()).map(|step| step.id.clone()).collect(),
        }
    }

    /// Steps of the same capability in the same layer.
    fn of_group(&self, steps: &[&StepView], layer: usize) -> GraphNode {
        let parts = parts(steps);
        let kind = steps.first().map(|step| kind(step)).unwrap_or_default();
        let words: Vec<String> = parts.iter().map(|(class, count)| format!("{count} {class}")).collect();
        let ids = steps.iter().map(|step| step.id.clone()).collect();
        GraphNode {
            name: format!("{layer} {kind}"),
            title: format!("{} steps", steps.len()),
            label: one_line(&kind, 80),
            note: Some(("", words.join(", "))),
            took: String::new(),
            mark: group_mark(steps),
            href: format!("/runs/{}?only={}", percent_encoded(self.run), percent_encoded(&kind)),
            description: format!("{} steps of {}: {}", steps.len(), one_line(&kind, 80), words.join(", ")),
            layer,
            is_critical: steps.iter().any(|step| self.critical.contains(&step.id)),
            parts,
            steps: ids,
        }
    }
}

/// The state that a reader must know of most.
fn group_mark(steps: &[&StepView]) -> Mark {
    let rank = |mark: &Mark| {
        ["waiting", "done", "mended", "running", "retrying", "failed", "ask"]
            .iter()
            .position(|class| *class == mark.class)
    };
    steps.iter().map(|step| step_mark(step)).max_by_key(rank).unwrap_or(crate::marks::NEEDS_YOU)
}

fn parts(steps: &[&StepView]) -> Vec<(&'static str, usize)> {
    let mut parts: Vec<(&'static str, usize)> = Vec::new();
    for step in steps {
        let class = step_mark(step).class;
        match parts.iter_mut().find(|(known, _)| *known == class) {
            Some((_, count)) => *count += 1,
            None => parts.push((class, 1)),
        }
    }
    parts.sort_unstable();
    parts
}

/// What was special about a step: how it was mended, why it failed, what it waits for.
fn note(step: &StepView, items: usize) -> Option<(&'static str, String)> {
    let rungs = applied_rungs(step);
    match &step.state {
        StepState::Failed { reason } | StepState::Unconfirmed { reason } => Some(("failed", one_line(reason, 60))),
        StepState::Skipped { reason } => Some(("waiting", one_line(reason, 60))),
        StepState::AwaitingApproval(_) => Some(("ask", "waits for you".to_owned())),
        StepState::Looping { items, done, failed } => {
            Some(("running", format!("{done} of {items} items, {failed} failed")))
        }
        _ if items > 0 => Some(("", crate::words::count(items, "item"))),
        _ => {
            let last = rungs.last()?;
            let names: Vec<&str> = rungs.iter().map(|rung| rung.as_str()).collect();
            Some((rung_class(last.as_str()), format!("mended: {}", names.join(", "))))
        }
    }
}

/// The lines between boxes, each with the value that flows if there is one.
pub(super) fn lines(run: &RunOverview, nodes: &[GraphNode]) -> Vec<GraphLine> {
    let owner: BTreeMap<&StepId, usize> =
        nodes.iter().enumerate().flat_map(|(index, node)| node.steps.iter().map(move |step| (step, index))).collect();
    let mut lines: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for step in &run.steps {
        let Some(to) = owner.get(&step.id).copied() else { continue };
        let taken: Vec<_> = step
            .provenance
            .iter()
            .flat_map(|(name, provenance)| taken_values(step.parameters.get(name), provenance))
            .collect();
        for need in &step.needs {
            let Some(from) = owner.get(need).copied() else { continue };
            let layer = |index: usize| nodes.get(index).map_or(0, |node| node.layer);
            if layer(from) >= layer(to) {
                continue;
            }
            let values = taken.iter().filter(|(step, _)| *step == need);
            let labels = lines.entry((from, to)).or_default();
            labels.extend(values.map(|(_, value)| short(value, LABEL_LETTERS)));
        }
    }
    let is_critical = |index: usize| nodes.get(index).is_some_and(|node| node.is_critical);
    let line = |((from, to), mut labels): ((usize, usize), Vec<String>)| {
        labels.dedup();
        let label = match labels.as_slice() {
            [] => None,
            [label] => Some(label.clone()),
            [_, ..] => Some(format!("{} values", labels.len())),
        };
        GraphLine { from, to, label, is_critical: is_critical(from) && is_critical(to) }
    };
    lines.into_iter().map(line).collect()
}
