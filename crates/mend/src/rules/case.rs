//! What is known about a call that was refused.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, StepId, Value};
use reknit_salvage::{Schema, fit};

use super::place;
use crate::facts::{Fact, Field, Says};

/// How far code may change what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// As far as facts determine it: a call that only reads can go wrong without harm.
    Usual,
    /// Only how it is written: a call that changes something would do another thing otherwise.
    OnlySpelling,
}

/// What is known about a call that was refused.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// What was sent, or would have been.
    pub parameters: Object,
    pub schema: Option<&'a Schema>,
    pub facts: &'a [Fact],
    /// The error in words.
    pub message: &'a str,
    /// The parameters whose value the plan takes from a result: nothing is put in its place.
    pub referenced: Vec<String>,
    /// How far a value may be changed.
    pub caution: Caution,
    /// What the user asked for, and what the step is for.
    pub request: [&'a str; 2],
    /// The results there are.
    pub results: Vec<(&'a StepId, &'a Value)>,
}

impl Case<'_> {
    /// Where a field is, or would be.
    pub(super) fn place(&self, field: &Field) -> Option<Path> {
        place::place(field, &self.parameters, self.schema.map(Schema::source))
    }

    /// Where the field of a fact is, and what stands there.
    pub(super) fn value_of(&self, fact: &Fact) -> Option<(Path, &Value)> {
        let at = self.place(fact.field.as_ref()?)?;
        let value = self.at(&at)?;
        Some((at, value))
    }

    /// Where a field stands that the error calls unknown, and what stands there. One that the schema declares is known, and
    /// of one that is a value elsewhere (`sort_by: date`) nobody knows which of the two is meant.
    pub(super) fn stranger(&self, fact: &Fact) -> Option<(Path, &Value)> {
        let (at, value) = self.value_of(fact)?;
        let (parent, name) = super::parent_of(&at)?;
        let is_known = self.declared(&parent).is_some_and(|names| names.contains(&name.as_str()));
        (!is_known && !self.is_value(&name)).then_some((at, value))
    }

    /// Whether a name is what another parameter holds, alone or in a list.
    pub(super) fn is_value(&self, name: &str) -> bool {
        let is_it = |value: &Value| {
            let words = value.as_str().unwrap_or_default().split([',', ' ', ';', '|', '+']);
            words.map(|word| word.trim_start_matches('-')).any(|word| word == name)
        };
        self.parameters.values().any(|value| match value {
            Value::Array(items) => items.iter().any(is_it),
            value => is_it(value),
        })
    }

    /// Whether a change puts another value where the plan takes one from a result.
    pub(super) fn is_referenced(&self, change: &super::Change) -> bool {
        let super::Change::Set { at, .. } = change else { return false };
        matches!(at.segments(), [reknit_protocol::Segment::Key(name), ..] if self.referenced.contains(name))
    }

    pub(super) fn at(&self, at: &Path) -> Option<&Value> {
        let [first, ..] = at.segments() else { return None };
        let reknit_protocol::Segment::Key(name) = first else { return None };
        let inner: Path = at.segments().iter().skip(1).cloned().collect();
        self.parameters.get(name)?.at(&inner)
    }

    /// Whether a fact is about something that was sent, or that the schema declares.
    pub fn concerns(&self, fact: &Fact) -> bool {
        let shown = match &fact.says {
            Says::NotFound { value } => value.as_ref(),
            Says::Allowed { got, .. } | Says::WrongType { got, .. } | Says::Expected { got, .. } => got.as_ref(),
            _ => None,
        };
        let at = fact.field.as_ref().and_then(|field| self.place(field));
        let is_ours = at.is_some_and(|at| self.at(&at).is_some() || self.schema_at(&at).is_some());
        fact.is_about_input() && (is_ours || shown.is_some_and(|value| !self.holders(value).is_empty()))
    }

    /// The parameters that hold just this value.
    pub(super) fn holders(&self, value: &Value) -> Vec<Path> {
        let holds = self.parameters.iter().filter(|(_, held)| *held == value);
        holds.map(|(name, _)| Path::root().key(name)).collect()
    }

    /// The part of the schema about a place.
    pub(super) fn schema_at(&self, at: &Path) -> Option<&Value> {
        place::schema_at(self.schema?.source(), at)
    }

    /// The names that the schema declares for an object; nothing if it declares none.
    pub(super) fn declared(&self, parent: &Path) -> Option<Vec<&str>> {
        let properties = self.schema_at(parent)?.get("properties")?.as_object()?;
        Some(properties.keys().collect())
    }

    /// Whether a declared name is the same but for its spelling.
    pub(super) fn is_declared(&self, parent: &Path, name: &str) -> bool {
        self.declared(parent).is_some_and(|names| names.iter().any(|known| are_alike(known, name)))
    }

    /// The names that an object must have and lacks.
    pub(super) fn lacking(&self, parent: &Path) -> Vec<String> {
        let object = if parent.is_root() { Some(&self.parameters) } else { self.at(parent).and_then(Value::as_object) };
        let required = self.schema_at(parent).and_then(|schema| schema.get("required")).and_then(Value::as_array);
        let names = required.unwrap_or_default().iter().filter_map(Value::as_str);
        names.filter(|name| object.is_none_or(|object| !object.contains_key(name))).map(str::to_owned).collect()
    }

    /// Whether a value could stand at a place, at most with its type mended. Without a schema anything could.
    pub(super) fn would_fit(&self, at: &Path, value: &Value) -> bool {
        let Some(schema) = self.schema else { return true };
        let mut whole = Value::Object(self.parameters.clone());
        if place::set(&mut whole, at, value.clone()).is_none() {
            return false;
        }
        match fit(whole, schema) {
            Ok(_) => true,
            // What else is wrong is not this value's fault.
            Err(misfit) => !misfit.problems.iter().any(|problem| problem.path.segments().starts_with(at.segments())),
        }
    }
}
