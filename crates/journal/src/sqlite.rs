//! The tables in a `SQLite` file: one thread writes while other threads and other processes read.

mod chain;
mod connect;
mod file;
mod header;
mod log_check;
mod migrate;
mod open;
mod readers;
mod schema;
mod tables;
mod watcher;
mod write_job;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::mailboxes::Mailboxes;
use crate::{Durability, Migration, OpenError};

/// A journal in a `SQLite` file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    pub(crate) path: PathBuf,
    pub(crate) migration: Option<Migration>,
    // Fields are dropped in this order: the writer last, so that its connection is the one that checkpoints the log.
    _watcher: watcher::Watcher,
    pub(crate) readers: readers::Readers,
    pub(crate) writer: writer::Writer,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, durability: Durability, mailboxes: Arc<Mailboxes>) -> Result<Self, OpenError> {
        let connection = open::open(path, durability)?;
        let (path, migration) = (connection.path.clone(), connection.migration.clone());
        let thread = |source| OpenError::Thread { path: path.clone(), source };
        Ok(Self {
            writer: writer::Writer::start(connection).map_err(thread)?,
            readers: readers::Readers::new(path.clone()),
            _watcher: watcher::Watcher::start(path.clone(), mailboxes).map_err(thread)?,
            path: path.clone(),
            migration,
        })
    }
}
