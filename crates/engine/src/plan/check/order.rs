//! Whether the steps can be put in an order.

use super::outline::{Need, Outline};
use super::{Code, PlanPlace, PlanProblem, Why};

/// The circles in which steps wait for each other. No step is in two of them, and without them there is an order.
pub(super) fn cycles(outline: &Outline<'_>) -> Vec<PlanProblem> {
    let mut left: Vec<usize> = outline.steps().enumerate().map(|(index, _)| index).collect();
    let mut found = Vec::new();
    loop {
        let before = left.len();
        let waiting = left.clone();
        left.retain(|at| next(outline, *at, &waiting).is_some());
        match left.first() {
            None => return found,
            Some(first) if left.len() == before => {
                let cycle = follow(outline, *first, &left);
                left.retain(|at| !cycle.contains(at));
                found.push(name(outline, &cycle));
            }
            Some(_) => {}
        }
    }
}

/// The first of the steps that are left which a step needs. It is the first in the plan: which circle is named must not
/// depend on the order of parameters. What is left is sorted.
fn next<'o>(outline: &'o Outline<'_>, at: usize, left: &[usize]) -> Option<&'o Need> {
    let needed = outline.needs(at).iter().filter(|need| left.binary_search(&need.at).is_ok());
    needed.min_by_key(|need| need.at)
}

/// Every step that is left needs another that is left, so following needs runs into a circle.
fn follow(outline: &Outline<'_>, first: usize, left: &[usize]) -> Vec<usize> {
    let mut way = Vec::new();
    let mut here = Some(first);
    while let Some(at) = here {
        if let Some(start) = way.iter().position(|seen| *seen == at) {
            return way.split_off(start);
        }
        way.push(at);
        here = next(outline, at, left).map(|need| need.at);
    }
    way
}

fn name(outline: &Outline<'_>, cycle: &[usize]) -> PlanProblem {
    let words = |at: &usize| {
        let need = next(outline, *at, &sorted(cycle))?;
        let verb = match need.why {
            Why::Told => "runs after",
            Why::Reads => "reads from",
        };
        Some(format!("`{}` {verb} `{}`", outline.id(*at)?, outline.id(need.at)?))
    };
    let words: Vec<String> = cycle.iter().filter_map(words).collect();
    let message = format!("these steps wait for each other: {}", words.join(", "));
    PlanProblem::new(Code::Cycle, PlanPlace::plan().key("steps"), message)
}

fn sorted(cycle: &[usize]) -> Vec<usize> {
    let mut cycle = cycle.to_vec();
    cycle.sort_unstable();
    cycle
}
