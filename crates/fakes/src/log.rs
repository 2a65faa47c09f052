//! The requests of a server in order, and a way to wait for them.

use parking_lot::Mutex;
use tokio::sync::watch;

/// Entries in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Log<T> {
    entries: Mutex<Vec<T>>,
    count: watch::Sender<usize>,
}

impl<T: Clone> Log<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::default(), count: watch::Sender::new(0) }
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.entries.lock().clone()
    }

    /// Adds an entry that `make` derives from the earlier ones, under one lock.
    pub(crate) fn push_with<E>(&self, make: impl FnOnce(&[T]) -> Result<T, E>) -> Result<T, E> {
        let mut entries = self.entries.lock();
        let entry = make(&entries)?;
        entries.push(entry.clone());
        self.count.send_replace(entries.len());
        Ok(entry)
    }

    /// Waits until there are `count` entries.
    pub(crate) async fn wait_for(&self, count: usize) {
        // The sender lives as long as this log, so the wait cannot fail.
        let _ = self.count.subscribe().wait_for(|entries| *entries >= count).await;
    }
}
