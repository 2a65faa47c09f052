//! Runs to drive, and the events to drive them with.

use std::sync::Arc;

use reknit_dialogue::{Answer, ErrorClass, Failure, Usage};
use reknit_engine::{Effect, Event, MACHINE_VERSION, Policy, Run, Started, Synthesis, Templates, What};
use reknit_plan::{Catalogue, Entry, Tool};
use reknit_protocol::{Capability, Object, Plan, SideEffect, Step, Value};
use reknit_protocol::{EffectId, ReplyBody, ToolReply};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().cloned().expect("an object")
}

/// A tool `t` whose capabilities take anything, one for each class, and one that is strict about its amount.
pub(crate) fn catalogue() -> Catalogue {
    let free = |name: &str, class: SideEffect| {
        let mut capability = Capability::new(name);
        capability.effect = class;
        Entry::new(capability, None).expect("there is no schema to be wrong")
    };
    let schema = json(
        r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
            "properties": {"amount": {"type": "number"}, "to": {"type": "string"}}}"#,
    );
    let mut convert = Capability::new("convert");
    convert.effect = SideEffect::Read;
    let capabilities = vec![
        free("read", SideEffect::Read),
        free("idempotent", SideEffect::Idempotent),
        free("keyed", SideEffect::Keyed),
        free("undeclared", SideEffect::Undeclared),
        free("unsafe", SideEffect::Unsafe),
        Entry::new(convert, Some(schema)).expect("the schema is one"),
    ];
    Catalogue { tools: vec![Tool { name: "t".into(), description: String::new(), capabilities }] }
}

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
        inputs: Object::new(),
        catalogue: Arc::new(catalogue()),
        targets: vec!["a".into(), "b".into()],
        policy: Arc::new(policy),
        templates: Arc::new(Templates::default()),
        mappings: Vec::new(),
        seed: 7,
        trace_parent: None,
        machine_version: MACHINE_VERSION,
    }
}

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan::new("p", "sell 100 shares", steps)
}

/// A run with the events that made it.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) run: Run,
    pub(crate) events: Vec<Event>,
    pub(crate) now_ms: i64,
}

impl Play {
    pub(crate) fn begin(started: Started) -> Self {
        let event = Event { at_ms: 1_000, what: What::Started(Box::new(started)) };
        let run = Run::begin(&event).expect("the run begins");
        Self { run, events: vec![event], now_ms: 1_000 }
    }

    pub(crate) fn of_steps(steps: Vec<Step>) -> Self {
        Self::begin(started(Some(plan(steps)), policy()))
    }

    pub(crate) fn happen(&mut self, what: What) {
        let event = Event { at_ms: self.now_ms, what };
        self.run.apply(&event).expect("the event is taken in");
        self.events.push(event);
    }

    /// The ids of what is due, deadlines left out.
    pub(crate) fn due(&self) -> Vec<String> {
        let ids = self.run.pending().iter().filter_map(|effect| Some(effect.id()?.to_string())).collect::<Vec<_>>();
        ids.into_iter().filter(|id| !id.starts_with("run/deadline")).collect()
    }

    pub(crate) fn answer_tool(&mut self, effect: &str, status: u16, body: &str) {
        self.happen(What::ToolAnswered { effect: effect.parse().unwrap(), reply: reply(status, body) });
    }

    pub(crate) fn answer_model(&mut self, effect: &str, text: &str) {
        self.happen(What::ModelAnswered { effect: effect.parse().unwrap(), answer: model_answer(text) });
    }

    pub(crate) fn fail_model(&mut self, effect: &str, class: ErrorClass) {
        self.happen(What::ModelFailed { effect: effect.parse().unwrap(), failure: model_failure(class) });
    }

    /// Lets time pass until a wait is over.
    pub(crate) fn wake(&mut self, effect: &str) {
        let until = self.run.pending().into_iter().find_map(|due| match due {
            Effect::Sleep { id, until_ms } if id.to_string() == effect => Some(until_ms),
            _ => None,
        });
        self.now_ms = until.unwrap_or_else(|| panic!("nobody waits for {effect}: {:?}", self.due()));
        self.happen(What::Woke { effect: effect.parse().unwrap() });
    }

    /// What is sent with a call that is due.
    pub(crate) fn call(&self, effect: &str) -> reknit_protocol::CallTool {
        let found = self.run.pending().into_iter().find_map(|due| match due {
            Effect::CallTool(call) if call.id.to_string() == effect => Some(call),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{effect} is not due: {:?}", self.due()))
    }

    /// The words with which a model is asked.
    pub(crate) fn prompt(&self, effect: &str) -> String {
        let found = self.run.pending().into_iter().find_map(|due| match due {
            Effect::AskModel(ask) if ask.id.to_string() == effect => Some(ask.request.messages),
            _ => None,
        });
        let messages = found.unwrap_or_else(|| panic!("{effect} is not due: {:?}", self.due()));
        messages.iter().map(reknit_dialogue::Message::text).collect::<Vec<_>>().join("\n=====\n")
    }
}

pub(crate) fn reply(status: u16, body: &str) -> ToolReply {
    ToolReply {
        status,
        retry_after_ms: None,
        body: if body.is_empty() { ReplyBody::Empty } else { ReplyBody::Json(json(body)) },
    }
}

pub(crate) fn model_answer(text: &str) -> Answer {
    Answer::complete(text, "m", Usage::reported(10, 5))
}

pub(crate) fn model_failure(class: ErrorClass) -> Failure {
    Failure::new(class, "it failed")
}

/// The effect that answers belong to.
pub(crate) fn id_of(effect: &Effect) -> EffectId {
    effect.id().cloned().expect("an effect with an id")
}

/// What a person is asked.
pub(crate) fn question(play: &Play) -> reknit_engine::AskPerson {
    let found = play.run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    found.expect("a person is asked")
}
