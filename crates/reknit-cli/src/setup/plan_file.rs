//! Reads a plan file, and the agents that its steps run.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use reknit_engine::SessionRules;
use reknit_plan::{
    AgentReference, FileProblem, LoadedPlan, PlanError, PlanProblem, PlanText, ProblemCode, agent_name, load_plan_file,
};
use reknit_protocol::{Object, Plan, PlanInput, Segment, Value, error_chain};
use reknit_runtime::config::{Config, SettingOrigin};
use reknit_salvage::Fix;

use crate::output::{Failure, Input, one_line};
use crate::setup::{AgentFile, SetupArguments, config_with_arguments, with_limits_of_models};

/// The most bytes of a plan file. Larger ones would take minutes to parse.
const MAX_BYTES: usize = 4 << 20;

/// A plan, and the repairs of its JSON.
pub(crate) struct PlanFile {
    pub(crate) plan: Plan,
    pub(crate) fixes: Vec<Fix>,
    /// The same, with the places of its parts in its files.
    loaded: LoadedPlan,
}

impl PlanFile {
    /// One line for each problem, with its line and column in the file if it has them.
    pub(crate) fn lines(&self, problems: &[PlanProblem]) -> Vec<String> {
        problems.iter().map(|problem| self.loaded.line(problem)).collect()
    }

    /// The agent files that its steps run.
    pub(crate) fn agents(&self) -> Vec<AgentReference<'_>> {
        self.loaded.agents()
    }

    /// A problem as JSON, with its line and column in the file if it has them.
    pub(crate) fn problem_json(&self, problem: &PlanProblem) -> Value {
        let mut value = problem.to_value();
        if let (Value::Object(object), Some(position)) = (&mut value, self.loaded.locate(&problem.location)) {
            object.extend(position.file.map(|file| ("file".to_owned(), file.into())));
            object.insert("line", position.line as u64);
            object.insert("column", position.column as u64);
        }
        value
    }
}

/// Reads a plan from YAML, JSON or a model's answer, with the plans that its steps run.
pub(crate) fn read(input: &Input) -> Result<Result<PlanFile, PlanError>, Failure> {
    let text = input.read_regular_up_to(MAX_BYTES)?;
    let loaded = load_plan_file(&text, &mut |from, name| read_sub_plan(input, from, name));
    Ok(loaded.map(|loaded| PlanFile { plan: loaded.plan.clone(), fixes: loaded.fixes.clone(), loaded }))
}

/// Reads the plan file that another one names. Its path is relative to that file.
fn read_sub_plan(input: &Input, from: &str, name: &str) -> Result<PlanText, String> {
    let path = beside(input, from, name);
    let file = Input::File(path.clone());
    let text = file.read_regular_up_to(MAX_BYTES).map_err(|failure| error_chain(&failure))?;
    let key = std::fs::canonicalize(&path).unwrap_or(path);
    Ok(PlanText { key: key.display().to_string(), text })
}

/// The path of a file that a plan file names: relative to the file `from`, or to the plan itself.
pub(crate) fn beside(input: &Input, from: &str, name: &str) -> PathBuf {
    let outer = match input {
        _ if !from.is_empty() => Path::new(from),
        Input::File(path) => path.as_path(),
        Input::Stdin => Path::new(""),
    };
    outer.parent().unwrap_or(Path::new("")).join(name)
}

pub(crate) fn load(input: &Input) -> Result<PlanFile, Failure> {
    read(input)?.map_err(|error| Failure::Plan { problems: causes(&error), hint: None })
}

/// A plan file, and what its run needs besides tools.
pub(crate) struct PlanRun {
    pub(crate) file: PlanFile,
    pub(crate) inputs: Object,
    pub(crate) request: String,
    pub(crate) agents: Vec<AgentFile>,
    pub(crate) config: Config,
}

impl PlanRun {
    pub(crate) fn load(input: &Input, inputs: &[String], arguments: &SetupArguments) -> Result<Self, Failure> {
        let file = load(input)?;
        let inputs = parse_inputs(&file.plan, inputs)?;
        let request = match file.plan.original_request.as_str() {
            "" => file.plan.plan_id.to_string(),
            request => request.to_owned(),
        };
        let mut config = config_with_arguments(arguments)?;
        let agents = read_agents(&file, input, &config.session)
            .map_err(|problems| Failure::Plan { problems: file.lines(&problems), hint: None })?;
        for agent in &agents {
            config = with_limits_of_models(config, agent);
        }
        // Who writes a plan knows what its results mean: a model is asked only if somebody wants that.
        if !config.is_configured("answer.by") {
            config = config.with("answer.by", "template", SettingOrigin::default())?;
        }
        Ok(Self { file, inputs, request, agents, config })
    }
}

/// Why a file is not a plan, one line for each problem.
pub(crate) fn causes(error: &PlanError) -> Vec<String> {
    match error {
        PlanError::File(problems) => problems.iter().map(ToString::to_string).collect(),
        _ => std::iter::successors(Some(error as &dyn Error), |error| (*error).source())
            .map(ToString::to_string)
            .collect(),
    }
}

/// The same as the JSON output of `reknit plan check`.
pub(crate) fn error_json(error: &PlanError) -> Value {
    let problems: Vec<Value> = match error {
        PlanError::File(problems) => problems.iter().map(file_problem).collect(),
        _ => vec![Value::Object(Object::from([("code", "not_a_plan".into()), ("message", error_chain(error).into())]))],
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

pub(crate) fn lines(problems: &[PlanProblem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// The inputs of a plan for people, one line for each.
pub(crate) fn describe_inputs(plan: &Plan) -> String {
    let width = plan.inputs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let line = |(name, input): &(String, PlanInput)| {
        let type_word = input.type_word.clone().or_else(|| Some(input.default.as_ref()?.kind().as_str().to_owned()));
        let allowed: Vec<String> = input.allowed.iter().map(ToString::to_string).collect();
        let allowed = (!allowed.is_empty()).then(|| format!("one of {}", allowed.join(", ")));
        let default = match &input.default {
            Some(default) => format!("default {default}"),
            None => "required".to_owned(),
        };
        let facts = [type_word, allowed, Some(default)].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let description = input.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        format!("  {name:width$}  {}\n", one_line(&format!("{facts}{description}"), usize::MAX))
    };
    plan.inputs.iter().map(line).collect()
}

/// What `reknit run PLAN --help` adds to the help: the inputs of the plan. `None` if no argument is the file of a plan with
/// inputs.
pub(crate) fn help_with_inputs(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    let mut arguments = arguments.skip_while(|argument| argument != "run").skip(1);
    let path = arguments.find(|argument| Path::new(argument).is_file())?;
    let plan = read(&Input::new(Some(Path::new(&path)))).ok()?.ok()?.plan;
    let inputs = describe_inputs(&plan);
    (!inputs.is_empty())
        .then(|| format!("\nInputs of `{}`, given with `--input NAME=VALUE`:\n{inputs}", path.display()))
}

pub(crate) fn input_hint(problems: &[PlanProblem]) -> Option<String> {
    let missing = problems.iter().find(|problem| problem.code == ProblemCode::MissingInput)?;
    let Segment::Key(name) = missing.location.path.segments().last()? else { return None };
    Some(format!("add `--input {name}=VALUE`"))
}

/// Parses the `--input` arguments. A value stays text if its input declares a type, which it is fitted to later; without a
/// type it may be JSON.
pub(crate) fn parse_inputs(plan: &Plan, typed: &[String]) -> Result<Object, Failure> {
    let mut inputs = Object::new();
    for text in typed {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("`--input {text}` has no `=`"), "write `--input shares=100`"))?;
        let declared = plan.inputs.iter().find(|(input, _)| input == name).map(|(_, input)| input.schema());
        let value = match declared.filter(Object::is_empty).and_then(|_| Value::parse(value).ok()) {
            Some(json) => json,
            None => value.into(),
        };
        if inputs.insert(name, value).is_some() {
            return Err(Failure::usage(format!("the input `{name}` is given twice"), "remove one of them"));
        }
    }
    Ok(inputs)
}

/// Reads the agent files that steps of a plan name, each once. Fails with what is wrong with them, at the steps that name them.
pub(crate) fn read_agents(
    file: &PlanFile,
    input: &Input,
    rules: &SessionRules,
) -> Result<Vec<AgentFile>, Vec<PlanProblem>> {
    let mut agents: Vec<(PathBuf, AgentFile)> = Vec::new();
    let mut problems = Vec::new();
    for reference in file.agents() {
        let path = beside(input, reference.from, reference.file);
        let full_path = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if agents.iter().any(|(known, _)| *known == full_path) {
            continue;
        }
        if agents.iter().any(|(_, agent)| agent.name == agent_name(reference.file)) {
            let message = format!("two different agents of the plan are called `{}`", agent_name(reference.file));
            problems.push(agent_problem(&reference, message, Some("rename one of the files")));
            continue;
        }
        match AgentFile::read(&path, rules) {
            Ok(agent) => agents.push((full_path, agent)),
            Err(Failure::Agent { problems: of_file, .. }) => {
                let in_file = |line: &String| format!("in `{}`: {line}", reference.file);
                problems.extend(of_file.iter().map(|line| agent_problem(&reference, in_file(line), None)));
            }
            Err(failure) => problems.push(agent_problem(&reference, error_chain(&failure), None)),
        }
    }
    if problems.is_empty() { Ok(agents.into_iter().map(|(_, agent)| agent).collect()) } else { Err(problems) }
}

/// What is wrong with an agent, at the step that names it.
pub(crate) fn agent_problem(reference: &AgentReference<'_>, message: String, hint: Option<&str>) -> PlanProblem {
    PlanProblem {
        code: ProblemCode::BadControl,
        location: reference.location.clone(),
        message,
        hint: hint.map(str::to_owned),
    }
}
