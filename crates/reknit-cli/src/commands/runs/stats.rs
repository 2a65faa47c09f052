//! `reknit runs stats`: what fails and what mends it.

use std::process::ExitCode;

use clap::Args;
use reknit_engine::{FailureStatistics, RungStatistics, Statistics};
use reknit_journal::RunFilter;

use crate::output::{Failure, count, json_value, one_line, output_columns, print_data, print_message, table};
use crate::setup::{FileArguments, open_journal};

const DETAILS: &str = "\
A line for each tool and each class of its failures. MENDED BY `resend 2 of 3`: the rung changed the call or sent it again three
times, and the call then succeeded twice. TRIED: what never helped. NOT MENDED: the steps that ended with such a failure.

Examples:
  reknit runs stats --since 7d
  reknit runs stats --json";

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct StatsArguments {
    /// Only runs that started in this time until now, like `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = super::duration_ms)]
    since: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: FileArguments,
}

pub(super) async fn run(arguments: &StatsArguments) -> Result<ExitCode, Failure> {
    let journal = open_journal(&arguments.files)?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let since_ms = arguments.since.map(|since| now_ms.saturating_sub_unsigned(since));
    let filter = RunFilter { since_ms, ..RunFilter::newest(u32::MAX) };
    let mut statistics = Statistics::default();
    for run in journal.runs(&filter).await.map_err(Failure::journal)? {
        statistics.add(&reknit_runtime::run_overview(&journal, &run.run).await?, run.state());
    }
    if arguments.json {
        return print_data(&format!("{}\n", json_value(&statistics)?)).map(|()| ExitCode::SUCCESS);
    }
    if statistics.runs.is_empty() {
        print_message("there are no runs to count\n\nhint: start one with `reknit demo`\n");
        return Ok(ExitCode::SUCCESS);
    }
    print_data(&page(&statistics, output_columns())).map(|()| ExitCode::SUCCESS)
}

/// The numbers of runs, then a line for each tool and each class of its failures.
fn page(statistics: &Statistics, columns: Option<usize>) -> String {
    let all: u64 = statistics.runs.values().sum();
    let by_status: Vec<String> =
        statistics.runs.iter().map(|(status, number)| format!("{number} {}", status.replace('_', " "))).collect();
    let mut page = format!("{}: {}\n\n", count(all, "run"), by_status.join(", "));
    let mut rows = vec![["TOOL", "CALLS", "FAILED", "WHY", "MENDED BY", "TRIED", "NOT MENDED"].map(str::to_owned)];
    for (name, tool) in &statistics.tools {
        let name = one_line(name, usize::MAX);
        if tool.failures.is_empty() {
            let none = String::new;
            rows.push([name, tool.calls.to_string(), "0".to_owned(), none(), none(), none(), none()]);
            continue;
        }
        for (index, (class, failure)) in tool.failures.iter().enumerate() {
            let is_first = index == 0;
            rows.push([
                if is_first { name.clone() } else { String::new() },
                if is_first { tool.calls.to_string() } else { String::new() },
                failure.failed.to_string(),
                class.as_str().replace('_', " "),
                mended_by(failure),
                tried(failure),
                failure.not_mended.to_string(),
            ]);
        }
    }
    page += &table(&rows, columns);
    page
}

/// `context 1 of 1, resend 2 of 3`.
fn mended_by(failure: &FailureStatistics) -> String {
    let has_helped = failure.rungs.iter().filter(|(_, done)| done.mended > 0);
    let text = |(rung, done): (&String, &RungStatistics)| format!("{rung} {} of {}", done.mended, done.tried);
    has_helped.map(text).collect::<Vec<_>>().join(", ")
}

/// `feedback no help, resend 3`.
fn tried(failure: &FailureStatistics) -> String {
    let has_not_helped = failure.rungs.iter().filter(|(_, done)| done.mended == 0);
    let text = |(rung, done): (&String, &RungStatistics)| match done.tried {
        0 => format!("{rung} no help"),
        tried => format!("{rung} {tried}"),
    };
    has_not_helped.map(text).collect::<Vec<_>>().join(", ")
}
