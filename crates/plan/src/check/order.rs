//! Whether the steps can be put in an order.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::outline::{Need, Outline};
use super::{Code, PlanPlace, PlanProblem, Why};

/// The circles in which steps wait for each other. No step is in two of them, and without them there is an order.
pub(super) fn cycles(outline: &Outline<'_>) -> Vec<PlanProblem> {
    let mut left = Left::new(outline);
    let mut found = Vec::new();
    while let Some(first) = left.first() {
        let cycle = follow(outline, first, &left);
        found.push(name(outline, &cycle));
        left.leave_out(cycle);
    }
    found
}

/// The steps that wait, directly or not, for a step in a circle.
struct Left {
    /// How many steps each of them still waits for.
    waits_for: BTreeMap<usize, usize>,
    needed_by: Vec<Vec<usize>>,
}

impl Left {
    fn new(outline: &Outline<'_>) -> Self {
        let waits_for: BTreeMap<usize, usize> =
            outline.steps().enumerate().map(|(at, (_, _, drawn))| (at, drawn.needs.len())).collect();
        let mut needed_by = vec![Vec::new(); waits_for.len()];
        for at in waits_for.keys() {
            for need in outline.needs(*at) {
                if let Some(list) = needed_by.get_mut(need.at) {
                    list.push(*at);
                }
            }
        }
        let free = waits_for.iter().filter(|(_, needs)| **needs == 0).map(|(at, _)| *at).collect();
        let mut left = Self { waits_for, needed_by };
        left.leave_out(free);
        left
    }

    fn first(&self) -> Option<usize> {
        self.waits_for.first_key_value().map(|(at, _)| *at)
    }

    fn contains(&self, at: usize) -> bool {
        self.waits_for.contains_key(&at)
    }

    /// Leaves out steps, and those that wait for nothing any more then.
    fn leave_out(&mut self, mut steps: Vec<usize>) {
        while let Some(at) = steps.pop() {
            if self.waits_for.remove(&at).is_none() {
                continue;
            }
            for other in self.needed_by.get(at).into_iter().flatten() {
                if let Some(needs) = self.waits_for.get_mut(other) {
                    *needs -= 1;
                    if *needs == 0 {
                        steps.push(*other);
                    }
                }
            }
        }
    }
}

/// The first of some steps that a step needs. It is the first in the plan: which circle is named must not depend on the
/// order of parameters.
fn next<'o>(outline: &'o Outline<'_>, at: usize, among: impl Fn(usize) -> bool) -> Option<&'o Need> {
    outline.needs(at).iter().filter(|need| among(need.at)).min_by_key(|need| need.at)
}

/// Every step that is left needs another that is left, so following needs runs into a circle.
fn follow(outline: &Outline<'_>, first: usize, left: &Left) -> Vec<usize> {
    let (mut way, mut seen) = (Vec::new(), HashMap::new());
    let mut here = Some(first);
    while let Some(at) = here {
        if let Some(start) = seen.insert(at, way.len()) {
            return way.split_off(start);
        }
        way.push(at);
        here = next(outline, at, |other| left.contains(other)).map(|need| need.at);
    }
    way
}

fn name(outline: &Outline<'_>, cycle: &[usize]) -> PlanProblem {
    let members: HashSet<usize> = cycle.iter().copied().collect();
    let words = |at: &usize| {
        let need = next(outline, *at, |other| members.contains(&other))?;
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
