//! `reknit runs prune`.

use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;
use reknit_journal::{Journal, Retention};
use reknit_protocol::human_duration;
use reknit_runtime::config::ByteSize;

use crate::output::{Failure, count, print_data};
use crate::setup::{FileArguments, open_journal, read_config};

const DETAILS: &str = "\
Without --older-than, --keep and --max-size, the limits are those of the configuration: `[journal] keep-time`, `keep-runs` and
`keep-size`. Runs that have not ended are never removed. The ids of removed runs stay in use, so that `--run-id` does nothing
twice. Processes that drive runs prune by themselves, by the limits of the configuration.

Examples:
  reknit runs prune --dry-run
  reknit runs prune --older-than 30d
  reknit runs prune --keep 1000 --max-size 2GB";

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct PruneArguments {
    /// Remove runs that ended longer ago, like `30d`
    #[arg(long, value_name = "TIME", value_parser = super::duration_ms)]
    older_than: Option<u64>,
    /// Keep only this many ended runs, the newest
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Remove the oldest runs until the journal has at most this size, like `2GB`
    #[arg(long, value_name = "SIZE", value_parser = byte_size)]
    max_size: Option<u64>,
    /// Only print what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    files: FileArguments,
}

fn byte_size(text: &str) -> Result<u64, String> {
    ByteSize::parse(text)
        .map(|size| size.0)
        .ok_or_else(|| "write a size with its unit, like `500MB` or `2GB`".to_owned())
}

pub(super) async fn run(arguments: &PruneArguments) -> Result<ExitCode, Failure> {
    let retention = retention(arguments)?;
    let journal = open_journal(&arguments.files)?;
    let now_ms = Timestamp::now().as_millisecond();
    print_data(&format!("kept: {}\n", words(&retention)))?;
    if arguments.dry_run {
        return preview(&journal, &retention, now_ms).await;
    }
    let before = journal.size().await.map_err(Failure::journal)?;
    let pruned = journal.prune(&retention, now_ms).await.map_err(Failure::journal)?;
    print_data(&format!(
        "pruned: {}, {} that no run has any more, {} that had expired\n",
        count(pruned.runs, "run"),
        count(pruned.blobs, "long value"),
        count(pruned.keys, "business key")
    ))?;
    journal.shrink(0).await.map_err(Failure::journal)?;
    let after = journal.size().await.map_err(Failure::journal)?;
    let total = |size: reknit_journal::StoreSize| size.used_bytes + size.free_bytes;
    print_data(&format!("the journal: {}, before {}\n", megabytes(total(after)), megabytes(total(before))))
        .map(|()| ExitCode::SUCCESS)
}

/// The limits of the command line; if there are none, those of the configuration.
fn retention(arguments: &PruneArguments) -> Result<Retention, Failure> {
    let PruneArguments { older_than, keep, max_size, .. } = arguments;
    let given = Retention { max_age_ms: *older_than, max_runs: keep.map(u64::from), max_bytes: *max_size };
    if given != Retention::default() {
        return Ok(given);
    }
    Ok(read_config(arguments.files.config.as_deref())?.keep.retention())
}

async fn preview(journal: &Journal, retention: &Retention, now_ms: i64) -> Result<ExitCode, Failure> {
    let preview = journal.preview_prune(retention, now_ms).await.map_err(Failure::journal)?;
    let by_size = match preview.by_size {
        0 => String::new(),
        more => format!(", and about {more} more for the size"),
    };
    print_data(&format!(
        "would prune: {} of {} ended {}{by_size}\nthe journal: {}, of which {} is unused\n",
        preview.by_age_or_number,
        preview.ended,
        if preview.ended == 1 { "run" } else { "runs" },
        megabytes(preview.size.used_bytes + preview.size.free_bytes),
        megabytes(preview.size.free_bytes)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The limits, for people.
fn words(retention: &Retention) -> String {
    let Retention { max_age_ms, max_runs, max_bytes } = retention;
    let limits = [
        max_age_ms.map(|ms| format!("runs that ended less than {} ago", human_duration(ms))),
        max_runs.map(|runs| format!("at most {runs} ended runs")),
        max_bytes.map(|bytes| format!("at most {} of the journal", ByteSize(bytes))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if limits.is_empty() { "all runs".to_owned() } else { limits.join(", ") + "; and all that have not ended" }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}
