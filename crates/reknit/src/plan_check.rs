//! `reknit plan check`: what is wrong with a plan, without running it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use reknit_plan::{Author, Catalogue, NameFix, PlanNote, PlanProblem, check, check_structure, correct_names, notes};
use reknit_protocol::{Object, Value};
use reknit_tools::Client;

use crate::cli::WorkArguments;
use crate::failure::Failure;
use crate::input::Input;
use crate::plan_file::{self, PlanFile};
use crate::show::{harmless, shell_word};
use crate::work::{config, warn, with_tools};

/// What came of the check.
struct Findings {
    steps: usize,
    fixes: Vec<NameFix>,
    /// How many tools are known; none if there was nothing to ask.
    tools: Option<usize>,
    problems: Vec<PlanProblem>,
    /// What nobody announces.
    notes: Vec<PlanNote>,
}

/// Checks a plan. Ends with 1 if something is wrong with it.
pub(crate) async fn run(
    file: &Path,
    tools: Option<&Path>,
    arguments: &WorkArguments,
    json: bool,
) -> Result<ExitCode, Failure> {
    let input = Input::new(Some(file));
    let file = match plan_file::read(&input)? {
        Ok(file) => file,
        Err(error) if json => return print(&plan_file::unreadable(&error)).map(|()| ExitCode::from(1)),
        Err(error) => return Err(bad(input, plan_file::causes(&error), tools)),
    };
    let catalogue = match tools {
        Some(path) => Some(load_tools(path)?),
        None => discover(arguments).await?,
    };
    let findings = examine(&file, catalogue.as_ref());
    if json {
        print(&document(&findings, &file))?;
        return Ok(ExitCode::from(u8::from(!findings.problems.is_empty())));
    }
    remark(&findings, &file);
    if findings.problems.is_empty() {
        writeln!(io::stdout(), "{}", verdict(&input, &findings)).map_err(Failure::Write)?;
        return Ok(ExitCode::SUCCESS);
    }
    Err(bad(input, plan_file::lines(&findings.problems), tools))
}

fn bad(input: Input, problems: Vec<String>, tools: Option<&Path>) -> Failure {
    let hint = format!("see codes and paths with `reknit plan check --json{}`", arguments_again(&input, tools));
    Failure::BadPlan { input, problems, hint }
}

fn examine(file: &PlanFile, catalogue: Option<&Catalogue>) -> Findings {
    let mut plan = file.plan.clone();
    let fixes = catalogue.map(|catalogue| correct_names(&mut plan, catalogue, Author::Person)).unwrap_or_default();
    let problems = match catalogue {
        Some(catalogue) => check(&plan, catalogue, Author::Person).err(),
        None => check_structure(&plan).err(),
    };
    let tools = catalogue.map(|catalogue| catalogue.tools.len());
    let problems = problems.unwrap_or_default();
    let notes = catalogue.filter(|_| problems.is_empty()).map(|catalogue| notes(&plan, catalogue, Author::Person));
    Findings { steps: plan.steps.len(), fixes, tools, problems, notes: notes.unwrap_or_default() }
}

/// The tools of a file, read strictly: one that had to be mended might mean something else.
fn load_tools(path: &Path) -> Result<Catalogue, Failure> {
    let input = Input::File(path.to_owned());
    let usage = |what: String| Failure::Usage {
        what,
        hint: Some("write such a file with `reknit tools check --json > tools.json`".to_owned()),
    };
    let value = Value::parse(&input.read_text()?).map_err(|error| usage(format!("{input} is not JSON: {error}")))?;
    Catalogue::from_value(&value).map_err(|error| {
        let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |error| (*error).source());
        let words: Vec<String> = chain.map(ToString::to_string).collect();
        usage(format!("{input} is no list of tools: {}", words.join(": ")))
    })
}

/// The tools that are configured; none if there are none.
async fn discover(arguments: &WorkArguments) -> Result<Option<Catalogue>, Failure> {
    let addresses = with_tools(config(arguments.files.config.as_deref())?, arguments)?.tools;
    if addresses.is_empty() {
        return Ok(None);
    }
    let client =
        Client::new().map_err(|source| Failure::Start { what: "the HTTP client", source: Box::new(source) })?;
    let found = client.discover(&addresses).await;
    warn(&found.problems);
    Ok(Some(found.catalogue))
}

/// What was put right, and what could not be looked at.
fn remark(findings: &Findings, file: &PlanFile) {
    let mut out = io::stderr().lock();
    // The verdict follows; who cannot be told this still has that.
    for words in plan_file::repairs(&file.fixes) {
        let _ = writeln!(out, "note: the text was mended: {words}");
    }
    for fix in &findings.fixes {
        let _ = writeln!(out, "note: {}", harmless(&fix.to_string()));
    }
    for note in &findings.notes {
        let _ = writeln!(out, "note: {}", harmless(&note.problem.to_string()));
    }
    if findings.tools.is_none() {
        let _ = writeln!(out, "note: no tools are known, so only ids, order, templates and inputs were checked");
    }
    if findings.tools.is_none() && findings.problems.is_empty() {
        let _ = writeln!(out, "hint: name tools with `--tools FILE`, `--tool NAME=URL`, or `[[tools]]` in reknit.toml");
    }
}

fn verdict(input: &Input, findings: &Findings) -> String {
    let steps = if findings.steps == 1 { "1 step".to_owned() } else { format!("{} steps", findings.steps) };
    match findings.tools {
        _ if findings.steps == 0 => format!("{input} has no steps: running it ends as `impossible`"),
        Some(_) if findings.notes.is_empty() => format!("{input} can run: {steps}, no problem"),
        Some(_) => format!("{input} can run: {steps}, no problem, but see the notes"),
        None => format!("{input} has {steps}, and no problem that can be seen without tools"),
    }
}

fn document(findings: &Findings, file: &PlanFile) -> Value {
    let list = |values: Vec<Value>| Value::Array(values);
    Value::Object(Object::from([
        ("ok", Value::Bool(findings.problems.is_empty())),
        ("checked", Value::from(if findings.tools.is_some() { "tools" } else { "structure" })),
        ("steps", Value::from(findings.steps as u64)),
        ("repairs", list(plan_file::repairs(&file.fixes).into_iter().map(Value::from).collect())),
        ("fixes", list(findings.fixes.iter().map(NameFix::to_value).collect())),
        ("notes", list(findings.notes.iter().map(|note| note.problem.to_value()).collect())),
        ("problems", list(findings.problems.iter().map(PlanProblem::to_value).collect())),
    ]))
}

fn print(value: &Value) -> Result<(), Failure> {
    writeln!(io::stdout(), "{value}").map_err(Failure::Write)
}

fn arguments_again(input: &Input, tools: Option<&Path>) -> String {
    let tools = tools.map(|path| format!(" --tools {}", shell_word(&path.display().to_string()))).unwrap_or_default();
    let file = input.as_argument();
    format!("{tools}{}", if file.is_empty() { " -" } else { &file })
}
