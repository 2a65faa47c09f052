//! Waiting for the signals of a run.

use std::collections::VecDeque;

use reknit_protocol::RunId;
use tokio::sync::watch;

use super::Journal;
use crate::mailboxes::Notification;
use crate::{InboxMessage, RunReadError, SignalId};

/// A subscription to the inbox of one run, made by [`Journal::mailbox`].
#[derive(Debug)]
pub struct Mailbox {
    journal: Journal,
    run: RunId,
    notifications: watch::Receiver<Notification>,
    /// The count of the last notification that was handled; `None` before the first read of the inbox.
    handled: Option<u64>,
    newest: SignalId,
    queued: VecDeque<InboxMessage>,
}

impl Mailbox {
    pub(crate) fn new(journal: Journal, run: RunId, notifications: watch::Receiver<Notification>) -> Self {
        Self { journal, run, notifications, handled: None, newest: SignalId(0), queued: VecDeque::new() }
    }

    /// Does not read the inbox before the next notification. For a run that does not exist yet, and for one whose inbox the
    /// caller reads after this.
    pub fn skip_first_read(&mut self) {
        self.handled = Some(self.notifications.borrow_and_update().count);
    }

    /// Waits for the next pending signal and returns each signal once, in order. A signal from another process arrives
    /// within a fraction of a second.
    ///
    /// Dropping the future loses no signal. The wait has no timeout: use it as one branch of a `select!`.
    pub async fn next(&mut self) -> Result<InboxMessage, RunReadError> {
        loop {
            if let Some(message) = self.queued.pop_front() {
                return Ok(message);
            }
            let handled = self.handled;
            let notification = match self.notifications.wait_for(|latest| Some(latest.count) != handled).await {
                Ok(notification) => notification.clone(),
                Err(_) => return Err(self.journal.closed().into()),
            };
            if let Some(failure) = notification.failure {
                self.handled = Some(notification.count);
                return Err(failure.into());
            }
            // Boxed: a mailbox mostly waits for a notification.
            let messages = Box::pin(self.journal.inbox_after(&self.run, self.newest)).await?;
            // There is no `await` below, so a dropped future cannot leave the fields half updated.
            self.handled = Some(notification.count);
            self.newest = messages.last().map_or(self.newest, |message| message.id);
            self.queued.extend(messages);
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.journal.mailboxes.unregister(&self.run);
    }
}
