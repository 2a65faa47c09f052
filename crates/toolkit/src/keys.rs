//! What was answered under which key, so that a second call has no second effect.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reknit_protocol::CapabilityName;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::IdempotencyKey;
use crate::reply::{Memory, Reply};

/// How long and how much a service remembers for its `keyed` capabilities.
///
/// A key is never forgotten early: when there is no room for another, new calls are refused with 503 and
/// `retryable: true` until old ones expire. The memory ends with the process.
#[derive(Debug, Clone, Copy)]
pub struct KeyLimits {
    /// How long an answer is kept, counted from its call. Callers rely on 24 hours unless they are told otherwise.
    pub time: Duration,
    /// How many answers are kept.
    pub entries: usize,
    /// How many bytes of requests and answers are kept.
    pub bytes: usize,
}

impl Default for KeyLimits {
    /// 24 hours, 100,000 answers, 64 MiB.
    fn default() -> Self {
        Self { time: Duration::from_hours(24), entries: 100_000, bytes: 64 * 1024 * 1024 }
    }
}

/// The answers by capability and key.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    limits: KeyLimits,
    store: Arc<Mutex<Store>>,
}

/// Where a call under a key stands.
#[derive(Debug)]
pub(crate) enum Claim {
    /// It is the first: run it, and tell the ticket how it ended.
    First(Ticket),
    /// It came before, is perhaps still running: wait for that answer.
    Again(Pending),
    /// The key came before with another request.
    OtherRequest,
    /// There is no room to remember it.
    Full,
}

/// A name within the store.
type Slot = (CapabilityName, IdempotencyKey);
/// `None` until the call has ended.
type Outcome = watch::Receiver<Option<Reply>>;

#[derive(Debug, Default)]
struct Store {
    entries: HashMap<Slot, Entry>,
    /// In order of birth, for expiry; may name entries that are already gone or born anew.
    ages: VecDeque<(Instant, Slot)>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    request: String,
    outcome: Outcome,
    born: Instant,
    bytes: usize,
}

impl Keys {
    pub(crate) fn new(limits: KeyLimits) -> Self {
        Self { limits, store: Arc::default() }
    }

    /// Asks for the right to run a call; `request` is its canonical text.
    pub(crate) fn claim(&self, capability: &CapabilityName, key: &IdempotencyKey, request: String) -> Claim {
        let slot = (capability.clone(), key.clone());
        let now = Instant::now();
        let mut store = self.lock();
        store.expire(now, self.limits.time);
        if let Some(entry) = store.entries.get(&slot) {
            if entry.request != request {
                return Claim::OtherRequest;
            }
            return Claim::Again(Pending { outcome: entry.outcome.clone() });
        }
        let bytes = request.len() + key.as_str().len();
        if store.entries.len() >= self.limits.entries || store.bytes + bytes > self.limits.bytes {
            return Claim::Full;
        }
        let (sender, outcome) = watch::channel(None);
        store.bytes += bytes;
        store.ages.push_back((now, slot.clone()));
        store.entries.insert(slot.clone(), Entry { request, outcome, born: now, bytes });
        Claim::First(Ticket { keys: self.clone(), slot, sender })
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        // Nothing in here panics half way, so a poisoned store is still whole.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is_running(&self) -> bool {
        // An error means that the sender is gone: cut off, and as done as it will ever be.
        self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok()
    }
}

impl Store {
    fn expire(&mut self, now: Instant, time: Duration) {
        while let Some((born, slot)) = self.ages.front() {
            if now.duration_since(*born) < time {
                return;
            }
            let slot = slot.clone();
            match self.entries.get(&slot).filter(|entry| entry.born == *born) {
                // It is as old as it may be, but not done: to forget it now could run it twice.
                Some(entry) if entry.is_running() => return,
                Some(_) => self.remove(&slot),
                None => {}
            }
            self.ages.pop_front();
        }
    }

    fn remove(&mut self, slot: &Slot) {
        if let Some(entry) = self.entries.remove(slot) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
        }
    }
}

/// The right to run a call once. If it is dropped without an answer the outcome stays unknown, and the key is never
/// run again.
#[derive(Debug)]
pub(crate) struct Ticket {
    keys: Keys,
    slot: Slot,
    sender: watch::Sender<Option<Reply>>,
}

impl Ticket {
    /// Says how the call ended: to those who wait, and, unless it had no effect, to those who ask later.
    pub(crate) fn finish(self, reply: &Reply) {
        let mut store = self.keys.lock();
        match reply.memory {
            Memory::Forget => store.remove(&self.slot),
            Memory::Keep => {
                let size = reply.size();
                if let Some(entry) = store.entries.get_mut(&self.slot) {
                    entry.bytes += size;
                    store.bytes += size;
                }
            }
        }
        drop(store);
        self.sender.send_replace(Some(reply.clone()));
    }
}

/// The answer of an earlier call under the same key, now or soon.
#[derive(Debug)]
pub(crate) struct Pending {
    outcome: Outcome,
}

impl Pending {
    /// Waits for the answer; `None` if the call was cut off and nobody will ever know.
    pub(crate) async fn answer(mut self) -> Option<Reply> {
        // Not endless: the call that is waited for has a time limit.
        self.outcome.wait_for(Option::is_some).await.ok().and_then(|reply| reply.clone())
    }
}

#[cfg(test)]
mod tests;
