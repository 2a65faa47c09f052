//! Watchers: callbacks that see every committed event.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use reknit_engine::{Event, Machine, Record};

/// Observes every event once it is committed, and what the machine decided. A callback that panics is not called again; the
/// runs go on.
#[derive(Clone)]
pub struct Watcher {
    callback: Arc<dyn Fn(&Committed<'_>) + Send + Sync>,
    has_panicked: Arc<AtomicBool>,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Watcher").field("has_panicked", &self.has_panicked).finish_non_exhaustive()
    }
}

/// A committed event, as the callback of [`Watcher::inline`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'a> {
    /// The machine after the event and all others of the same commit.
    pub machine: &'a Machine,
    pub event: &'a Event,
    /// What the machine decided when it applied the event.
    pub records: &'a [Record],
    pub origin: EventOrigin,
}

/// The process that committed an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOrigin {
    /// This process, just now.
    New,
    /// An earlier one: this process replays it to resume the run.
    Replayed,
}

/// A committed event that the callback of [`Watcher::queued`] got, with what was decided.
#[derive(Debug, Clone)]
pub struct QueuedEvent {
    pub event: Event,
    /// What the machine decided when it applied the event.
    pub records: Vec<Record>,
    pub origin: EventOrigin,
    /// How many events were dropped since the last one because the callback was too slow.
    pub dropped: u64,
}

impl Watcher {
    /// A watcher that calls back on a thread of its own, so that a slow or blocked callback never delays a run.
    ///
    /// The queue holds `capacity` events. If it is full, further events are dropped, and the next one says how many.
    pub fn queued(capacity: usize, mut callback: impl FnMut(QueuedEvent) + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::sync_channel::<QueuedEvent>(capacity);
        // The thread ends with the last clone of the watcher.
        std::thread::spawn(move || receiver.iter().for_each(&mut callback));
        let dropped = AtomicU64::new(0);
        Self::inline(move |committed| {
            let before = dropped.swap(0, Ordering::Relaxed);
            let event = QueuedEvent {
                event: committed.event.clone(),
                records: committed.records.to_vec(),
                origin: committed.origin,
                dropped: before,
            };
            if sender.try_send(event).is_err() {
                dropped.fetch_add(before + 1, Ordering::Relaxed);
            }
        })
    }

    /// A watcher that sees the machine itself. The driver calls it, and the run waits for it: it must return at once.
    pub fn inline(callback: impl Fn(&Committed<'_>) + Send + Sync + 'static) -> Self {
        Self { callback: Arc::new(callback), has_panicked: Arc::default() }
    }

    pub(crate) fn call(&self, committed: &Committed<'_>) {
        if self.has_panicked.load(Ordering::Relaxed) {
            return;
        }
        // The callback gets shared references only, so a panic leaves nothing of the run half changed.
        if catch_unwind(AssertUnwindSafe(|| (self.callback)(committed))).is_err() {
            self.has_panicked.store(true, Ordering::Relaxed);
            tracing::error!(target: crate::telemetry::log::TARGET, "a watcher panicked and is not called again");
        }
    }
}

impl Default for Watcher {
    /// A watcher that does nothing.
    fn default() -> Self {
        Self::inline(|_| ())
    }
}
