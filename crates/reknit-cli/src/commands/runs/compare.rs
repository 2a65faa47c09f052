//! `reknit runs compare`: where a run differs from another one.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use reknit_journal::Journal;
use reknit_protocol::{RunId, Value};
use reknit_recorded_tests::{Mismatch, compare_runs};
use reknit_runtime::run_overview;

use super::open_run;
use crate::output::{Failure, print_data, print_text};
use crate::setup::{FileArguments, RunArgument, find_run};

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    run: RunArgument,
    /// The other run, named in the same way
    #[arg(value_name = "OTHER")]
    other: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: FileArguments,
}

pub(super) async fn run(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    let (journal, run) = open_run(&arguments.journal, &arguments.run).await?;
    let other = find_run(&journal, &arguments.other).await?;
    let comparison = comparison(&journal, ("run", &run), ("other", &other)).await?;
    if arguments.json {
        print_data(&format!("{}\n", comparison.as_json()))?;
    } else {
        print_text(&format!("run {other}, {}", comparison.text()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Two runs, each with the word for it, and where they differ.
pub(super) struct Comparison<'a> {
    run: (&'static str, &'a RunId),
    other: (&'static str, &'a RunId),
    differences: Vec<Mismatch>,
}

pub(super) async fn comparison<'a>(
    journal: &Journal,
    run: (&'static str, &'a RunId),
    other: (&'static str, &'a RunId),
) -> Result<Comparison<'a>, Failure> {
    let (before, now) = (run_overview(journal, run.1).await?, run_overview(journal, other.1).await?);
    Ok(Comparison { run, other, differences: compare_runs(&before, &now) })
}

impl Comparison<'_> {
    pub(super) fn text(&self) -> String {
        let run = self.run.1;
        if self.differences.is_empty() {
            return format!("compared with run {run}: no difference\n");
        }
        let mut text = format!("compared with run {run}:\n");
        let width = self.run.0.len().max(self.other.0.len()) + 2;
        let indent = format!("\n{}", " ".repeat(4 + width));
        for Mismatch { what, expected, actual, .. } in &self.differences {
            let _ = writeln!(text, "  {what}");
            for (word, value) in [(self.run.0, expected), (self.other.0, actual)] {
                let _ = writeln!(text, "    {word:width$}{}", value.trim_end().replace('\n', &indent));
            }
        }
        text
    }

    fn as_json(&self) -> Value {
        let difference = |Mismatch { what, expected, actual, .. }: &Mismatch| {
            let fields = [("what", what.as_str()), (self.run.0, expected.as_str()), (self.other.0, actual.as_str())];
            Value::from(fields.map(|(key, text)| (key, Value::from(text))))
        };
        let differences: Vec<Value> = self.differences.iter().map(difference).collect();
        Value::from([
            ("run", Value::from(self.run.1.as_str())),
            ("other", self.other.1.as_str().into()),
            ("differences", differences.into()),
        ])
    }
}
