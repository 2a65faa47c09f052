//! A plan with the plans that its steps run.

use reknit_protocol::{Path, Plan, Segment};
use reknit_salvage::Fix;

use super::sub_plans::{SubPlanProblem, replace};
use super::{Document, FileProblem, read_plan_file};
use crate::read::PlanError;
use crate::{PlanLocation, StepIndex, check_structure};

/// How deeply plans may run other plans.
const MAX_DEPTH: usize = 8;

/// The text of a plan file that another one names.
#[derive(Debug, Clone)]
pub struct PlanText {
    /// What identifies the file, so that a plan that runs itself is found: its full path.
    pub key: String,
    pub text: String,
}

/// A plan without steps that run other plans, which knows where each of its steps is written.
#[derive(Debug)]
pub struct LoadedPlan {
    pub plan: Plan,
    pub fixes: Vec<Fix>,
    /// The file of the plan itself, and then those of the plans that its steps run.
    pub(super) files: Vec<PlanSource>,
    pub(super) origins: Vec<StepOrigin>,
}

/// A part of a plan in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePosition<'p> {
    /// The name of the file as a step names it; `None` for the plan itself.
    pub file: Option<&'p str>,
    pub line: usize,
    pub column: usize,
}

/// An agent file that a step of a plan runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReference<'p> {
    /// The file as the step names it.
    pub file: &'p str,
    /// The key of the plan file whose step it is, empty for the plan itself. The path of the agent file is relative to it.
    pub from: &'p str,
    /// Where the step names it.
    pub location: PlanLocation,
}

#[derive(Debug)]
pub(super) struct PlanSource {
    /// What identifies the file, empty for the plan itself.
    key: String,
    name: Option<String>,
    document: Option<Document>,
}

/// Where a step is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOrigin {
    /// The position of the file in [`LoadedPlan::files`].
    pub(super) file: usize,
    /// The position of the step in its file.
    pub(super) position: usize,
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
            Err(PlanError::File(problems.into_iter().map(|problem| loaded.file_problem(problem)).collect()))
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

impl LoadedPlan {
    /// Where a part of the plan is written, or the closest part around it. `None` for JSON.
    pub fn locate(&self, location: &PlanLocation) -> Option<FilePosition<'_>> {
        let (origin, path) = match location.path.segments() {
            [steps @ Segment::Key(list), Segment::Index(index), rest @ ..] if list == "steps" => {
                let origin = self.origins.get(*index)?;
                let written = [steps.clone(), Segment::Index(origin.position)].into_iter().chain(rest.iter().cloned());
                (*origin, written.collect::<Path>())
            }
            _ => (StepOrigin { file: 0, position: 0 }, location.path.clone()),
        };
        let source = self.files.get(origin.file)?;
        let (line, column) = source.document.as_ref()?.locate(&PlanLocation { step: location.step.clone(), path })?;
        Some(FilePosition { file: source.name.as_deref(), line, column })
    }

    /// The agent files that steps run, in the order of the plan; several steps may run the same one.
    pub fn agents(&self) -> Vec<AgentReference<'_>> {
        let mut agents = Vec::new();
        for (index, (step, origin)) in self.plan.steps.iter().zip(&self.origins).enumerate() {
            let from = self.files.get(origin.file).map(|source| source.key.as_str());
            if let (Some(file), Some(from)) = (step.agent_file(), from) {
                let location = PlanLocation::step(StepIndex::new(index), &step.step_id).key("metadata").key("agent");
                agents.push(AgentReference { file, from, location });
            }
        }
        agents
    }

    pub fn line(&self, problem: &crate::PlanProblem) -> String {
        match self.locate(&problem.location) {
            Some(FilePosition { file, line, column }) => {
                let file = file.map_or_else(String::new, |file| format!("in `{file}`: "));
                format!("{file}line {line}, column {column}: {problem}")
            }
            None => problem.to_string(),
        }
    }

    fn file_problem(&self, problem: SubPlanProblem) -> FileProblem {
        let document = self.files.first().and_then(|source| source.document.as_ref());
        let is_list = document.is_some_and(|document| document.value.as_array().is_some());
        let steps = if is_list { Path::root() } else { Path::root().key("steps") };
        let path = steps.index(problem.position).key(problem.key);
        let position = document.and_then(|document| document.closest(path.segments()));
        FileProblem { path, position, message: problem.message, hint: problem.hint }
    }
}
