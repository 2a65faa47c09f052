//! Remembers the answer of each idempotency key, so that a repeated call has no second effect.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reknit_protocol::CapabilityName;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::IdempotencyKey;
use crate::reply::Reply;

/// How long and how much a service remembers for its `keyed` capabilities.
///
/// The service never forgets a key early. While there is no room for another one, new calls are refused with 503 and
/// `retryable: true`. The memory ends with the process.
#[derive(Debug, Clone, Copy)]
pub struct IdempotencyLimits {
    /// How long an answer is kept after the call began. Callers rely on 24 hours unless they are told otherwise.
    pub retention: Duration,
    /// How many answers are kept.
    pub entries: usize,
    /// How many bytes of requests and answers are kept.
    pub bytes: usize,
}

impl Default for IdempotencyLimits {
    /// 24 hours, 100,000 answers, 64 MiB.
    fn default() -> Self {
        Self { retention: Duration::from_hours(24), entries: 100_000, bytes: 64 * 1024 * 1024 }
    }
}

/// The replies by capability and key. Clones share the entries.
#[derive(Debug, Clone)]
pub(crate) struct IdempotencyStore {
    limits: IdempotencyLimits,
    entries: Arc<Mutex<Entries>>,
}

/// Whether a call under a key may run.
#[derive(Debug)]
pub(crate) enum Claim {
    /// The key is new: run the call, then pass the reply to the permit.
    First(RunPermit),
    /// An earlier call has the same key and request; it may still be running.
    Repeated(ReplyReceiver),
    /// An earlier call has the same key and another request.
    DifferentRequest,
    /// There is no room for another key.
    StoreFull,
}

type EntryId = (CapabilityName, IdempotencyKey);
/// `None` until the call has ended.
pub(crate) type ReplyReceiver = watch::Receiver<Option<Reply>>;

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<EntryId, Entry>,
    /// In the order in which entries were created, for expiry. May name entries that were removed or created again.
    by_age: VecDeque<(Instant, EntryId)>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    request: String,
    reply: ReplyReceiver,
    created: Instant,
    bytes: usize,
}

impl IdempotencyStore {
    pub(crate) fn new(limits: IdempotencyLimits) -> Self {
        Self { limits, entries: Arc::default() }
    }

    /// Asks for permission to run a call; `request` is its canonical text.
    pub(crate) fn claim(&self, capability: &CapabilityName, key: &IdempotencyKey, request: String) -> Claim {
        let id = (capability.clone(), key.clone());
        let now = Instant::now();
        let mut entries = self.entries.lock();
        entries.expire(now, self.limits.retention);
        if let Some(entry) = entries.by_id.get(&id) {
            let is_same = entry.request == request;
            return if is_same { Claim::Repeated(entry.reply.clone()) } else { Claim::DifferentRequest };
        }
        let bytes = request.len() + key.as_str().len();
        if entries.by_id.len() >= self.limits.entries || entries.bytes + bytes > self.limits.bytes {
            return Claim::StoreFull;
        }
        let (sender, reply) = watch::channel(None);
        entries.bytes += bytes;
        entries.by_age.push_back((now, id.clone()));
        entries.by_id.insert(id.clone(), Entry { request, reply, created: now, bytes });
        Claim::First(RunPermit { store: self.clone(), id, sender })
    }
}

impl Entry {
    fn is_running(&self) -> bool {
        // An error means that the permit was dropped: the call was aborted and will never have a reply.
        self.reply.borrow().is_none() && self.reply.has_changed().is_ok()
    }
}

impl Entries {
    fn expire(&mut self, now: Instant, retention: Duration) {
        while let Some((created, id)) = self.by_age.front() {
            if now.duration_since(*created) < retention {
                return;
            }
            let id = id.clone();
            match self.by_id.get(&id).filter(|entry| entry.created == *created) {
                // Forgetting a call that still runs could let it run twice.
                Some(entry) if entry.is_running() => return,
                Some(_) => self.remove(&id),
                None => {}
            }
            self.by_age.pop_front();
        }
    }

    fn remove(&mut self, id: &EntryId) {
        if let Some(entry) = self.by_id.remove(id) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
        }
    }
}

/// The permission to run a call once. If it is dropped without a reply, the outcome stays unknown, and no call under the
/// key runs again.
#[derive(Debug)]
pub(crate) struct RunPermit {
    store: IdempotencyStore,
    id: EntryId,
    sender: watch::Sender<Option<Reply>>,
}

impl RunPermit {
    /// Passes the reply to the calls that wait for it, and keeps it for later ones unless the call had no effect.
    pub(crate) fn finish(self, reply: &Reply) {
        let mut entries = self.store.entries.lock();
        if !reply.is_kept {
            entries.remove(&self.id);
        } else if let Some(entry) = entries.by_id.get_mut(&self.id) {
            entry.bytes += reply.size();
            entries.bytes += reply.size();
        }
        drop(entries);
        self.sender.send_replace(Some(reply.clone()));
    }
}

/// Waits for the reply of an earlier call; `None` if it was aborted and its outcome is unknown.
pub(crate) async fn reply_of(mut earlier: ReplyReceiver) -> Option<Reply> {
    // The wait ends: the earlier call has a time limit.
    earlier.wait_for(Option::is_some).await.ok().and_then(|reply| reply.clone())
}

#[cfg(test)]
mod tests;
