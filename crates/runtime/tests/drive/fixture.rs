//! What a driver needs, with tools and models on loopback.

use std::sync::Arc;

use reknit_engine::{
    Earlier, Effect, Event, MACHINE_VERSION, Machine, Metadata, Policy, Run, Started, Synthesis, Templates,
};
use reknit_fakes::VirtualClock;
use reknit_journal::Journal;
use reknit_models::{Models, Target};
use reknit_protocol::{Object, Plan, RunId, Step, Value};
use reknit_runtime::{BoxFuture, CallLimits, Clock, Driver, Network, Watcher};
use reknit_tools::{Address, Client, Discovery};

/// A clock that moves only when a test advances it.
#[derive(Debug, Clone)]
pub(crate) struct ManualClock(pub(crate) VirtualClock);

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        i64::try_from(self.0.now_ms()).expect("the test is short")
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let clock = self.0.clone();
        Box::pin(async move { clock.sleep_until(u64::try_from(at_ms).unwrap_or(0)).await })
    }
}

/// The policy of runs whose scripted models write one plan.
pub(crate) fn with_one_plan() -> Policy {
    let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
    policy.planning.replans = 0;
    policy
}

/// What a driver needs.
pub(crate) struct Fixture {
    pub(crate) journal: Journal,
    pub(crate) clock: VirtualClock,
    pub(crate) found: Discovery,
    pub(crate) models: Arc<Models>,
}

impl Fixture {
    pub(crate) async fn new(tools: &[(String, String)], model_url: Option<&str>) -> Self {
        let addresses: Vec<Address> =
            tools.iter().map(|(name, url)| Address::parse(name.as_str(), url).expect("an address")).collect();
        let found = Client::new().expect("a client").discover(&addresses).await;
        assert_eq!(found.problems, []);
        let targets = model_url.map(|url| Target::new("scripted", url, "scripted")).into_iter().collect();
        Self {
            journal: Journal::in_memory(),
            clock: VirtualClock::new(1_000_000),
            found,
            models: Arc::new(Models::new(targets).expect("the targets are valid")),
        }
    }

    /// A driver whose clock skips every wait before a retry.
    pub(crate) fn driver(&self) -> Driver {
        self.driver_with(CallLimits::default())
    }

    pub(crate) fn driver_with(&self, limits: CallLimits) -> Driver {
        let clock = self.clock.clone();
        let watcher = Watcher::inline(move |committed| skip_wait(&clock, committed.machine));
        let transport = Network { models: self.models.clone(), tools: self.found.tools.clone() };
        let clock = Arc::new(ManualClock(self.clock.clone()));
        Driver::new(self.journal.clone(), Arc::new(transport), clock, limits).with_watcher(watcher)
    }

    /// Waits until the journal has an event of this kind.
    pub(crate) async fn wait_for_event(&self, run: &str, kind: &str) {
        while !self.restore(run).await.1.iter().any(|event| event.kind.name() == kind) {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn started(&self, run: &str, request: &str, plan: Option<Plan>) -> Started {
        Started {
            run: run.into(),
            request: request.to_owned(),
            plan,
            plan_author: reknit_plan::PlanAuthor::Person,
            inputs: Object::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: Metadata::default(),
            catalogue: Arc::new(self.found.catalogue.clone()),
            targets: vec!["scripted".into()],
            policy: Arc::new(with_one_plan()),
            templates: Arc::new(Templates::default()),
            mappings: Vec::new(),
            seed: 7,
            trace_parent: None,
            fork: None,
            earlier: Earlier::default(),
            machine_version: MACHINE_VERSION,
        }
    }

    /// Restores a run from its events.
    pub(crate) async fn restore(&self, run: &str) -> (Run, Vec<Event>) {
        let records = self.journal.events(&RunId::new(run), 0).await.expect("the run exists");
        let events: Vec<Event> =
            records.iter().map(|record| serde_json::from_str(&record.body).expect("an event")).collect();
        let (mut restored, _) = Run::begin(&events[0]).expect("the run begins");
        for event in &events[1..] {
            restored.apply(event).expect("the event is applied");
        }
        (restored, events)
    }
}

fn skip_wait(clock: &VirtualClock, machine: &Machine) {
    let is_retry_wait =
        |id: &str| ["/retry-wait/", "/ask-wait/", "/breaker-wait/"].iter().any(|kind| id.contains(kind));
    let waits = machine.pending().into_iter().filter_map(|effect| match effect {
        Effect::Sleep { id, until_ms } if is_retry_wait(&id.to_string()) => u64::try_from(until_ms).ok(),
        _ => None,
    });
    if let Some(until_ms) = waits.min() {
        clock.advance_to(until_ms);
    }
}

pub(crate) fn object(text: &str) -> Object {
    Value::parse(text).expect("JSON").as_object().cloned().expect("an object")
}

pub(crate) fn step(id: &str, agent: &str, capability: &str, parameters: &str) -> Step {
    Step::new(id, agent, capability, "").with_parameters(object(parameters))
}

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan::new("p", "a test", steps)
}
