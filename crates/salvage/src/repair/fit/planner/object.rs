//! Planning objects: misspelt keys, nulls for optional properties, and the values of the entries.

use std::collections::HashMap;

use reknit_protocol::{Object, Value};

use super::{Context, KeyRenaming, Planner, Validity, ValuePath};
use crate::FixKind;
use crate::repair::fit::plan::{Action, EntryChange, EntryEdit, Plan};
use crate::schema::shape::{ObjectShape, Property, Shape, ShapeId};
use crate::schema::{SchemaType, parse_scalar};

impl Planner<'_> {
    pub(super) fn plan_object(&mut self, object: &Object, shape: &Shape, context: Context<'_>) -> Plan {
        let shape = &shape.object;
        let mut renames = self.misspelt_keys(object, shape, context.validity).into_iter().peekable();
        let mut whole = Plan::keep(true);
        let mut edits = Vec::new();
        for (index, (key, value)) in object.iter().enumerate() {
            let rename = renames.next_if(|(at, _)| *at == index).map(|(_, meant)| meant);
            let path = ValuePath::Key(context.path, key);
            let context = context.child(&path);
            let (change, cost, fits) = match &rename {
                Some(meant) => self.plan_renamed(value, meant, shape, context),
                None => self.plan_entry(value, key, shape, context),
            };
            whole.cost = whole.cost.saturating_add(cost);
            whole.fits &= fits;
            edits.extend(change.map(|change| EntryEdit { index, change }));
        }
        if !edits.is_empty() {
            whole.action = Action::Object(edits.into());
        }
        whole
    }

    fn plan_entry(&mut self, value: &Value, key: &str, shape: &ObjectShape, context: Context<'_>) -> PlannedEntry {
        match shape.properties.get(key) {
            Some(property) if self.is_superfluous(value, *property, context.validity) => drop_entry(),
            Some(property) => fit_entry(self.plan(value, property.shape, context)),
            None => match shape.undeclared(key) {
                Some(id) => fit_entry(self.plan(value, id, context)),
                None => (None, 0, true),
            },
        }
    }

    /// Plans to rename a key that stands for another one. If unknown keys are allowed and the value does not fit there,
    /// the key stays.
    fn plan_renamed(
        &mut self,
        value: &Value,
        meant: &Meant<'_>,
        shape: &ObjectShape,
        context: Context<'_>,
    ) -> PlannedEntry {
        let Some(property) = shape.properties.get(meant.name).copied() else { return (None, 0, true) };
        let is_closed = shape.is_closed;
        if self.is_superfluous(value, property, Validity::Unknown) {
            return if is_closed { drop_entry() } else { (None, 0, true) };
        }
        let plan = self.plan(value, property.shape, Context { validity: Validity::Unknown, ..context });
        if !plan.fits && !property.is_required && !is_closed {
            return (None, 0, true);
        }
        self.notes.renamed_keys = true;
        let (cost, fits) = (plan.cost.saturating_add(meant.kind.penalty().into()), plan.fits);
        (Some(EntryChange::Rename(meant.name.into(), meant.kind, plan)), cost, fits)
    }

    /// Whether the value is a null that the property does not accept, or a text that stands for one where neither a text nor a
    /// null is accepted, and the property may be left out.
    fn is_superfluous(&self, value: &Value, property: Property, validity: Validity) -> bool {
        let shape = self.schema.shape(property.shape);
        let is_absent = match value {
            Value::Null => true,
            Value::String(text) => parse_scalar::is_absent(text) && !self.accepts_text_or_null(property.shape),
            _ => false,
        };
        is_absent && !property.is_required && validity != Validity::Valid && !self.schema.accepts(shape, value)
    }

    fn accepts_text_or_null(&self, id: ShapeId) -> bool {
        let shape = self.schema.shape(id);
        let accepts = |kind| shape.types.contains(kind);
        if shape.alternatives.is_empty() {
            return accepts(SchemaType::String) || accepts(SchemaType::Null);
        }
        shape.alternatives.iter().any(|id| {
            let types = self.schema.shape(*id).types;
            types.contains(SchemaType::String) || types.contains(SchemaType::Null)
        })
    }

    /// The indices of misspelt keys, with their right names. A misspelt key is an unknown key that is another spelling of
    /// exactly one declared property; that property is absent, or a null that will be dropped, and no other unknown key
    /// is a spelling of it.
    fn misspelt_keys<'s>(
        &self,
        object: &Object,
        shape: &'s ObjectShape,
        validity: Validity,
    ) -> Vec<(usize, Meant<'s>)> {
        let mut misspelt: Vec<(usize, Meant<'s>)> = Vec::new();
        let mut claims: HashMap<&str, usize> = HashMap::new();
        if self.renaming == KeyRenaming::Off || !shape.may_rename_keys {
            return misspelt;
        }
        for (index, key) in object.keys().enumerate() {
            if shape.properties.contains_key(key) || shape.matching_pattern(key).is_some() {
                continue;
            }
            let Some(meant) = meant_name(key, shape, object.len()) else { continue };
            let property = || shape.properties.get(meant.name);
            let is_dropped = |value| property().is_some_and(|property| self.is_superfluous(value, *property, validity));
            if object.get(meant.name).is_none_or(is_dropped) {
                *claims.entry(meant.name).or_default() += 1;
                misspelt.push((index, meant));
            }
        }
        misspelt.retain(|(_, meant)| claims.get(meant.name) == Some(&1));
        misspelt
    }
}

/// Typos are looked for in objects with at most this many entries.
const MAX_ENTRIES_WITH_TYPO: usize = 64;

/// The property that a key stands for.
struct Meant<'s> {
    name: &'s str,
    kind: FixKind,
}

fn meant_name<'s>(key: &str, shape: &'s ObjectShape, entries: usize) -> Option<Meant<'s>> {
    if shape.is_spelling(key) {
        return shape.name_by_spelling(key).map(|name| Meant { name, kind: FixKind::KeySpelling });
    }
    if entries > MAX_ENTRIES_WITH_TYPO {
        return None;
    }
    let by_form = shape.name_by_form(key).map(|name| Meant { name, kind: FixKind::KeySpelling });
    by_form.or_else(|| shape.name_by_typo(key).map(|name| Meant { name, kind: FixKind::KeyTypo }))
}

/// The change to an entry, its cost, and whether the entry fits then.
type PlannedEntry = (Option<EntryChange>, u64, bool);

fn drop_entry() -> PlannedEntry {
    (Some(EntryChange::Drop), FixKind::NullForOptional.penalty().into(), true)
}

fn fit_entry(plan: Plan) -> PlannedEntry {
    let (cost, fits) = (plan.cost, plan.fits);
    ((!plan.is_keep()).then(|| EntryChange::Fit(plan)), cost, fits)
}
