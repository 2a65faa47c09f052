//! How many requests a token may send.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_mins(1);

/// The requests of each token in the current minute.
#[derive(Debug, Default)]
pub(crate) struct RateLimits {
    used: Mutex<HashMap<Arc<str>, RequestWindow>>,
}

#[derive(Debug, Clone, Copy)]
struct RequestWindow {
    start: Instant,
    requests: u32,
}

impl RateLimits {
    /// Counts a request. Fails with the time until the next minute if there were too many in this one.
    pub(crate) fn count(&self, name: &Arc<str>, per_minute: u32, now: Instant) -> Result<(), Duration> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let window = used.entry(Arc::clone(name)).or_insert(RequestWindow { start: now, requests: 0 });
        if now.duration_since(window.start) >= WINDOW {
            *window = RequestWindow { start: now, requests: 0 };
        }
        if window.requests >= per_minute {
            return Err(WINDOW.saturating_sub(now.duration_since(window.start)));
        }
        window.requests += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gets_its_requests_of_a_minute_and_is_told_when_the_next_begins() {
        let (limits, start) = (RateLimits::default(), Instant::now());
        let (ann, bob) = (Arc::from("ann"), Arc::from("bob"));
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(limits.count(&ann, 2, after(0)), Ok(()));
        assert_eq!(limits.count(&ann, 2, after(10)), Ok(()));
        assert_eq!(limits.count(&ann, 2, after(15)), Err(Duration::from_secs(45)));
        assert_eq!(limits.count(&bob, 2, after(15)), Ok(()));
        assert_eq!(limits.count(&ann, 2, after(60)), Ok(()));
    }
}
