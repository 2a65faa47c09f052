//! What all runs of a process share: how many calls may be under way at once, and whether a service or a model may be
//! called at all now.
//!
//! How many at once is waited for here, in the order of arrival. Whether at all is decided by a [`Gate`], which does not
//! wait: who finds it closed is told until when.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use reknit_dialogue::{CallOutcome, Entry, Gate, GateRules, Pass, TargetName};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::clock::Clock;

/// How soon a model is asked for again that somebody else is just trying: others are asked meanwhile.
const LOOK_AGAIN_MS: i64 = 1_000;

/// How many calls may be under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Over all tools.
    pub in_all: usize,
    /// Of one tool.
    pub per_tool: usize,
    /// Questions to one model.
    pub per_model: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { in_all: 256, per_tool: 64, per_model: 64 }
    }
}

/// When services and models are given a rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rests {
    /// Of tools; each service has a gate of its own.
    pub tools: GateRules,
    /// Of models; each target has one.
    pub models: GateRules,
}

impl Default for Rests {
    /// For models that are asked in turn.
    fn default() -> Self {
        Self { tools: GateRules::service(), models: GateRules::model_in_turn() }
    }
}

/// Hands out permits for calls; shared by all who make them.
#[derive(Debug)]
pub struct Gates {
    clock: Arc<dyn Clock>,
    all: Arc<Semaphore>,
    tools: Doors,
    models: Doors,
}

/// Why a call may not be made: not before that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) until_ms: i64,
}

impl Gates {
    /// Everything is open.
    pub fn new(limits: CallLimits, rests: Rests, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            all: Arc::new(Semaphore::new(limits.in_all)),
            tools: Doors::new(limits.per_tool, rests.tools),
            models: Doors::new(limits.per_model, rests.models),
        }
    }

    /// Waits for a place at a tool. First at the tool, so that a slow tool keeps no place that others could use. Who comes
    /// while somebody tries whether it is well again waits for that.
    pub(crate) async fn enter_tool(&self, tool: &str) -> Result<Permit, Closed> {
        let door = self.tools.door(tool);
        loop {
            // The semaphores are never closed, so a permit always comes.
            let own = Arc::clone(&door.places).acquire_owned().await.ok();
            let all = Arc::clone(&self.all).acquire_owned().await.ok();
            let mut changed = Box::pin(door.changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            match door.enter(self.clock.now_ms()) {
                Entry::Open(pass) => return Ok(self.permit(&door, pass, [own, all])),
                Entry::Closed { until_ms } => return Err(Closed::at(until_ms)),
                Entry::Probing => {}
            }
            drop((own, all));
            changed.await;
        }
    }

    /// Waits for a place at a model. Nobody waits for a model that may not be well: others can be asked.
    pub(crate) async fn enter_model(&self, target: &TargetName) -> Result<Permit, Closed> {
        let door = self.models.door(target.as_str());
        let own = Arc::clone(&door.places).acquire_owned().await.ok();
        let now_ms = self.clock.now_ms();
        match door.enter(now_ms) {
            Entry::Open(pass) => Ok(self.permit(&door, pass, [own, None])),
            Entry::Closed { until_ms } => Err(Closed::at(until_ms)),
            Entry::Probing => Err(Closed { until_ms: now_ms.saturating_add(LOOK_AGAIN_MS) }),
        }
    }

    fn permit(&self, door: &Arc<Door>, pass: Pass, places: [Option<OwnedSemaphorePermit>; 2]) -> Permit {
        Permit { door: Arc::clone(door), clock: Arc::clone(&self.clock), pass: Some(pass), _places: places }
    }
}

impl Closed {
    fn at(until_ms: u64) -> Self {
        Self { until_ms: i64::try_from(until_ms).unwrap_or(i64::MAX) }
    }
}

/// The right to make one call. Dropping it lets the next one in; without an outcome nobody knows how the call went.
#[derive(Debug)]
pub(crate) struct Permit {
    door: Arc<Door>,
    clock: Arc<dyn Clock>,
    pass: Option<Pass>,
    _places: [Option<OwnedSemaphorePermit>; 2],
}

impl Permit {
    /// Says how the call went.
    pub(crate) fn settle(mut self, outcome: CallOutcome) {
        self.give_back(outcome);
    }

    fn give_back(&mut self, outcome: CallOutcome) {
        if let Some(pass) = self.pass.take() {
            self.door.leave(pass, outcome, self.clock.now_ms());
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.give_back(CallOutcome::Unknown);
    }
}

/// A door for each name.
#[derive(Debug)]
struct Doors {
    places: usize,
    rules: GateRules,
    by_name: Mutex<HashMap<String, Arc<Door>>>,
}

/// Where the calls of one service, or of one model, go through.
#[derive(Debug)]
struct Door {
    places: Arc<Semaphore>,
    gate: Mutex<Gate>,
    changed: Notify,
}

impl Doors {
    fn new(places: usize, rules: GateRules) -> Self {
        Self { places, rules, by_name: Mutex::default() }
    }

    fn door(&self, name: &str) -> Arc<Door> {
        let mut doors = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(door) = doors.get(name) {
            return Arc::clone(door);
        }
        let door = Arc::new(Door {
            places: Arc::new(Semaphore::new(self.places)),
            gate: Mutex::new(Gate::new(self.rules.clone())),
            changed: Notify::new(),
        });
        doors.insert(name.to_owned(), Arc::clone(&door));
        door
    }
}

impl Door {
    fn enter(&self, now_ms: i64) -> Entry {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner).enter(unsigned(now_ms))
    }

    fn leave(&self, pass: Pass, outcome: CallOutcome, now_ms: i64) {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner).leave(pass, outcome, unsigned(now_ms));
        self.changed.notify_waiters();
    }
}

/// The clock of a driver counts from 1970.
fn unsigned(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}
