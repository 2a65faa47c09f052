//! The words of the tests.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use reknit_journal::{Append, Durability, Holder, Journal, Lease, NewEvent, NewRun, OpenError, Term};
use reknit_protocol::RunId;
use tempfile::TempDir;

/// So long that no test waits for its end.
pub(crate) const TERM: Term = Term { now_ms: 0, ttl_ms: 3_600_000 };

/// A place for a journal that nobody has made yet.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let path = directory.path().join("journal.db");
    (directory, path)
}

pub(crate) fn open(path: &Path) -> Journal {
    Journal::open(path, Durability::Full).unwrap_or_else(|error| panic!("{error}: {error:?}"))
}

pub(crate) fn new_run(run: &str) -> NewRun {
    NewRun { run: run.into(), title: String::new(), first: event(0) }
}

/// An event whose body tells its position, over more than one page.
pub(crate) fn event(seq: u64) -> NewEvent {
    NewEvent::new(0, "counted", format!(r#"{{"seq":{seq},"text":"{}"}}"#, "x".repeat(3000)))
}

pub(crate) async fn leased(journal: &Journal, run: &str) -> Lease {
    journal.create(new_run(run), &Holder::this_process(), TERM).await.expect("the run is new")
}

/// Appends events until the run has `len`.
pub(crate) async fn grow(journal: &Journal, lease: &Lease, len: u64) {
    for seq in journal.summary(lease.run()).await.expect("the run is there").len..len {
        journal.append(lease, Append::at(seq).event(event(seq))).await.expect("nobody else appends");
    }
}

/// How many events the run has, all of which are what was written.
pub(crate) async fn whole(journal: &Journal, run: &str) -> u64 {
    let records = journal.events(&RunId::from(run), 0).await.unwrap_or_else(|error| panic!("{error}: {error:?}"));
    for record in &records {
        assert_eq!(record.body, event(record.seq).body);
    }
    records.len() as u64
}

/// What a person reads: the failure, its causes, what to do.
pub(crate) fn report(error: &OpenError) -> String {
    let causes = std::iter::successors(error.source(), |error| (*error).source());
    let causes = causes.map(|cause| format!("caused by: {cause}"));
    let lines = std::iter::once(error.to_string()).chain(causes).chain([format!("hint: {}", error.hint())]);
    lines.collect::<Vec<_>>().join("\n")
}

/// The same wherever the directory of the test is.
pub(crate) fn anywhere(words: &str, directory: &Path) -> String {
    words.replace(&directory.display().to_string(), "DIR")
}
