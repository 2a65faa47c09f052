//! The thread that notices signals from other processes. `SQLite` does not notify other processes, so the thread polls;
//! while no mailbox is open it sleeps.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use reknit_protocol::RunId;
use rusqlite::Connection;

use super::readers::connect_read_only;
use crate::StorageError;
use crate::error::storage::StoreResult;
use crate::mailboxes::{Mailboxes, WatcherAction};

/// Short enough that a user who cancels does not notice the wait. A poll without news reads one word of shared memory.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The thread that notices signals from other processes. Dropping this stops it.
#[derive(Debug)]
pub(crate) struct Watcher {
    mailboxes: Arc<Mailboxes>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    pub(crate) fn start(path: PathBuf, mailboxes: Arc<Mailboxes>) -> io::Result<Self> {
        let watched = Arc::clone(&mailboxes);
        let thread = thread::Builder::new().name("journal-watcher".to_owned()).spawn(move || watch(&path, &watched))?;
        Ok(Self { mailboxes, thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.mailboxes.close();
        if let Some(thread) = self.thread.take() {
            // The thread has no result: it reports failures to the mailboxes.
            let _ = thread.join();
        }
    }
}

fn watch(path: &Path, mailboxes: &Mailboxes) {
    let mut cursor = None;
    while mailboxes.wait(POLL_INTERVAL) == WatcherAction::Poll {
        match poll(path, &mut cursor) {
            Ok(NewSignals::Unknown) => mailboxes.notify_all(None),
            Ok(NewSignals::For(runs)) => runs.iter().for_each(|run| mailboxes.notify(run)),
            // The next poll tries again: a lock says nothing about the signals.
            Err(failure) if failure.is_lock() => {}
            Err(failure) => {
                cursor = None;
                mailboxes.notify_all(Some(&StorageError::new(path, failure)));
            }
        }
    }
}

/// What the last poll saw.
struct Cursor {
    connection: Connection,
    data_version: i64,
    newest_signal: u64,
}

enum NewSignals {
    /// This was the first poll: every mailbox must read its inbox.
    Unknown,
    /// These runs have new signals.
    For(Vec<RunId>),
}

fn poll(path: &Path, cursor: &mut Option<Cursor>) -> StoreResult<NewSignals> {
    let Some(cursor) = cursor else {
        let connection = connect_read_only(path)?;
        let data_version = data_version(&connection)?;
        let newest_signal = connection.query_row("SELECT ifnull(max(id), 0) FROM inbox", [], |row| row.get(0))?;
        *cursor = Some(Cursor { connection, data_version, newest_signal });
        return Ok(NewSignals::Unknown);
    };
    let version = data_version(&cursor.connection)?;
    let mut runs = Vec::new();
    if version != cursor.data_version {
        let sql =
            "SELECT inbox.id, runs.run FROM inbox JOIN runs ON runs.key = inbox.run WHERE inbox.id > ?1 ORDER BY 1";
        let mut statement = cursor.connection.prepare_cached(sql)?;
        let mut rows = statement.query([cursor.newest_signal])?;
        while let Some(row) = rows.next()? {
            cursor.newest_signal = row.get(0)?;
            runs.push(row.get::<_, String>(1)?.into());
        }
        cursor.data_version = version;
    }
    Ok(NewSignals::For(runs))
}

/// Changes whenever another connection has committed.
fn data_version(connection: &Connection) -> StoreResult<i64> {
    Ok(connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}
