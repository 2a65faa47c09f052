//! The plan with the lowest cost of several.

use reknit_protocol::Value;

use super::plan::Plan;
use crate::schema::FitProblemKind;

/// The cheapest of the plans that were offered for one value.
#[derive(Debug, Default)]
pub(super) struct CheapestPlan {
    best: Option<(Plan, Value)>,
    /// A different result at the same cost.
    rival: Option<Value>,
}

impl CheapestPlan {
    /// Offers a plan that leads to `result`.
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

    /// The cheapest plan, if any was offered. Two plans with the same cost and different results are an error.
    pub(super) fn into_plan(self) -> Result<Option<Plan>, FitProblemKind> {
        match (self.best, self.rival) {
            (Some((_, first)), Some(second)) => Err(FitProblemKind::Ambiguous { first, second }),
            (best, _) => Ok(best.map(|(plan, _)| plan)),
        }
    }
}
