//! Helpers of the tests.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use reknit_journal::{Append, Durability, Holder, Journal, Lease, LeaseTerm, NewEvent, NewRun, OpenError};
use reknit_protocol::RunId;
use tempfile::TempDir;

/// Longer than any test runs.
pub(crate) const TERM: LeaseTerm = LeaseTerm { now_ms: 0, ttl_ms: 3_600_000 };

/// The path of a journal that does not exist yet, in a temporary directory.
pub(crate) fn new_path() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("journal.db");
    (directory, path)
}

pub(crate) fn open(path: &Path) -> Journal {
    Journal::open(path, Durability::Full).unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

pub(crate) fn new_run(run: &str) -> NewRun {
    NewRun::new(run, "", "", event(0))
}

/// An event whose body contains its position and almost fills a page.
pub(crate) fn event(seq: u64) -> NewEvent {
    NewEvent::new(0, "counted", format!(r#"{{"seq":{seq},"text":"{}"}}"#, "x".repeat(3000)))
}

pub(crate) async fn leased(journal: &Journal, run: &str) -> Lease {
    journal.create(new_run(run), &Holder::this_process(), TERM).await.expect("the run is new")
}

/// Appends events until the run has `len`.
pub(crate) async fn grow(journal: &Journal, lease: &Lease, len: u64) {
    for seq in journal.summary(lease.run()).await.expect("an existing run").len..len {
        journal.append(lease, Append::at(seq).event(event(seq))).await.expect("the only driver");
    }
}

/// The number of events of the run, after checking that each has the body of [`event`].
pub(crate) async fn checked_len(journal: &Journal, run: &str) -> u64 {
    let events = journal.events(&RunId::from(run), 0).await.unwrap_or_else(|error| panic!("{error}: {error:?}"));
    for stored in &events {
        assert_eq!(stored.body, event(stored.seq).body);
    }
    events.len() as u64
}

/// The error as a user sees it, with its causes and its hint.
pub(crate) fn report(error: &OpenError) -> String {
    let causes = std::iter::successors(error.source(), |error| (*error).source());
    let causes = causes.map(|cause| format!("caused by: {cause}"));
    let lines = std::iter::once(error.to_string()).chain(causes).chain([format!("hint: {}", error.hint())]);
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces the directory of the test, which differs between runs.
pub(crate) fn mask_directory(text: &str, directory: &Path) -> String {
    text.replace(&directory.display().to_string(), "DIR")
}
