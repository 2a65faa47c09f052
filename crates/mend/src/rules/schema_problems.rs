//! Problems that a schema finds in parameters, as facts: rules correct them like those that a tool reports.

use reknit_protocol::{Path, Segment};
use reknit_salvage::{FitProblem, FitProblemKind, SchemaType};

use crate::facts::{Fact, FactKind, Field, MAX_FACTS};

/// The problems as facts, at most as many as of one error.
pub fn facts_from_problems(problems: &[FitProblem]) -> Vec<Fact> {
    problems.iter().flat_map(facts_of).take(MAX_FACTS).collect()
}

fn facts_of(problem: &FitProblem) -> Vec<Fact> {
    let about = |kind| vec![Fact { field: field(&problem.path, None), kind }];
    let inner = |name: &str, kind| Fact { field: field(&problem.path, Some(name)), kind };
    match &problem.kind {
        FitProblemKind::Required { property } => vec![inner(property, FactKind::Missing)],
        FitProblemKind::UnknownProperty { names } => {
            names.iter().map(|name| inner(name, FactKind::UnknownField { known: Vec::new() })).collect()
        }
        FitProblemKind::Type { expected } => match expected.as_slice() {
            [SchemaType::Null] => Vec::new(),
            [only] => about(FactKind::WrongType { expected: *only, got: None }),
            _ => Vec::new(),
        },
        FitProblemKind::Enum { allowed } => about(FactKind::AllowedValues { values: allowed.clone(), got: None }),
        FitProblemKind::Const { expected } => about(FactKind::ExpectedValue { value: expected.clone(), got: None }),
        FitProblemKind::Range { comparison: bound, limit } => match limit.as_number() {
            Some(limit) => about(FactKind::Bound { side: *bound, limit: limit.clone() }),
            None => Vec::new(),
        },
        FitProblemKind::Length { unit, comparison: bound, limit } => {
            about(FactKind::Length { side: *bound, limit: *limit, unit: *unit })
        }
        FitProblemKind::Pattern { pattern } => about(FactKind::Format { format: Some(pattern.clone()), example: None }),
        FitProblemKind::Format { format } => about(FactKind::Format { format: Some(format.clone()), example: None }),
        FitProblemKind::MultipleOf { .. }
        | FitProblemKind::NotUnique
        | FitProblemKind::NoAlternativeFits
        | FitProblemKind::SeveralAlternativesFit
        | FitProblemKind::Ambiguous { .. }
        | FitProblemKind::GaveUp
        | FitProblemKind::Other { .. } => about(FactKind::Invalid),
    }
}

fn field(path: &Path, name: Option<&str>) -> Option<Field> {
    let segments = path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => index.to_string(),
    });
    Field::from_segments(segments.chain(name.map(str::to_owned)))
}
