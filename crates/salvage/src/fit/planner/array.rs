//! Arrays: each item on its own.

use reknit_protocol::Value;

use super::{Planner, Spot, Trail};
use crate::fit::plan::{Act, Plan};
use crate::schema::shape::Shape;

impl Planner<'_> {
    pub(super) fn plan_array(&mut self, items: &[Value], shape: &Shape, spot: Spot<'_>) -> Plan {
        // `[1, 2]` for a list of lists could mean `[[1, 2]]` or `[[1], [2]]`; `[[1], 2]` leaves no doubt.
        let may_wrap = items.iter().any(|item| matches!(item, Value::Array(_)));
        let mut whole = Plan::keep(true);
        let mut changes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Some(id) = shape.array.item(index) else { continue };
            let trail = Trail::Index(spot.trail, index);
            let plan = self.plan(item, id, Spot { may_wrap, ..spot.below(&trail) });
            whole.cost = whole.cost.saturating_add(plan.cost);
            whole.fits &= plan.fits;
            if !plan.is_keep() {
                changes.push((index, plan));
            }
        }
        if !changes.is_empty() {
            whole.act = Act::Array(changes.into());
        }
        whole
    }
}
