//! The start of the run of a test.

use std::path::Path;
use std::sync::Arc;

use reknit_engine::{
    Earlier, MACHINE_VERSION, Metadata, Policy, ReportFormat, SessionRules, SessionStarted, Started, SubAgent,
    Templates,
};
use reknit_expressions::ParameterMapping;
use reknit_model_api::TargetName;
use reknit_plan::{
    AgentAnnouncement, Catalogue, PlanAuthor, PlanError, PlanText, check, correct_plan, load_plan_file, read_plan_file,
    resolve_inputs,
};
use reknit_protocol::{Object, Plan, RunId, Value};
use reknit_runtime::RunStart;
use reknit_runtime::agent::{Agent, AgentLimits};
use reknit_runtime::config::check_regular_file;

use crate::json::{from_value, to_value, unread_key, with_differences};
use crate::test_file::{AgentSource, PlanSource, TestAgent, TestFile, TestStart};

/// The id of the run of a test. The ids of the sessions of its steps follow from it.
pub(crate) const RUN: &str = "test";

/// The largest file that a test names.
const MAX_BYTES: u64 = 4 << 20;

/// Why the run of a test cannot start, one line for each problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct TestStartError(pub Vec<String>);

impl TestStartError {
    fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }
}

/// The start of the run of a test. Paths in the test are relative to `folder`.
pub(crate) fn run_start(file: &TestFile, folder: &Path) -> Result<RunStart, TestStartError> {
    let rules = RunRules::of(file)?;
    match &file.start {
        TestStart::Request(request) => Ok(rules.started(request.clone(), None, Object::new()).into()),
        TestStart::Plan { plan, request, inputs, agents } => {
            let (plan, files) = load_plan(plan, folder)?;
            let agents = agents.iter().map(AgentPart::of_test).chain(files.into_iter().map(Ok));
            rules.plan_started(&plan, request.clone(), inputs, agents.collect::<Result<_, _>>()?)
        }
        TestStart::Agent { agent, input, .. } => {
            let part = match agent {
                AgentSource::File(path) => read_agent_file(&folder.join(path), 0)?,
                AgentSource::Inline(agent) => AgentPart::of_test(agent)?,
            };
            let mut session = rules.session(part)?;
            session.run = RunId::new(RUN);
            session.seed = file.seed;
            session.metadata = rules.metadata.clone();
            input.trim().clone_into(&mut session.input);
            Ok(session.into())
        }
    }
}

/// The rules of a test, and what its machines may use.
struct RunRules {
    policy: Arc<Policy>,
    templates: Arc<Templates>,
    metadata: Metadata,
    targets: Vec<TargetName>,
    catalogue: Arc<Catalogue>,
    mappings: Vec<ParameterMapping>,
    seed: u64,
}

impl RunRules {
    fn of(file: &TestFile) -> Result<Self, TestStartError> {
        let texts = file.metadata.iter().filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())));
        let metadata =
            Metadata::from_pairs(texts).map_err(|error| TestStartError::one(format!("`metadata`: {error}")))?;
        Ok(Self {
            policy: Arc::new(overlay("policy", &file.policy)?),
            templates: Arc::new(overlay("prompts", &file.prompts)?),
            metadata,
            targets: target_names(&file.targets),
            catalogue: Arc::new(file.tools.clone()),
            mappings: file.mappings.clone(),
            seed: file.seed,
        })
    }

    fn started(&self, request: String, plan: Option<Plan>, inputs: Object) -> Started {
        Started {
            run: RunId::new(RUN),
            request,
            plan,
            plan_author: PlanAuthor::Person,
            inputs,
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: self.metadata.clone(),
            catalogue: Arc::clone(&self.catalogue),
            targets: self.targets.clone(),
            policy: Arc::clone(&self.policy),
            templates: Arc::clone(&self.templates),
            mappings: self.mappings.clone(),
            seed: self.seed,
            trace_parent: None,
            fork: None,
            earlier: Earlier::default(),
            machine_version: MACHINE_VERSION,
        }
    }

    fn plan_started(
        &self,
        plan: &Plan,
        request: Option<String>,
        inputs: &Object,
        agents: Vec<AgentPart>,
    ) -> Result<RunStart, TestStartError> {
        let request = request.unwrap_or_else(|| match plan.original_request.as_str() {
            "" => plan.plan_id.to_string(),
            request => request.to_owned(),
        });
        let mut started = self.started(request, Some(plan.clone()), inputs.clone());
        if !agents.is_empty() {
            let catalogue = started.catalogue.with_agents(agents.iter().map(AgentPart::announcement));
            started.catalogue = Arc::new(catalogue.map_err(|error| TestStartError::one(error.to_string()))?);
            started.agents = agents.into_iter().map(|part| self.sub_agent(part)).collect::<Result<_, _>>()?;
        }
        let mut corrected = plan.clone();
        correct_plan(&mut corrected, &started.catalogue, PlanAuthor::Person);
        started.policy.effects.add_confirmations(&mut corrected);
        let problems = check(&corrected, &started.catalogue, PlanAuthor::Person).err().unwrap_or_default();
        let of_inputs = resolve_inputs(plan, inputs).err().unwrap_or_default();
        let problems: Vec<String> =
            problems.iter().chain(&of_inputs).map(|problem| format!("the plan: {problem}")).collect();
        if problems.is_empty() { Ok(started.into()) } else { Err(TestStartError(problems)) }
    }

    fn sub_agent(&self, part: AgentPart) -> Result<SubAgent, TestStartError> {
        let (name, description) = (part.name.clone(), part.description.clone());
        Ok(SubAgent { name, description, session: self.session(part)? })
    }

    fn session(&self, part: AgentPart) -> Result<SessionStarted, TestStartError> {
        let AgentPart { name, prompt, rules, tools, targets, policy, limits, agents, .. } = part;
        let mut policy = policy.unwrap_or_else(|| self.policy.as_ref().clone());
        let own = &mut policy.limits;
        own.tool_calls = limits.tool_calls.unwrap_or(own.tool_calls);
        own.model_calls = limits.model_calls.unwrap_or(own.model_calls);
        own.calls_at_once = limits.calls_at_once.unwrap_or(own.calls_at_once);
        let targets = targets.map_or_else(|| self.targets.clone(), |names| target_names(&names));
        if targets.is_empty() {
            return Err(TestStartError::one("an agent needs a model: name the recorded ones, as in `targets: [main]`"));
        }
        Ok(SessionStarted {
            run: RunId::new(""),
            agent: name,
            prompt,
            input: String::new(),
            attachments: Vec::new(),
            metadata: Metadata::default(),
            agents: agents.into_iter().map(|agent| self.sub_agent(agent)).collect::<Result<_, _>>()?,
            catalogue: part_of(&self.catalogue, tools.as_deref())?,
            unavailable: Vec::new(),
            targets,
            rules,
            policy: Arc::new(policy),
            templates: Arc::clone(&self.templates),
            words: Arc::new(self.templates.session_texts()),
            seed: 0,
            trace_parent: None,
            fork: None,
            machine_version: MACHINE_VERSION,
        })
    }
}

fn target_names(names: &[String]) -> Vec<TargetName> {
    names.iter().map(|name| TargetName::from(name.as_str())).collect()
}

/// The default of a type with the differences that a file states. A key that nobody reads is a problem.
pub(crate) fn overlay<T>(key: &str, differences: &Value) -> Result<T, TestStartError>
where
    T: Default + serde::Serialize + serde::de::DeserializeOwned,
{
    let wanted = with_differences(&to_value(&T::default()), differences);
    let value: T = from_value(&wanted).map_err(|message| TestStartError::one(format!("`{key}`: {message}")))?;
    match unread_key(differences, &to_value(&value)) {
        Some(unknown) => Err(TestStartError::one(format!("`{key}.{unknown}`: unknown key"))),
        None => Ok(value),
    }
}

/// The tools and capabilities with these names, each as `tool` or `tool/capability`.
fn part_of(all: &Arc<Catalogue>, names: Option<&[String]>) -> Result<Arc<Catalogue>, TestStartError> {
    let Some(names) = names else { return Ok(Arc::clone(all)) };
    let mut keys = Vec::new();
    for name in names {
        let known = match name.split_once('/') {
            Some((tool, capability)) => all.entry(tool, capability).map(|_| vec![name.clone()]),
            None => all.tool(name).map(|tool| tool.capabilities.iter().map(|entry| tool.key(entry)).collect()),
        };
        let unknown = || TestStartError::one(format!("`{name}` is not among the `tools` of the test"));
        keys.extend(known.ok_or_else(unknown)?);
    }
    Ok(Arc::new(all.restricted_to(&keys)))
}

/// The plan, and the agents in the files that it names.
fn load_plan(source: &PlanSource, folder: &Path) -> Result<(Plan, Vec<AgentPart>), TestStartError> {
    let path = match source {
        PlanSource::Inline(plan) => {
            let (plan, _) = read_plan_file(&plan.to_string()).map_err(|error| plan_error("plan", &error))?;
            return Ok((plan, Vec::new()));
        }
        PlanSource::File(path) => folder.join(path),
    };
    let name = path.display().to_string();
    let text = read_text(&path)?;
    let beside = |from: &str, name: &str| {
        let outer = if from.is_empty() { path.as_path() } else { Path::new(from) };
        outer.parent().unwrap_or(Path::new("")).join(name)
    };
    let loaded = load_plan_file(&text, &mut |from, name| {
        let path = beside(from, name);
        let text = read_text(&path).map_err(|error| error.to_string())?;
        let key = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(PlanText { key: key.display().to_string(), text })
    });
    let loaded = loaded.map_err(|error| plan_error(&name, &error))?;
    let mut agents: Vec<AgentPart> = Vec::new();
    for reference in loaded.agents() {
        let part = read_agent_file(&beside(reference.from, reference.file), 0)?;
        if !agents.iter().any(|known| known.name == part.name) {
            agents.push(part);
        }
    }
    Ok((loaded.plan, agents))
}

fn plan_error(name: &str, error: &PlanError) -> TestStartError {
    match error {
        PlanError::File(problems) => {
            TestStartError(problems.iter().map(|problem| format!("`{name}`: {problem}")).collect())
        }
        other => TestStartError::one(format!("`{name}`: {other}")),
    }
}

/// The text of a file that a test names.
pub(crate) fn read_text(path: &Path) -> Result<String, TestStartError> {
    let failed = |error: String| TestStartError::one(format!("cannot read `{}`: {error}", path.display()));
    // A pipe or a device might never end.
    check_regular_file(path).map_err(|error| failed(error.to_string()))?;
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(failed(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

/// How deeply agents may call other agents.
const MAX_DEPTH: usize = 8;

/// An agent, wherever it is written.
#[derive(Debug)]
struct AgentPart {
    name: String,
    description: String,
    prompt: String,
    rules: SessionRules,
    tools: Option<Vec<String>>,
    targets: Option<Vec<String>>,
    /// Its own policy; that of the test if it has none.
    policy: Option<Policy>,
    limits: AgentLimits,
    agents: Vec<AgentPart>,
}

impl AgentPart {
    /// The agent as a plan sees it whose steps run it.
    fn announcement(&self) -> AgentAnnouncement {
        let report_type = if self.rules.report.format == ReportFormat::Json { "object" } else { "string" };
        AgentAnnouncement { name: self.name.clone(), description: self.description.clone(), report_type }
    }

    fn of_test(agent: &TestAgent) -> Result<Self, TestStartError> {
        let policy = agent.policy.as_ref().map(|policy| overlay("policy", policy)).transpose()?;
        let agents = agent.agents.iter().map(Self::of_test).collect::<Result<_, _>>()?;
        Ok(Self {
            name: agent.name.clone(),
            description: agent.description.clone(),
            prompt: agent.prompt.clone(),
            rules: overlay("rules", &agent.rules)?,
            tools: agent.tools.clone(),
            targets: agent.targets.clone(),
            policy,
            limits: AgentLimits::default(),
            agents,
        })
    }
}

/// Reads an agent file and those of the agents that it may call.
fn read_agent_file(path: &Path, depth: usize) -> Result<AgentPart, TestStartError> {
    if depth > MAX_DEPTH {
        return Err(TestStartError::one(format!("`{}`: agents call each other without an end", path.display())));
    }
    let text = read_text(path)?;
    let mut agent = Agent::read(&text, &SessionRules::default()).map_err(|problems| {
        TestStartError(problems.iter().map(|problem| format!("`{}`: {problem}", path.display())).collect())
    })?;
    let beside = |file: &str| path.parent().unwrap_or(Path::new("")).join(file);
    if let Some(file) = agent.schema_file.take() {
        let text = read_text(&beside(&file))?;
        let schema = Value::parse(&text).map_err(|error| TestStartError::one(format!("`{file}`: {error}")))?;
        agent.rules.report.schema = Some(schema);
    }
    let agents = agent.agents.iter().map(|file| read_agent_file(&beside(file), depth + 1)).collect::<Result<_, _>>()?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(AgentPart {
        name,
        description: agent.description,
        prompt: agent.prompt,
        rules: agent.rules,
        tools: agent.tools,
        targets: agent.targets,
        policy: None,
        limits: agent.limits,
        agents,
    })
}
