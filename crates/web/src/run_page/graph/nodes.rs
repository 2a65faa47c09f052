//! What is drawn as one box: a step, a loop with its items, or steps of the same kind in a large plan.

use std::collections::{BTreeMap, BTreeSet};

use reknit_engine::{RunOverview, StepState, StepView};
use reknit_plan::{GraphState, GraphStep, StepGraph};
use reknit_protocol::{StepId, human_duration, percent_encoded};

use crate::marks::{Mark, mended_by, rung_class, step_mark};
use crate::outside_text::one_line;
use crate::run_page::timeline::StepTimes;
use crate::sourced_value::{short, taken_values};
use crate::words::{capability_name, count, step_path};

/// With more boxes, steps are folded into groups.
const MAX_BOXES: usize = 60;
/// The most layers of a plan that is still too large when each layer is folded: neighbouring layers become one.
const MAX_LAYERS: usize = 12;
/// The letters that fit between two layers.
const LABEL_LETTERS: usize = 13;

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
    steps: Vec<StepId>,
}

#[derive(Debug)]
pub(super) struct GraphLine {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Option<String>,
    pub(super) is_critical: bool,
}

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
    let groups = groups(&written, &layers);
    let context = NodeContext { run: run.run.as_str(), times, critical };
    let mut nodes: Vec<(usize, GraphNode)> = Vec::new();
    for ((layer, _), steps) in &groups {
        let first = steps.first().map_or(0, |(index, _)| *index);
        let steps: Vec<&StepView> = steps.iter().map(|(_, step)| *step).collect();
        let node = match steps.as_slice() {
            [step] => context.of_step(step, items.get(&step.id).map(Vec::as_slice).unwrap_or_default(), *layer),
            steps => context.of_group(steps, *layer, first),
        };
        nodes.push((first, node));
    }
    nodes.sort_by_key(|(first, _)| *first);
    nodes.into_iter().map(|(_, node)| node).collect()
}

/// The steps of each box, by its layer and a name; each step with its place in the plan.
type StepGroups<'r> = BTreeMap<(usize, String), Vec<(usize, &'r StepView)>>;

/// One box for each step, or, if they are too many, for a capability in a layer, in neighbouring layers, or for neighbouring layers.
fn groups<'r>(written: &[&'r StepView], layers: &BTreeMap<StepId, usize>) -> StepGroups<'r> {
    let count = layers.values().max().map_or(1, |last| last + 1);
    let wide = |layer: usize, most: usize| if count > most { layer * most / count } else { layer };
    let grouped = |key: &dyn Fn(usize, usize, &StepView) -> (usize, String)| {
        let mut groups: StepGroups<'r> = BTreeMap::new();
        for (index, step) in written.iter().enumerate() {
            let layer = layers.get(&step.id).copied().unwrap_or(0);
            groups.entry(key(index, layer, step)).or_default().push((index, step));
        }
        groups
    };
    let is_small = |groups: &StepGroups<'r>| groups.len() <= MAX_BOXES;
    [
        grouped(&|index, layer, _| (layer, format!("{index:06}"))),
        grouped(&|_, layer, step| (layer, capability_name(step))),
        grouped(&|_, layer, step| (wide(layer, MAX_LAYERS), capability_name(step))),
    ]
    .into_iter()
    .find(is_small)
    .unwrap_or_else(|| grouped(&|_, layer, _| (wide(layer, MAX_BOXES), String::new())))
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
            description: format!("{id}: {}, {}{words}", one_line(&capability_name(step), 80), mark.word),
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

    /// Steps that are folded. The link shows them in the timeline.
    fn of_group(&self, steps: &[&StepView], layer: usize, first: usize) -> GraphNode {
        let parts = parts(steps);
        let kinds: BTreeSet<String> = steps.iter().map(|step| capability_name(step)).collect();
        let path = format!("/runs/{}", percent_encoded(self.run));
        let (kind, href) = match kinds.first() {
            Some(kind) if kinds.len() == 1 => (kind.clone(), format!("{path}?only={}", percent_encoded(kind))),
            _ => (format!("{} capabilities", kinds.len()), format!("{path}?from={first}#timeline")),
        };
        let words = state_words(steps);
        let ids = steps.iter().map(|step| step.id.clone()).collect();
        GraphNode {
            name: format!("{layer} {kind}"),
            title: format!("{} steps", steps.len()),
            label: one_line(&kind, 80),
            note: Some(("", words.clone())),
            took: String::new(),
            mark: group_mark(steps),
            href,
            description: format!("{} steps of {}: {}", steps.len(), one_line(&kind, 80), words),
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

/// How many steps are in which state: `50 done, 2 failed`.
fn state_words(steps: &[&StepView]) -> String {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for step in steps {
        *words.entry(step_mark(step).word).or_default() += 1;
    }
    words.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
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
    // What was mended is done, and has the same colour.
    parts.sort_unstable_by_key(|(class, _)| (matches!(*class, "failed" | "waiting"), *class));
    parts
}

/// What was special about a step: how it was mended, why it failed, what it waits for.
fn note(step: &StepView, items: usize) -> Option<(&'static str, String)> {
    let rungs = mended_by(step);
    match &step.state {
        StepState::Failed { reason } | StepState::Unconfirmed { reason } => Some(("failed", one_line(reason, 60))),
        StepState::Skipped { reason } => Some(("waiting", one_line(reason, 60))),
        StepState::AwaitingApproval(_) => Some(("ask", "waits for you".to_owned())),
        StepState::Looping { items, done, failed } => {
            Some(("running", format!("{done} of {items} items, {failed} failed")))
        }
        _ if items > 0 => Some(("", count(items, "item"))),
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
