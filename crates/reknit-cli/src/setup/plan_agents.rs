//! The agents that the steps of a plan file run.

use reknit_protocol::error_chain;
use std::path::PathBuf;

use reknit_engine::SessionRules;
use reknit_plan::{AgentReference, PlanProblem, ProblemCode, agent_name};

use crate::output::{Failure, Input};
use crate::setup::AgentFile;
use crate::setup::plan_file::{PlanFile, beside};

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
