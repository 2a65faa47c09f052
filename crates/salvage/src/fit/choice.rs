//! The cheapest of several ways to fit.

use reknit_protocol::Value;

use super::plan::Plan;
use crate::schema::ProblemKind;

/// Ways to make one value fit, of which the cheapest is taken.
#[derive(Debug, Default)]
pub(super) struct Choice {
    best: Option<(Plan, Value)>,
    /// Another result at the price of the best.
    rival: Option<Value>,
}

impl Choice {
    /// Adds a way that leads to `result`.
    pub(super) fn offer(&mut self, plan: Plan, result: Value) {
        match &self.best {
            Some((best, _)) if best.cost < plan.cost => {}
            Some((best, value)) if best.cost == plan.cost => {
                if *value != result {
                    self.rival.get_or_insert(result);
                }
            }
            _ => {
                self.best = Some((plan, result));
                self.rival = None;
            }
        }
    }

    /// The cheapest way, if there is any. Two ways at one price that lead to different results are an error.
    pub(super) fn decide(self) -> Result<Option<Plan>, ProblemKind> {
        match (self.best, self.rival) {
            (Some((_, first)), Some(second)) => Err(ProblemKind::Ambiguous { first, second }),
            (best, _) => Ok(best.map(|(plan, _)| plan)),
        }
    }
}
