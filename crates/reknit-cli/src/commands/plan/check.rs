//! `reknit plan check`: lists the problems of a plan without running it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use std::process::ExitCode;

use reknit_engine::SideEffectPolicy;
use reknit_plan::{
    Catalogue, PlanAuthor, PlanFix, PlanNote, PlanProblem, check, check_read_calls, check_structure, correct_plan,
    plan_notes,
};
use reknit_protocol::{Value, error_chain};
use reknit_runtime::config::Config;

use crate::output::{Failure, Input, count, one_line, print_data, print_message, shell_word};
use crate::setup::plan_file::PlanFile;
use crate::setup::{
    AgentFile, SetupArguments, agent_problem, discover_tools, named, plan_file, read_agents, read_config,
    warn_about_tools, with_tools,
};

const EXAMPLES: &str = "\
Examples:
  reknit plan check plan.yaml
  reknit tools check --json > tools.json && reknit plan check plan.yaml --tools tools.json
  cat answer.txt | reknit plan check --json -

Exit status: 0 the plan is valid, 1 the plan has problems, 2 bad usage.";

const DETAILS: &str = "

A plan:
  request: What are my shares worth in won?
  inputs:
    shares: 100                               a default, or {type, default, description}
  steps:
    - id: quote
      tool: stock-tool/get_stock_quote        or only the capability, if one tool has it
      with: {symbol: TSLA}
    - id: convert
      tool: convert_currency
      do: turn the dollars into won           the purpose of the step
      with: {amount: \"{{inputs.shares * quote.current_price}}\", from: USD, to: KRW}
      after: quote                            one id or a list; references are added by themselves
  outputs:
    won: convert.converted                    an expression over steps and inputs

Tools (--tools):
  {\"stock-tool\": [{\"name\": \"get_stock_quote\", \"schema\": {...}, \"output_summary\": {...}}], ...}
  For each tool the body of its answer to GET /api/capabilities; `schema` is the JSON Schema of the parameters.

JSON (--json):
  {\"ok\", \"checked\", \"steps\", \"repairs\", \"fixes\", \"problems\": [{\"code\", \"step\"?, \"path\", \"message\", \"hint\"?}]}
    checked  \"tools\", or \"structure\" if no tools are known
    repairs  the repairs of the JSON of a model's answer
    fixes    names that were corrected: [{\"step\", \"of\", \"before\", \"after\"}]
    code     not_a_plan, with \"line\" and \"column\" if they are known, or another stable code: cycle, bad_value, ...";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES.to_owned() + DETAILS)]
pub(crate) struct CheckArguments {
    /// The plan as YAML, JSON or a model's answer; `-` reads standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// A JSON file with tools, used instead of the configured ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "tool")]
    tools: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    setup: SetupArguments,
}

struct CheckResult {
    steps: usize,
    fixes: Vec<PlanFix>,
    /// The number of known tools; `None` if none are configured.
    tools: Option<usize>,
    problems: Vec<PlanProblem>,
    /// Remarks that do not prevent the plan from running.
    notes: Vec<PlanNote>,
}

/// Checks a plan. The exit status is 1 if it has problems.
pub(crate) async fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let CheckArguments { file, tools, json, setup: arguments } = arguments;
    let (tools, json) = (tools.as_deref(), *json);
    let input = Input::new(Some(file));
    let file = match plan_file::read(&input)? {
        Ok(file) => file,
        Err(error) if json => {
            print_data(&format!("{}\n", plan_file::error_json(&error)))?;
            return Ok(ExitCode::from(1));
        }
        Err(error) => return Err(bad_plan(input, plan_file::causes(&error), tools)),
    };
    let config = with_tools(read_config(arguments.files.config.as_deref())?, arguments)?;
    let catalogue = match tools {
        Some(path) => Some(load_tools(path)?),
        None => configured_tools(&config, arguments).await?,
    };
    let agents = read_agents(&file, &input, &config.session);
    let result = check_plan(&file, (catalogue, agents), &config.policy.effects);
    if json {
        print_data(&format!("{}\n", document(&result, &file)))?;
        return Ok(ExitCode::from(u8::from(!result.problems.is_empty())));
    }
    print_notes(&result, &file);
    if result.problems.is_empty() {
        return print_data(&format!("{}\n", summary(&input, &result))).map(|()| ExitCode::SUCCESS);
    }
    Err(bad_plan(input, file.lines(&result.problems), tools))
}

fn bad_plan(input: Input, problems: Vec<String>, tools: Option<&Path>) -> Failure {
    let tools = tools.map(|path| format!(" --tools {}", shell_word(&path.display().to_string()))).unwrap_or_default();
    let file = Some(input.as_argument()).filter(|file| !file.is_empty()).unwrap_or_else(|| " -".to_owned());
    let hint = format!("see the code and path of each problem with `reknit plan check --json{tools}{file}`");
    Failure::BadPlan { input, problems, hint }
}

fn check_plan(
    file: &PlanFile,
    (catalogue, agents): (Option<Catalogue>, Result<Vec<AgentFile>, Vec<PlanProblem>>),
    effects: &SideEffectPolicy,
) -> CheckResult {
    let (catalogue, of_agents) = match agents {
        Ok(agents) => with_agents(file, catalogue, agents),
        Err(problems) => (catalogue, problems),
    };
    let (catalogue, has_agent_problems) = (catalogue.as_ref(), !of_agents.is_empty());
    let mut plan = file.plan.clone();
    let fixes = catalogue.map(|catalogue| correct_plan(&mut plan, catalogue, PlanAuthor::Person)).unwrap_or_default();
    effects.add_confirmations(&mut plan);
    let problems = match catalogue {
        // Without its agents, every step that runs one would be reported twice.
        _ if has_agent_problems => of_agents,
        Some(catalogue) => {
            let mut problems = check(&plan, catalogue, PlanAuthor::Person).err().unwrap_or_default();
            problems.extend(check_read_calls(&plan, |step| effects.class_of_step(step, catalogue)));
            problems
        }
        None => check_structure(&plan).err().unwrap_or_default(),
    };
    let tools = catalogue.map(|catalogue| catalogue.tools.len());
    let notes =
        catalogue.filter(|_| problems.is_empty()).map(|catalogue| plan_notes(&plan, catalogue, PlanAuthor::Person));
    CheckResult { steps: plan.steps.len(), fixes, tools, problems, notes: notes.unwrap_or_default() }
}

/// The tools with the agents that steps of the plan run, or why these cannot be called.
fn with_agents(
    file: &PlanFile,
    catalogue: Option<Catalogue>,
    agents: Vec<AgentFile>,
) -> (Option<Catalogue>, Vec<PlanProblem>) {
    let announced = agents.into_iter().map(|agent| named(agent).announcement());
    match catalogue.as_ref().map(|catalogue| catalogue.with_agents(announced)).transpose() {
        Ok(with_agents) => (with_agents, Vec::new()),
        Err(error) => {
            let steps = file.agents();
            let problems = steps.iter().map(|step| agent_problem(step, error.to_string(), None)).collect();
            (catalogue, problems)
        }
    }
}

/// Reads a tools file as strict JSON. A repaired file might mean something else.
fn load_tools(path: &Path) -> Result<Catalogue, Failure> {
    let input = Input::File(path.to_owned());
    let usage =
        |message: String| Failure::usage(message, "create the file with `reknit tools check --json > tools.json`");
    let value = Value::parse(&input.read_text()?).map_err(|error| usage(format!("{input} is not JSON: {error}")))?;
    Catalogue::from_value(&value)
        .map_err(|error| usage(format!("{input} is not a list of tools: {}", error_chain(&error))))
}

async fn configured_tools(config: &Config, arguments: &SetupArguments) -> Result<Option<Catalogue>, Failure> {
    if config.tools.is_empty() && config.discovery.registry().is_none() {
        return Ok(None);
    }
    let found = discover_tools(config, arguments.files.config.as_deref()).await?;
    warn_about_tools(&found.problems, &found.notes);
    Ok(Some(found.catalogue))
}

fn print_notes(result: &CheckResult, file: &PlanFile) {
    let repairs = plan_file::repairs(&file.fixes).into_iter().map(|repair| format!("repaired the JSON: {repair}"));
    let fixes = result.fixes.iter().map(|fix| one_line(&fix.to_string(), usize::MAX));
    let notes = result.notes.iter().map(|note| one_line(&note.problem.to_string(), usize::MAX));
    for note in repairs.chain(fixes).chain(notes) {
        print_message(&format!("note: {note}\n"));
    }
    if result.tools.is_none() {
        print_message("note: no tool is configured, so only ids, order, templates and inputs were checked\n");
    }
    if result.tools.is_none() && result.problems.is_empty() {
        print_message("hint: name tools with `--tools FILE` or `--tool NAME=URL`, or add `[[tools]]` to reknit.toml\n");
    }
}

fn summary(input: &Input, result: &CheckResult) -> String {
    let steps = count(result.steps, "step");
    match result.tools {
        _ if result.steps == 0 => format!("{input} has no steps: a run of it ends as `impossible`"),
        Some(_) if result.notes.is_empty() => format!("{input} can run: {steps}, no problems"),
        Some(_) => format!("{input} can run: {steps}, no problems, but see the notes"),
        None => format!("{input} has {steps} and no problems that can be found without tools"),
    }
}

fn document(result: &CheckResult, file: &PlanFile) -> Value {
    Value::from([
        ("ok", Value::Bool(result.problems.is_empty())),
        ("checked", Value::from(if result.tools.is_some() { "tools" } else { "structure" })),
        ("steps", Value::from(result.steps as u64)),
        ("repairs", plan_file::repairs(&file.fixes).into_iter().map(Value::from).collect()),
        ("fixes", result.fixes.iter().map(PlanFix::to_value).collect()),
        ("notes", result.notes.iter().map(|note| note.problem.to_value()).collect()),
        ("problems", result.problems.iter().map(|problem| file.problem_json(problem)).collect()),
    ])
}
