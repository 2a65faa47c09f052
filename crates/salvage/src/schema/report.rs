//! Converting the errors of the validator to [`FitProblem`]s.

mod message;

pub(crate) use message::message;

use std::collections::BTreeSet;

use jsonschema::error::{TypeKind, ValidationErrorKind as Error};
use jsonschema::{ValidationError, Validator};
use reknit_protocol::{Path, Value};

use super::validator_input::{Copies, ValueInput};
use super::{Comparison, FitProblem, FitProblemKind, LengthUnit, SchemaType};

/// How many problems are reported. A list of a million wrong items would be useless.
const MAX_PROBLEMS: usize = 1000;

/// Converts errors about `value` to problems.
pub(crate) struct Report<'a> {
    value: &'a Value,
    schema: &'a Value,
    /// The path of `value` in the whole value.
    base: Path,
    /// JSON Pointers to values whose own errors are ignored.
    excused: Vec<String>,
    problems: Vec<FitProblem>,
}

impl<'a> Report<'a> {
    /// `schema` is the JSON from which the validator was compiled.
    pub(crate) fn new(value: &'a Value, schema: &'a Value, base: Path, excused: &[Path]) -> Self {
        let excused = excused.iter().map(Path::to_pointer).collect();
        Self { value, schema, base, excused, problems: Vec::new() }
    }

    pub(crate) fn finish(self) -> Vec<FitProblem> {
        self.problems
    }

    pub(crate) fn add_all(&mut self, validator: &Validator<ValueInput>, copies: Copies) {
        let value = self.value;
        copies.while_validating(value, || validator.iter_errors(value)).for_each(|error| self.add(&error));
    }

    /// Adds only the first error of a validator.
    pub(crate) fn add_first(&mut self, validator: &Validator<ValueInput>, copies: Copies) {
        let value = self.value;
        if let Err(error) = copies.while_validating(value, || validator.validate(value)) {
            self.add(&error);
        }
    }

    pub(crate) fn add(&mut self, error: &ValidationError<'_>) {
        if self.problems.len() >= MAX_PROBLEMS || self.is_excused(error) {
            return;
        }
        match error.kind() {
            Error::AnyOf { context } | Error::OneOfNotValid { context } => self.add_union(error, context),
            kind => {
                let kind = self.problem_kind(kind, error.schema_path().as_str());
                self.push(error, kind);
            }
        }
    }

    fn push(&mut self, error: &ValidationError<'_>, kind: FitProblemKind) {
        let inner = Path::from_pointer(error.instance_path().as_str(), self.value).unwrap_or_default();
        let found = self.value.at(&inner).unwrap_or(self.value);
        let message = match error.kind() {
            Error::PropertyNames { error } => {
                let name = Value::from(error.instance().as_ref().clone());
                let kind = self.problem_kind(error.kind(), error.schema_path().as_str());
                format!("the property name {name} is not allowed: {}", message::message(&kind, &name))
            }
            _ => message::message(&kind, found),
        };
        let path = self.base.segments().iter().chain(inner.segments()).cloned().collect();
        self.problems.push(FitProblem { path, schema_path: error.schema_path().as_str().to_owned(), kind, message });
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

    /// Adds the errors of the branch that is meant, if the type or tag of the value shows which one that is. Otherwise
    /// adds one problem for the whole union.
    fn add_union(&mut self, error: &ValidationError<'_>, branches: &[Vec<ValidationError<'static>>]) {
        let union_path = error.instance_path().as_str();
        let mut types = BTreeSet::new();
        let mut same_type = Vec::new();
        for branch in branches {
            match wrong_type(branch, union_path) {
                Some(expected) => types.extend(expected),
                None => same_type.push(branch),
            }
        }
        if same_type.is_empty() {
            let expected = types.into_iter().collect();
            return self.push(error, FitProblemKind::Type { expected });
        }
        if same_type.len() > 1 {
            let tagged: Vec<_> =
                same_type.iter().copied().filter(|branch| !has_wrong_tag(branch, union_path)).collect();
            if tagged.len() == 1 {
                same_type = tagged;
            }
        }
        match same_type.as_slice() {
            [only] => only.iter().for_each(|error| self.add(error)),
            [first, ..] if fits_several(first) => self.push(error, FitProblemKind::SeveralAlternativesFit),
            _ => self.push(error, FitProblemKind::NoAlternativeFits),
        }
    }

    fn problem_kind(&self, kind: &Error, schema_path: &str) -> FitProblemKind {
        let exact = |limit: &serde_json::Value| self.exact_keyword(schema_path).unwrap_or_else(|| limit.clone().into());
        let range = |comparison, limit| FitProblemKind::Range { comparison, limit: exact(limit) };
        let length = |unit, comparison, limit: &u64| FitProblemKind::Length { unit, comparison, limit: *limit };
        match kind {
            Error::Type { kind } => FitProblemKind::Type { expected: expected_types(kind) },
            Error::Required { property } => {
                FitProblemKind::Required { property: property.as_str().unwrap_or_default().to_owned() }
            }
            Error::Enum { options } => match exact(options) {
                Value::Array(allowed) => FitProblemKind::Enum { allowed },
                only => FitProblemKind::Enum { allowed: vec![only] },
            },
            Error::Constant { expected_value } => FitProblemKind::Const { expected: exact(expected_value) },
            Error::Minimum { limit } => range(Comparison::AtLeast, limit),
            Error::ExclusiveMinimum { limit } => range(Comparison::MoreThan, limit),
            Error::Maximum { limit } => range(Comparison::AtMost, limit),
            Error::ExclusiveMaximum { limit } => range(Comparison::LessThan, limit),
            Error::MultipleOf { multiple_of } => FitProblemKind::MultipleOf { divisor: exact(&(*multiple_of).into()) },
            Error::MinLength { limit } => length(LengthUnit::Characters, Comparison::AtLeast, limit),
            Error::MaxLength { limit } => length(LengthUnit::Characters, Comparison::AtMost, limit),
            Error::MinItems { limit } => length(LengthUnit::Items, Comparison::AtLeast, limit),
            Error::MaxItems { limit } => length(LengthUnit::Items, Comparison::AtMost, limit),
            Error::MinProperties { limit } => length(LengthUnit::Properties, Comparison::AtLeast, limit),
            Error::MaxProperties { limit } => length(LengthUnit::Properties, Comparison::AtMost, limit),
            Error::AdditionalItems { limit } => {
                length(LengthUnit::Items, Comparison::AtMost, &u64::try_from(*limit).unwrap_or(u64::MAX))
            }
            Error::Pattern { pattern } => FitProblemKind::Pattern { pattern: pattern.clone() },
            Error::Format { format } => FitProblemKind::Format { format: format.clone() },
            Error::AdditionalProperties { unexpected } | Error::UnevaluatedProperties { unexpected } => {
                FitProblemKind::UnknownProperty { names: unexpected.clone() }
            }
            Error::UniqueItems => FitProblemKind::NotUnique,
            Error::OneOfMultipleValid { .. } => FitProblemKind::SeveralAlternativesFit,
            other => FitProblemKind::Other { keyword: other.keyword().to_owned() },
        }
    }

    /// The value in the schema at `schema_path`. The validator rounds numbers, and the schema has all their digits.
    fn exact_keyword(&self, schema_path: &str) -> Option<Value> {
        let path = Path::from_pointer(schema_path, self.schema).ok()?;
        self.schema.at(&path).cloned()
    }
}

/// The types that a branch expects, if the value at `path` has another type.
fn wrong_type(branch: &[ValidationError<'_>], path: &str) -> Option<Vec<SchemaType>> {
    branch.iter().find_map(|error| match error.kind() {
        Error::Type { kind } if error.instance_path().as_str() == path => Some(expected_types(kind)),
        _ => None,
    })
}

/// Whether the only problem of a branch is that the value fits several alternatives of a `oneOf` in it.
fn fits_several(branch: &[ValidationError<'_>]) -> bool {
    branch.iter().all(|error| match error.kind() {
        Error::OneOfMultipleValid { .. } => true,
        Error::AnyOf { context } | Error::OneOfNotValid { context } => {
            context.first().is_some_and(|branch| fits_several(branch))
        }
        _ => false,
    })
}

/// Whether a property of the value at `path`, such as `"kind": "circle"`, shows that another branch is meant.
fn has_wrong_tag(branch: &[ValidationError<'_>], path: &str) -> bool {
    branch.iter().any(|error| {
        let below = error.instance_path().as_str().strip_prefix(path).and_then(|rest| rest.strip_prefix('/'));
        let is_property = below.is_some_and(|key| !key.contains('/'));
        is_property && matches!(error.kind(), Error::Constant { .. } | Error::Enum { .. })
    })
}

fn expected_types(kind: &TypeKind) -> Vec<SchemaType> {
    match kind {
        TypeKind::Single(only) => SchemaType::from_word(only.as_str()).into_iter().collect(),
        TypeKind::Multiple(set) => set.iter().filter_map(|each| SchemaType::from_word(each.as_str())).collect(),
    }
}
