//! What the task that drives a run shares with the handles of the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use reknit_engine::{AskModel, Record};
use reknit_journal::Journal;
use reknit_model_api::Delta;
use reknit_protocol::RunId;
use reknit_runtime::{AnswerText, EventOrigin, PieceWatcher, TextChange, Watcher};
use tokio::sync::watch;

use crate::outcome::{RunAnswer, RunError};
use crate::run_event::{EventCursor, RunEvent, TextPiece};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is driven.
    Driven,
    /// It waits for a person.
    Waiting,
    /// Its outcome is there.
    Ended,
}

#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) run: RunId,
    pub(crate) journal: Journal,
    /// Changes with every event and piece of text, too.
    phase: watch::Sender<Phase>,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<RunEvent>,
    text: Vec<TextPiece>,
    /// The text that the pieces are of.
    answer: AnswerText,
    outcome: Option<Result<RunAnswer, RunError>>,
    /// Whether an event happened since the task began.
    goes_on: bool,
}

impl RunState {
    pub(crate) fn new(run: RunId, journal: Journal) -> Arc<Self> {
        Arc::new(Self { run, journal, phase: watch::Sender::new(Phase::Driven), log: Mutex::default() })
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    pub(crate) fn watchers(&self) -> usize {
        self.phase.receiver_count()
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub(crate) async fn wait_for(&self, is_wanted: impl FnMut(&Phase) -> bool) {
        // The sender lives as long as this state.
        let _ = self.subscribe().wait_for(is_wanted).await;
    }

    /// Waits until the run has an event, or has ended without one.
    pub(crate) async fn wait_for_event(&self) {
        self.wait_for(|phase| *phase == Phase::Ended || !self.log.lock().events.is_empty()).await;
    }

    /// Waits until the run has an event that is new, or has ended without one.
    pub(crate) async fn wait_for_new_event(&self) {
        self.wait_for(|phase| *phase == Phase::Ended || self.log.lock().goes_on).await;
    }

    pub(crate) fn event_at(&self, index: usize) -> Option<RunEvent> {
        self.log.lock().events.get(index).cloned()
    }

    pub(crate) fn events(&self) -> Vec<RunEvent> {
        self.log.lock().events.clone()
    }

    pub(crate) fn piece_at(&self, index: usize) -> Option<TextPiece> {
        self.log.lock().text.get(index).cloned()
    }

    pub(crate) fn outcome(&self) -> Option<Result<RunAnswer, RunError>> {
        self.log.lock().outcome.clone()
    }

    /// Stores the outcome. If the text was not streamed as it is, it follows as one piece.
    pub(crate) fn finish(&self, outcome: Result<RunAnswer, RunError>) {
        {
            let mut log = self.log.lock();
            let text = match &outcome {
                Ok(answer) => answer.text().to_owned(),
                Err(RunError::Failed(failure)) => failure.text.clone(),
                Err(_) => String::new(),
            };
            let last_start = log.text.iter().rposition(|piece| *piece == TextPiece::Restarted).map_or(0, |at| at + 1);
            let streamed: String = log.text.iter().skip(last_start).filter_map(TextPiece::as_text).collect();
            if streamed.trim() != text.trim() {
                if !streamed.is_empty() {
                    log.text.push(TextPiece::Restarted);
                }
                log.text.push(TextPiece::Text(text));
            }
            log.outcome = Some(outcome);
        }
        self.set_phase(Phase::Ended);
    }

    /// Adds the events that the driver commits. A driver that resumes the run repeats those that are there.
    pub(crate) fn watcher(self: &Arc<Self>) -> Watcher {
        let (state, seen) = (Arc::clone(self), AtomicUsize::new(0));
        Watcher::inline(move |committed| {
            if committed.origin == EventOrigin::New {
                state.log.lock().goes_on = true;
            }
            state.add(committed.event.at_ms, committed.records, &seen);
        })
    }

    fn add(&self, at_ms: i64, records: &[Record], seen: &AtomicUsize) {
        {
            let mut log = self.log.lock();
            for record in records {
                let index = seen.fetch_add(1, Ordering::Relaxed);
                if index == log.events.len() {
                    let cursor = EventCursor(index as u64 + 1);
                    log.events.push(RunEvent::new(cursor, at_ms, record));
                }
            }
        }
        self.phase.send_modify(|_| ());
    }

    /// Adds the pieces of the answer that a model writes for the user.
    pub(crate) fn piece_watcher(self: &Arc<Self>) -> PieceWatcher {
        let state = Arc::clone(self);
        PieceWatcher::new(move |ask, delta| state.add_piece(ask, delta))
    }

    fn add_piece(&self, ask: &AskModel, delta: Delta<'_>) {
        {
            let log = &mut *self.log.lock();
            match log.answer.add(ask, delta) {
                TextChange::Same => return,
                TextChange::More(text) => log.text.push(TextPiece::Text(text.to_owned())),
                TextChange::Restarted(text) => {
                    log.text.extend([TextPiece::Restarted, TextPiece::Text(text.to_owned())]);
                }
            }
        }
        self.phase.send_modify(|_| ());
    }
}
