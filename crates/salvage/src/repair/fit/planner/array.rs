//! Planning arrays, item by item.

use reknit_protocol::Value;

use super::{Context, Planner, ValuePath};
use crate::repair::fit::plan::{Action, Plan};
use crate::schema::shape::Shape;

impl Planner<'_> {
    pub(super) fn plan_array(&mut self, items: &[Value], shape: &Shape, context: Context<'_>) -> Plan {
        // For an array of arrays, `[1, 2]` could mean `[[1, 2]]` or `[[1], [2]]`, but `[[1], 2]` is not ambiguous.
        let may_wrap = items.iter().any(|item| matches!(item, Value::Array(_)));
        let mut whole = Plan::keep(true);
        let mut changes = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Some(id) = shape.array.item(index) else { continue };
            let path = ValuePath::Index(context.path, index);
            let plan = self.plan(item, id, Context { may_wrap, ..context.child(&path) });
            whole.cost = whole.cost.saturating_add(plan.cost);
            whole.fits &= plan.fits;
            if !plan.is_keep() {
                changes.push((index, plan));
            }
        }
        if !changes.is_empty() {
            whole.action = Action::Array(changes.into());
        }
        whole
    }
}
