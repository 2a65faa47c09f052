//! The places for connections: how many there are, and who gives way to a new one.
//!
//! A connection takes a file of the process, and the journal, tools and models need files, too. So connections get only a part of those
//! that the process may open. If all places are taken, connections that send nothing give way, and health checks have places of
//! their own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Resource, getrlimit};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

/// How many connections there are at the same time, whatever the process may open.
const MAX_CONNECTIONS: usize = 10_000;
/// How many files are kept for the journal, tools and models, if the process may open many.
const KEPT_FILES: usize = 2_048;
/// How many more connections are taken for health checks.
const RESERVE: usize = 16;
/// How long the first request of a connection may take to arrive.
const FIRST_REQUEST_TIME: Duration = Duration::from_secs(10);
/// How long to wait for a connection that gives way.
const PAUSE: Duration = Duration::from_millis(20);

/// How many connections there are at the same time if the process may open so many files; `None` if any number.
fn max_connections(files: Option<u64>) -> usize {
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    let kept = (files / 2).min(KEPT_FILES);
    (files - kept).saturating_sub(RESERVE).clamp(1, MAX_CONNECTIONS)
}

#[derive(Debug)]
pub(crate) struct Places {
    max: usize,
    usual: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    open: Arc<Mutex<HashMap<u64, Arc<Activity>>>>,
    /// The number of the last connection.
    last: AtomicU64,
}

/// What a place may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    Usual,
    /// Only health checks.
    Reserve,
}

/// What a connection does.
#[derive(Debug)]
pub(crate) struct Activity {
    /// How many of its requests are answered now.
    requests: AtomicUsize,
    /// Whether it has ever sent a request.
    has_asked: AtomicBool,
    idle_since: Mutex<Instant>,
    /// It is to give way, unless a request is answered.
    cut: Notify,
}

/// The place of a connection. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) kind: PlaceKind,
    pub(crate) activity: Arc<Activity>,
    number: u64,
    open: Arc<Mutex<HashMap<u64, Arc<Activity>>>>,
    _permit: OwnedSemaphorePermit,
}

/// A request that is answered, until its answer is sent.
#[derive(Debug)]
pub(crate) struct Answering(Arc<Activity>);

impl Places {
    pub(crate) fn new() -> Self {
        let max = max_connections(getrlimit(Resource::Nofile).current);
        let (usual, reserve) = (Arc::new(Semaphore::new(max)), Arc::new(Semaphore::new(RESERVE)));
        Self { max, usual, reserve, open: Arc::default(), last: AtomicU64::default() }
    }

    /// A place for a new connection. If all are taken, connections without a request give way; if there are none, it is one for
    /// health checks.
    pub(crate) async fn take(&self) -> Place {
        loop {
            if let Ok(permit) = Arc::clone(&self.usual).try_acquire_owned() {
                return self.place(PlaceKind::Usual, permit);
            }
            if self.cut_idle() {
                if let Ok(Ok(permit)) = timeout(PAUSE, Arc::clone(&self.usual).acquire_owned()).await {
                    return self.place(PlaceKind::Usual, permit);
                }
            } else if let Ok(permit) = Arc::clone(&self.reserve).try_acquire_owned() {
                return self.place(PlaceKind::Reserve, permit);
            } else {
                sleep(PAUSE).await;
            }
        }
    }

    fn place(&self, kind: PlaceKind, permit: OwnedSemaphorePermit) -> Place {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let activity = Arc::new(Activity {
            requests: AtomicUsize::new(0),
            has_asked: AtomicBool::new(false),
            idle_since: Mutex::new(Instant::now()),
            cut: Notify::new(),
        });
        self.open.lock().insert(number, Arc::clone(&activity));
        Place { kind, activity, number, open: Arc::clone(&self.open), _permit: permit }
    }

    /// Tells some connections without a request to give way: first those that never sent one, and the oldest first. Returns whether
    /// there are any.
    fn cut_idle(&self) -> bool {
        let open = self.open.lock();
        let idle = open.values().filter(|activity| activity.is_idle());
        let mut idle: Vec<_> =
            idle.map(|one| (one.has_asked.load(Ordering::Relaxed), *one.idle_since.lock(), one)).collect();
        idle.sort_by_key(|(has_asked, since, _)| (*has_asked, *since));
        // Several at once: with many new connections this is not done for each of them.
        idle.iter().take((self.max / 32).max(1)).for_each(|(_, _, activity)| activity.cut.notify_one());
        !idle.is_empty()
    }
}

impl Activity {
    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }
}

impl Place {
    /// Waits for the end of a connection. `None` if it gave way to another one, or sent no request for too long.
    pub(crate) async fn unless_cut<T>(&self, connection: impl Future<Output = T>) -> Option<T> {
        let silent = async {
            sleep(FIRST_REQUEST_TIME).await;
            if self.activity.has_asked.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        let cut = async {
            loop {
                self.activity.cut.notified().await;
                if self.activity.is_idle() {
                    return;
                }
            }
        };
        tokio::select! {
            ended = connection => Some(ended),
            () = silent => None,
            () = cut => None,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.lock().remove(&self.number);
    }
}

impl Answering {
    pub(crate) fn new(activity: Arc<Activity>) -> Self {
        activity.requests.fetch_add(1, Ordering::Relaxed);
        activity.has_asked.store(true, Ordering::Relaxed);
        Self(activity)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        *self.0.idle_since.lock() = Instant::now();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(max: usize) -> Places {
        Places { max, usual: Arc::new(Semaphore::new(max)), ..Places::new() }
    }

    #[test]
    fn connections_leave_files_for_everything_else() {
        for (files, connections) in [
            (None, 10_000),
            (Some(1_048_576), 10_000),
            (Some(4_096), 2_032),
            (Some(1_024), 496),
            (Some(128), 48),
            (Some(3), 1),
        ] {
            assert_eq!(max_connections(files), connections, "{files:?}");
        }
    }

    #[tokio::test]
    async fn the_oldest_connection_without_a_request_gives_way() {
        let places = places(3);
        let (asks, old, young) = (places.take().await, places.take().await, places.take().await);
        let asking = Answering::new(Arc::clone(&asks.activity));
        let (asks, old) =
            (Arc::new(asks), tokio::spawn(async move { old.unless_cut(std::future::pending::<()>()).await }));
        let waits = Arc::clone(&asks);
        let waits = tokio::spawn(async move { waits.unless_cut(std::future::pending::<()>()).await });
        assert_eq!(places.take().await.kind, PlaceKind::Usual);
        assert_eq!(old.await.unwrap(), None);
        assert!(!waits.is_finished(), "its request is answered");
        drop((asking, young));
    }

    #[tokio::test]
    async fn when_all_connections_have_requests_there_are_places_for_health_checks() {
        let places = places(1);
        let place = places.take().await;
        let asking = Answering::new(Arc::clone(&place.activity));
        let reserved = places.take().await;
        assert_eq!(reserved.kind, PlaceKind::Reserve);
        drop((asking, place, reserved));
        assert_eq!(places.take().await.kind, PlaceKind::Usual);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_sends_no_request_is_closed() {
        let places = places(2);
        let (silent, asks) = (places.take().await, places.take().await);
        assert_eq!(silent.unless_cut(std::future::pending::<()>()).await, None);
        drop(Answering::new(Arc::clone(&asks.activity)));
        let waited = timeout(FIRST_REQUEST_TIME * 2, asks.unless_cut(std::future::pending::<()>())).await;
        assert!(waited.is_err(), "it was only idle");
    }
}
