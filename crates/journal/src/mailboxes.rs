//! Waiting for the signals of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use reknit_protocol::RunId;
use tokio::sync::watch;

use crate::StorageError;

/// Tells a mailbox that its inbox may have a new signal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notification {
    pub(crate) count: u64,
    /// Set when polling the inbox failed.
    pub(crate) failure: Option<StorageError>,
}

/// The open mailboxes of a journal.
#[derive(Debug, Default)]
pub(crate) struct Mailboxes {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    notifiers: BTreeMap<RunId, Notifier>,
    closed: bool,
}

/// Notifies the mailboxes of one run.
#[derive(Debug, Default)]
struct Notifier {
    notifications: watch::Sender<Notification>,
    mailboxes: usize,
}

/// What the watcher thread does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WatcherAction {
    Poll,
    Stop,
}

impl Mailboxes {
    /// Registers a mailbox. This happens before its first read of the inbox, so that it misses no signal in between.
    pub(crate) fn register(&self, run: &RunId) -> watch::Receiver<Notification> {
        let mut state = self.state.lock();
        if state.notifiers.is_empty() {
            self.changed.notify_all();
        }
        let notifier = state.notifiers.entry(run.clone()).or_default();
        notifier.mailboxes += 1;
        notifier.notifications.subscribe()
    }

    pub(crate) fn unregister(&self, run: &RunId) {
        let mut state = self.state.lock();
        let Some(notifier) = state.notifiers.get_mut(run) else { return };
        notifier.mailboxes -= 1;
        if notifier.mailboxes == 0 {
            state.notifiers.remove(run);
        }
    }

    pub(crate) fn notify(&self, run: &RunId) {
        if let Some(notifier) = self.state.lock().notifiers.get(run) {
            notifier.notify(None);
        }
    }

    pub(crate) fn notify_all(&self, failure: Option<&StorageError>) {
        self.state.lock().notifiers.values().for_each(|notifier| notifier.notify(failure));
    }

    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits for `pause`, and longer while no mailbox is open.
    pub(crate) fn wait(&self, pause: Duration) -> WatcherAction {
        let mut state = self.state.lock();
        if !state.notifiers.is_empty() && !state.closed {
            self.changed.wait_for(&mut state, pause);
        }
        while state.notifiers.is_empty() && !state.closed {
            self.changed.wait(&mut state);
        }
        if state.closed { WatcherAction::Stop } else { WatcherAction::Poll }
    }
}

impl Notifier {
    fn notify(&self, failure: Option<&StorageError>) {
        self.notifications
            .send_modify(|latest| *latest = Notification { count: latest.count + 1, failure: failure.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Journal, RunReadError};

    #[test]
    fn a_run_is_unregistered_with_its_last_mailbox() {
        let journal = Journal::in_memory();
        let (first, second) = (journal.mailbox(&"r".into()), journal.mailbox(&"r".into()));
        drop(first);
        assert_eq!(journal.mailboxes.state.lock().notifiers.len(), 1);
        drop(second);
        assert_eq!(journal.mailboxes.state.lock().notifiers.len(), 0);
    }

    #[tokio::test]
    async fn a_mailbox_reports_a_failed_poll_once_and_goes_on() {
        let journal = Journal::in_memory();
        let mut mailbox = journal.mailbox(&"r".into());
        journal.mailboxes.notify_all(Some(&journal.closed()));
        assert!(matches!(mailbox.next().await, Err(RunReadError::Storage(StorageError::Closed { .. }))));
        journal.mailboxes.notify(&"r".into());
        assert!(matches!(mailbox.next().await, Err(RunReadError::NoSuchRun { .. })));
    }
}
