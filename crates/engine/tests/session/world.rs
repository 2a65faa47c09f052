//! Sessions to drive, and the events to drive them with.

use std::sync::Arc;

use reknit_dialogue::{Answer, ErrorClass, Failure, Finish, Request, Thought, ToolCall, Usage};
use reknit_engine::{
    Attempt, Effect, Event, MACHINE_VERSION, Policy, Record, Report, ReportFormat, ReportRules, Session, SessionRules,
    SessionStarted, Templates, What, Words,
};
use reknit_plan::{Catalogue, Entry, Tool};
use reknit_protocol::{CallTool, ReplyBody, ToolReply};
use reknit_protocol::{Capability, SideEffect, Value};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A tool `shop` with a read, a write that has a key, and one that is strict about its amount.
pub(crate) fn catalogue() -> Catalogue {
    let entry = |name: &str, class: SideEffect, schema: Option<&str>| {
        let mut capability = Capability::new(name);
        capability.effect = class;
        Entry::new(capability, schema.map(json)).expect("the schema is one")
    };
    let strict = r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
                     "properties": {"amount": {"type": "number"}}}"#;
    let capabilities = vec![
        entry("look_up", SideEffect::Read, None),
        entry("order", SideEffect::Keyed, None),
        entry("refund", SideEffect::Unsafe, None),
        entry("convert", SideEffect::Read, Some(strict)),
    ];
    Catalogue { tools: vec![Tool { name: "shop".into(), description: String::new(), capabilities }] }
}

pub(crate) fn started() -> SessionStarted {
    SessionStarted {
        run: "run-1".into(),
        agent: "clerk".to_owned(),
        prompt: "You are a clerk.".to_owned(),
        input: "Where is order 7?".to_owned(),
        agents: Vec::new(),
        catalogue: Arc::new(catalogue()),
        targets: vec!["a".into(), "b".into()],
        rules: SessionRules::default(),
        policy: Arc::new(Policy::default()),
        templates: Arc::new(Templates::default()),
        words: Arc::new(Words::default()),
        seed: 7,
        trace_parent: None,
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

/// A session with the events that made it.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) session: Session,
    pub(crate) events: Vec<Event>,
    pub(crate) now_ms: i64,
}

impl Play {
    pub(crate) fn begin(started: SessionStarted) -> Self {
        let event = Event { at_ms: 1_000, what: What::SessionStarted(Box::new(started)) };
        let session = Session::begin(&event).expect("the session begins");
        Self { session, events: vec![event], now_ms: 1_000 }
    }

    pub(crate) fn new() -> Self {
        Self::begin(started())
    }

    pub(crate) fn happen(&mut self, what: What) {
        let event = Event { at_ms: self.now_ms, what };
        self.session.apply(&event).expect("the event is taken in");
        self.events.push(event);
    }

    /// The ids of what is due, deadlines left out.
    pub(crate) fn due(&self) -> Vec<String> {
        let ids = self.session.pending().iter().filter_map(|effect| Some(effect.id()?.to_string())).collect::<Vec<_>>();
        ids.into_iter().filter(|id| !id.starts_with("run/deadline")).collect()
    }

    /// The question that is due: its name, who is asked, what is asked.
    pub(crate) fn asked(&self) -> (String, String, Request) {
        let found = self.session.pending().into_iter().find_map(|effect| match effect {
            Effect::AskModel(ask) => Some((ask.id.to_string(), ask.target.to_string(), ask.request)),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("nobody is asked: {:?}", self.due()))
    }

    /// The notices of the question that is due: what stands behind the history.
    pub(crate) fn notices(&self) -> Vec<String> {
        let (_, _, request) = self.asked();
        let history = self.session.history().len();
        request.messages.iter().skip(history).map(|message| message.text().to_owned()).collect()
    }

    /// The names of the tools that the question shows.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.asked().2.tools.into_iter().map(|tool| tool.name).collect()
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        let (id, ..) = self.asked();
        self.happen(What::ModelAnswered { effect: id.as_str().parse().unwrap(), answer });
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        let (id, ..) = self.asked();
        self.happen(What::ModelFailed { effect: id.as_str().parse().unwrap(), failure });
    }

    pub(crate) fn fail_with(&mut self, class: ErrorClass) {
        self.fail(Failure::new(class, "it failed"));
    }

    /// Lets time pass until a wait is over; says how long it was.
    pub(crate) fn wake(&mut self) -> i64 {
        let (id, until_ms) = self.wait();
        let waited = until_ms - self.now_ms;
        self.now_ms = until_ms;
        self.happen(What::Woke { effect: id.as_str().parse().unwrap() });
        waited
    }

    fn wait(&self) -> (String, i64) {
        let found = self.session.pending().into_iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if !id.to_string().starts_with("run/deadline") => {
                Some((id.to_string(), until_ms))
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("nobody waits: {:?}", self.due()))
    }

    pub(crate) fn deadline(&mut self) {
        let found = self.session.pending().into_iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if id.to_string().starts_with("run/deadline") => Some((id, until_ms)),
            _ => None,
        });
        let (effect, until_ms) = found.expect("there is a deadline");
        self.now_ms = until_ms;
        self.happen(What::Woke { effect });
    }

    /// The calls that are due.
    pub(crate) fn calls(&self) -> Vec<CallTool> {
        let effects = self.session.pending().into_iter();
        effects.filter_map(|effect| if let Effect::CallTool(call) = effect { Some(call) } else { None }).collect()
    }

    pub(crate) fn reply(&mut self, effect: &str, status: u16, body: &str) {
        let reply = ToolReply { status, retry_after_ms: None, body: ReplyBody::Json(json(body)) };
        self.happen(What::ToolAnswered { effect: effect.parse().unwrap(), reply });
    }

    /// Answers every call that is due.
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
        self.session.report().unwrap_or_else(|| panic!("it has not ended: {:?}", self.due()))
    }

    pub(crate) fn attempts(&self) -> Vec<&Attempt> {
        let records = self.session.records().iter();
        records
            .filter_map(|record| if let Record::Attempt(attempt) = record { Some(&**attempt) } else { None })
            .collect()
    }

    /// Each attempt in a line: `1.2 b text_only`.
    pub(crate) fn ledger(&self) -> Vec<String> {
        let line = |attempt: &&Attempt| {
            format!("{}.{} {} {}", attempt.turn, attempt.attempt, attempt.target, attempt.status.as_str())
        };
        self.attempts().iter().map(line).collect()
    }
}

pub(crate) fn saying(text: &str) -> Answer {
    Answer::complete(text, "m", Usage::reported(10, 5))
}

pub(crate) fn calling(calls: &[(&str, &str)]) -> Answer {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| {
        ToolCall::new(format!("call_{}", index + 1), *name, *arguments)
    };
    let tool_calls = calls.iter().enumerate().map(call).collect();
    Answer { tool_calls, finish: Finish::ToolCalls, ..saying("") }
}

pub(crate) fn reporting(content: &str) -> Answer {
    let content = Value::from(content);
    calling(&[("agent__final_report", &format!(r#"{{"report_content": {content}}}"#))])
}

pub(crate) fn thinking() -> Answer {
    Answer { reasoning: vec![Thought { text: "hm".to_owned(), seal: None }], ..saying("") }
}

pub(crate) fn cut(answer: Answer) -> Answer {
    Answer { finish: Finish::Length, ..answer }
}

pub(crate) fn limited(ms: Option<u64>) -> Failure {
    Failure { retry_after_ms: ms, ..Failure::new(ErrorClass::RateLimit, "slow down") }
}
