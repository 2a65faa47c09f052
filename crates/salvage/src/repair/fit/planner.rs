//! Planning the changes that make a value fit.

mod budget;
mod list;
mod nested_keys;
mod object;
mod scalar;
mod union;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use reknit_protocol::{MAX_DEPTH, Path, Segment, Value};

use super::apply::AppliedPlan;
use super::decode::DecodedText;
use super::plan::{Action, Decoded, Plan};
use crate::schema::shape::{Shape, ShapeId, Shapes};
use crate::schema::{FitProblem, FitProblemKind, Schema, SchemaType};
use budget::Budget;

/// How deeply strings may be encoded in strings.
const MAX_DECODINGS: u8 = 4;

const MAX_AMBIGUOUS: usize = 100;

/// Walks over a value and the shapes it should have, and plans the changes.
pub(super) struct Planner<'a> {
    schema: &'a Schema,
    arithmetic: &'a HashSet<Path>,
    renaming: KeyRenaming,
    memo: HashMap<MemoKey, Plan>,
    /// The content of strings, by the address of the string. Entries are never removed, so no address is used twice.
    decoded: HashMap<usize, Rc<DecodedText>>,
    /// The lists in texts, kept for the same reason as `decoded`.
    lists: Vec<Rc<Decoded>>,
    budget: Budget<'a>,
    notes: Notes,
}

/// Whether to rename misspelt keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyRenaming {
    On,
    Off,
}

/// Observations made while planning.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) renamed_keys: bool,
    /// The paths of values with two different results at the same cost.
    pub(super) ambiguous: Vec<(Path, FitProblemKind)>,
    /// Whether the budget ran out, or the result would nest too deep.
    pub(super) gave_up: bool,
}

impl Notes {
    /// The ambiguous values and, for all other paths, the problems that remain.
    pub(super) fn explain(self, value: &Value, remaining: Vec<FitProblem>) -> Vec<FitProblem> {
        let mut problems: Vec<FitProblem> = Vec::new();
        let gave_up = self.gave_up.then(|| (Path::root(), FitProblemKind::GaveUp));
        for (path, kind) in self.ambiguous.into_iter().chain(gave_up) {
            if problems.iter().all(|problem| problem.path != path) {
                let found = value.at(&path).unwrap_or(value);
                problems.push(FitProblem::new(path, kind, found));
            }
        }
        let explained = |path: &Path| problems.iter().any(|problem| problem.path == *path);
        let rest: Vec<FitProblem> = remaining.into_iter().filter(|problem| !explained(&problem.path)).collect();
        problems.extend(rest);
        problems
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct MemoKey {
    address: usize,
    shape: ShapeId,
    validity: Validity,
    may_wrap: bool,
}

/// Whether a value is known to fit before the planner looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Validity {
    /// The value fits; only its keys may be renamed.
    Valid,
    /// The value does not fit as it is.
    Invalid,
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Context<'t> {
    validity: Validity,
    may_wrap: bool,
    decodings: u8,
    depth: usize,
    path: &'t ValuePath<'t>,
}

impl<'t> Context<'t> {
    fn child(self, path: &'t ValuePath<'t>) -> Self {
        Self { path, depth: self.depth + 1, may_wrap: true, ..self.for_another_value() }
    }

    /// The context for another value at this place: whether it fits is not known, unless the whole value fits.
    fn for_another_value(self) -> Self {
        let validity = if self.validity == Validity::Valid { Validity::Valid } else { Validity::Unknown };
        Self { validity, ..self }
    }
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        value: &'a Value,
        schema: &'a Schema,
        arithmetic: &'a HashSet<Path>,
        renaming: KeyRenaming,
    ) -> Self {
        Self {
            schema,
            arithmetic,
            renaming,
            memo: HashMap::new(),
            decoded: HashMap::new(),
            lists: Vec::new(),
            budget: Budget::new(value, schema),
            notes: Notes::default(),
        }
    }

    pub(super) fn run(mut self, validity: Validity) -> (Plan, Notes) {
        let context = Context { validity, may_wrap: true, decodings: 0, depth: 0, path: &ValuePath::Root };
        let plan = self.plan(self.budget.value, Shapes::ROOT, context);
        (plan, self.notes)
    }

    fn plan(&mut self, value: &Value, id: ShapeId, context: Context<'_>) -> Plan {
        let shape = self.schema.shape(id);
        if context.validity == Validity::Valid && !shape.may_rename_keys {
            return Plan::keep(true);
        }
        if !self.budget.spend(1) || context.depth > MAX_DEPTH {
            return self.give_up();
        }
        if !shape.alternatives.is_empty() {
            return self.plan_union(value, id, context);
        }
        match value {
            Value::Object(object) if shape.types.contains(SchemaType::Object) => {
                let inside = match context.validity {
                    Validity::Valid => None,
                    _ => self.plan_object_in_layer(value, id, context),
                };
                if let Some(plan) = inside {
                    return plan;
                }
                let whole = self.plan_object(object, shape, context);
                // An unknown key makes the object as a whole not fit.
                let is_refused = context.validity != Validity::Valid && (shape.object.is_closed || !whole.fits);
                let nested = if is_refused { self.plan_nested_keys(object, id, context) } else { None };
                nested.unwrap_or(whole)
            }
            Value::Array(items) if shape.types.contains(SchemaType::Array) => {
                let whole = self.plan_array(items, shape, context);
                let nested = if whole.fits { None } else { self.plan_nested_list(items, id, context) };
                nested.unwrap_or(whole)
            }
            _ if context.validity == Validity::Valid => Plan::keep(true),
            _ => self.plan_scalar(value, id, context),
        }
    }

    fn plan_array(&mut self, items: &[Value], shape: &Shape, context: Context<'_>) -> Plan {
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

    fn give_up(&mut self) -> Plan {
        self.notes.gave_up = true;
        Plan::keep(false)
    }

    fn accepts_result(&self, shape: &Shape, result: &AppliedPlan) -> bool {
        self.schema.accepts_except_at(shape, &result.value, &result.expressions)
    }
}

/// The path from the root of the original value, as a linked list on the stack.
#[derive(Debug)]
enum ValuePath<'t> {
    Root,
    /// Inside a decoded string, which has no paths of its own in the original.
    Decoded(&'t ValuePath<'t>),
    Key(&'t ValuePath<'t>, &'t str),
    Index(&'t ValuePath<'t>, usize),
}

impl ValuePath<'_> {
    /// The last part of the path and those before it.
    fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |part| match part {
            Self::Root => None,
            Self::Decoded(parent) | Self::Key(parent, _) | Self::Index(parent, _) => Some(*parent),
        })
    }

    fn to_path(&self) -> Path {
        let segments = self.parts().filter_map(|part| match part {
            Self::Key(_, key) => Some(Segment::Key((*key).to_owned())),
            Self::Index(_, index) => Some(Segment::Index(*index)),
            Self::Root | Self::Decoded(_) => None,
        });
        segments.collect::<Vec<_>>().into_iter().rev().collect()
    }

    /// The name of the property whose value is here.
    fn name(&self) -> Option<&str> {
        match self {
            Self::Key(_, key) => Some(key),
            Self::Decoded(parent) => parent.name(),
            Self::Root | Self::Index(..) => None,
        }
    }

    fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }

    fn is_original(&self) -> bool {
        !self.parts().any(|part| matches!(part, Self::Decoded(_)))
    }
}
