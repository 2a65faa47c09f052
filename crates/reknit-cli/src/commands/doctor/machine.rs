//! The journal, the disk that it is on, and the clock.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reknit_journal::{Journal, RunFilter};
use reknit_runtime::config::Config;

use super::finding::{Area, Finding};
use crate::output::{count, shell_word};
use crate::setup::{FileArguments, journal_path};

/// With less free space than this, a journal may soon fail to store what happens.
const LOW_DISK_BYTES: u64 = 200_000_000;

/// 2026-01-01: no build of this program is older.
const EARLIEST_MS: i64 = 1_767_225_600_000;

/// How far the clock may be behind the newest event.
const TOLERANCE_MS: i64 = 60_000;

pub(super) async fn journal_disk_and_clock(config: &Config, files: &FileArguments) -> Vec<Finding> {
    let now_ms = Timestamp::now().as_millisecond();
    let path = match journal_path(config, files) {
        Ok(path) => path,
        Err(failure) => {
            let journal = Finding::of_failure(Area::Journal, &failure, "export XDG_DATA_HOME=$HOME/.local/share");
            return vec![journal, clock(now_ms, None)];
        }
    };
    // To look at a journal must not create one.
    if !path.exists() {
        let journal = Finding::ok(Area::Journal, format!("`{}` is created by the first run", path.display()));
        return vec![journal, disk(&path), clock(now_ms, None)];
    }
    let mut findings = Vec::new();
    let mut newest_ms = None;
    match Journal::open(&path, config.durability) {
        Ok(journal) => match of_journal(&journal, &path).await {
            Ok((of_journal, newest)) => {
                findings.extend(of_journal);
                newest_ms = newest;
            }
            Err(problem) => {
                let message = format!("`{}` cannot be read: {problem}", path.display());
                findings.push(Finding::problem(Area::Journal, message, "reknit runs list"));
            }
        },
        Err(error) => {
            let message = format!("`{}` cannot be opened: {error} ({})", path.display(), error.hint());
            findings.push(Finding::problem(
                Area::Journal,
                message,
                format!("ls -l {}", shell_word(&path.display().to_string())),
            ));
        }
    }
    findings.extend([disk(&path), clock(now_ms, newest_ms)]);
    findings
}

/// The state of the journal, and the time of its newest event.
async fn of_journal(
    journal: &Journal,
    path: &Path,
) -> Result<(Vec<Finding>, Option<i64>), reknit_journal::StorageError> {
    let runs = journal.runs(&RunFilter::newest(u32::MAX)).await?;
    let mut findings = vec![Finding::ok(Area::Journal, format!("`{}`: {}", path.display(), count(runs.len(), "run")))];
    let of_status = |word: &str| runs.iter().filter(|run| run.state() == word).count();
    for (word, does, command) in [
        ("stopped", "stopped before they ended", "reknit runs resume --all"),
        ("waiting", "wait for approval", "reknit runs list --status waiting"),
        ("parked", "are parked: this build cannot continue them", "reknit runs list --status parked"),
    ] {
        let number = of_status(word);
        if number > 0 {
            let message = format!("{number} of the runs {does}");
            findings.push(Finding::note(Area::Journal, message, command));
        }
    }
    Ok((findings, runs.iter().map(|run| run.updated_ms).max()))
}

/// The free space where the journal is, or will be.
fn disk(path: &Path) -> Finding {
    let folder: PathBuf = path.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new(".")).to_owned();
    match rustix::fs::statvfs(&folder) {
        Ok(space) => of_free_space(&folder, space.f_bavail.saturating_mul(space.f_frsize)),
        Err(error) => {
            let message = format!("the free space of `{}` is not known: {error}", folder.display());
            Finding::note(Area::Disk, message, format!("df -h {}", shell_word(&folder.display().to_string())))
        }
    }
}

fn of_free_space(folder: &Path, free: u64) -> Finding {
    let message =
        format!("{}.{} GB free at `{}`", free / 1_000_000_000, free % 1_000_000_000 / 100_000_000, folder.display());
    if free >= LOW_DISK_BYTES {
        return Finding::ok(Area::Disk, message);
    }
    Finding::problem(
        Area::Disk,
        format!("{message}, which may not suffice for the journal"),
        "reknit runs prune --older-than 7d",
    )
}

/// Whether the clock can be right. It is compared with the newest event of the journal.
pub(super) fn clock(now_ms: i64, newest_ms: Option<i64>) -> Finding {
    let shown = |ms: i64| Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |at| format!("{at:.0}"));
    let now = shown(now_ms);
    if now_ms < EARLIEST_MS {
        return Finding::problem(Area::Clock, format!("it is {now}, which is in the past"), "timedatectl set-ntp true");
    }
    match newest_ms.filter(|newest| *newest > now_ms.saturating_add(TOLERANCE_MS)) {
        Some(newest) => Finding::problem(
            Area::Clock,
            format!("it is {now}, but the journal has an event of {}: the clock went back", shown(newest)),
            "timedatectl set-ntp true",
        ),
        None => Finding::ok(Area::Clock, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_went_back_is_a_problem() {
        assert!(!clock(EARLIEST_MS + 1, None).is_problem());
        assert!(!clock(EARLIEST_MS, Some(EARLIEST_MS + TOLERANCE_MS)).is_problem());
        assert!(clock(EARLIEST_MS, Some(EARLIEST_MS + TOLERANCE_MS + 1)).is_problem());
        assert!(clock(EARLIEST_MS - 1, None).is_problem());
    }

    #[test]
    fn little_free_space_is_a_problem() {
        assert!(!of_free_space(Path::new("/data"), LOW_DISK_BYTES).is_problem());
        assert!(of_free_space(Path::new("/data"), LOW_DISK_BYTES - 1).is_problem());
    }
}
