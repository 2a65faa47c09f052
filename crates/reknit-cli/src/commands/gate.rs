//! `reknit gate`: what the rules about calls would ask a person.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use reknit_journal::RunFilter;
use reknit_runtime::GateReplay;

use crate::output::{Failure, count, json_value, one_line, print_data, print_message};
use crate::setup::{FileArguments, open_journal, read_config};

const DETAILS: &str = "\
Judges the calls of recorded runs by the rules of this build and prints how many questions a person would get, by rule and
capability. Nothing is called and nothing is changed. `gate-8` is row 8 of docs/gate-table.md, `approve` a rule of `[[approve]]`
or of a plan, `plan` the approval of a whole plan, `unknown-outcome` a call that may have taken effect.

Without --config, the `[[roles]]` and `[[trust]]` that each run was started with count. With it, you see what an entry would change.

Examples:
  reknit gate replay
  reknit gate replay copy-of-journal.db --since 7d
  reknit gate replay --config reknit.toml --json";

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Run recorded runs through the rules of this build: what would a person be asked?
    #[command(after_help = DETAILS)]
    Replay(ReplayArguments),
}

#[derive(Debug, Args)]
#[command(mut_arg("config", |config| config.help("Judge by the `[[roles]]` and `[[trust]]` of this file")))]
pub(crate) struct ReplayArguments {
    /// The journal file, instead of `--journal`
    #[arg(value_name = "JOURNAL", value_hint = ValueHint::FilePath, conflicts_with = "journal")]
    path: Option<PathBuf>,
    /// Only runs that started in this time until now, like `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = super::runs::duration_ms)]
    since: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: FileArguments,
}

pub(crate) async fn run(command: GateCommand) -> Result<ExitCode, Failure> {
    let GateCommand::Replay(ReplayArguments { path, since, json, mut files }) = command;
    if let Some(path) = path.as_ref().filter(|path| !path.exists()) {
        return Err(Failure::usage(
            format!("there is no journal `{}`", path.display()),
            "the journal of your runs is the one of `reknit runs list`; leave the name out to replay it",
        ));
    }
    files.journal = path.or(files.journal);
    let rules = match &files.config {
        None => None,
        Some(path) => {
            let effects = read_config(Some(path.as_path()))?.policy.effects;
            Some((effects.roles, effects.trust))
        }
    };
    let journal = open_journal(&files)?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let since_ms = since.map(|since| now_ms.saturating_sub_unsigned(since));
    let filter = RunFilter { since_ms, ..RunFilter::newest(u32::MAX) };
    let mut replay = GateReplay::default();
    for run in journal.runs(&filter).await.map_err(Failure::journal)? {
        replay.add(&journal, &run.run, &rules).await?;
    }
    if replay.runs == 0 && !json {
        print_message("no recorded run matches\n\nhint: name another journal, or leave out `--since`\n");
        return Ok(ExitCode::SUCCESS);
    }
    let text = if json { format!("{}\n", json_value(&replay)?) } else { page(&replay) };
    print_data(&text).map(|()| ExitCode::SUCCESS)
}

fn page(replay: &GateReplay) -> String {
    let questions = count(replay.count(), "question");
    let mut page = format!("{questions} about {} of {}\n", count(replay.calls, "call"), count(replay.runs, "run"));
    for (rule, capabilities) in &replay.questions {
        for (capability, questions) in capabilities {
            let then = if questions.answered_then > 0 {
                format!(", {} answered then", questions.answered_then)
            } else {
                String::new()
            };
            let head = format!("{rule}  {capability}: {}{then}", questions.count);
            let _ = writeln!(page, "\n{}", one_line(&head, usize::MAX));
            // Three examples are enough to understand why.
            for (run, reason) in questions.reasons.iter().take(3) {
                let _ = writeln!(page, "  {run}  {}", one_line(reason, 160));
            }
        }
    }
    for (run, reason) in &replay.not_followed {
        let _ = writeln!(page, "\nnot followed to its end: {run}: {}", one_line(reason, 160));
    }
    page
}
