//! `reknit runs list`.

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use reknit_engine::{Decision, Overview};
use reknit_journal::{Journal, RunFilter, RunSummary};
use reknit_protocol::{Object, Value};
use reknit_runtime::DriveError;
use reknit_runtime::signals::decisions as decided_in;
use std::collections::BTreeSet;

use crate::output::style::{Colour, LineStyle, painted, status_style};
use crate::output::{Failure, inbox, one_line, output_columns, padded, print_data, print_message};
use crate::setup::{FileArguments, open_journal, stored_overview};

const EXAMPLES: &str = "\
Examples:
  reknit runs list --status failed,partial --since 2d
  reknit runs list --status waiting
  reknit runs list --tool shop --search refund --all";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArguments {
    /// Only runs with this status, or one of several: `failed,partial`
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = PossibleValuesParser::new(STATUSES.split(' ')))]
    status: Vec<String>,
    /// Only runs that started in this time until now, like `2h` or `7d`
    #[arg(long, value_name = "TIME", value_parser = super::duration_ms)]
    since: Option<u64>,
    /// Only runs that used this tool: `shop` or `shop/refund`
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only runs whose request contains this text
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// The most runs to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// List all runs
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Print JSON, one run per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: FileArguments,
}

/// What `runs list` prints as the status of a run or a session.
const STATUSES: &str = "running waiting stopped parked complete partial failed impossible cancelled budget_exhausted \
                        success failure closed";

/// A request has at least this many columns, however narrow the terminal is.
const MIN_TITLE_COLUMNS: usize = 12;

pub(super) async fn run(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    let journal = open_journal(&arguments.files)?;
    let now_ms = Timestamp::now().as_millisecond();
    let limit = if arguments.all { u32::MAX } else { arguments.limit };
    let (runs, is_cut) = find(&journal, arguments, limit as usize, now_ms).await?;
    let mut rows = Vec::new();
    for run in runs {
        let decided = decided(&journal, &run).await?;
        rows.push(Row { run, decided });
    }
    if arguments.json {
        for row in &rows {
            print_data(&format!("{}\n", Value::Object(row.object())))?;
        }
    } else {
        print_data(&table(&rows, now_ms, output_columns(), Colour::of_output()))?;
    }
    let all = journal.run_count().await.map_err(Failure::journal)?;
    if is_cut {
        let of = if is_filtered(arguments) { "the matching".to_owned() } else { all.to_string() };
        print_message(&format!("\nnote: {} of {of} runs; `--all` lists all of them\n", rows.len()));
    }
    if rows.is_empty() && !arguments.json {
        print_message(match all {
            0 => "the journal has no runs\n\nhint: start one with `reknit demo`\n",
            _ => "no run matches\n\nhint: list all of them with `reknit runs list --all`\n",
        });
    }
    Ok(ExitCode::SUCCESS)
}

fn is_filtered(arguments: &ListArguments) -> bool {
    let ListArguments { status, since, tool, search, .. } = arguments;
    !status.is_empty() || since.is_some() || tool.is_some() || search.is_some()
}

/// The runs that match, and whether there are more.
async fn find(
    journal: &Journal,
    arguments: &ListArguments,
    limit: usize,
    now_ms: i64,
) -> Result<(Vec<RunSummary>, bool), Failure> {
    // The journal does not know which tools a run used, nor whether its process is alive.
    let is_checked_here = arguments.tool.is_some() || !arguments.status.is_empty();
    let more = u32::try_from(limit).ok().and_then(|limit| limit.checked_add(1)).unwrap_or(u32::MAX);
    let filter = RunFilter {
        since_ms: arguments.since.map(|since| now_ms.saturating_sub_unsigned(since)),
        title: arguments.search.clone(),
        ..RunFilter::newest(if is_checked_here { u32::MAX } else { more })
    };
    let mut found = Vec::new();
    for run in journal.runs(&filter).await.map_err(Failure::journal)? {
        let has_status = arguments.status.is_empty() || arguments.status.iter().any(|word| word == run.state());
        let uses_tool = match &arguments.tool {
            Some(tool) if has_status => uses(journal, &run, tool).await?,
            _ => true,
        };
        if !has_status || !uses_tool {
            continue;
        }
        if found.len() == limit {
            return Ok((found, true));
        }
        found.push(run);
    }
    Ok((found, false))
}

/// Whether a run has called a tool, or is about to.
async fn uses(journal: &Journal, run: &RunSummary, tool: &str) -> Result<bool, Failure> {
    let overview = match stored_overview(journal, &run.run).await? {
        Some(overview) => overview,
        None => match reknit_runtime::load_run(journal, &run.run).await {
            Ok(saved) => saved.overview().map_err(Failure::journal)?,
            Err(DriveError::Restore(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        },
    };
    Ok(used_tools(&overview).iter().any(|used| {
        let rest = used.strip_prefix(tool);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }))
}

/// The capabilities that a run called, each as `tool/capability`. What is not known, as of a run that no machine restores, is left
/// out.
fn used_tools(overview: &Overview) -> BTreeSet<String> {
    match overview {
        Overview::Run(run) => run.steps.iter().map(|step| format!("{}/{}", step.tool, step.capability)).collect(),
        // Models know a capability as `tool__capability`.
        Overview::Session(session) => {
            let calls = session.conversation.iter().filter_map(|line| line.strip_prefix("call "));
            let names = calls.filter_map(|call| call.split_whitespace().next());
            names.map(|name| name.replacen("__", "/", 1)).collect()
        }
        Overview::Bare(_) => BTreeSet::new(),
    }
}

/// The decisions about the approvals of a waiting run that it has not read yet.
async fn decided(journal: &Journal, run: &RunSummary) -> Result<Option<String>, Failure> {
    if run.state() != "waiting" {
        return Ok(None);
    }
    let mut words: Vec<&str> = decided_in(&inbox(journal, &run.run).await?).values().map(Decision::as_str).collect();
    words.sort_unstable();
    words.dedup();
    Ok(Some(words.join(" and ")).filter(|words| !words.is_empty()))
}

/// A run of the list.
struct Row {
    run: RunSummary,
    /// The decisions that it has not read yet.
    decided: Option<String>,
}

/// The runs, one line each, with a header; nothing without runs. In a terminal, ids are short, the request is cut to the width that
/// is left, and what a person can do about a run has a line of its own.
fn table(rows: &[Row], now_ms: i64, columns: Option<usize>, colour: Colour) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let widest =
        |header: &str, cell: &dyn Fn(&Row) -> usize| rows.iter().map(cell).max().unwrap_or(0).max(header.len());
    // A file from elsewhere may have ids that nobody may choose.
    let id = |Row { run: RunSummary { run, .. }, .. }: &Row| {
        one_line(if columns.is_some() { run.short() } else { run.as_str() }, usize::MAX)
    };
    let ids = widest("RUN", &|row| id(row).len());
    let statuses = widest("STATUS", &|row| row.run.state().len());
    let before = |run: &str, started: &str, status: &str, style: LineStyle| {
        format!("{run:<ids$}  {started:>10}  {}  ", painted(&padded(status, statuses), style, colour))
    };
    let header = before("RUN", "STARTED", "STATUS", LineStyle::Plain) + "REQUEST";
    let header = painted(&header, LineStyle::Dimmed, colour);
    // The `…` of a cut request takes one more column.
    let left = |columns: usize| columns.saturating_sub(ids + statuses + 17).max(MIN_TITLE_COLUMNS);
    let title_columns = columns.map_or(usize::MAX, left);
    let mut lines = vec![header];
    for row in rows {
        let (Row { run, decided }, id) = (row, id(row));
        let started = age(now_ms.saturating_sub(run.created_ms));
        let start = before(&id, &started, run.state(), status_style(run.state()));
        let line = start + &one_line(&run.title, title_columns);
        match decided {
            None => lines.push(line),
            Some(words) if columns.is_some() => {
                lines.extend([line, format!("  {words}: `reknit runs resume {id}`")]);
            }
            Some(words) => lines.push(format!("{line}   ({words}; continue with `reknit runs resume {id}`)")),
        }
    }
    lines.join("\n") + "\n"
}

fn age(ms: i64) -> String {
    match ms / 1_000 {
        seconds @ ..=59 => format!("{} s ago", seconds.max(0)),
        seconds @ 60..=3_599 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..=86_399 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}

impl Row {
    fn object(&self) -> Object {
        let Self { run, decided } = self;
        let mut object = Object::from([
            ("run", run.run.as_str().into()),
            ("status", run.state().into()),
            ("request", run.title.as_str().into()),
            ("created_ms", run.created_ms.into()),
            ("updated_ms", run.updated_ms.into()),
            ("events", run.len.into()),
        ]);
        object.extend(decided.as_deref().map(|words| ("decided".to_owned(), words.into())));
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::width;

    fn row(id: &str, status: Option<&str>, decided: Option<&str>, title: &str) -> Row {
        let run = RunSummary {
            owner: None,
            run: format!("0199a6c2-0000-7000-8000-0000000000{id}").into(),
            title: title.to_owned(),
            created_ms: 0,
            updated_ms: 0,
            len: 3,
            epoch: 0,
            status: status.map(str::to_owned),
            parked: None,
            lease: None,
        };
        Row { run, decided: decided.map(str::to_owned) }
    }

    fn rows() -> [Row; 3] {
        let long = "Sell 100 Tesla shares, pay for a trip to Seoul, and say what the weather is like there next week";
        [
            row("01", Some("complete"), None, long),
            row("02", Some("partial"), None, "서울의 날씨는 어떻습니까, 그리고 다음 주에는 비가 옵니까?"),
            row("03", None, Some("approve"), "Refund order 7"),
        ]
    }

    #[test]
    fn a_request_is_cut_to_the_width_of_the_terminal() {
        insta::assert_snapshot!(table(&rows(), 60_000, Some(80), Colour::Off), @"
        RUN          STARTED  STATUS    REQUEST
        00000001   1 min ago  complete  Sell 100 Tesla shares, pay for a trip to Seoul,…
        00000002   1 min ago  partial   서울의 날씨는 어떻습니까, 그리고 다음 주에는 비…
        00000003   1 min ago  waiting   Refund order 7
          approve: `reknit runs resume 00000003`
        ");
        for columns in [80, 100, 120, 200] {
            let table = table(&rows(), 60_000, Some(columns), Colour::Off);
            assert!(table.lines().all(|line| width(line) <= columns), "{columns} columns:\n{table}");
        }
    }

    #[test]
    fn colours_change_no_column() {
        let [plain, coloured] = [Colour::Off, Colour::On].map(|colour| table(&rows(), 600_000, Some(80), colour));
        insta::assert_snapshot!(coloured.replace('\x1b', "^"), @"
        ^[2mRUN          STARTED  STATUS    REQUEST^[0m
        00000001  10 min ago  ^[32mcomplete^[0m  Sell 100 Tesla shares, pay for a trip to Seoul,…
        00000002  10 min ago  ^[33mpartial ^[0m  서울의 날씨는 어떻습니까, 그리고 다음 주에는 비…
        00000003  10 min ago  ^[33mwaiting ^[0m  Refund order 7
          approve: `reknit runs resume 00000003`
        ");
        let without =
            coloured.replace("\x1b[0m", "").replace("\x1b[2m", "").replace("\x1b[32m", "").replace("\x1b[33m", "");
        assert_eq!(without, plain);
    }

    #[test]
    fn nothing_is_cut_in_a_pipe() {
        insta::assert_snapshot!(table(&rows(), 60_000, None, Colour::Off), @"
        RUN                                      STARTED  STATUS    REQUEST
        0199a6c2-0000-7000-8000-000000000001   1 min ago  complete  Sell 100 Tesla shares, pay for a trip to Seoul, and say what the weather is like there next week
        0199a6c2-0000-7000-8000-000000000002   1 min ago  partial   서울의 날씨는 어떻습니까, 그리고 다음 주에는 비가 옵니까?
        0199a6c2-0000-7000-8000-000000000003   1 min ago  waiting   Refund order 7   (approve; continue with `reknit runs resume 0199a6c2-0000-7000-8000-000000000003`)
        ");
    }
}
