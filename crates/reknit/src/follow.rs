//! Streams of what happens in a run.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::watch;

use crate::run_state::{Phase, RunState};

/// The events or the text of a run as they arrive. It ends with the run, and begins with what has happened already.
///
/// It is a [`Stream`]; [`next`](Self::next) needs no other crate.
pub struct Follow<T> {
    state: Arc<RunState>,
    changes: watch::Receiver<Phase>,
    index: usize,
    waiting: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Reads an item of a log that only grows.
    get: fn(&RunState, usize) -> Option<T>,
}

impl<T> fmt::Debug for Follow<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Follow").field("run", &self.state.run).field("index", &self.index).finish_non_exhaustive()
    }
}

impl<T> Follow<T> {
    pub(crate) fn from(state: &Arc<RunState>, index: usize, get: fn(&RunState, usize) -> Option<T>) -> Self {
        let (state, changes) = (Arc::clone(state), state.subscribe());
        Self { state, changes, index, waiting: None, get }
    }

    /// The next item; `None` once the run has ended and everything was returned.
    pub async fn next(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll_item(context)).await
    }

    fn poll_item(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        loop {
            // First the phase, then the item: whatever is added in between leads to another look.
            let phase = *self.changes.borrow_and_update();
            if let Some(item) = (self.get)(&self.state, self.index) {
                self.index += 1;
                return Poll::Ready(Some(item));
            }
            if phase == Phase::Ended {
                return Poll::Ready(None);
            }
            let mut changes = self.changes.clone();
            let waiting = self.waiting.get_or_insert_with(|| {
                Box::pin(async move {
                    // The sender lives as long as the state.
                    let _ = changes.changed().await;
                })
            });
            match waiting.as_mut().poll(context) {
                Poll::Ready(()) => self.waiting = None,
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<T> Stream for Follow<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_item(context)
    }
}
