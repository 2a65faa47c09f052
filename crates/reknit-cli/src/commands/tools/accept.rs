//! `reknit tools accept`: shows how the definition of a capability has changed, or that of an added one, and accepts it.

use std::process::ExitCode;

use clap::Args;
use reknit_protocol::Value;
use reknit_tools::{ChangeKind, ChangeOutcome, DefinitionChange};

use super::config_with_tools;
use crate::output::{
    DiffLines, Failure, Questions, escape_controls, line_diff, one_line, print_data, print_message, shell_word,
};
use crate::setup::{SetupArguments, discover_tools, listing_store, warn_about_tools};

const DETAILS: &str = "\
What a service says about a capability (description, parameters, result, side effect class) is pinned when it is first seen. If it
changes later and the capability does not only read, the capability is withheld. A capability that is added later is withheld, too.
This command shows the difference and asks.

Examples:
  reknit tools accept shop/create_order
  reknit tools accept shop --yes";

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct AcceptArguments {
    /// The capability, or a tool for all of its capabilities
    #[arg(value_name = "TOOL[/CAPABILITY]")]
    subject: String,
    /// Accept without a question
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    setup: SetupArguments,
}

pub(super) async fn run(arguments: &AcceptArguments) -> Result<ExitCode, Failure> {
    let config = config_with_tools(&arguments.setup)?;
    let found = discover_tools(&config, arguments.setup.files.config.as_deref()).await?;
    let is_meant = |change: &&DefinitionChange| {
        let key = format!("{}/{}", change.tool, change.capability);
        change.outcome == ChangeOutcome::Withheld
            && (change.tool.as_str() == arguments.subject || key == arguments.subject)
    };
    let changes: Vec<&DefinitionChange> = found.changes.iter().filter(is_meant).collect();
    if changes.is_empty() {
        warn_about_tools(&found.problems, &[]);
        let name = one_line(&arguments.subject, usize::MAX);
        let hint = "list the tools and their problems with `reknit tools check`";
        return Err(Failure::usage(format!("no new or changed definition of `{name}` waits to be accepted"), hint));
    }
    for change in &changes {
        print_data(&difference(change))?;
    }
    let object = if changes.len() == 1 { "this change" } else { "these changes" };
    let hint = format!("if the change is right, type `reknit tools accept {} --yes`", shell_word(&arguments.subject));
    if !Questions::new(arguments.yes).confirm(&format!("accept {object}?"), &hint)? {
        print_message("nothing was accepted\n");
        return Ok(ExitCode::from(1));
    }
    let store = listing_store(&config);
    for change in &changes {
        store.accept(change).map_err(Failure::Write)?;
    }
    let word = if changes.len() == 1 { "definition" } else { "definitions" };
    print_data(&format!("accepted {} {word}\n", changes.len())).map(|()| ExitCode::SUCCESS)
}

/// What has changed, as lines that begin with `-` (before) and `+` (now).
fn difference(change: &DefinitionChange) -> String {
    let mut page = format!("{}\n", one_line(&format!("{}/{}", change.tool, change.capability), usize::MAX));
    let nothing = Value::Null;
    let before = change.before.as_ref().or_else(|| (change.kind == ChangeKind::Added).then_some(&nothing));
    let (Some(before), Some(now)) = (before, &change.now) else {
        return page + "  the definition is too large to be shown; `reknit tools show` shows the new one\n";
    };
    for part in ["tool_description", "description", "class", "parameters", "result", "internal"] {
        let (before, now) = (text_of(before.get(part)), text_of(now.get(part)));
        if before != now {
            page.extend(["  ", &part.replace('_', " "), ":\n"]);
            let lines = line_diff(&before, &now, DiffLines::All);
            page.extend(lines.lines().map(|line| format!("  {}\n", escape_controls(line))));
        }
    }
    page
}

fn text_of(part: Option<&Value>) -> String {
    match part {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(schema) => sorted(schema).to_pretty(),
    }
}

/// The same value with sorted keys, for the order of keys means nothing.
fn sorted(value: &Value) -> Value {
    Value::parse(&value.canonical()).unwrap_or_else(|_| value.clone())
}
