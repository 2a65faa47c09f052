//! A driver for runs in tests, and the plans, policies and replies that it uses.

use std::sync::{Arc, LazyLock};

use reknit_engine::{
    Answer, DecidedBy, Decision, Earlier, Effect, Event, EventKind, MACHINE_VERSION, Metadata, Outcome, Policy, Record,
    Run, Started, StepReport, Synthesis, Templates,
};
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure, Usage};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor, read_plan_file};
use reknit_protocol::{Capability, Object, Plan, SideEffect, Step, Value};
use reknit_protocol::{Delivery, EffectId, EffectKind, ReplyBody, ToolReply, TransportFailure, TransportKind};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().cloned().expect("an object")
}

/// A tool `t` with one capability without a schema for each side-effect class, and some with a schema:
/// `convert`, which is strict, `count` and `priced`.
pub(crate) fn catalogue() -> Catalogue {
    let free = |name: &str, class: SideEffect| {
        let mut capability = Capability::new(name);
        capability.effect = class;
        CatalogueEntry::new(capability, None).expect("a capability without a schema is valid")
    };
    let schema = json(
        r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
            "properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}"#,
    );
    let counted = json(r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#);
    let priced = json(r#"{"type": "object", "properties": {"amount": {"type": "number"}}}"#);
    let mut convert = Capability::new("convert");
    convert.effect = SideEffect::Read;
    let capabilities = vec![
        free("read", SideEffect::Read),
        free("idempotent", SideEffect::Idempotent),
        free("keyed", SideEffect::Keyed),
        free("undeclared", SideEffect::Undeclared),
        free("unsafe", SideEffect::Unsafe),
        CatalogueEntry::new(convert, Some(schema)).expect("the schema is valid"),
        CatalogueEntry::new(Capability::new("count"), Some(counted)).expect("the schema is valid"),
        CatalogueEntry::new(Capability::new("priced"), Some(priced)).expect("the schema is valid"),
    ];
    Catalogue { tools: vec![CatalogueTool { name: "t".into(), description: String::new(), capabilities }] }
}

/// It is compiled once: that takes longer than most runs.
static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(catalogue()));

pub(crate) fn step(id: &str, capability: &str, parameters: &str) -> Step {
    Step::new(id, "t", capability, format!("do {id}")).with_parameters(object(parameters))
}

pub(crate) fn policy() -> Policy {
    Policy { synthesis: Synthesis::Template, ..Policy::default() }
}

pub(crate) fn started(plan: Option<Plan>, policy: Policy) -> Started {
    Started {
        run: "run-1".into(),
        request: "sell 100 shares".to_owned(),
        plan,
        plan_author: PlanAuthor::Person,
        inputs: Object::new(),
        attachments: Vec::new(),
        agents: Vec::new(),
        metadata: Metadata::default(),
        catalogue: Arc::clone(&CATALOGUE),
        targets: vec!["a".into(), "b".into()],
        policy: Arc::new(policy),
        templates: Arc::new(Templates::default()),
        mappings: Vec::new(),
        seed: 7,
        trace_parent: None,
        fork: None,
        earlier: Earlier::default(),
        machine_version: MACHINE_VERSION,
    }
}

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan::new("p", "sell 100 shares", steps)
}

/// Drives a run: applies the events of a test, and keeps them and the records that the run returned.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) run: Run,
    pub(crate) events: Vec<Event>,
    pub(crate) records: Vec<Record>,
    pub(crate) now_ms: i64,
}

impl Play {
    pub(crate) fn begin(started: Started) -> Self {
        let event = Event { at_ms: 1_000, kind: EventKind::Started(Box::new(started)) };
        let (run, records) = Run::begin(&event).expect("the run begins");
        Self { run, events: vec![event], records, now_ms: 1_000 }
    }

    pub(crate) fn of_steps(steps: Vec<Step>) -> Self {
        Self::begin(started(Some(plan(steps)), policy()))
    }

    pub(crate) fn happen(&mut self, kind: EventKind) {
        let event = Event { at_ms: self.now_ms, kind };
        self.records.extend(self.run.apply(&event).expect("the run applies the event"));
        self.events.push(event);
    }

    /// The ids of the pending effects, except for the deadline of the run.
    pub(crate) fn due(&self) -> Vec<String> {
        let effects = self.run.pending();
        let ids = effects.iter().filter_map(Effect::id).filter(|id| id.kind() != EffectKind::Deadline);
        ids.map(ToString::to_string).collect()
    }

    pub(crate) fn answer_tool(&mut self, effect: &str, status: u16, body: &str) {
        self.happen(EventKind::ToolAnswered { effect: effect_id(effect), reply: reply(status, body) });
    }

    pub(crate) fn answer_model(&mut self, effect: &str, text: &str) {
        self.happen(EventKind::ModelAnswered { effect: effect_id(effect), answer: model_answer(text) });
    }

    pub(crate) fn fail_model(&mut self, effect: &str, class: ErrorClass) {
        self.happen(EventKind::ModelFailed { effect: effect_id(effect), failure: model_failure(class) });
    }

    /// A person answers the pending question.
    pub(crate) fn decide(&mut self, decision: Decision) {
        let ask = question(self);
        let by = DecidedBy::Person;
        self.happen(EventKind::PersonDecided { effect: ask.id, hash: ask.hash, decision, by });
    }

    /// Advances the time to the end of a wait, and ends it.
    pub(crate) fn wake(&mut self, effect: &str) {
        let until = self.run.pending().into_iter().find_map(|due| match due {
            Effect::Sleep { id, until_ms } if id.to_string() == effect => Some(until_ms),
            _ => None,
        });
        self.now_ms = until.unwrap_or_else(|| panic!("{effect} is not a pending wait: {:?}", self.due()));
        self.happen(EventKind::Woke { effect: effect_id(effect) });
    }

    /// A pending call.
    pub(crate) fn call(&self, effect: &str) -> reknit_protocol::CallTool {
        let found = self.run.pending().into_iter().find_map(|due| match due {
            Effect::CallTool(call) if call.id.to_string() == effect => Some(Arc::unwrap_or_clone(call)),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{effect} is not pending: {:?}", self.due()))
    }

    /// The token limit of a pending question to a model.
    pub(crate) fn max_tokens(&self, effect: &str) -> u32 {
        let found = self.run.pending().into_iter().find_map(|due| match due {
            Effect::AskModel(ask) if ask.id.to_string() == effect => Some(ask.request.max_tokens),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{effect} is not pending: {:?}", self.due()))
    }

    /// The messages of a pending question to a model.
    pub(crate) fn prompt(&self, effect: &str) -> String {
        let found = self.run.pending().into_iter().find_map(|due| match due {
            Effect::AskModel(ask) if ask.id.to_string() == effect => Some(ask.request.messages.clone()),
            _ => None,
        });
        let messages = found.unwrap_or_else(|| panic!("{effect} is not pending: {:?}", self.due()));
        messages.iter().map(reknit_model_api::Message::text).collect::<Vec<_>>().join("\n=====\n")
    }
}

pub(crate) fn reply(status: u16, body: &str) -> ToolReply {
    ToolReply {
        status,
        retry_after_ms: None,
        body: if body.is_empty() { ReplyBody::Empty } else { ReplyBody::Json(json(body)) },
        job: None,
    }
}

pub(crate) fn model_answer(text: &str) -> ModelAnswer {
    ModelAnswer::complete(text, "m", Usage::reported(10, 5))
}

pub(crate) fn model_failure(class: ErrorClass) -> ModelFailure {
    ModelFailure::new(class, "it failed")
}

pub(crate) fn effect_id(text: &str) -> EffectId {
    text.parse().expect("the id of an effect")
}

/// The id of an effect that has one.
pub(crate) fn id_of(effect: &Effect) -> EffectId {
    effect.id().cloned().expect("the effect has an id")
}

/// The pending question to a person.
pub(crate) fn question(play: &Play) -> reknit_engine::AskPerson {
    let found = play.run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(Arc::unwrap_or_clone(ask)),
        _ => None,
    });
    found.expect("a person is asked")
}

/// Why the last step of a run failed.
pub(crate) fn failure_reason(play: &Play) -> String {
    let answer = play.run.answer().unwrap_or_else(|| panic!("the run has not ended: {:?}", play.due()));
    match answer.steps.last().map(|step| &step.outcome) {
        Some(Outcome::Failed { reason, .. }) => reason.clone(),
        other => panic!("the step has not failed: {other:?}"),
    }
}

/// A plan as a person writes it.
pub(crate) fn read(text: &str) -> Plan {
    read_plan_file(text).unwrap_or_else(|error| panic!("{error:?}: {text}")).0
}

pub(crate) fn run_with(text: &str, policy: Policy) -> Play {
    Play::begin(started(Some(read(text)), policy))
}

pub(crate) fn answer(play: &Play) -> &Answer {
    play.run.answer().unwrap_or_else(|| panic!("the run has not ended: {:?}", play.due()))
}

/// The outcome of each step in one line.
pub(crate) fn outcomes(play: &Play) -> String {
    let line = |report: &StepReport| match &report.outcome {
        Outcome::Done(value) => format!("{}: {value}", report.step),
        Outcome::Failed { reason, .. } => format!("{}: failed: {reason}", report.step),
        Outcome::Unconfirmed { reason, .. } => format!("{}: unconfirmed: {reason}", report.step),
        Outcome::Skipped { reason } => format!("{}: {reason}", report.step),
    };
    answer(play).steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A run whose state is written to a snapshot and restored. The same effects are due.
pub(crate) fn restored(play: &Play) -> Run {
    let again = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("a snapshot can be restored");
    assert_eq!(again.pending(), play.run.pending());
    again
}

pub(crate) fn timed_out(effect: &str) -> EventKind {
    let (kind, delivery) = (TransportKind::TimedOut, Delivery::Possible);
    let failure = TransportFailure { kind, delivery, message: "too slow".to_owned() };
    EventKind::ToolFailed { effect: effect_id(effect), failure }
}
