//! Loads a plan with the plans that its steps run.

use reknit_protocol::Path;

use super::loaded_plan::{LoadedPlan, PlanSource, StepOrigin};
use super::sub_plans::{SubPlanProblem, replace};
use super::{Document, read_plan_file};
use crate::check_structure;
use crate::file_problem::FileProblem;
use crate::read::PlanError;

/// How deeply plans may run other plans.
const MAX_DEPTH: usize = 8;

/// The text of a plan file that another one names.
#[derive(Debug, Clone)]
pub struct PlanText {
    /// What identifies the file, so that a plan that runs itself is found: its full path.
    pub key: String,
    pub text: String,
}

/// Reads a plan file like [`read_plan_file`], and replaces each step with `plan: FILE` by the steps of that file. `load` returns the
/// text of a file: its first argument is the key of the file that names it, empty for the plan itself, and its second the name.
///
/// ```
/// use reknit_plan::{PlanText, load_plan_file};
///
/// let text = "steps: [{id: greet, plan: greet.yaml, with: {name: Ada}}]\noutputs: {text: greet.text}";
/// let greet = "inputs: {name: you}\nsteps: [{id: hello, compute: 'Hello, {{inputs.name}}'}]\noutputs: {text: hello}";
/// let loaded = load_plan_file(text, &mut |_, name| Ok(PlanText { key: name.to_owned(), text: greet.to_owned() }))?;
/// let ids: Vec<&str> = loaded.plan.steps.iter().map(|step| step.step_id.as_str()).collect();
/// assert_eq!(ids, ["greet.inputs", "greet.hello", "greet"]);
/// # Ok::<(), reknit_plan::PlanError>(())
/// ```
pub fn load_plan_file(text: &str, load: &mut LoadText<'_>) -> Result<LoadedPlan, PlanError> {
    load_file(text, None, &[String::new()], load)
}

/// Loads the text of a file that a plan names, or says why it cannot.
pub type LoadText<'l> = dyn FnMut(&str, &str) -> Result<PlanText, String> + 'l;

fn load_file(
    text: &str,
    name: Option<&str>,
    keys: &[String],
    load: &mut LoadText<'_>,
) -> Result<LoadedPlan, PlanError> {
    let (plan, fixes) = read_plan_file(text)?;
    let key = keys.last().cloned().unwrap_or_default();
    let source = PlanSource { key, name: name.map(str::to_owned), document: Document::read(text).ok() };
    let own = |position| StepOrigin { file: 0, position };
    let mut loaded = LoadedPlan { origins: (0..plan.steps.len()).map(own).collect(), plan, fixes, files: vec![source] };
    let mut problems = Vec::new();
    let mut sub_plans: Vec<(usize, LoadedPlan)> = Vec::new();
    for (position, step) in loaded.plan.steps.iter().enumerate() {
        let Some(name) = step.sub_plan() else { continue };
        match load_sub_plan(name, keys, load) {
            Ok(inner) => sub_plans.push((position, inner)),
            Err(messages) => {
                let problem = |message| SubPlanProblem { position, key: "plan", message, hint: None };
                problems.extend(messages.into_iter().map(problem));
            }
        }
    }
    if problems.is_empty() && sub_plans.is_empty() {
        return Ok(loaded);
    }
    let replaced = if problems.is_empty() { replace(&loaded.plan, &sub_plans) } else { Err(problems) };
    match replaced {
        Ok((plan, origins)) => {
            (loaded.plan, loaded.origins) = (plan, origins);
            for (_, inner) in sub_plans {
                loaded.files.extend(inner.files);
                loaded.fixes.extend(inner.fixes);
            }
            Ok(loaded)
        }
        Err(problems) => {
            Err(PlanError::File(problems.into_iter().map(|problem| file_problem(&loaded, problem)).collect()))
        }
    }
}

/// A plan that a step runs, or what is wrong with it.
fn load_sub_plan(name: &str, keys: &[String], load: &mut LoadText<'_>) -> Result<LoadedPlan, Vec<String>> {
    let from = keys.last().map(String::as_str).unwrap_or_default();
    let PlanText { key, text } = load(from, name).map_err(|reason| vec![reason])?;
    if keys.contains(&key) {
        return Err(vec![format!("`{name}` runs itself")]);
    }
    if keys.len() > MAX_DEPTH {
        return Err(vec![format!("plans may run other plans at most {MAX_DEPTH} levels deep")]);
    }
    let keys: Vec<String> = keys.iter().cloned().chain([key]).collect();
    let in_file = |message: String| format!("in `{name}`: {message}");
    let loaded = load_file(&text, Some(name), &keys, load).map_err(|error| match error {
        PlanError::File(problems) => problems.iter().map(|problem| in_file(problem.to_string())).collect(),
        other => vec![in_file(other.to_string())],
    })?;
    match check_structure(&loaded.plan) {
        Ok(()) => Ok(loaded),
        Err(problems) => Err(problems.iter().map(|problem| loaded.line(problem)).collect()),
    }
}

fn file_problem(loaded: &LoadedPlan, problem: SubPlanProblem) -> FileProblem {
    let document = loaded.files.first().and_then(|source| source.document.as_ref());
    let is_list = document.is_some_and(|document| document.value.as_array().is_some());
    let steps = if is_list { Path::root() } else { Path::root().key("steps") };
    let path = steps.index(problem.position).key(problem.key);
    let position = document.and_then(|document| document.closest(path.segments()));
    FileProblem { path, position, message: problem.message, hint: problem.hint }
}
