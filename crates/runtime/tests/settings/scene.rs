//! What is played with the settings.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_dialogue::{Purpose, TargetName};
use reknit_engine::{AskModel, Effect, Event, Machine, SessionStarted, Started, Words, interactions};
use reknit_journal::Journal;
use reknit_plan::{Catalogue, Entry, Tool};
use reknit_protocol::CallTool;
use reknit_protocol::{Capability, Plan, SideEffect, Step, Value};
use reknit_runtime::config::Config;
use reknit_runtime::{Beginning, Ended, Reknit, Watcher};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::edge::{Does, Log, Model, Says, Scripted, Tool as ToolScript};

/// What is played with the settings.
pub(crate) struct Scene {
    /// The steps; without them a model makes the plan.
    pub(crate) steps: Vec<Step>,
    /// A session in place of a run.
    pub(crate) session: bool,
    pub(crate) targets: &'static [&'static str],
    pub(crate) tool: ToolScript,
    pub(crate) model: Model,
    /// How many run at once, after each other in `rounds`.
    pub(crate) runs: usize,
    pub(crate) rounds: usize,
    /// When it is cancelled.
    pub(crate) cancelled_after: Option<Duration>,
    /// How many more capabilities there are.
    pub(crate) more: usize,
}

/// What was seen of it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) log: Log,
    pub(crate) took: Duration,
    pub(crate) ended: Vec<Ended>,
    /// How long a person has.
    pub(crate) person_ms: Option<i64>,
    /// How many questions to models the first run shows, if it may.
    pub(crate) questions: Option<usize>,
    /// The log.
    pub(crate) lines: Vec<String>,
    /// Journals in the folder of the row.
    pub(crate) files: Vec<String>,
}

pub(crate) fn step(id: &str, capability: &str, parameters: &str) -> Step {
    let parameters = Value::parse(parameters).expect("JSON").as_object().cloned().expect("an object");
    let (agent, capability) = capability.split_once('/').unwrap_or(("t", capability));
    Step::new(id, agent, capability, "do it").with_parameters(parameters)
}

impl Scene {
    /// A run of these steps, with one model that has nothing to say.
    pub(crate) fn of(steps: Vec<Step>, tool: ToolScript) -> Self {
        Self {
            steps,
            session: false,
            targets: &["a"],
            tool,
            model: |_, _| Says::Words("nothing".to_owned()),
            runs: 1,
            rounds: 1,
            cancelled_after: None,
            more: 0,
        }
    }

    /// A request without a plan.
    pub(crate) fn request(model: Model) -> Self {
        Self { model, ..Self::of(Vec::new(), |_, _| Does::Takes(0)) }
    }

    /// Plays it through the same door as every program that uses the library.
    pub(crate) async fn play(self, config: Config) -> Seen {
        let began = Instant::now();
        let edge = Arc::new(Scripted { log: Mutex::default(), began, tool: self.tool, model: self.model });
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let config = config.with_log(move |line| kept.lock().expect("nobody panics with it").push(line.to_owned()));
        let reknit = Reknit::through(Arc::clone(&edge) as _, catalogue(self.more), config).expect("it is whole");
        let person_ms = Arc::new(Mutex::new(None));
        let cancel = CancellationToken::new();
        let driver = reknit.driver().watched_by(watcher(&person_ms)).cancelled_by(cancel.clone());
        if let Some(after) = self.cancelled_after {
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                cancel.cancel();
            });
        }
        let mut ended = Vec::new();
        for round in 0..self.rounds {
            let runs = (0..self.runs).map(|run| {
                let (driver, beginning) = (driver.clone(), self.beginning(&format!("r{round}-{run}"), &reknit));
                tokio::spawn(async move { driver.start(beginning).await.expect("it is driven") })
            });
            for run in runs.collect::<Vec<_>>() {
                ended.push(run.await.expect("nothing panics"));
            }
        }
        let log = std::mem::take(&mut *edge.log.lock().expect("nobody panics with it"));
        let lines = std::mem::take(&mut *lines.lock().expect("nobody panics with it"));
        let person_ms = *person_ms.lock().expect("nobody panics with it");
        let questions = questions(&reknit.journal).await;
        Seen { log, took: began.elapsed(), ended, person_ms, questions, lines, files: Vec::new() }
    }

    fn beginning(&self, run: &str, reknit: &Reknit) -> Beginning {
        let targets: Vec<TargetName> = self.targets.iter().map(|name| (*name).into()).collect();
        let plan = (!self.steps.is_empty()).then(|| Plan::new("p", "do it", self.steps.clone()));
        let started = Started { run: run.into(), targets, seed: 7, ..reknit.started("do it", plan) };
        if !self.session {
            return started.into();
        }
        SessionStarted {
            run: started.run,
            agent: "clerk".to_owned(),
            prompt: "You are a clerk.".to_owned(),
            input: "Where is it?".to_owned(),
            catalogue: started.catalogue,
            targets: started.targets,
            rules: reknit.session.clone(),
            policy: started.policy,
            templates: started.templates,
            words: Arc::new(Words::default()),
            agents: Vec::new(),
            seed: started.seed,
            trace_parent: started.trace_parent,
            machine_version: started.machine_version,
        }
        .into()
    }
}

/// How many questions to models the first run shows.
async fn questions(journal: &Journal) -> Option<usize> {
    let records = journal.events(&"r0-0".into(), 0).await.expect("the run is there");
    let events: Vec<Event> =
        records.iter().map(|record| serde_json::from_str(&record.body).expect("an event")).collect();
    interactions(&events).expect("they can be read").map(|found| found.len())
}

/// Notes how long a person has who is asked.
fn watcher(person_ms: &Arc<Mutex<Option<i64>>>) -> Watcher {
    let person_ms = Arc::clone(person_ms);
    Arc::new(move |machine: &Machine, event: &Event| {
        for effect in machine.pending() {
            if let Effect::AskPerson(ask) = effect {
                *person_ms.lock().expect("nobody panics with it") = Some(ask.expires_ms - event.at_ms);
            }
        }
    })
}

/// Five tools that take anything, one of which has a capability for each class and one that wants an amount.
fn catalogue(more: usize) -> Catalogue {
    let entry = |name: &str, class: SideEffect, schema: Option<&str>| {
        let mut capability = Capability::new(name);
        capability.effect = class;
        Entry::new(capability, schema.map(|text| Value::parse(text).expect("JSON"))).expect("the schema is one")
    };
    let amount = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    let mut capabilities = vec![
        entry("read", SideEffect::Read, None),
        entry("keyed", SideEffect::Keyed, None),
        entry("undeclared", SideEffect::Undeclared, None),
        entry("unsafe", SideEffect::Unsafe, None),
        entry("convert", SideEffect::Read, Some(amount)),
    ];
    capabilities.extend((0..more).map(|number| entry(&format!("more_{number}"), SideEffect::Read, None)));
    let tool = |name: &str, capabilities| Tool { name: name.into(), description: String::new(), capabilities };
    let others = ["u", "v", "w", "x"].map(|name| tool(name, vec![entry("read", SideEffect::Read, None)]));
    Catalogue { tools: std::iter::once(tool("t", capabilities)).chain(others).collect() }
}

impl Seen {
    /// Calls with their times.
    pub(crate) fn call(&self, nth: usize) -> &(u64, CallTool) {
        self.log.calls.get(nth - 1).unwrap_or_else(|| panic!("there is no call {nth}: {:?}", self.log.calls))
    }

    pub(crate) fn ask(&self, purpose: Purpose) -> &AskModel {
        let found = self.log.asks.iter().find(|(_, ask)| ask.purpose == purpose);
        &found.unwrap_or_else(|| panic!("nobody is asked for {purpose}: {:?}", self.log.asks)).1
    }

    pub(crate) fn asked(&self, purpose: Purpose) -> String {
        self.log.asks.iter().filter(|(_, ask)| ask.purpose == purpose).count().to_string()
    }

    /// How long it was quiet before each call, where that was long: `2: 30s` is half a minute before the second.
    pub(crate) fn pauses(&self) -> String {
        pauses(self.log.calls.iter().map(|(at_ms, _)| *at_ms))
    }
}

/// Pauses of a second and more before the second and later of these moments.
pub(crate) fn pauses(moments: impl Iterator<Item = u64>) -> String {
    let moments: Vec<u64> = moments.collect();
    let long = moments.windows(2).enumerate().filter_map(|(index, pair)| {
        let seconds = (pair[1] - pair[0]) / 1_000;
        (seconds > 0).then(|| format!("{}: {seconds}s", index + 2))
    });
    long.collect::<Vec<_>>().join(", ")
}
