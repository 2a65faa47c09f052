//! A rejected call with everything that rules may use to correct it.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Path, Segment, StepId, Value};
use reknit_salvage::{Fix, FixKind, Schema, fit};

use super::nested_values::values_within;
use super::{Change, field_location};
use crate::facts::{Fact, FactKind, Field};

/// How far rules may change a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedChanges {
    /// Any change that the facts determine: a call that only reads does no harm if the change is wrong.
    Any,
    /// Changes of the parameters that the error refers to, with values from the request, a result or the error.
    WithEvidence,
    /// Only the spelling of names and values: with another value, the call would do something else.
    SpellingOnly,
}

/// A rejected call with everything that rules may use to correct it.
#[derive(Debug, Clone)]
pub struct RejectedCall<'a> {
    /// The parameters that were sent, or would have been.
    pub parameters: Object,
    /// The schema of the parameters, if the tool has one.
    pub schema: Option<&'a Schema>,
    pub facts: &'a [Fact],
    pub message: &'a str,
    /// The parameters that the plan takes from a result. Rules may respell their values and never replace them.
    pub referenced: Vec<String>,
    pub allowed_changes: AllowedChanges,
    /// The request of the user and the instruction of the step.
    pub request: [&'a str; 2],
    /// The results of the steps before.
    pub results: Vec<(&'a StepId, &'a Value)>,
}

impl RejectedCall<'_> {
    /// The path of a field in the parameters, whether it is present or not.
    pub(super) fn locate(&self, field: &Field) -> Option<Path> {
        field_location::locate(field, &self.parameters, self.schema.map(Schema::source))
    }

    pub(super) fn located_value(&self, fact: &Fact) -> Option<(Path, &Value)> {
        let at = self.locate(fact.field.as_ref()?)?;
        let value = self.value_at(&at)?;
        Some((at, value))
    }

    /// The path and the value of a field that the error calls unknown. `None` if the schema declares the field, or if its name
    /// is also the value of another parameter (`sort_by: date`), which the error may be about instead.
    pub(super) fn unknown_field(&self, fact: &Fact) -> Option<(Path, &Value)> {
        let (at, value) = self.located_value(fact)?;
        let (parent, name) = super::parent_of(&at)?;
        let is_known = self.declared_names(&parent).is_some_and(|names| names.contains(&name.as_str()));
        (!is_known && !self.is_value_of_another(&name)).then_some((at, value))
    }

    /// Whether a name is the value of another parameter, alone or in a list.
    pub(super) fn is_value_of_another(&self, name: &str) -> bool {
        let contains_name = |value: &Value| {
            let words = value.as_str().unwrap_or_default().split([',', ' ', ';', '|', '+']);
            words.map(|word| word.trim_start_matches('-')).any(|word| word == name)
        };
        self.parameters.values().any(|value| match value {
            Value::Array(items) => items.iter().any(contains_name),
            value => contains_name(value),
        })
    }

    /// Whether a change replaces a value that the plan takes from a result.
    pub(super) fn is_referenced(&self, change: &Change) -> bool {
        let Change::Set { at, .. } = change else { return false };
        matches!(at.segments(), [Segment::Key(name), ..] if self.referenced.contains(name))
    }

    pub(super) fn value_at(&self, at: &Path) -> Option<&Value> {
        let [Segment::Key(name), inner @ ..] = at.segments() else { return None };
        self.parameters.get(name)?.at(&inner.iter().cloned().collect())
    }

    pub(super) fn object_at(&self, at: &Path) -> Option<&Object> {
        if at.is_root() { Some(&self.parameters) } else { self.value_at(at)?.as_object() }
    }

    /// Whether a fact is about a parameter that was sent or that the schema declares.
    pub fn fact_applies(&self, fact: &Fact) -> bool {
        let at = fact.field.as_ref().and_then(|field| self.locate(field));
        let is_parameter = at.is_some_and(|at| self.value_at(&at).is_some() || self.schema_at(&at).is_some());
        fact.is_about_input()
            && (is_parameter
                || fact
                    .shown_value()
                    .is_some_and(|value| values_within(&self.parameters).iter().any(|(_, held)| *held == value)))
    }

    /// The path of the only value that matches, at any depth.
    pub(super) fn only_parameter(&self, is_match: impl Fn(&Value) -> bool) -> Option<Path> {
        let matching = values_within(&self.parameters).into_iter().filter(|(_, value)| is_match(value));
        super::only(matching).map(|(at, _)| at)
    }

    /// Whether another fact about the same field contradicts this one.
    pub(super) fn has_rival(&self, fact: &Fact, contradicts: impl Fn(&FactKind) -> bool) -> bool {
        self.facts.iter().any(|other| other.field == fact.field && contradicts(&other.kind))
    }

    pub(super) fn schema_at(&self, at: &Path) -> Option<&Value> {
        field_location::schema_at(self.schema?.source(), at)
    }

    /// The names that the schema declares for the object at a path, if it declares any.
    pub(super) fn declared_names(&self, parent: &Path) -> Option<Vec<&str>> {
        let properties = self.schema_at(parent)?.get("properties")?.as_object()?;
        Some(properties.keys().collect())
    }

    /// Whether the schema declares a name in any spelling.
    pub(super) fn is_declared(&self, parent: &Path, name: &str) -> bool {
        self.declared_names(parent).is_some_and(|names| names.iter().any(|known| are_alike(known, name)))
    }

    /// The required names that the object at a path lacks.
    pub(super) fn missing_required(&self, parent: &Path) -> Vec<String> {
        let object = self.object_at(parent);
        let required = self.schema_at(parent).and_then(|schema| schema.get("required")).and_then(Value::as_array);
        let names = required.unwrap_or_default().iter().filter_map(Value::as_str);
        names.filter(|name| object.is_none_or(|object| !object.contains_key(name))).map(str::to_owned).collect()
    }

    /// The change that puts a value at a path, if the value would fit there. `from` says where the value comes from.
    pub(super) fn set(&self, at: Path, value: Value, from: &'static str) -> Option<Change> {
        self.would_fit(&at, &value).then_some(Change::Set { at, value, from: Some(from) })
    }

    /// Whether a value fits the schema at a path, possibly after a conversion of its type. Without a schema any value does.
    pub(super) fn would_fit(&self, at: &Path, value: &Value) -> bool {
        let Some(schema) = self.schema else { return true };
        let mut whole = Value::Object(self.parameters.clone());
        if field_location::set(&mut whole, at, value.clone()).is_none() {
            return false;
        }
        // A model may write `{"value": 5}` for 5, but in a result it is what the tool means.
        let is_layer = |fix: &Fix| {
            matches!(fix.kind, FixKind::ListOfOne | FixKind::ValueLayer) && fix.path.segments() == at.segments()
        };
        match fit(whole, schema) {
            Ok(fitted) => !fitted.fixes.iter().any(is_layer),
            // Problems at other paths are not about this value.
            Err(misfit) => !misfit.problems.iter().any(|problem| problem.path.segments().starts_with(at.segments())),
        }
    }
}
