//! The steps of a plan as a graph, to draw it in a terminal or as SVG.

mod lanes;
mod svg;

use std::collections::HashMap;

use reknit_protocol::StepId;

pub use lanes::GraphRow;

/// A step to draw, and the steps that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphStep {
    /// The id of the step.
    pub id: StepId,
    /// What the step does: `stock-tool/get_stock_quote`.
    pub label: String,
    /// How far the step is.
    pub state: GraphState,
    /// The steps whose results it needs.
    pub needs: Vec<StepId>,
}

/// How far a step is, as a drawing shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GraphState {
    /// No run has begun.
    Planned,
    /// It waits for other steps, a slot, a person or a job.
    Waiting,
    /// It is being called or mended.
    Running,
    /// It has a result.
    Done,
    /// It has a result, after it was mended.
    Mended,
    /// It failed.
    Failed,
    /// It was left out.
    Skipped,
}

impl GraphState {
    /// A mark that shows the state without colour.
    pub const fn mark(self) -> char {
        match self {
            Self::Planned => '○',
            Self::Waiting => '·',
            Self::Running => '>',
            Self::Done | Self::Mended => '✓',
            Self::Failed => '✗',
            Self::Skipped => '-',
        }
    }

    /// The state in one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Mended => "mended",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// Steps in an order in which they can run: each comes after those that it needs.
///
/// ```
/// use reknit_plan::{GraphState, GraphStep, StepGraph};
///
/// let step = |id: &str, needs: &[&str]| GraphStep {
///     id: id.into(),
///     label: format!("shop/{id}"),
///     state: GraphState::Planned,
///     needs: needs.iter().map(|need| (*need).into()).collect(),
/// };
/// let graph = StepGraph::new(vec![step("price", &[]), step("stock", &[]), step("order", &["price", "stock"])]);
/// assert_eq!(graph.to_text(), "\
/// ○    price  shop/price
/// │ ○  stock  shop/stock
/// │ │
/// └─○  order  shop/order
/// ");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepGraph {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    step: GraphStep,
    /// The positions of the needed steps, all of them smaller than that of the step.
    needs: Vec<usize>,
    /// The length of the longest way to the step.
    layer: usize,
}

/// A step of a [`StepGraph`] with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayeredStep<'g> {
    /// The step.
    pub step: &'g GraphStep,
    /// The positions of the steps that it needs in [`StepGraph::steps`], all of them smaller than its own.
    pub needs: &'g [usize],
    /// The length of the longest way to it, from 0.
    pub layer: usize,
}

impl StepGraph {
    /// A graph of these steps. A need that is no step, or that leads in a circle, is left out.
    pub fn new(steps: Vec<GraphStep>) -> Self {
        let indices: HashMap<StepId, usize> =
            steps.iter().enumerate().map(|(index, step)| (step.id.clone(), index)).collect();
        let needs: Vec<Vec<usize>> = steps
            .iter()
            .enumerate()
            .map(|(index, step)| {
                let mut needs: Vec<usize> = step
                    .needs
                    .iter()
                    .filter_map(|need| indices.get(need).copied())
                    .filter(|need| *need != index)
                    .collect();
                needs.sort_unstable();
                needs.dedup();
                needs
            })
            .collect();
        let mut position: Vec<Option<usize>> = vec![None; steps.len()];
        for (place, index) in runnable_order(&needs).into_iter().enumerate() {
            if let Some(slot) = position.get_mut(index) {
                *slot = Some(place);
            }
        }
        let mut placed: Vec<(usize, GraphStep, Vec<usize>)> = Vec::with_capacity(steps.len());
        for ((index, step), needs) in steps.into_iter().enumerate().zip(needs) {
            let place = |index: usize| position.get(index).copied().flatten();
            let Some(own) = place(index) else { continue };
            placed.push((own, step, needs.into_iter().filter_map(place).filter(|need| *need < own).collect()));
        }
        placed.sort_by_key(|(place, ..)| *place);
        let mut nodes: Vec<Node> = Vec::with_capacity(placed.len());
        for (_, step, needs) in placed {
            let above = needs.iter().filter_map(|need| nodes.get(*need)).map(|node| node.layer + 1).max();
            nodes.push(Node { step, needs, layer: above.unwrap_or(0) });
        }
        Self { nodes }
    }

    /// The steps with their layers, in the order of [`Self::steps`], for a caller that draws them itself.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = LayeredStep<'_>> {
        self.nodes.iter().map(|node| LayeredStep { step: &node.step, needs: &node.needs, layer: node.layer })
    }

    /// The steps, each after those that it needs.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &GraphStep> {
        self.nodes.iter().map(|node| &node.step)
    }
}

/// The positions in an order in which they can run: as given where that is possible. A step of a circle comes when nothing else
/// is left.
fn runnable_order(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    for (index, needs) in needs.iter().enumerate() {
        for need in needs {
            if let Some(list) = dependents.get_mut(*need) {
                list.push(index);
            }
        }
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..needs.len()).filter(|index| open.get(*index) == Some(&0)).collect();
    let mut left: std::collections::BTreeSet<usize> = (0..needs.len()).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(next) = ready.pop_first().or_else(|| left.first().copied()) {
        if !left.remove(&next) {
            continue;
        }
        order.push(next);
        for dependent in dependents.get(next).into_iter().flatten() {
            if let Some(count) = open.get_mut(*dependent) {
                *count = count.saturating_sub(1);
                if *count == 0 && left.contains(dependent) {
                    ready.insert(*dependent);
                }
            }
        }
    }
    order
}
