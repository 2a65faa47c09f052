//! Planning unions: the cheapest alternative wins.

use reknit_protocol::Value;

use super::{Context, MemoKey, Planner, Validity};
use crate::repair::fit::apply;
use crate::repair::fit::plan::{CheapestPlan, Plan};
use crate::schema::shape::{Shape, ShapeId};
use crate::schema::{address, count_values};

impl Planner<'_> {
    pub(super) fn plan_union(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> Plan {
        let memo_key =
            MemoKey { address: address(value), shape: id, validity: context.validity, may_wrap: context.may_wrap };
        if let Some(plan) = self.memo.get(&memo_key) {
            return plan.clone();
        }
        let shape = self.schema.shape(id);
        let plan = if !self.budget.spend(count_values(value)) || !self.budget.may_use(&shape.subschemas) {
            self.give_up()
        } else if context.validity == Validity::Valid
            || (context.validity == Validity::Unknown && self.schema.accepts(shape, value))
        {
            self.plan_valid_union(value, shape, Context { validity: Validity::Valid, ..context })
        } else {
            self.plan_invalid_union(value, shape, context)
        };
        self.memo.insert(memo_key, plan.clone());
        plan
    }

    /// Plans a value that fits. Its misspelt keys are renamed if all alternatives that it fits agree on the result.
    fn plan_valid_union(&mut self, value: &Value, shape: &Shape, context: Context<'_>) -> Plan {
        if !shape.may_rename_keys {
            return Plan::keep(true);
        }
        let schema = self.schema;
        let mut cheapest = CheapestPlan::default();
        for id in &shape.alternatives {
            let alternative = schema.shape(*id);
            if !alternative.types.allows(value.kind()) {
                continue;
            }
            if !self.budget.spend(count_values(value)) || !self.budget.may_use(&alternative.chosen) {
                return self.give_up();
            }
            if !schema.accepts_chosen(alternative, value) {
                continue;
            }
            let plan = self.plan(value, *id, context);
            let result = apply::preview(value, &plan).value;
            cheapest.offer(plan, result);
        }
        // If two results differ, keep the value, which fits.
        cheapest.into_plan().ok().flatten().unwrap_or(Plan::keep(true))
    }

    fn plan_invalid_union(&mut self, value: &Value, shape: &Shape, context: Context<'_>) -> Plan {
        let mut cheapest = CheapestPlan::default();
        let mut partial = Vec::new();
        // The alternatives have all subschemas of the union, so none of them accepts the value as it is.
        let context = Context { validity: Validity::Invalid, ..context };
        for id in &shape.alternatives {
            let plan = self.plan(value, *id, context);
            if plan.fits && !plan.is_keep() {
                let result = apply::preview(value, &plan);
                if self.budget.spend(count_values(&result.value)) && self.accepts_result(shape, &result) {
                    cheapest.offer(plan, result.value);
                    continue;
                }
            }
            if !plan.is_keep() || self.schema.shape(*id).types.allows(value.kind()) {
                partial.push(plan);
            }
        }
        if let Some(plan) = self.choose(cheapest, context) {
            return plan;
        }
        // No alternative fits. If only one matches the type of the value, keep its repairs, so that the error lists only
        // the problems that remain.
        match partial.as_slice() {
            [only] => Plan { fits: false, ..only.clone() },
            _ => Plan::keep(false),
        }
    }
}
