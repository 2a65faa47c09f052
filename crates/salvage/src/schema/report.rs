//! The validator's errors as [`Problem`]s, in our words.

mod words;

pub(crate) use words::message;

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Error};
use reknit_protocol::{Path, Value};

use super::{Bound, Problem, ProblemKind, Type, Unit};

/// How many problems are reported. A list of a million wrong items says no more than its start.
const MOST_PROBLEMS: usize = 1000;

/// Turns errors about `value` into problems.
pub(crate) struct Report<'a> {
    value: &'a Value,
    schema: &'a Value,
    /// Where in the whole value `value` stands.
    place: Path,
    /// Pointers to places whose own errors do not count.
    excused: Vec<String>,
    problems: Vec<Problem>,
}

impl<'a> Report<'a> {
    /// `schema` is the text the validator was compiled from.
    pub(crate) fn new(value: &'a Value, schema: &'a Value, place: Path, excused: &[Path]) -> Self {
        let excused = excused.iter().map(Path::to_pointer).collect();
        Self { value, schema, place, excused, problems: Vec::new() }
    }

    pub(crate) fn finish(self) -> Vec<Problem> {
        self.problems
    }

    pub(crate) fn add(&mut self, error: &ValidationError<'_>) {
        if self.problems.len() >= MOST_PROBLEMS || self.is_excused(error) {
            return;
        }
        match error.kind() {
            Error::AnyOf { context } | Error::OneOfNotValid { context } => self.add_union(error, context),
            kind => {
                let kind = self.kind(kind, error.schema_path().as_str());
                self.push(error, kind);
            }
        }
    }

    fn push(&mut self, error: &ValidationError<'_>, kind: ProblemKind) {
        let inner = Path::from_pointer(error.instance_path().as_str(), self.value).unwrap_or_default();
        let found = self.value.at(&inner).unwrap_or(self.value);
        let message = match error.kind() {
            Error::PropertyNames { error } => {
                let name = Value::from(error.instance().as_ref().clone());
                let kind = self.kind(error.kind(), error.schema_path().as_str());
                format!("the property name {name} is not allowed: {}", words::message(&kind, &name))
            }
            _ => words::message(&kind, found),
        };
        let path = self.place.segments().iter().chain(inner.segments()).cloned().collect();
        self.problems.push(Problem { path, schema_path: error.schema_path().as_str().to_owned(), kind, message });
    }

    fn is_excused(&self, error: &ValidationError<'_>) -> bool {
        if self.excused.is_empty() {
            return false;
        }
        match error.kind() {
            Error::AnyOf { context } | Error::OneOfNotValid { context } => {
                context.iter().any(|branch| branch.iter().all(|error| self.is_excused(error)))
            }
            _ => self.excused.iter().any(|pointer| pointer == error.instance_path().as_str()),
        }
    }

    /// The branch that was meant speaks for the union, if it can be told which one that is.
    fn add_union(&mut self, error: &ValidationError<'_>, branches: &[Vec<ValidationError<'static>>]) {
        let place = error.instance_path().as_str();
        let mut types = BTreeSet::new();
        let mut close = Vec::new();
        for branch in branches {
            match wrong_type(branch, place) {
                Some(expected) => types.extend(expected),
                None => close.push(branch),
            }
        }
        if close.is_empty() {
            let expected = types.into_iter().collect();
            return self.push(error, ProblemKind::Type { expected });
        }
        if close.len() > 1 {
            let tagged: Vec<_> = close.iter().copied().filter(|branch| !wrong_tag(branch, place)).collect();
            if tagged.len() == 1 {
                close = tagged;
            }
        }
        match close.as_slice() {
            [only] => only.iter().for_each(|error| self.add(error)),
            _ => self.push(error, ProblemKind::NoBranch),
        }
    }

    fn kind(&self, kind: &Error, schema_path: &str) -> ProblemKind {
        let exact = |limit: &serde_json::Value| self.written(schema_path).unwrap_or_else(|| limit.clone().into());
        let range = |bound, limit| ProblemKind::Range { bound, limit: exact(limit) };
        let length = |unit, bound, limit: &u64| ProblemKind::Length { unit, bound, limit: *limit };
        match kind {
            Error::Type { kind } => ProblemKind::Type { expected: expected_types(kind) },
            Error::Required { property } => {
                ProblemKind::Required { property: property.as_str().unwrap_or_default().to_owned() }
            }
            Error::Enum { options } => match exact(options) {
                Value::Array(allowed) => ProblemKind::Enum { allowed },
                only => ProblemKind::Enum { allowed: vec![only] },
            },
            Error::Constant { expected_value } => ProblemKind::Const { expected: exact(expected_value) },
            Error::Minimum { limit } => range(Bound::AtLeast, limit),
            Error::ExclusiveMinimum { limit } => range(Bound::MoreThan, limit),
            Error::Maximum { limit } => range(Bound::AtMost, limit),
            Error::ExclusiveMaximum { limit } => range(Bound::LessThan, limit),
            Error::MultipleOf { multiple_of } => ProblemKind::MultipleOf { divisor: exact(&(*multiple_of).into()) },
            Error::MinLength { limit } => length(Unit::Characters, Bound::AtLeast, limit),
            Error::MaxLength { limit } => length(Unit::Characters, Bound::AtMost, limit),
            Error::MinItems { limit } => length(Unit::Items, Bound::AtLeast, limit),
            Error::MaxItems { limit } => length(Unit::Items, Bound::AtMost, limit),
            Error::MinProperties { limit } => length(Unit::Properties, Bound::AtLeast, limit),
            Error::MaxProperties { limit } => length(Unit::Properties, Bound::AtMost, limit),
            Error::AdditionalItems { limit } => {
                length(Unit::Items, Bound::AtMost, &u64::try_from(*limit).unwrap_or(u64::MAX))
            }
            Error::Pattern { pattern } => ProblemKind::Pattern { pattern: pattern.clone() },
            Error::AdditionalProperties { unexpected } | Error::UnevaluatedProperties { unexpected } => {
                ProblemKind::UnknownProperty { names: unexpected.clone() }
            }
            Error::UniqueItems => ProblemKind::NotUnique,
            Error::OneOfMultipleValid { .. } => ProblemKind::ManyBranches,
            other => ProblemKind::Other { keyword: other.keyword().to_owned() },
        }
    }

    /// What the schema says there, with its digits; the validator has rounded them.
    fn written(&self, schema_path: &str) -> Option<Value> {
        let path = Path::from_pointer(schema_path, self.schema).ok()?;
        self.schema.at(&path).cloned()
    }
}

/// The types a branch wants, if the value as a whole is of another type.
fn wrong_type(branch: &[ValidationError<'_>], place: &str) -> Option<Vec<Type>> {
    branch.iter().find_map(|error| match error.kind() {
        Error::Type { kind } if error.instance_path().as_str() == place => Some(expected_types(kind)),
        _ => None,
    })
}

/// Whether a property of the value says that another branch is meant: `"kind": "circle"`.
fn wrong_tag(branch: &[ValidationError<'_>], place: &str) -> bool {
    branch.iter().any(|error| {
        let below = error.instance_path().as_str().strip_prefix(place).and_then(|rest| rest.strip_prefix('/'));
        let is_property = below.is_some_and(|key| !key.contains('/'));
        is_property && matches!(error.kind(), Error::Constant { .. } | Error::Enum { .. })
    })
}

fn expected_types(kind: &TypeKind) -> Vec<Type> {
    match kind {
        TypeKind::Single(only) => Type::from_word(only.as_str()).into_iter().collect(),
        TypeKind::Multiple(set) => set.iter().filter_map(|each| Type::from_word(each.as_str())).collect(),
    }
}
