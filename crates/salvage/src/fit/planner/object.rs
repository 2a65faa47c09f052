//! Objects: misspelt keys, nulls for what is optional, and what stands below.

use std::collections::HashMap;

use reknit_protocol::{Object, Value};

use super::{Keys, Known, Planner, Spot, Trail};
use crate::FixKind;
use crate::fit::plan::{Act, Change, Edit, Plan};
use crate::schema::shape::{ObjectShape, Property, Shape};
use crate::schema::spelling::key_form;

impl Planner<'_> {
    pub(super) fn plan_object(&mut self, object: &Object, shape: &Shape, spot: Spot<'_>) -> Plan {
        let shape = &shape.object;
        let mut renames = self.misspelt(object, shape, spot.known).into_iter().peekable();
        let mut whole = Plan::keep(true);
        let mut edits = Vec::new();
        for (index, (key, value)) in object.iter().enumerate() {
            let rename = renames.next_if(|(at, _)| *at == index).map(|(_, name)| name);
            let trail = Trail::Key(spot.trail, key);
            let spot = spot.below(&trail);
            let (change, cost, fits) = match rename.and_then(|name| shape.properties.get_key_value(name)) {
                Some((name, property)) => self.plan_renamed(value, name, *property, shape.is_closed, spot),
                None => self.plan_entry(value, key, shape, spot),
            };
            whole.cost = whole.cost.saturating_add(cost);
            whole.fits &= fits;
            edits.extend(change.map(|change| Edit { index, change }));
        }
        if !edits.is_empty() {
            whole.act = Act::Object(edits.into());
        }
        whole
    }

    fn plan_entry(&mut self, value: &Value, key: &str, shape: &ObjectShape, spot: Spot<'_>) -> Planned {
        match shape.properties.get(key) {
            Some(property) if self.is_superfluous(value, *property, spot.known) => dropped(),
            Some(property) => changed(self.plan(value, property.shape, spot)),
            None => match shape.other(key) {
                Some(id) => changed(self.plan(value, id, spot)),
                None => (None, 0, true),
            },
        }
    }

    /// A key that is another spelling of `name`. Where an unknown key is no fault and its value does not fit `name`, it
    /// stays what it is.
    fn plan_renamed(
        &mut self,
        value: &Value,
        name: &str,
        property: Property,
        is_closed: bool,
        spot: Spot<'_>,
    ) -> Planned {
        if self.is_superfluous(value, property, Known::Nothing) {
            return if is_closed { dropped() } else { (None, 0, true) };
        }
        let plan = self.plan(value, property.shape, Spot { known: Known::Nothing, ..spot });
        if !plan.fits && !property.is_required && !is_closed {
            return (None, 0, true);
        }
        self.notes.renames = true;
        let cost = plan.cost.saturating_add(FixKind::KeySpelling.penalty().into());
        (Some(Change::Rename(name.into(), plan.clone())), cost, plan.fits)
    }

    /// A null where the key might as well be left out.
    fn is_superfluous(&self, value: &Value, property: Property, known: Known) -> bool {
        let droppable = value.is_null() && !property.is_required && known == Known::Nothing;
        droppable && !self.accepts(self.schema.shape(property.shape), value)
    }

    /// The unknown keys that are a spelling of exactly one declared property, which is absent, or a null that will be
    /// dropped, and which no other unknown key spells.
    fn misspelt<'s>(&self, object: &Object, shape: &'s ObjectShape, known: Known) -> Vec<(usize, &'s str)> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        let mut claims: HashMap<&str, usize> = HashMap::new();
        if self.keys == Keys::Leave || shape.spellings.is_empty() {
            return found;
        }
        for (index, key) in object.keys().enumerate() {
            if shape.properties.contains_key(key) || shape.matching(key).is_some() {
                continue;
            }
            let Some(Some(name)) = shape.spellings.get(&key_form(key)) else { continue };
            let property = || shape.properties.get(name.as_ref());
            let is_dropped = |value| property().is_some_and(|property| self.is_superfluous(value, *property, known));
            if object.get(name).is_none_or(is_dropped) {
                found.push((index, name));
                *claims.entry(name).or_default() += 1;
            }
        }
        found.retain(|(_, name)| claims.get(name) == Some(&1));
        found
    }
}

/// The change, what it costs, and whether the entry fits then.
type Planned = (Option<Change>, u64, bool);

fn dropped() -> Planned {
    (Some(Change::Drop), FixKind::NullForOptional.penalty().into(), true)
}

fn changed(plan: Plan) -> Planned {
    let (cost, fits) = (plan.cost, plan.fits);
    ((!plan.is_keep()).then(|| Change::Value(plan)), cost, fits)
}
