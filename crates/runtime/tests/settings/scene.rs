//! Scenes that are played with and without a setting.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_engine::{AskModel, Effect, Event, Metadata, SessionStarted, SessionTexts, Started};
use reknit_journal::Journal;
use reknit_model_api::{Purpose, TargetName};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::CallTool;
use reknit_protocol::{Capability, Plan, SideEffect, Step, Value};
use reknit_runtime::config::{Config, ConfigBuilder};
use reknit_runtime::{DriveOutcome, RunStart, Runtime, Watcher};
use reknit_telemetry::interactions;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted_transport::{CallLog, ModelReply, ModelScript, ScriptedTransport, ToolBehavior, ToolScript};

/// A run or a session against scripted tools and models.
pub(crate) struct Scene {
    /// The steps of the plan; if empty, a model makes the plan.
    pub(crate) steps: Vec<Step>,
    /// Whether it is a session instead of a run.
    pub(crate) is_session: bool,
    pub(crate) targets: &'static [&'static str],
    pub(crate) tool: ToolScript,
    pub(crate) model: ModelScript,
    /// How many runs are driven concurrently in each round.
    pub(crate) runs: usize,
    pub(crate) rounds: usize,
    /// When the runs are cancelled.
    pub(crate) cancelled_after: Option<Duration>,
    /// How many capabilities there are besides the usual ones.
    pub(crate) extra_capabilities: usize,
}

/// What was observed in a scene.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) log: CallLog,
    pub(crate) took: Duration,
    pub(crate) ended: Vec<DriveOutcome>,
    /// How long a person has to decide.
    pub(crate) person_ms: Option<i64>,
    /// How many model calls the first run shows, if it may.
    pub(crate) questions: Option<usize>,
    /// The lines of the log.
    pub(crate) lines: Vec<String>,
    /// The journals in the folder of the case.
    pub(crate) files: Vec<String>,
}

pub(crate) fn step(id: &str, capability: &str, parameters: &str) -> Step {
    let parameters = Value::parse(parameters).expect("JSON").as_object().cloned().expect("an object");
    let (agent, capability) = capability.split_once('/').unwrap_or(("t", capability));
    Step::new(id, agent, capability, "do it").with_parameters(parameters)
}

impl Scene {
    /// A run of these steps, with one model whose text is useless.
    pub(crate) fn of(steps: Vec<Step>, tool: ToolScript) -> Self {
        Self {
            steps,
            is_session: false,
            targets: &["a"],
            tool,
            model: |_, _| ModelReply::Text("nothing".to_owned()),
            runs: 1,
            rounds: 1,
            cancelled_after: None,
            extra_capabilities: 0,
        }
    }

    /// A request without a plan.
    pub(crate) fn request(model: ModelScript) -> Self {
        Self { model, ..Self::of(Vec::new(), |_, _| ToolBehavior::SucceedAfter(0)) }
    }

    /// Plays the scene through the public API.
    pub(crate) async fn play(self, config: Config) -> Observation {
        let began = Instant::now();
        let transport =
            Arc::new(ScriptedTransport { log: Mutex::default(), began, tool: self.tool, model: self.model });
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = move |line: &str| kept.lock().expect("the lock is not poisoned").push(line.to_owned());
        let config = ConfigBuilder::from(config).log_to(log).build().expect("the configuration is valid");
        let reknit = Runtime::with_transport(Arc::clone(&transport) as _, catalogue(self.extra_capabilities), config)
            .expect("the configuration is valid");
        let person_ms = Arc::new(Mutex::new(None));
        let cancel = CancellationToken::new();
        let driver = reknit.driver().with_watcher(watcher(&person_ms)).with_cancel_token(cancel.clone());
        if let Some(after) = self.cancelled_after {
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                cancel.cancel();
            });
        }
        let mut ended = Vec::new();
        for round in 0..self.rounds {
            let runs = (0..self.runs).map(|run| {
                let (driver, run_start) = (driver.clone(), self.run_start(&format!("r{round}-{run}"), &reknit));
                tokio::spawn(async move { driver.start(run_start).await.expect("the run is driven") })
            });
            for run in runs.collect::<Vec<_>>() {
                ended.push(run.await.expect("the task does not panic"));
            }
        }
        let log = std::mem::take(&mut *transport.log.lock().expect("the lock is not poisoned"));
        let lines = std::mem::take(&mut *lines.lock().expect("the lock is not poisoned"));
        let person_ms = *person_ms.lock().expect("the lock is not poisoned");
        let questions = questions(&reknit.journal).await;
        Observation { log, took: began.elapsed(), ended, person_ms, questions, lines, files: Vec::new() }
    }

    fn run_start(&self, run: &str, reknit: &Runtime) -> RunStart {
        let targets: Vec<TargetName> = self.targets.iter().map(|name| (*name).into()).collect();
        let plan = (!self.steps.is_empty()).then(|| Plan::new("p", "do it", self.steps.clone()));
        let started = Started { run: run.into(), targets, seed: 7, ..reknit.started("do it", plan) };
        let metadata = Metadata::from_pairs([("tenant", "acme"), ("user", "ann")]).expect("the keys are valid");
        let started = started.with_metadata(metadata);
        if !self.is_session {
            return started.into();
        }
        SessionStarted {
            run: started.run,
            agent: "clerk".to_owned(),
            prompt: "You are a clerk.".to_owned(),
            input: "Where is it?".to_owned(),
            attachments: Vec::new(),
            metadata: started.metadata,
            catalogue: started.catalogue,
            unavailable: Vec::new(),
            targets: started.targets,
            rules: reknit.session.clone(),
            policy: started.policy,
            templates: started.templates,
            words: Arc::new(SessionTexts::default()),
            agents: Vec::new(),
            seed: started.seed,
            trace_parent: started.trace_parent,
            fork: None,
            machine_version: started.machine_version,
        }
        .into()
    }
}

/// How many model calls the first run shows.
async fn questions(journal: &Journal) -> Option<usize> {
    let records = journal.events(&"r0-0".into(), 0).await.expect("the run exists");
    let events: Vec<Event> =
        records.iter().map(|record| serde_json::from_str(&record.body).expect("an event")).collect();
    interactions(&events).expect("the events are valid").map(|found| found.len())
}

/// Notes how long a person has to decide.
fn watcher(person_ms: &Arc<Mutex<Option<i64>>>) -> Watcher {
    let person_ms = Arc::clone(person_ms);
    Watcher::inline(move |committed| {
        for effect in committed.machine.pending() {
            if let Effect::AskPerson(ask) = effect {
                *person_ms.lock().expect("the lock is not poisoned") = Some(ask.expires_ms - committed.event.at_ms);
            }
        }
    })
}

/// Five tools. The first has a capability for each side effect, one with a required amount, and one that announces its result.
fn catalogue(extra_capabilities: usize) -> Catalogue {
    let entry = |name: &str, effect: SideEffect, schema: Option<&str>| {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        CatalogueEntry::new(capability, schema.map(|text| Value::parse(text).expect("JSON")))
            .expect("the schema is valid")
    };
    let amount = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    let mut capabilities = vec![
        entry("read", SideEffect::Read, None),
        entry("keyed", SideEffect::Keyed, None),
        entry("undeclared", SideEffect::Undeclared, None),
        entry("unsafe", SideEffect::Unsafe, None),
        entry("convert", SideEffect::Read, Some(amount)),
    ];
    let announced = r#"{"name": "announced", "effect": "read", "output_summary": {"required": [{"name": "price", "type": "number"}]}}"#;
    let announced = Capability::from_value(&Value::parse(announced).expect("JSON")).expect("a capability");
    capabilities.push(CatalogueEntry::new(announced, None).expect("it has no schema"));
    capabilities.extend((0..extra_capabilities).map(|number| entry(&format!("more_{number}"), SideEffect::Read, None)));
    let tool = |name: &str, capabilities| CatalogueTool { name: name.into(), description: String::new(), capabilities };
    let others = ["u", "v", "w", "x"].map(|name| tool(name, vec![entry("read", SideEffect::Read, None)]));
    Catalogue { tools: std::iter::once(tool("t", capabilities)).chain(others).collect() }
}

impl Observation {
    /// A call with its time, counted from 1.
    pub(crate) fn call(&self, nth: usize) -> &(u64, CallTool) {
        self.log.calls.get(nth - 1).unwrap_or_else(|| panic!("there is no call {nth}: {:?}", self.log.calls))
    }

    pub(crate) fn ask(&self, purpose: Purpose) -> &AskModel {
        let found = self.log.asks.iter().find(|(_, ask)| ask.purpose == purpose);
        &found.unwrap_or_else(|| panic!("no model is asked for {purpose}: {:?}", self.log.asks)).1
    }

    pub(crate) fn asked(&self, purpose: Purpose) -> String {
        self.log.asks.iter().filter(|(_, ask)| ask.purpose == purpose).count().to_string()
    }

    /// The pauses of a second and more before calls: `2: 30s` is half a minute before the second call.
    pub(crate) fn pauses(&self) -> String {
        pauses(self.log.calls.iter().map(|(at_ms, _)| *at_ms))
    }
}

/// Pauses of a second and more before the second and later of these times.
pub(crate) fn pauses(times_ms: impl Iterator<Item = u64>) -> String {
    let times_ms: Vec<u64> = times_ms.collect();
    let long = times_ms.windows(2).enumerate().filter_map(|(index, pair)| {
        let seconds = (pair[1] - pair[0]) / 1_000;
        (seconds > 0).then(|| format!("{}: {seconds}s", index + 2))
    });
    long.collect::<Vec<_>>().join(", ")
}
