//! What a schema says about parameters, as facts: what we can see ourselves needs no error.

use reknit_protocol::{Path, Segment};
use reknit_salvage::{Problem, ProblemKind, Type};

use crate::facts::{Fact, Field, MAX_FACTS, Says, TypeName};

/// The problems as facts, as many as an error may state.
pub fn facts_of_problems(problems: &[Problem]) -> Vec<Fact> {
    problems.iter().flat_map(facts_of).take(MAX_FACTS).collect()
}

fn facts_of(problem: &Problem) -> Vec<Fact> {
    let about = |says| vec![Fact { field: field(&problem.path, None), says }];
    let inner = |name: &str, says| Fact { field: field(&problem.path, Some(name)), says };
    match &problem.kind {
        ProblemKind::Required { property } => vec![inner(property, Says::Missing)],
        ProblemKind::UnknownProperty { names } => {
            names.iter().map(|name| inner(name, Says::Unknown { known: Vec::new() })).collect()
        }
        ProblemKind::Type { expected } => match expected.as_slice() {
            [only] => type_name(*only).map_or_else(Vec::new, |expected| about(Says::WrongType { expected, got: None })),
            _ => Vec::new(),
        },
        ProblemKind::Enum { allowed } => about(Says::Allowed { values: allowed.clone(), got: None }),
        ProblemKind::Const { expected } => about(Says::Expected { value: expected.clone(), got: None }),
        ProblemKind::Range { bound, limit } => match limit.as_number() {
            Some(limit) => about(Says::Bound { side: *bound, limit: limit.clone() }),
            None => Vec::new(),
        },
        ProblemKind::Length { unit, bound, limit } => about(Says::Length { side: *bound, limit: *limit, unit: *unit }),
        ProblemKind::Pattern { pattern } => about(Says::Format { form: Some(pattern.clone()), example: None }),
        ProblemKind::MultipleOf { .. }
        | ProblemKind::NotUnique
        | ProblemKind::NoBranch
        | ProblemKind::ManyBranches
        | ProblemKind::Ambiguous { .. }
        | ProblemKind::GaveUp
        | ProblemKind::Other { .. } => about(Says::Invalid),
    }
}

fn type_name(name: Type) -> Option<TypeName> {
    TypeName::of(name.as_str())
}

fn field(path: &Path, name: Option<&str>) -> Option<Field> {
    let steps = path.segments().iter().map(|segment| match segment {
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => index.to_string(),
    });
    Field::from_steps(steps.chain(name.map(str::to_owned)))
}
