//! Call limits and circuit breakers of tools and models, shared by all runs of a process.
//!
//! A caller waits here, in the order of arrival, until it may make another concurrent call. It does not wait for an open
//! [`Breaker`]: it learns until when the breaker stays open.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_config::{BreakerPolicy, CallLimits, ToolLimits};
use reknit_model_api::{
    Admission, BlockedBy, Breaker, BreakerRules, BreakerStatus, CallOutcome, CallPermit, TargetName,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::call_rate::RateLimit;
use crate::clock::{Clock, unsigned};

/// How long a model counts as blocked while another caller probes it. Callers ask other models meanwhile.
const PROBE_MS: i64 = 1_000;

/// The call limits and circuit breakers that all runs of a process share.
#[derive(Debug)]
pub struct Breakers {
    clock: Arc<dyn Clock>,
    all_tools: Arc<Semaphore>,
    tools: Endpoints,
    models: Endpoints,
}

/// Whether a tool or a model can be called now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointHealth {
    pub breaker: BreakerStatus,
    /// How many calls are in progress.
    pub calls: usize,
    /// How many calls may be in progress at the same time.
    pub max_calls: usize,
}

/// A call may not be made before this time, because a breaker is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BreakerOpen {
    pub(crate) until_ms: i64,
    pub(crate) by: BlockedBy,
}

impl Breakers {
    pub fn new(limits: CallLimits, policy: BreakerPolicy, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            all_tools: Arc::new(Semaphore::new(limits.in_all)),
            tools: Endpoints::new(limits.per_tool, policy.tools),
            models: Endpoints::new(limits.per_model, policy.models),
        }
    }

    /// Sets limits of single tools, by name.
    #[must_use]
    pub fn with_tool_limits(mut self, limits: BTreeMap<String, ToolLimits>) -> Self {
        self.tools.limits = limits;
        self
    }

    /// Waits until a tool may be called. If another caller probes the tool, this waits for the result. Fails if the breaker
    /// of the tool is open.
    pub(crate) async fn acquire_tool(&self, tool: &str) -> Result<Permit, BreakerOpen> {
        let endpoint = self.tools.endpoint(tool);
        loop {
            // The tool's own limits come first, so that calls waiting for a slow tool do not use up the limit of all tools.
            // The semaphores are never closed, so a slot always comes.
            let own_slot = Arc::clone(&endpoint.slots).acquire_owned().await.ok();
            let turn = match &endpoint.rate {
                Some(rate) => Some(rate.wait(tool, self.clock.as_ref()).await),
                None => None,
            };
            let shared_slot = Arc::clone(&self.all_tools).acquire_owned().await.ok();
            let mut changed = Box::pin(endpoint.changed.notified());
            // Register before asking the breaker, so that no notification is missed.
            changed.as_mut().enable();
            match endpoint.admit(self.clock.now_ms()) {
                Admission::Allowed(permit) => {
                    if let Some(turn) = turn {
                        turn.take(self.clock.now_ms());
                    }
                    return Ok(self.permit(&endpoint, permit, [own_slot, shared_slot]));
                }
                Admission::Rejected { until_ms } => return Err(BreakerOpen::until(until_ms)),
                Admission::ProbeInFlight => {}
            }
            drop((own_slot, shared_slot, turn));
            changed.await;
        }
    }

    /// A permit for a call of a tool, if the call may be made at once. A tool with a rate gives none: its calls take their turns
    /// when they are made.
    pub(crate) fn try_acquire_tool(&self, tool: &str) -> Option<Permit> {
        let endpoint = self.tools.endpoint(tool);
        if endpoint.rate.is_some() {
            return None;
        }
        let own_slot = Arc::clone(&endpoint.slots).try_acquire_owned().ok()?;
        let shared_slot = Arc::clone(&self.all_tools).try_acquire_owned().ok()?;
        match endpoint.admit(self.clock.now_ms()) {
            Admission::Allowed(permit) => Some(self.permit(&endpoint, permit, [Some(own_slot), Some(shared_slot)])),
            Admission::Rejected { .. } | Admission::ProbeInFlight => None,
        }
    }

    /// Waits until a model may be called. Fails if its breaker is open, and also if another caller probes the model: other
    /// models can be asked meanwhile.
    pub(crate) async fn acquire_model(&self, target: &TargetName) -> Result<Permit, BreakerOpen> {
        let endpoint = self.models.endpoint(target.as_str());
        let slot = Arc::clone(&endpoint.slots).acquire_owned().await.ok();
        let now_ms = self.clock.now_ms();
        match endpoint.admit(now_ms) {
            Admission::Allowed(permit) => Ok(self.permit(&endpoint, permit, [slot, None])),
            Admission::Rejected { until_ms } => {
                Err(BreakerOpen { by: endpoint.blocked_by(now_ms), ..BreakerOpen::until(until_ms) })
            }
            Admission::ProbeInFlight => {
                Err(BreakerOpen { until_ms: now_ms.saturating_add(PROBE_MS), by: BlockedBy::OpenBreaker })
            }
        }
    }

    /// How long a model cools down from now on.
    pub(crate) fn cool_down_ms(&self, target: &TargetName) -> Option<u64> {
        let now_ms = unsigned(self.clock.now_ms());
        match self.model_health(target).breaker {
            BreakerStatus::CoolingDown { until_ms } => Some(until_ms.saturating_sub(now_ms)),
            BreakerStatus::Closed { .. } | BreakerStatus::Open { .. } | BreakerStatus::HalfOpen => None,
        }
    }

    /// Ends the cool-down of a model that was asked all the same, and has answered.
    pub(crate) fn end_cool_down(&self, target: &TargetName) {
        self.models.endpoint(target.as_str()).breaker.lock().end_cool_down();
    }

    pub fn tool_health(&self, tool: &str) -> EndpointHealth {
        self.tools.health(tool, self.clock.now_ms())
    }

    pub fn model_health(&self, target: &TargetName) -> EndpointHealth {
        self.models.health(target.as_str(), self.clock.now_ms())
    }

    fn permit(&self, endpoint: &Arc<Endpoint>, permit: CallPermit, slots: [Option<OwnedSemaphorePermit>; 2]) -> Permit {
        let (endpoint, clock) = (Arc::clone(endpoint), Arc::clone(&self.clock));
        Permit { endpoint, clock, inner: Some(permit), _slots: slots }
    }
}

impl BreakerOpen {
    fn until(until_ms: u64) -> Self {
        Self { until_ms: i64::try_from(until_ms).unwrap_or(i64::MAX), by: BlockedBy::default() }
    }
}

/// The permission to make one call. Dropping it without an outcome counts as cancelled.
#[derive(Debug)]
pub(crate) struct Permit {
    endpoint: Arc<Endpoint>,
    clock: Arc<dyn Clock>,
    inner: Option<CallPermit>,
    _slots: [Option<OwnedSemaphorePermit>; 2],
}

impl Permit {
    pub(crate) fn record(mut self, outcome: CallOutcome) {
        self.release(outcome);
    }

    fn release(&mut self, outcome: CallOutcome) {
        if let Some(permit) = self.inner.take() {
            self.endpoint.record(permit, outcome, self.clock.now_ms());
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.release(CallOutcome::Cancelled);
    }
}

/// The endpoints of all tools, or of all models, by name.
#[derive(Debug)]
struct Endpoints {
    slots: usize,
    rules: BreakerRules,
    /// The limits of single ones.
    limits: BTreeMap<String, ToolLimits>,
    by_name: Mutex<HashMap<String, Arc<Endpoint>>>,
}

/// The call limit and the breaker of one tool or model.
#[derive(Debug)]
struct Endpoint {
    slots: Arc<Semaphore>,
    rate: Option<RateLimit>,
    breaker: Mutex<Breaker>,
    /// Notified when the outcome of a call is recorded.
    changed: Notify,
}

impl Endpoints {
    fn new(slots: usize, rules: BreakerRules) -> Self {
        Self { slots, rules, limits: BTreeMap::new(), by_name: Mutex::default() }
    }

    fn slots_of(&self, name: &str) -> usize {
        self.limits.get(name).and_then(|limits| limits.concurrent).unwrap_or(self.slots)
    }

    /// One that was never called is not created for this.
    fn health(&self, name: &str, now_ms: i64) -> EndpointHealth {
        let max_calls = self.slots_of(name);
        let known = self.by_name.lock().get(name).cloned();
        let Some(endpoint) = known else {
            return EndpointHealth { breaker: BreakerStatus::Closed { failures: 0 }, calls: 0, max_calls };
        };
        let breaker = endpoint.breaker.lock().status(unsigned(now_ms));
        let calls = max_calls.saturating_sub(endpoint.slots.available_permits());
        EndpointHealth { breaker, calls, max_calls }
    }

    fn endpoint(&self, name: &str) -> Arc<Endpoint> {
        let mut endpoints = self.by_name.lock();
        if let Some(endpoint) = endpoints.get(name) {
            return Arc::clone(endpoint);
        }
        let limits = self.limits.get(name).copied().unwrap_or_default();
        let endpoint = Arc::new(Endpoint {
            slots: Arc::new(Semaphore::new(self.slots_of(name))),
            rate: limits.rate.map(RateLimit::new),
            breaker: Mutex::new(Breaker::new(self.rules.clone())),
            changed: Notify::new(),
        });
        endpoints.insert(name.to_owned(), Arc::clone(&endpoint));
        endpoint
    }
}

impl Endpoint {
    fn admit(&self, now_ms: i64) -> Admission {
        self.breaker.lock().admit(unsigned(now_ms))
    }

    fn blocked_by(&self, now_ms: i64) -> BlockedBy {
        match self.breaker.lock().status(unsigned(now_ms)) {
            BreakerStatus::CoolingDown { .. } => BlockedBy::CoolDown,
            BreakerStatus::Closed { .. } | BreakerStatus::Open { .. } | BreakerStatus::HalfOpen => {
                BlockedBy::OpenBreaker
            }
        }
    }

    fn record(&self, permit: CallPermit, outcome: CallOutcome, now_ms: i64) {
        self.breaker.lock().record(permit, outcome, unsigned(now_ms));
        self.changed.notify_waiters();
    }
}
