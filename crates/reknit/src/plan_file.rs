//! A plan from a file.

use std::error::Error;

use reknit_plan::{FileProblem, PlanError, PlanProblem, ProblemCode, read_plan_file};
use reknit_protocol::{Object, Plan, Segment, Value};
use reknit_salvage::Fix;

use crate::failure::Failure;
use crate::input::Input;

/// No plan is larger, in bytes; what is takes minutes to be read.
const LARGEST: usize = 4 << 20;

/// A plan, and what a model's words had to be repaired in.
pub(crate) struct PlanFile {
    pub(crate) plan: Plan,
    pub(crate) fixes: Vec<Fix>,
}

/// Reads a plan in any of its forms.
pub(crate) fn read(input: &Input) -> Result<Result<PlanFile, PlanError>, Failure> {
    Ok(read_plan_file(&input.read_up_to(LARGEST)?).map(|(plan, fixes)| PlanFile { plan, fixes }))
}

/// Reads a plan that is to run.
pub(crate) fn load(input: &Input) -> Result<PlanFile, Failure> {
    read(input)?.map_err(|error| Failure::Plan { problems: causes(&error), hint: None })
}

/// Why a file is no plan, a line for each thing.
pub(crate) fn causes(error: &PlanError) -> Vec<String> {
    match error {
        PlanError::File(problems) => problems.iter().map(ToString::to_string).collect(),
        _ => chain(error),
    }
}

/// A file that is no plan, as JSON.
pub(crate) fn unreadable(error: &PlanError) -> Value {
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
    if let Some((line, column)) = problem.place {
        object.insert("line", line as u64);
        object.insert("column", column as u64);
    }
    object.insert("message", problem.message.as_str());
    if let Some(hint) = &problem.hint {
        object.insert("hint", hint.as_str());
    }
    Value::Object(object)
}

fn chain(error: &PlanError) -> Vec<String> {
    std::iter::successors(Some(error as &dyn Error), |error| (*error).source()).map(ToString::to_string).collect()
}

/// What a model's words had to be repaired in, each kind once.
pub(crate) fn repairs(fixes: &[Fix]) -> Vec<&'static str> {
    let mut words: Vec<&str> = Vec::new();
    for fix in fixes {
        if !words.contains(&fix.kind.words()) {
            words.push(fix.kind.words());
        }
    }
    words
}

/// A line for each problem.
pub(crate) fn lines(problems: &[PlanProblem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// How an input that is missing is given.
pub(crate) fn input_hint(problems: &[PlanProblem]) -> Option<String> {
    let missing = problems.iter().find(|problem| problem.code == ProblemCode::MissingInput)?;
    let Segment::Key(name) = missing.place.path.segments().last()? else { return None };
    Some(format!("give it with `--input {name}=...`"))
}
