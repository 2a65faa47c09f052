//! Watchers: callbacks that see every committed event.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use reknit_engine::{Event, Machine, Record};

/// Observes every event once it is committed, and what the machine decided.
pub type Watcher = Arc<dyn Fn(&Committed<'_>) + Send + Sync>;

/// A committed event, as a [`Watcher`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'a> {
    /// The machine after the event and all others of the same commit.
    pub machine: &'a Machine,
    /// The event.
    pub event: &'a Event,
    /// What the machine decided when it applied the event.
    pub records: &'a [Record],
    /// Whether this process committed the event.
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

/// A committed event that a [`queued`] watcher got, with what was decided.
#[derive(Debug, Clone)]
pub struct QueuedEvent {
    /// The event.
    pub event: Event,
    /// What the machine decided when it applied the event.
    pub records: Vec<Record>,
    /// Whether this process committed the event.
    pub origin: EventOrigin,
    /// How many events were dropped since the last one because the callback was too slow.
    pub dropped: u64,
}

/// A watcher that calls back on a thread of its own, so that a slow, blocked or panicking callback never delays a run. A
/// plain [`Watcher`] is called by the driver and must return at once.
///
/// The queue holds `capacity` events. If it is full, further events are dropped, and the next one says how many.
pub fn queued(capacity: usize, mut callback: impl FnMut(QueuedEvent) + Send + 'static) -> Watcher {
    let (sender, receiver) = mpsc::sync_channel::<QueuedEvent>(capacity);
    // The thread ends with the last clone of the watcher.
    std::thread::spawn(move || receiver.iter().for_each(&mut callback));
    let dropped = AtomicU64::new(0);
    Arc::new(move |committed: &Committed<'_>| {
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
