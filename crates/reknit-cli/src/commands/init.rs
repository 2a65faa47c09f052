//! `reknit init`: writes a configuration, a plan and an agent that run at once.

mod client_config;
mod first_plan;
mod model_entry;
mod tool_entries;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_plan::Catalogue;
use reknit_runtime::config::Config;
use reknit_tools::discover_all;

use crate::environment::variable;
use crate::output::{Failure, Input, Questions, one_line, print_data, print_message};
use crate::setup::{DEFAULT_CONFIG, ModelArguments, trust_file, unless_ended, uses_of, warn_about_tools};
use first_plan::FirstPlan;
use tool_entries::ToolEntries;

const HAS_MCP: bool = cfg!(feature = "mcp");

/// The end of the help page. A build without the feature `mcp` does not advertise it.
fn details(has_mcp: bool) -> String {
    let (files, example) = if has_mcp {
        (
            "an MCP client's configuration (.mcp.json, .cursor/mcp.json,\n.vscode/mcp.json) or of ",
            "  reknit init --tools-from ~/.cursor/mcp.json            the MCP servers of another program\n",
        )
    } else {
        ("", "  reknit init --tools-from openapi.yaml                  the API of a service\n")
    };
    format!(
        "It writes reknit.toml, plan.yaml and agent.md into the current folder, and never overwrites a file.

The model is the first API key in your environment or a server on this machine (see `reknit models --help`); at a terminal
you choose if there are several. The tools are those of {files}an OpenAPI document (openapi.yaml, swagger.json, ...) in this folder, else those of the demo.

Examples:
  reknit init                                            in an empty folder: the tools of the demo
{example}  reknit init --yes --model-url http://127.0.0.1:8080/v1 in a script"
    )
}

#[derive(Debug, Args)]
#[command(after_help = details(HAS_MCP))]
pub(crate) struct InitArguments {
    #[arg(long, help = if HAS_MCP {
        "Answer every question with yes or its default, also whether the programs of an MCP client's configuration may be started"
    } else {
        "Answer every question with yes or its default"
    })]
    yes: bool,
    #[arg(help = if HAS_MCP {
        "Use the tools of this file: the configuration of an MCP client, or an OpenAPI document; may be repeated"
    } else {
        "Use the tools of this OpenAPI document; may be repeated"
    })]
    #[arg(long = "tools-from", value_name = "FILE", value_hint = ValueHint::FilePath)]
    tools_from: Vec<PathBuf>,
    /// Use the tools of the demo, whatever is in the folder
    #[arg(long, conflicts_with = "tools_from")]
    demo: bool,
    #[command(flatten)]
    model: ModelArguments,
}

const PLAN: &str = "plan.yaml";
const AGENT: &str = "agent.md";

const AGENT_TEXT: &str = "\
---
description: answers questions with the tools of reknit.toml
maxTurns: 8
---
You answer questions with your tools. Call a tool for every fact that you do not know, and never invent a value. Report in
a few sentences, with the numbers that the tools returned. If something cannot be found out, say what is missing.
";

pub(crate) async fn run(arguments: &InitArguments) -> Result<ExitCode, Failure> {
    check_nothing_is_there()?;
    let questions = Questions::new(arguments.yes);
    let model = model_entry::choose(arguments, &questions).await?;
    let tools = tool_entries::choose(arguments, &questions).await?;
    let text = format!("{}\n{}", model.section, tools.section);
    // What cannot be read again is not written.
    let config = Config::read(&text, DEFAULT_CONFIG, &variable)?;
    let plan = first_plan(&config, &tools).await?;

    write_new(DEFAULT_CONFIG, &text)?;
    write_new(PLAN, &plan.text)?;
    write_new(AGENT, AGENT_TEXT)?;
    let is_trusted = tools.runs_programs && trust_file(Path::new(DEFAULT_CONFIG)).is_ok();
    let lines = [
        (DEFAULT_CONFIG, model.shown.clone()),
        ("", tools.shown.clone()),
        (PLAN, plan.shown.clone()),
        (AGENT, "an agent that may call all tools".to_owned()),
    ];
    for (name, content) in lines {
        let verb = if name.is_empty() { "" } else { "wrote" };
        print_data(&format!("{verb:<5} {name:<12} {}\n", one_line(&content, usize::MAX)))?;
    }
    for note in &tools.notes {
        print_message(&format!("note: {}\n", one_line(note, usize::MAX)));
    }
    if !is_trusted && !uses_of(&config, |_| true).is_empty() {
        print_message(
            "note: the file runs programs or decides where data goes; before it is used, type `reknit trust`\n",
        );
    }
    print_message(&next_steps(model.is_there, &plan, &tools));
    Ok(ExitCode::SUCCESS)
}

/// Fails if one of the files is there: nothing is overwritten.
fn check_nothing_is_there() -> Result<(), Failure> {
    let there: Vec<String> = [DEFAULT_CONFIG, PLAN, AGENT]
        .into_iter()
        .filter(|name| Path::new(name).symlink_metadata().is_ok())
        .map(|name| format!("`{name}`"))
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    let (verb, object) = if there.len() == 1 { ("exists", "it") } else { ("exist", "them") };
    Err(Failure::usage(
        format!("{} {verb} already, so nothing was written", there.join(" and ")),
        format!("move {object} away, or use another folder: `mkdir first-steps && cd first-steps && reknit init`"),
    ))
}

/// A plan over the tools. Those of others are asked for their capabilities first.
async fn first_plan(config: &Config, tools: &ToolEntries) -> Result<FirstPlan, Failure> {
    if tools.is_demo {
        return Ok(FirstPlan::of_demo());
    }
    let (sources, providers) = config.open_sources()?;
    let found = unless_ended(discover_all(&sources, &providers, &config.listing_store())).await?;
    warn_about_tools(&found.problems, &[]);
    let catalogue: Catalogue = found.catalogue;
    Ok(FirstPlan::of_catalogue(&catalogue))
}

fn write_new(name: &str, text: &str) -> Result<(), Failure> {
    let written = File::create_new(name).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| Failure::Input { input: Input::File(PathBuf::from(name)), source })
}

fn next_steps(has_model: bool, plan: &FirstPlan, tools: &ToolEntries) -> String {
    let question = if tools.is_demo { "Weather in Seoul?" } else { "..." };
    let mut lines = vec![(format!("reknit run {PLAN}{}", plan.arguments), "run the plan; it needs no model")];
    if has_model {
        lines.push((format!("reknit ask \"{question}\""), "let the model plan a request"));
        lines.push((format!("reknit agent {AGENT} \"{question}\""), "let the agent work in turns"));
        lines.push(("reknit chat".to_owned(), "talk with the agent"));
    } else {
        lines.push((format!("$EDITOR {DEFAULT_CONFIG}"), "add a model: `ask` and agents need one"));
    }
    lines.push(("reknit doctor".to_owned(), "check models, tools and journal"));
    let width = lines.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let line = |(command, what): &(String, &str)| format!("  {command:<width$}  {what}\n");
    format!("\nNext:\n{}", lines.iter().map(line).collect::<Vec<_>>().concat())
}

#[test]
fn the_help_of_a_build_without_mcp_does_not_advertise_it() {
    assert!(details(true).contains("MCP"));
    let without = details(false);
    assert!(!without.contains("MCP") && !without.contains("mcp"), "{without}");
}
