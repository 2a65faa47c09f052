//! Both stores, and helpers of the tests.

use reknit_journal::{Durability, Holder, Journal, Lease, LeaseTerm, NewEvent, NewRun};
use tempfile::TempDir;

pub(crate) struct Store {
    pub(crate) name: &'static str,
    pub(crate) journal: Journal,
    _directory: Option<TempDir>,
}

pub(crate) fn stores() -> [Store; 2] {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = Journal::open(&directory.path().join("journal.db"), Durability::Off).expect("a new journal");
    [
        Store { name: "memory", journal: Journal::in_memory(), _directory: None },
        Store { name: "file", journal: file, _directory: Some(directory) },
    ]
}

pub(crate) fn term(now_ms: i64) -> LeaseTerm {
    LeaseTerm { now_ms, ttl_ms: 1000 }
}

pub(crate) fn event(at_ms: i64) -> NewEvent {
    NewEvent::new(at_ms, "happened", format!(r#"{{"at":{at_ms}}}"#))
}

pub(crate) fn new_run(run: &str) -> NewRun {
    NewRun::new(run, format!("title of {run}"), format!("request of {run}"), event(0))
}

/// Creates a run with event 0, leased to this process at time 0.
pub(crate) async fn leased(journal: &Journal, run: &str) -> Lease {
    journal.create(new_run(run), &Holder::this_process(), term(0)).await.expect("the run is new")
}

/// The same for a run of an owner.
pub(crate) async fn leased_by(journal: &Journal, run: &str, owner: &str) -> Lease {
    let new = NewRun { owner: Some(owner.to_owned()), ..new_run(run) };
    journal.create(new, &Holder::this_process(), term(0)).await.expect("the run is new")
}

/// A process on another host.
pub(crate) fn process_on_laptop() -> Holder {
    let mut holder = Holder::this_process();
    (holder.pid, holder.host) = (7, "laptop".to_owned());
    holder
}
