//! Waiting for signals.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reknit_protocol::RunId;
use tokio::sync::watch;

use crate::{Journal, Letter, ReadError, SignalId, StorageError};

/// The inbox of one run, to wait on: made by [`Journal::mailbox`].
#[derive(Debug)]
pub struct Mailbox {
    journal: Journal,
    run: RunId,
    knocks: watch::Receiver<Knock>,
    /// The last knock that was answered; none before the first look.
    answered: Option<u64>,
    newest: SignalId,
    waiting: VecDeque<Letter>,
}

impl Mailbox {
    pub(crate) fn new(journal: Journal, run: RunId, knocks: watch::Receiver<Knock>) -> Self {
        Self { journal, run, knocks, answered: None, newest: SignalId(0), waiting: VecDeque::new() }
    }

    /// The next unread signal, each once, in order; waits for as long as there is none. What another process sends is
    /// seen within a fraction of a second.
    ///
    /// Dropping the future loses no signal. The wait has no end of its own: it is meant to be one branch of a `select!`.
    pub async fn next(&mut self) -> Result<Letter, ReadError> {
        loop {
            if let Some(letter) = self.waiting.pop_front() {
                return Ok(letter);
            }
            let answered = self.answered;
            let knock = match self.knocks.wait_for(|knock| Some(knock.count) != answered).await {
                Ok(knock) => knock.clone(),
                Err(_) => return Err(self.journal.closed().into()),
            };
            if let Some(failure) = knock.failure {
                self.answered = Some(knock.count);
                return Err(failure.into());
            }
            let letters = self.journal.inbox_after(&self.run, self.newest).await?;
            // From here on nothing waits, so that the state changes as one.
            self.answered = Some(knock.count);
            self.newest = letters.last().map_or(self.newest, |letter| letter.id);
            self.waiting.extend(letters);
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.journal.mailboxes().forget(&self.run);
    }
}

/// Somebody has, or may have, put a signal into an inbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knock {
    count: u64,
    /// Set when nobody can look for signals.
    failure: Option<StorageError>,
}

/// The mailboxes that somebody waits on.
#[derive(Debug, Default)]
pub(crate) struct Mailboxes {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    boxes: HashMap<RunId, Doorbell>,
    closed: bool,
}

/// How the mailboxes of one run are told.
#[derive(Debug, Default)]
struct Doorbell {
    knocks: watch::Sender<Knock>,
    mailboxes: usize,
}

/// What the thread that looks for signals is to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Look.
    Look,
    /// End.
    End,
}

impl Mailboxes {
    /// Registers before the first look, so that no signal falls between the two.
    pub(crate) fn open(&self, run: &RunId) -> watch::Receiver<Knock> {
        let mut state = self.state();
        if state.boxes.is_empty() {
            self.changed.notify_all();
        }
        let bell = state.boxes.entry(run.clone()).or_default();
        bell.mailboxes += 1;
        bell.knocks.subscribe()
    }

    fn forget(&self, run: &RunId) {
        let mut state = self.state();
        let Some(bell) = state.boxes.get_mut(run) else { return };
        bell.mailboxes -= 1;
        if bell.mailboxes == 0 {
            state.boxes.remove(run);
        }
    }

    pub(crate) fn knock(&self, run: &RunId) {
        if let Some(bell) = self.state().boxes.get(run) {
            bell.knock(None);
        }
    }

    pub(crate) fn knock_everywhere(&self, failure: Option<&StorageError>) {
        self.state().boxes.values().for_each(|bell| bell.knock(failure));
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Waits for `pause`, or for the first mailbox if there is none.
    pub(crate) fn wait(&self, pause: Duration) -> Watch {
        let mut state = self.state();
        if !state.boxes.is_empty() && !state.closed {
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
        while state.boxes.is_empty() && !state.closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed { Watch::End } else { Watch::Look }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Doorbell {
    fn knock(&self, failure: Option<&StorageError>) {
        self.knocks.send_modify(|knock| *knock = Knock { count: knock.count + 1, failure: failure.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_forgotten_with_its_last_mailbox() {
        let journal = Journal::in_memory();
        let (first, second) = (journal.mailbox(&"r".into()), journal.mailbox(&"r".into()));
        drop(first);
        assert_eq!(journal.mailboxes().state().boxes.len(), 1);
        drop(second);
        assert_eq!(journal.mailboxes().state().boxes.len(), 0);
    }

    #[tokio::test]
    async fn a_failure_to_look_is_told_once_and_the_mailbox_goes_on() {
        let journal = Journal::in_memory();
        let mut mailbox = journal.mailbox(&"r".into());
        journal.mailboxes().knock_everywhere(Some(&journal.closed()));
        assert!(matches!(mailbox.next().await, Err(ReadError::Storage(StorageError::Closed { .. }))));
        journal.mailboxes().knock(&"r".into());
        assert!(matches!(mailbox.next().await, Err(ReadError::NoSuchRun { .. })));
    }
}
