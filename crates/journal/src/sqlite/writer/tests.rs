use std::path::Path;
use std::sync::mpsc;

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::blob::split_event;
use crate::error::storage::StoreResult;
use crate::rules::{self, SplitTexts};
use crate::sqlite::file::side_file;
use crate::sqlite::open::open;
use crate::{Append, AppendError, Appended, CreateError, Durability, Holder, Lease, LeaseTerm, NewEvent, NewRun};

const TERM: LeaseTerm = LeaseTerm { now_ms: 0, ttl_ms: 1000 };

fn open_new() -> (TempDir, WriterConnection) {
    let directory = tempfile::tempdir().unwrap();
    let connection = open(&directory.path().join("journal.db"), Durability::Full).unwrap();
    (directory, connection)
}

fn create_run(run: &str) -> impl FnMut(&mut dyn WriteTables) -> RuleResult<Lease, CreateError> + Send + use<> {
    let event = NewEvent::new(0, "started", "{}");
    let (first, new) = (split_event(event.clone()), NewRun::new(run, "", "", event));
    let holder = Holder::this_process();
    move |tables| rules::create(tables, &new, (&first, None), (&holder, TERM))
}

fn append_event(
    lease: &Lease,
    body: String,
) -> impl FnMut(&mut dyn WriteTables) -> RuleResult<Appended, AppendError> + Send + use<> {
    let (lease, mut append) = (lease.clone(), Append::at(1).event(NewEvent::new(0, "test", body)));
    let texts = SplitTexts::of(&mut append);
    move |tables| rules::append(tables, &lease, &append, &texts)
}

fn job<T, E, W>(work: W) -> (Box<dyn WriteJob>, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<StorageError> + Send + 'static,
    W: FnMut(&mut dyn WriteTables) -> RuleResult<T, E> + Send + 'static,
{
    let (job, answer) = PendingWrite::new(Duration::ZERO, work);
    (Box::new(job), answer)
}

fn created(connection: &mut WriterConnection, run: &str) -> Lease {
    let (job, mut answer) = job(create_run(run));
    write_group(connection, vec![job], &LockedSince::default());
    answer.try_recv().unwrap().unwrap()
}

fn count_runs(path: &Path) -> u32 {
    let connection = Connection::open(path).unwrap();
    connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap()
}

/// The number of commits in the write-ahead log: each commit marks its last frame.
fn count_commits(path: &Path) -> usize {
    let log = std::fs::read(side_file(path, "-wal")).unwrap();
    let (header, frames) = log.split_at(32);
    let page = u32::from_be_bytes(header[8..12].try_into().unwrap()) as usize;
    frames.chunks_exact(24 + page).filter(|frame| frame[4..8] != [0; 4]).count()
}

/// A job that counts the runs in the file before its commit and when it is answered.
struct ObservingJob<W> {
    work: W,
    path: PathBuf,
    counts: mpsc::Sender<u32>,
}

impl<W: FnMut(&mut dyn WriteTables) -> RuleResult<Lease, CreateError> + Send> WriteJob for ObservingJob<W> {
    fn run(&mut self, tables: &mut dyn WriteTables) -> StoreResult<()> {
        (self.work)(tables)?.expect("the run is new");
        assert_eq!(count_runs(&self.path), 0, "other connections see nothing before the commit");
        Ok(())
    }

    fn lock_wait(&self) -> Duration {
        Duration::ZERO
    }

    fn answer(self: Box<Self>) {
        self.counts.send(count_runs(&self.path)).unwrap();
    }

    fn fail(self: Box<Self>, error: StorageError) {
        panic!("{error}");
    }
}

#[test]
fn a_group_is_committed_once_and_answered_after_the_commit() {
    let (_directory, mut connection) = open_new();
    let (counts, observed) = mpsc::channel();
    let before = count_commits(&connection.path);
    let group = ["a", "b", "c"].map(|run| {
        let job = ObservingJob { work: create_run(run), path: connection.path.clone(), counts: counts.clone() };
        Box::new(job) as Box<dyn WriteJob>
    });
    write_group(&mut connection, group.into(), &LockedSince::default());
    drop(counts);
    assert_eq!(observed.iter().collect::<Vec<_>>(), [3, 3, 3]);
    assert_eq!(count_commits(&connection.path), before + 1);
}

#[test]
fn a_refused_job_does_not_affect_its_group() {
    let (_directory, mut connection) = open_new();
    let (first, mut first_answer) = job(create_run("a"));
    let (again, mut again_answer) = job(create_run("a"));
    let (other, mut other_answer) = job(create_run("b"));
    let before = count_commits(&connection.path);
    write_group(&mut connection, vec![first, again, other], &LockedSince::default());
    assert_eq!(first_answer.try_recv().unwrap().unwrap().epoch(), 1);
    assert!(matches!(again_answer.try_recv().unwrap(), Err(CreateError::Exists { .. })));
    assert_eq!(other_answer.try_recv().unwrap().unwrap().run().as_str(), "b");
    assert_eq!(count_commits(&connection.path), before + 1);
}

#[test]
fn a_failed_job_writes_nothing_and_does_not_fail_other_jobs() {
    let (_directory, mut connection) = open_new();
    let (first, mut first_answer) = job(create_run("a"));
    let mut half = create_run("half");
    let (failing, mut failure) = job(move |tables: &mut dyn WriteTables| {
        half(tables)?.expect("the run is new");
        Err::<Result<Lease, CreateError>, _>(StoreFailure::Contents("failed halfway".to_owned()))
    });
    let (other, mut other_answer) = job(create_run("b"));
    write_group(&mut connection, vec![first, failing, other], &LockedSince::default());
    assert!(first_answer.try_recv().unwrap().is_ok());
    assert!(matches!(failure.try_recv().unwrap(), Err(CreateError::Storage(StorageError::Damaged { .. }))));
    assert!(other_answer.try_recv().unwrap().is_ok());
    assert_eq!(count_runs(&connection.path), 2);
}

#[test]
fn on_a_full_disk_only_the_jobs_that_do_not_fit_fail() {
    let (_directory, mut connection) = open_new();
    let leases = ["a", "b"].map(|run| created(&mut connection, run));
    let pages: u32 = connection.sqlite.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    connection.sqlite.pragma_update_and_check(None, "max_page_count", pages + 4, |_| Ok(())).unwrap();
    let (big, mut big_answer) = job(append_event(&leases[0], format!(r#""{}""#, "x".repeat(1 << 20))));
    let (small, mut small_answer) = job(append_event(&leases[1], "{}".to_owned()));
    write_group(&mut connection, vec![big, small], &LockedSince::default());
    let error = big_answer.try_recv().unwrap().unwrap_err();
    assert!(matches!(error, AppendError::Storage(StorageError::Full { .. })), "{error:?}");
    assert_eq!(small_answer.try_recv().unwrap().unwrap().len, 2);

    // Nothing of the failed append was kept: with space again, one at the same length succeeds.
    connection.sqlite.pragma_update_and_check(None, "max_page_count", 1 << 20, |_| Ok(())).unwrap();
    let (again, mut again_answer) = job(append_event(&leases[0], "{}".to_owned()));
    write_group(&mut connection, vec![again], &LockedSince::default());
    assert_eq!(again_answer.try_recv().unwrap().unwrap().len, 2);
}

#[test]
fn a_write_to_a_deleted_file_fails() {
    let (_directory, mut connection) = open_new();
    std::fs::remove_file(&connection.path).unwrap();
    let (job, mut answer) = job(create_run("a"));
    write_group(&mut connection, vec![job], &LockedSince::default());
    let error = answer.try_recv().unwrap().unwrap_err();
    assert!(matches!(error, CreateError::Storage(StorageError::Gone { .. })), "{error:?}");
}
