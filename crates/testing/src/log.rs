//! The requests of a server in order, and a way to wait for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Entries in the order of their arrival. Clones share the entries.
#[derive(Debug)]
pub(crate) struct Log<T> {
    entries: Arc<Mutex<Vec<T>>>,
    count: Arc<watch::Sender<usize>>,
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self { entries: Arc::clone(&self.entries), count: Arc::clone(&self.count) }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { entries: Arc::default(), count: Arc::new(watch::Sender::new(0)) }
    }
}

impl<T: Clone> Log<T> {
    pub(crate) fn all(&self) -> Vec<T> {
        self.lock().clone()
    }

    /// Adds an entry that `make` derives from the earlier ones, under one lock.
    pub(crate) fn push_with<E>(&self, make: impl FnOnce(&[T]) -> Result<T, E>) -> Result<T, E> {
        let mut entries = self.lock();
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

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
