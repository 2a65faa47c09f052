//! The steps of a plan as a graph, to draw it in a terminal or as SVG.

mod lanes;
mod svg;

use std::collections::{BTreeSet, HashMap};

use reknit_protocol::{StepId, word_enum};

pub use lanes::GraphRow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphStep {
    pub id: StepId,
    /// What the step does: `stock-tool/get_stock_quote`.
    pub label: String,
    pub state: GraphState,
    /// The steps whose results it needs.
    pub needs: Vec<StepId>,
}

word_enum! {
    /// How far a step is, as a drawing shows it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum GraphState {
        /// No run has begun.
        Planned = "planned",
        /// It waits for other steps, a slot, a person or a job.
        Waiting = "waiting",
        /// It is being called or mended.
        Running = "running",
        Done = "done",
        /// It has a result, after it was mended.
        Mended = "mended",
        Failed = "failed",
        Skipped = "skipped",
    }
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
    nodes: Vec<LayeredStep>,
}

/// A step of a [`StepGraph`] with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayeredStep {
    pub step: GraphStep,
    /// The positions of the steps that it needs in [`StepGraph::steps`], all of them smaller than its own.
    pub needs: Vec<usize>,
    /// The length of the longest way to it, from 0.
    pub layer: usize,
}

impl StepGraph {
    /// A graph of these steps. A need that is no step, or that leads in a circle, is left out.
    pub fn new(steps: Vec<GraphStep>) -> Self {
        let indices: HashMap<StepId, usize> =
            steps.iter().enumerate().map(|(index, step)| (step.id.clone(), index)).collect();
        let needs_of = |(index, step): (usize, &GraphStep)| -> Vec<usize> {
            let needs = step.needs.iter().filter_map(|need| indices.get(need).copied());
            needs.filter(|need| *need != index).collect::<BTreeSet<usize>>().into_iter().collect()
        };
        let needs: Vec<Vec<usize>> = steps.iter().enumerate().map(needs_of).collect();
        let mut steps: Vec<Option<GraphStep>> = steps.into_iter().map(Some).collect();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut nodes: Vec<LayeredStep> = Vec::with_capacity(steps.len());
        for index in runnable_order(&needs) {
            let Some(step) = steps.get_mut(index).and_then(Option::take) else { continue };
            // A need without a place yet leads in a circle.
            let needs = needs.get(index).into_iter().flatten();
            let needs: Vec<usize> = needs.filter_map(|need| places.get(need).copied()).collect();
            let above = needs.iter().filter_map(|need| nodes.get(*need)).map(|node| node.layer + 1).max();
            places.insert(index, nodes.len());
            nodes.push(LayeredStep { step, needs, layer: above.unwrap_or(0) });
        }
        Self { nodes }
    }

    /// The steps with their layers, in the order of [`Self::steps`], for a caller that draws them itself.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &LayeredStep> {
        self.nodes.iter()
    }

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
    let mut ready: BTreeSet<usize> = (0..needs.len()).filter(|index| open.get(*index) == Some(&0)).collect();
    let mut left: BTreeSet<usize> = (0..needs.len()).collect();
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
