//! Reads a plan file.

use std::error::Error;

use reknit_plan::{FileProblem, PlanError, PlanProblem, ProblemCode, read_plan_file};
use reknit_protocol::{Object, Plan, Segment, Value};
use reknit_salvage::Fix;

use crate::failure::Failure;
use crate::input::Input;

/// The most bytes of a plan file. Larger ones would take minutes to parse.
const MAX_BYTES: usize = 4 << 20;

/// A plan, and the repairs of its JSON.
pub(crate) struct PlanFile {
    pub(crate) plan: Plan,
    pub(crate) fixes: Vec<Fix>,
}

/// Reads a plan from YAML, JSON or a model's answer.
pub(crate) fn read(input: &Input) -> Result<Result<PlanFile, PlanError>, Failure> {
    Ok(read_plan_file(&input.read_regular_up_to(MAX_BYTES)?).map(|(plan, fixes)| PlanFile { plan, fixes }))
}

/// Reads a plan to run it.
pub(crate) fn load(input: &Input) -> Result<PlanFile, Failure> {
    read(input)?.map_err(|error| Failure::Plan { problems: causes(&error), hint: None })
}

/// Why a file is not a plan, one line for each problem.
pub(crate) fn causes(error: &PlanError) -> Vec<String> {
    match error {
        PlanError::File(problems) => problems.iter().map(ToString::to_string).collect(),
        _ => chain(error),
    }
}

/// The same as the JSON output of `reknit plan check`.
pub(crate) fn error_json(error: &PlanError) -> Value {
    let problems: Vec<Value> = match error {
        PlanError::File(problems) => problems.iter().map(file_problem).collect(),
        _ => vec![Value::Object(Object::from([
            ("code", "not_a_plan".into()),
            ("message", chain(error).join(": ").into()),
        ]))],
    };
    Value::Object(Object::from([("ok", Value::Bool(false)), ("problems", Value::Array(problems))]))
}

fn file_problem(problem: &FileProblem) -> Value {
    let mut object = Object::from([("code", Value::from("not_a_plan")), ("path", problem.path.to_string().into())]);
    if let Some((line, column)) = problem.position {
        object.insert("line", line as u64);
        object.insert("column", column as u64);
    }
    object.insert("message", problem.message.as_str());
    if let Some(hint) = &problem.hint {
        object.insert("hint", hint.as_str());
    }
    Value::Object(object)
}

/// An error and its sources.
pub(crate) fn chain(error: &dyn Error) -> Vec<String> {
    std::iter::successors(Some(error), |error| (*error).source()).map(ToString::to_string).collect()
}

/// The repairs of the JSON, each kind once.
pub(crate) fn repairs(fixes: &[Fix]) -> Vec<&'static str> {
    let mut kinds: Vec<&str> = Vec::new();
    for fix in fixes {
        if !kinds.contains(&fix.kind.description()) {
            kinds.push(fix.kind.description());
        }
    }
    kinds
}

/// One line for each problem.
pub(crate) fn lines(problems: &[PlanProblem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// The hint for a missing input.
pub(crate) fn input_hint(problems: &[PlanProblem]) -> Option<String> {
    let missing = problems.iter().find(|problem| problem.code == ProblemCode::MissingInput)?;
    let Segment::Key(name) = missing.location.path.segments().last()? else { return None };
    Some(format!("add `--input {name}=VALUE`"))
}
