//! Deciding what is to be done to a value.

mod array;
mod budget;
mod object;
mod scalar;
mod trail;
mod union;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use reknit_protocol::{MAX_DEPTH, Path, Value};

use super::apply::Applied;
use super::decode::Found;
use super::plan::Plan;
use crate::schema::shape::{Shape, ShapeId, Shapes};
use crate::schema::{Problem, ProblemKind, Schema, Type, message};
use budget::Budget;
use trail::Trail;

/// How deep texts may be encoded in texts.
const MOST_DECODINGS: u8 = 4;

/// How many ambiguous places are reported.
const MOST_NOTES: usize = 100;

/// Walks over a value and the shapes it should have, and says what is to be done.
pub(super) struct Planner<'a> {
    schema: &'a Schema,
    /// Where the value has unquoted arithmetic.
    arithmetic: &'a HashSet<Path>,
    keys: Keys,
    memo: HashMap<Question, Plan>,
    /// What the texts hold that were looked into, by their address. Kept to the end, so that no address comes twice.
    decoded: HashMap<usize, Rc<Found>>,
    budget: Budget<'a>,
    notes: Notes,
}

/// Whether misspelt keys are to be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    Mend,
    Leave,
}

/// What else came up while planning.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Whether a key is to be renamed.
    pub(super) renames: bool,
    /// Places with two results of equal cost.
    pub(super) ambiguous: Vec<(Path, ProblemKind)>,
    /// Whether the budget ran out, or the value would nest too deep.
    pub(super) gave_up: bool,
}

impl Notes {
    /// The problems that remain, with what is known about their causes.
    pub(super) fn explain(self, value: &Value, remaining: Vec<Problem>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let gave_up = self.gave_up.then(|| (Path::root(), ProblemKind::GaveUp));
        for (path, kind) in self.ambiguous.into_iter().chain(gave_up) {
            if problems.iter().all(|problem| problem.path != path) {
                let message = message(&kind, value.at(&path).unwrap_or(value));
                problems.push(Problem { path, schema_path: String::new(), kind, message });
            }
        }
        let explained = |path: &Path| problems.iter().any(|problem| problem.path == *path);
        let rest: Vec<Problem> = remaining.into_iter().filter(|problem| !explained(&problem.path)).collect();
        problems.extend(rest);
        problems
    }
}

/// What is asked about a place; the answer is always the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    address: usize,
    shape: ShapeId,
    known: Known,
    may_wrap: bool,
}

/// What is known about a value before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Known {
    /// It fits; only its keys are of interest.
    Fits,
    Nothing,
}

/// Where the planner is.
#[derive(Debug, Clone, Copy)]
struct Spot<'t> {
    known: Known,
    may_wrap: bool,
    decodings: u8,
    depth: usize,
    trail: &'t Trail<'t>,
}

impl<'t> Spot<'t> {
    fn below(self, trail: &'t Trail<'t>) -> Self {
        Self { trail, depth: self.depth + 1, may_wrap: true, ..self }
    }
}

impl<'a> Planner<'a> {
    pub(super) fn new(value: &'a Value, schema: &'a Schema, arithmetic: &'a HashSet<Path>, keys: Keys) -> Self {
        Self {
            schema,
            arithmetic,
            keys,
            memo: HashMap::new(),
            decoded: HashMap::new(),
            budget: Budget::for_value(value),
            notes: Notes::default(),
        }
    }

    /// What is to be done to the value as a whole, and what else came up.
    pub(super) fn run(mut self, known: Known) -> (Plan, Notes) {
        let spot = Spot { known, may_wrap: true, decodings: 0, depth: 0, trail: &Trail::Root };
        let plan = self.plan(self.budget.value, Shapes::root(), spot);
        (plan, self.notes)
    }

    fn plan(&mut self, value: &Value, id: ShapeId, spot: Spot<'_>) -> Plan {
        let shape = self.schema.shape(id);
        if spot.known == Known::Fits && !shape.has_spellings {
            return Plan::keep(true);
        }
        if !self.spend(1) || spot.depth > MAX_DEPTH {
            return self.give_up();
        }
        if !shape.alternatives.is_empty() {
            return self.plan_union(value, id, spot);
        }
        match value {
            Value::Object(object) if shape.types.has(Type::Object) => self.plan_object(object, shape, spot),
            Value::Array(items) if shape.types.has(Type::Array) => self.plan_array(items, shape, spot),
            _ if spot.known == Known::Fits => Plan::keep(true),
            _ => self.plan_scalar(value, id, spot),
        }
    }

    /// Takes from the budget; false if there is not enough left.
    fn spend(&mut self, places: usize) -> bool {
        self.budget.spend(places)
    }

    fn give_up(&mut self) -> Plan {
        self.notes.gave_up = true;
        Plan::keep(false)
    }

    fn accepts(&self, shape: &Shape, value: &Value) -> bool {
        self.schema.accepts(shape, value)
    }

    fn accepts_result(&self, shape: &Shape, result: &Applied) -> bool {
        self.schema.accepts_but_for(shape, &result.value, &result.expressions)
    }
}
