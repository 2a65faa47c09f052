//! Unions: the cheapest alternative wins.

use reknit_protocol::Value;

use super::budget::places;
use super::{Known, Planner, Question, Spot};
use crate::fit::apply;
use crate::fit::choice::Choice;
use crate::fit::plan::Plan;
use crate::schema::shape::{Shape, ShapeId};

impl Planner<'_> {
    pub(super) fn plan_union(&mut self, value: &Value, id: ShapeId, spot: Spot<'_>) -> Plan {
        let address = std::ptr::from_ref(value).addr();
        let question = Question { address, shape: id, known: spot.known, may_wrap: spot.may_wrap };
        if let Some(plan) = self.memo.get(&question) {
            return plan.clone();
        }
        let shape = self.schema.shape(id);
        let plan = if !self.spend(places(value)) {
            self.give_up()
        } else if spot.known == Known::Fits || self.accepts(shape, value) {
            self.plan_fitting_union(value, shape, Spot { known: Known::Fits, ..spot })
        } else {
            self.plan_misfitting_union(value, shape, spot)
        };
        self.memo.insert(question, plan.clone());
        plan
    }

    /// The value fits: only its keys may be misspelt, and only if every alternative it fits says so.
    fn plan_fitting_union(&mut self, value: &Value, shape: &Shape, spot: Spot<'_>) -> Plan {
        if !shape.has_spellings {
            return Plan::keep(true);
        }
        let schema = self.schema;
        let mut choice = Choice::default();
        for id in &shape.alternatives {
            let alternative = schema.shape(*id);
            if !alternative.types.allow(value.kind()) || !schema.accepts_choice(alternative, value) {
                continue;
            }
            let plan = self.plan(value, *id, spot);
            let result = apply::preview(value, &plan).value;
            choice.offer(plan, result);
        }
        // Of two readings neither is better than what fits as it is.
        choice.decide().ok().flatten().unwrap_or(Plan::keep(true))
    }

    fn plan_misfitting_union(&mut self, value: &Value, shape: &Shape, spot: Spot<'_>) -> Plan {
        let mut choice = Choice::default();
        let mut partly = Vec::new();
        for id in &shape.alternatives {
            let plan = self.plan(value, *id, spot);
            if plan.fits && !plan.is_keep() {
                let result = apply::preview(value, &plan);
                if self.spend(places(&result.value)) && self.accepts_result(shape, &result) {
                    choice.offer(plan, result.value);
                    continue;
                }
            }
            if !plan.is_keep() || self.schema.shape(*id).types.allow(value.kind()) {
                partly.push(plan);
            }
        }
        if let Some(plan) = self.decide(choice, spot) {
            return plan;
        }
        // Nothing fits. If the kind of the value leaves one alternative, what can be mended in it is mended, so that
        // people see only the rest.
        match partly.as_slice() {
            [only] => Plan { fits: false, ..only.clone() },
            _ => Plan::keep(false),
        }
    }
}
