//! A driver for sessions under test, and the events to apply.

use std::sync::Arc;

use reknit_engine::{
    Attempt, Effect, Event, EventKind, MACHINE_VERSION, Metadata, Policy, Record, Report, ReportFormat, ReportRules,
    Session, SessionRecord, SessionRules, SessionStarted, SessionTexts, Templates,
};
use reknit_model_api::{ErrorClass, FinishReason, ModelAnswer, ModelFailure, ModelRequest, Thought, ToolCall, Usage};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{CallTool, Capability, EffectId, ReplyBody, SideEffect, ToolReply, Value};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn effect_id(text: &str) -> EffectId {
    text.parse().expect("a valid effect id")
}

/// A tool `shop` with a read, a write that has a key, and one that is strict about its amount.
pub(crate) fn catalogue() -> Catalogue {
    let entry = |name: &str, class: SideEffect, schema: Option<&str>| {
        let mut capability = Capability::new(name);
        capability.effect = class;
        CatalogueEntry::new(capability, schema.map(json)).expect("a valid schema")
    };
    let strict = r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
                     "properties": {"amount": {"type": "number"}}}"#;
    let capabilities = vec![
        entry("look_up", SideEffect::Read, None),
        entry("order", SideEffect::Keyed, None),
        entry("refund", SideEffect::Unsafe, None),
        entry("convert", SideEffect::Read, Some(strict)),
    ];
    Catalogue { tools: vec![CatalogueTool { name: "shop".into(), description: String::new(), capabilities }] }
}

pub(crate) fn started() -> SessionStarted {
    SessionStarted {
        run: "run-1".into(),
        agent: "clerk".to_owned(),
        prompt: "You are a clerk.".to_owned(),
        input: "Where is order 7?".to_owned(),
        attachments: Vec::new(),
        metadata: Metadata::default(),
        agents: Vec::new(),
        catalogue: Arc::new(catalogue()),
        unavailable: Vec::new(),
        targets: vec!["a".into(), "b".into()],
        rules: SessionRules::default(),
        policy: Arc::new(Policy::default()),
        templates: Arc::new(Templates::default()),
        words: Arc::new(SessionTexts::default()),
        seed: 7,
        trace_parent: None,
        fork: None,
        machine_version: MACHINE_VERSION,
    }
}

pub(crate) fn with_rules(change: impl FnOnce(&mut SessionRules)) -> SessionStarted {
    let mut started = started();
    change(&mut started.rules);
    started
}

pub(crate) fn with_json_report() -> SessionStarted {
    let schema = json(r#"{"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}"#);
    with_rules(|rules| rules.report = ReportRules { format: ReportFormat::Json, schema: Some(schema) })
}

/// A session under test, with its events and records.
#[derive(Debug, Clone)]
pub(crate) struct TestDriver {
    pub(crate) session: Session,
    pub(crate) events: Vec<Event>,
    /// The records of all events, in order.
    pub(crate) records: Vec<Record>,
    pub(crate) now_ms: i64,
}

impl TestDriver {
    pub(crate) fn begin(started: SessionStarted) -> Self {
        let event = Event { at_ms: 1_000, kind: EventKind::SessionStarted(Box::new(started)) };
        let (session, records) = Session::begin(&event).expect("the session starts");
        Self { session, events: vec![event], records, now_ms: 1_000 }
    }

    pub(crate) fn new() -> Self {
        Self::begin(started())
    }

    pub(crate) fn apply(&mut self, kind: EventKind) {
        let event = Event { at_ms: self.now_ms, kind };
        self.records.extend(self.session.apply(&event).expect("the event is accepted"));
        self.events.push(event);
    }

    /// The records of the session itself, without those of nested machines.
    pub(crate) fn session_records(&self) -> Vec<SessionRecord> {
        self.records.iter().filter_map(Record::as_own_session).cloned().collect()
    }

    /// The ids of the pending effects, without deadlines.
    pub(crate) fn due(&self) -> Vec<String> {
        let ids = self.session.pending().iter().filter_map(|effect| Some(effect.id()?.to_string())).collect::<Vec<_>>();
        ids.into_iter().filter(|id| !id.starts_with("run/deadline")).collect()
    }

    /// The pending question: its id, its target, and the request.
    pub(crate) fn asked(&self) -> (String, String, ModelRequest) {
        let found = self.session.pending().into_iter().find_map(|effect| match effect {
            Effect::AskModel(ask) => Some((ask.id.to_string(), ask.target.to_string(), ask.request.as_ref().clone())),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no question is pending: {:?}", self.due()))
    }

    /// The notices in the pending question: its messages behind the history.
    pub(crate) fn notices(&self) -> Vec<String> {
        let (_, _, request) = self.asked();
        let history = self.session.history().len();
        request.messages.iter().skip(history).map(|message| message.text().to_owned()).collect()
    }

    /// The names of the tools in the pending question.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.asked().2.tools.into_iter().map(|tool| tool.name).collect()
    }

    pub(crate) fn answer(&mut self, answer: ModelAnswer) {
        let (id, ..) = self.asked();
        self.apply(EventKind::ModelAnswered { effect: effect_id(&id), answer });
    }

    pub(crate) fn fail(&mut self, failure: ModelFailure) {
        let (id, ..) = self.asked();
        self.apply(EventKind::ModelFailed { effect: effect_id(&id), failure });
    }

    pub(crate) fn fail_with(&mut self, class: ErrorClass) {
        self.fail(ModelFailure::new(class, "it failed"));
    }

    /// Advances the time to the end of a wait; returns its length.
    pub(crate) fn finish_wait(&mut self) -> i64 {
        let (id, until_ms) = self.wait();
        let waited = until_ms - self.now_ms;
        self.now_ms = until_ms;
        self.apply(EventKind::Woke { effect: effect_id(&id) });
        waited
    }

    fn wait(&self) -> (String, i64) {
        let found = self.session.pending().into_iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if !id.to_string().starts_with("run/deadline") => {
                Some((id.to_string(), until_ms))
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no wait is pending: {:?}", self.due()))
    }

    pub(crate) fn deadline(&mut self) {
        let found = self.session.pending().into_iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if id.to_string().starts_with("run/deadline") => Some((id, until_ms)),
            _ => None,
        });
        let (effect, until_ms) = found.expect("there is a deadline");
        self.now_ms = until_ms;
        self.apply(EventKind::Woke { effect });
    }

    /// The pending tool calls.
    pub(crate) fn calls(&self) -> Vec<CallTool> {
        let effects = self.session.pending().into_iter();
        effects
            .filter_map(
                |effect| if let Effect::CallTool(call) = effect { Some(Arc::unwrap_or_clone(call)) } else { None },
            )
            .collect()
    }

    pub(crate) fn reply(&mut self, effect: &str, status: u16, body: &str) {
        let reply = ToolReply { status, retry_after_ms: None, body: ReplyBody::Json(json(body)), job: None };
        self.apply(EventKind::ToolAnswered { effect: effect_id(effect), reply });
    }

    /// Replies to every pending tool call.
    pub(crate) fn reply_all(&mut self, body: &str) {
        for call in self.calls() {
            self.reply(&call.id.to_string(), 200, body);
        }
    }

    /// A turn in which a tool is called and answers.
    pub(crate) fn good_turn(&mut self) {
        self.answer(calling(&[("shop__look_up", r#"{"id": 7}"#)]));
        self.reply_all(r#"{"state": "sent"}"#);
    }

    pub(crate) fn report(&self) -> &Report {
        self.session.report().unwrap_or_else(|| panic!("the session has not ended: {:?}", self.due()))
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        let records = self.session_records().into_iter();
        records
            .filter_map(|record| if let SessionRecord::Attempt(attempt) = record { Some(*attempt) } else { None })
            .collect()
    }

    /// Each attempt in a line: `1.2 b text_only`.
    pub(crate) fn attempt_lines(&self) -> Vec<String> {
        let line = |attempt: &Attempt| {
            format!("{}.{} {} {}", attempt.turn, attempt.attempt, attempt.target, attempt.status.as_str())
        };
        self.attempts().iter().map(line).collect()
    }
}

pub(crate) fn saying(text: &str) -> ModelAnswer {
    ModelAnswer::complete(text, "m", Usage::reported(10, 5))
}

pub(crate) fn calling(calls: &[(&str, &str)]) -> ModelAnswer {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| {
        ToolCall::new(format!("call_{}", index + 1), *name, *arguments)
    };
    let tool_calls = calls.iter().enumerate().map(call).collect();
    ModelAnswer { tool_calls, finish: FinishReason::ToolCalls, ..saying("") }
}

pub(crate) fn reporting(content: &str) -> ModelAnswer {
    let content = Value::from(content);
    calling(&[("agent__final_report", &format!(r#"{{"report_content": {content}}}"#))])
}

pub(crate) fn thinking() -> ModelAnswer {
    ModelAnswer { reasoning: vec![Thought { text: "hm".to_owned(), provider_state: None }], ..saying("") }
}

pub(crate) fn truncated(answer: ModelAnswer) -> ModelAnswer {
    ModelAnswer { finish: FinishReason::Length, ..answer }
}

pub(crate) fn rate_limited(ms: Option<u64>) -> ModelFailure {
    ModelFailure { retry_after_ms: ms, ..ModelFailure::new(ErrorClass::RateLimit, "slow down") }
}
