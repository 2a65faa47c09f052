//! `reknit tools accept`: shows how the definition of a capability has changed, and accepts the change.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Args;
use reknit_protocol::Value;
use reknit_tools::{ChangeOutcome, DefinitionChange};

use super::config_with_tools;
use crate::output::{Failure, escape_controls, one_line, print_data, print_message, shell_word};
use crate::setup::{SetupArguments, discover_tools, listing_store, warn_about_tools};

const DETAILS: &str = "\
What a service says about a capability (description, parameters, result, side effect class) is pinned when it is first seen. If it
changes later and the capability does not only read, the capability is withheld. This command shows the difference and asks.

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

/// The most lines of two definitions that are compared line by line.
const COMPARED_LINES: usize = 2_000;

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
        return Err(Failure::usage(format!("no changed definition of `{name}` waits to be accepted"), hint));
    }
    for change in &changes {
        print_data(&difference(change))?;
    }
    if !arguments.yes && !is_confirmed(changes.len(), &arguments.subject)? {
        print_message("nothing was accepted\n");
        return Ok(ExitCode::from(1));
    }
    let store = listing_store(&config);
    for change in &changes {
        store.accept(change).map_err(Failure::Write)?;
    }
    let word = if changes.len() == 1 { "definition" } else { "definitions" };
    print_data(&format!("accepted {} changed {word}\n", changes.len()))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the person at the terminal. Fails if there is none.
fn is_confirmed(count: usize, name: &str) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let hint = format!("if the change is right, type `reknit tools accept {} --yes`", shell_word(name));
        return Err(Failure::usage("nobody can be asked, because this is no terminal", hint));
    }
    let object = if count == 1 { "this change" } else { "these changes" };
    print_message(&format!("accept {object}? (yes or no) "));
    let mut answer = String::new();
    io::stderr().flush().and_then(|()| io::stdin().lock().read_line(&mut answer)).map_err(Failure::Write)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What has changed, as lines that begin with `-` (before) and `+` (now).
fn difference(change: &DefinitionChange) -> String {
    let mut page = format!("{}\n", one_line(&format!("{}/{}", change.tool, change.capability), usize::MAX));
    let (Some(before), Some(now)) = (&change.before, &change.now) else {
        return page + "  the definition is too large to be shown; `reknit tools show` shows the new one\n";
    };
    for part in ["tool_description", "description", "class", "parameters", "result", "internal"] {
        let (before, now) = (lines(before.get(part)), lines(now.get(part)));
        if before != now {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "  {}:", part.replace('_', " "));
            for (mark, line) in line_difference(&before, &now) {
                let _ = writeln!(page, "  {mark} {}", escape_controls(line));
            }
        }
    }
    page
}

fn lines(part: Option<&Value>) -> Vec<String> {
    let text = match part {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::String(text)) => text.clone(),
        Some(schema) => sorted(schema).to_pretty(),
    };
    text.lines().map(str::to_owned).collect()
}

/// The same value with sorted keys, for the order of keys means nothing.
fn sorted(value: &Value) -> Value {
    Value::parse(&value.canonical()).unwrap_or_else(|_| value.clone())
}

/// The lines that only one of the two has, and those that both have, in order: the longest common subsequence.
fn line_difference<'a>(before: &'a [String], now: &'a [String]) -> Vec<(char, &'a str)> {
    let mark = |mark: char, lines: &'a [String]| lines.iter().map(move |line| (mark, line.as_str()));
    if before.len() + now.len() > COMPARED_LINES {
        return mark('-', before).chain(mark('+', now)).collect();
    }
    // `common[b][n]` is the length for the lines from `b` and from `n` on.
    let mut common = vec![vec![0_u16; now.len() + 1]; before.len() + 1];
    let at =
        |common: &Vec<Vec<u16>>, b: usize, n: usize| common.get(b).and_then(|row| row.get(n)).copied().unwrap_or(0);
    for (b, old) in before.iter().enumerate().rev() {
        for (n, new) in now.iter().enumerate().rev() {
            let length = if old == new {
                at(&common, b + 1, n + 1) + 1
            } else {
                at(&common, b + 1, n).max(at(&common, b, n + 1))
            };
            if let Some(cell) = common.get_mut(b).and_then(|row| row.get_mut(n)) {
                *cell = length;
            }
        }
    }
    let (mut b, mut n) = (0, 0);
    let mut shown = Vec::new();
    loop {
        match (before.get(b), now.get(n)) {
            (Some(old), Some(new)) if old == new => {
                shown.push((' ', old.as_str()));
                (b, n) = (b + 1, n + 1);
            }
            (Some(old), new) if new.is_none() || at(&common, b + 1, n) >= at(&common, b, n + 1) => {
                shown.push(('-', old.as_str()));
                b += 1;
            }
            (_, Some(new)) => {
                shown.push(('+', new.as_str()));
                n += 1;
            }
            (_, None) => return shown,
        }
    }
}
