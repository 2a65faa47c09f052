//! The thread that sees what other processes put into inboxes. `SQLite` tells nobody, so it looks; while no mailbox is
//! open it sleeps.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use reknit_protocol::RunId;
use rusqlite::Connection;

use super::readers::connect_to_read;
use crate::StorageError;
use crate::error::storage::Stored;
use crate::mailbox::{Mailboxes, Watch};

/// How often it looks: a person who cancels does not notice the wait, and a look reads one word of shared memory.
const POLL: Duration = Duration::from_millis(200);

/// The thread that sees what other processes put into inboxes.
#[derive(Debug)]
pub(crate) struct Watcher {
    mail: Arc<Mailboxes>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    pub(crate) fn start(path: PathBuf, mail: Arc<Mailboxes>) -> io::Result<Self> {
        let boxes = Arc::clone(&mail);
        let thread = thread::Builder::new().name("journal-watcher".to_owned()).spawn(move || watch(&path, &boxes))?;
        Ok(Self { mail, thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.mail.close();
        if let Some(thread) = self.thread.take() {
            // It has nothing to say: what failed was told to the mailboxes.
            let _ = thread.join();
        }
    }
}

fn watch(path: &Path, mail: &Mailboxes) {
    let mut post = None;
    while mail.wait(POLL) == Watch::Look {
        match look(path, &mut post) {
            Ok(News::Perhaps) => mail.knock_everywhere(None),
            Ok(News::For(runs)) => runs.iter().for_each(|run| mail.knock(run)),
            Err(failure) => {
                post = None;
                mail.knock_everywhere(Some(&StorageError::new(path, failure)));
            }
        }
    }
}

/// What the last look saw.
struct Post {
    connection: Connection,
    version: i64,
    newest: u64,
}

enum News {
    /// There was no look before this one: everybody looks for himself.
    Perhaps,
    /// These runs have new signals.
    For(Vec<RunId>),
}

fn look(path: &Path, post: &mut Option<Post>) -> Stored<News> {
    let Some(post) = post else {
        let connection = connect_to_read(path)?;
        let version = version(&connection)?;
        let newest = connection.query_row("SELECT ifnull(max(id), 0) FROM inbox", [], |row| row.get(0))?;
        *post = Some(Post { connection, version, newest });
        return Ok(News::Perhaps);
    };
    let now = version(&post.connection)?;
    let mut runs = Vec::new();
    if now != post.version {
        let sql =
            "SELECT inbox.id, runs.run FROM inbox JOIN runs ON runs.key = inbox.run WHERE inbox.id > ?1 ORDER BY 1";
        let mut statement = post.connection.prepare_cached(sql)?;
        let mut rows = statement.query([post.newest])?;
        while let Some(row) = rows.next()? {
            post.newest = row.get(0)?;
            runs.push(row.get::<_, String>(1)?.into());
        }
        post.version = now;
    }
    Ok(News::For(runs))
}

/// Changes whenever another connection has committed.
fn version(connection: &Connection) -> Stored<i64> {
    Ok(connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}
