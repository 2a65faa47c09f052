//! Circuit breaker with cool-down, shared by all callers of one service or model.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{ErrorClass, ModelFailure};

/// Circuit breaker of one service or model, shared by all its callers.
///
/// ```text
///              too many recent calls fail, or several in a row
///   closed ------------------------------------------------------> open until ...
///     ^                                                              |       ^
///     | the probe is answered                            time passes |       | the probe fails:
///     '------------------------ half-open, one probe <---------------'-------'  open for longer
/// ```
///
/// A rate limit starts a cool-down besides, for as long as the service asks, and so does a failed call of a model whose
/// provider asks for a wait. A refused request (4xx) says nothing about the service's health: only calls that break,
/// time out or end in a 5xx count as failed.
///
/// The breaker is pure and has no clock. The caller asks [`Breaker::admit`] before a call and reports to
/// [`Breaker::record`] after it.
///
/// ```
/// use reknit_model_api::{Admission, Breaker, BreakerRules, CallOutcome};
///
/// let mut breaker = Breaker::new(BreakerRules::for_service());
/// for _ in 0..10 {
///     let Admission::Allowed(permit) = breaker.admit(0) else { unreachable!() };
///     breaker.record(permit, CallOutcome::Failed, 0);
/// }
/// assert_eq!(breaker.admit(0), Admission::Rejected { until_ms: 30_000 });
/// // Half-open: one call probes the service, all others wait for its outcome.
/// assert!(matches!(breaker.admit(30_000), Admission::Allowed(_)));
/// assert_eq!(breaker.admit(30_000), Admission::ProbeInFlight);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    rules: BreakerRules,
    state: State,
    recent: Window,
    consecutive_failures: u32,
    /// Rate limits since the last answer.
    consecutive_rate_limits: u32,
    cool_down_until_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Calls that began before `since_ms` do not count.
    Closed { since_ms: u64 },
    /// `open_ms` is the length of this open period.
    Open { open_ms: u64, until_ms: u64 },
    /// The probe is in flight; `open_ms` is the length of the open period before it.
    HalfOpen { open_ms: u64 },
}

/// Whether a call may be made.
#[derive(Debug, PartialEq, Eq)]
pub enum Admission {
    /// The call may be made. The caller hands the permit back to [`Breaker::record`].
    Allowed(CallPermit),
    /// The breaker is open, or cools down after a rate limit.
    Rejected {
        /// The earliest time of a call, in milliseconds of the clock that [`Breaker::admit`] is given.
        until_ms: u64,
    },
    /// The breaker is half-open and its probe has not come back.
    ProbeInFlight,
}

/// What a breaker does now, for whoever looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerStatus {
    Closed {
        failures: u32,
    },
    /// Too many calls failed: none is made until then.
    Open {
        /// In milliseconds of the clock that [`Breaker::admit`] is given.
        until_ms: u64,
    },
    /// The service limits the rate: no call is made until then.
    CoolingDown {
        /// In milliseconds of the clock that [`Breaker::admit`] is given.
        until_ms: u64,
    },
    /// The time is over: the next call probes the service, or does so now.
    HalfOpen,
}

/// Permission to make one call.
#[derive(Debug, PartialEq, Eq)]
pub struct CallPermit {
    kind: PermitKind,
    began_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PermitKind {
    Regular,
    Probe,
}

impl Breaker {
    pub fn new(rules: BreakerRules) -> Self {
        Self {
            rules,
            state: State::Closed { since_ms: 0 },
            recent: Window::default(),
            consecutive_failures: 0,
            consecutive_rate_limits: 0,
            cool_down_until_ms: 0,
        }
    }

    pub fn admit(&mut self, now_ms: u64) -> Admission {
        if let Some(until_ms) = self.open_until_ms(now_ms) {
            return Admission::Rejected { until_ms };
        }
        let kind = match self.state {
            State::Closed { .. } => PermitKind::Regular,
            State::HalfOpen { .. } => return Admission::ProbeInFlight,
            State::Open { open_ms, .. } => {
                self.state = State::HalfOpen { open_ms };
                PermitKind::Probe
            }
        };
        Admission::Allowed(CallPermit { kind, began_ms: now_ms })
    }

    /// The end of the open period or of the cool-down, whichever is later; none if calls may be made now.
    pub fn open_until_ms(&self, now_ms: u64) -> Option<u64> {
        let open_until_ms = match self.state {
            State::Open { until_ms, .. } => until_ms,
            State::Closed { .. } | State::HalfOpen { .. } => 0,
        };
        Some(open_until_ms.max(self.cool_down_until_ms)).filter(|until_ms| *until_ms > now_ms)
    }

    /// What it does now. This changes nothing.
    pub fn status(&self, now_ms: u64) -> BreakerStatus {
        match self.state {
            State::Open { until_ms, .. } if until_ms > now_ms && until_ms >= self.cool_down_until_ms => {
                BreakerStatus::Open { until_ms }
            }
            _ if self.cool_down_until_ms > now_ms => BreakerStatus::CoolingDown { until_ms: self.cool_down_until_ms },
            State::Open { .. } | State::HalfOpen { .. } => BreakerStatus::HalfOpen,
            State::Closed { .. } => BreakerStatus::Closed { failures: self.consecutive_failures },
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "consumes the permit, so that a call counts once")]
    pub fn record(&mut self, permit: CallPermit, outcome: CallOutcome, now_ms: u64) {
        match outcome {
            CallOutcome::Answered => {
                self.consecutive_rate_limits = 0;
                self.record_answer(&permit, now_ms);
            }
            CallOutcome::RateLimited { retry_after_ms } => {
                // A service that refuses for a rate limit is up.
                self.record_answer(&permit, now_ms);
                self.cool_down(retry_after_ms, now_ms);
            }
            CallOutcome::Failed => self.record_failure(&permit, now_ms),
            CallOutcome::Unavailable { retry_after_ms } => {
                self.record_failure(&permit, now_ms);
                self.cool_down_for(retry_after_ms, now_ms);
            }
            // A cancelled probe lets the next call probe at once.
            CallOutcome::Cancelled => {
                if let (PermitKind::Probe, State::HalfOpen { open_ms }) = (permit.kind, self.state) {
                    self.state = State::Open { open_ms, until_ms: now_ms };
                }
            }
        }
    }

    fn record_answer(&mut self, permit: &CallPermit, now_ms: u64) {
        self.consecutive_failures = 0;
        match (permit.kind, self.state) {
            (PermitKind::Probe, _) => {
                self.state = State::Closed { since_ms: now_ms };
                self.recent = Window::default();
            }
            (PermitKind::Regular, State::Closed { since_ms }) if permit.began_ms >= since_ms => {
                self.recent.count(&self.rules, now_ms, 0);
            }
            // Calls that began before the breaker opened say nothing about the service now.
            _ => {}
        }
    }

    fn record_failure(&mut self, permit: &CallPermit, now_ms: u64) {
        match (permit.kind, self.state) {
            (PermitKind::Probe, State::HalfOpen { open_ms }) => {
                self.open(open_ms.saturating_mul(2).min(self.rules.max_open_ms), now_ms);
            }
            (PermitKind::Regular, State::Closed { since_ms }) if permit.began_ms >= since_ms => {
                self.recent.count(&self.rules, now_ms, 1);
                self.consecutive_failures = self.consecutive_failures.saturating_add(1);
                if self.recent.is_failing(&self.rules, now_ms) {
                    self.open(self.rules.max_open_ms, now_ms);
                } else if self.rules.consecutive_failures.is_some_and(|limit| self.consecutive_failures >= limit) {
                    self.open(self.rules.first_open_ms.min(self.rules.max_open_ms), now_ms);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, open_ms: u64, now_ms: u64) {
        self.state = State::Open { open_ms, until_ms: now_ms.saturating_add(open_ms) };
        self.recent = Window::default();
        self.consecutive_failures = 0;
    }

    /// Cools down for as long as the service asks, else for longer with each rate limit in a row; capped by the rules.
    fn cool_down(&mut self, retry_after_ms: Option<u64>, now_ms: u64) {
        self.consecutive_rate_limits = self.consecutive_rate_limits.saturating_add(1);
        let default_ms = u64::from(self.consecutive_rate_limits).saturating_mul(self.rules.cool_down_ms);
        self.cool_down_for(retry_after_ms.unwrap_or(default_ms), now_ms);
    }

    fn cool_down_for(&mut self, wait_ms: u64, now_ms: u64) {
        let wait_ms = wait_ms.min(self.rules.max_cool_down_ms);
        self.cool_down_until_ms = self.cool_down_until_ms.max(now_ms.saturating_add(wait_ms));
    }

    /// Ends a cool-down, because the service has answered meanwhile.
    pub fn end_cool_down(&mut self) {
        self.consecutive_rate_limits = 0;
        self.cool_down_until_ms = 0;
    }
}

/// Outcome of a call, as a [`Breaker`] sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The service answered, even if it refused the request.
    Answered,
    RateLimited {
        retry_after_ms: Option<u64>,
    },
    /// The call broke, timed out or ended in a 5xx.
    Failed,
    /// As [`CallOutcome::Failed`], and the service says when to call again.
    Unavailable {
        retry_after_ms: u64,
    },
    /// The caller gave the call up before its outcome was known.
    Cancelled,
}

impl CallOutcome {
    /// The outcome of an attempt at a model. A 4xx is an answer, whatever its error class.
    pub fn from_model_result<T>(result: &Result<T, ModelFailure>) -> Self {
        let Err(failure) = result else { return Self::Answered };
        let refused = failure.status.is_some_and(|status| (400..=499).contains(&status));
        match failure.class {
            ErrorClass::RateLimit => Self::RateLimited { retry_after_ms: failure.retry_after_ms },
            ErrorClass::NetworkError if !refused => match failure.retry_after_ms {
                Some(retry_after_ms) => Self::Unavailable { retry_after_ms },
                None => Self::Failed,
            },
            ErrorClass::Timeout | ErrorClass::InvalidResponse if !refused => Self::Failed,
            _ => Self::Answered,
        }
    }

    pub fn from_status(status: u16, retry_after_ms: Option<u64>) -> Self {
        match status {
            429 => Self::RateLimited { retry_after_ms },
            500.. => Self::Failed,
            _ => Self::Answered,
        }
    }
}

/// When a [`Breaker`] opens, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerRules {
    /// Length of the sliding window in which calls are counted.
    pub window_ms: u64,
    /// The number of calls in the window from which their failure rate counts.
    pub min_calls: u32,
    /// The failure rate, in percent, that opens the breaker. A value above 100 turns this rule off.
    pub failure_percent: u32,
    /// How long the failure rate opens the breaker; also the longest open period.
    pub max_open_ms: u64,
    /// The number of failures in a row, without an answer between them, that opens the breaker; off if none.
    pub consecutive_failures: Option<u32>,
    /// How long failures in a row open the breaker. Each failed probe doubles it, up to `max_open_ms`.
    pub first_open_ms: u64,
    /// Cool-down after a rate limit without a `Retry-After`, multiplied by the number of rate limits in a row.
    pub cool_down_ms: u64,
    /// The longest cool-down, whatever the service asks for.
    pub max_cool_down_ms: u64,
}

impl BreakerRules {
    /// For a service with tools: open for 30 s when half of at least 10 calls within 60 s fail; cool-down for as long
    /// as the service asks, up to a minute.
    pub fn for_service() -> Self {
        Self {
            window_ms: 60_000,
            min_calls: 10,
            failure_percent: 50,
            max_open_ms: 30_000,
            consecutive_failures: None,
            first_open_ms: 5_000,
            cool_down_ms: 0,
            max_cool_down_ms: 60_000,
        }
    }

    /// For a model without a fallback, or one in a rotation that advances anyway: as a service, with a cool-down of at
    /// least a second after a rate limit.
    pub fn for_model() -> Self {
        Self { cool_down_ms: 1_000, ..Self::for_service() }
    }

    /// For a model that another can replace: as [`BreakerRules::for_model`], and two failures in a row open the breaker
    /// for 5 s, then for 10, 20 and 30 s.
    pub fn for_model_with_fallback() -> Self {
        Self { consecutive_failures: Some(2), ..Self::for_model() }
    }
}

/// The number of buckets in a window. Buckets need no memory per call; the window ends at most a sixtieth late.
const BUCKETS: u64 = 60;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Window {
    buckets: VecDeque<Bucket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Bucket {
    index: u64,
    calls: u32,
    failed: u32,
}

impl Window {
    /// Counts one call; `failed` is 1 for a failed call, else 0.
    fn count(&mut self, rules: &BreakerRules, now_ms: u64, failed: u32) {
        self.drop_expired(rules, now_ms);
        let index = bucket_index(rules, now_ms);
        match self.buckets.back_mut() {
            // If the clock went back, the call counts in the newest bucket.
            Some(bucket) if bucket.index >= index => {
                bucket.calls = bucket.calls.saturating_add(1);
                bucket.failed = bucket.failed.saturating_add(failed);
            }
            _ => self.buckets.push_back(Bucket { index, calls: 1, failed }),
        }
    }

    fn is_failing(&mut self, rules: &BreakerRules, now_ms: u64) -> bool {
        self.drop_expired(rules, now_ms);
        let sum = |count: fn(&Bucket) -> u32| self.buckets.iter().map(|bucket| u64::from(count(bucket))).sum::<u64>();
        let (calls, failed) = (sum(|bucket| bucket.calls), sum(|bucket| bucket.failed));
        calls >= u64::from(rules.min_calls) && failed * 100 >= calls * u64::from(rules.failure_percent)
    }

    fn drop_expired(&mut self, rules: &BreakerRules, now_ms: u64) {
        let oldest = bucket_index(rules, now_ms).saturating_sub(BUCKETS);
        while self.buckets.front().is_some_and(|bucket| bucket.index < oldest) {
            self.buckets.pop_front();
        }
    }
}

fn bucket_index(rules: &BreakerRules, now_ms: u64) -> u64 {
    now_ms / (rules.window_ms / BUCKETS).max(1)
}
