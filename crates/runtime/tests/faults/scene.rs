//! Scripted models on loopback, and a client that asks them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reknit_fakes::scenario::FAULT_SCENARIOS;
use reknit_fakes::{Scenario, ScriptedModel};
use reknit_model_api::{BreakerRules, Delta, Message, ModelRequest, RotationPolicy, RotationRules};
use reknit_models::{Models, Provider, Streaming, Target};
use reknit_runtime::{
    BreakerPolicy, Breakers, CallLimits, NoAnswerError, RotatingClient, ServedAnswer, StreamItem, StreamMode,
    SystemClock,
};
use tokio::time::Instant;

/// How an answer is requested and passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Live,
    Buffered,
    /// The provider does not stream.
    NotStreamed,
}

/// The wire format and the mode.
pub(crate) type Transfer = (Provider, Mode);

pub(crate) struct Scene {
    models: BTreeMap<String, ScriptedModel>,
    pub(crate) client: RotatingClient,
}

/// The outcome of a request.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) result: Result<ServedAnswer, NoAnswerError>,
    pub(crate) took: Duration,
    /// The text that was passed on, in parts: a restart begins a new one.
    pub(crate) starts: Vec<String>,
    pub(crate) text_items: usize,
}

impl Observed {
    pub(crate) fn served(&self) -> &ServedAnswer {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn error(&self) -> &NoAnswerError {
        self.result.as_ref().expect_err("no model answers")
    }

    /// The target that answered. Checks that the answer is complete.
    pub(crate) fn answered_by(&self) -> &str {
        let ServedAnswer { answer, target, .. } = self.served();
        assert_eq!(answer.text, complete_answer(target.as_str()), "the answer is complete");
        assert_eq!(self.starts.last(), Some(&answer.text), "the answer is what was passed on last");
        target.as_str()
    }
}

/// The 60 tokens with which a model of the scenarios answers.
pub(crate) fn complete_answer(model: &str) -> String {
    let initial = &model[..1];
    (1..=60).map(|number| format!("{initial}{number:02}...")).collect::<Vec<_>>().join(" ")
}

/// The request of all tests; its text does not matter.
pub(crate) fn request() -> ModelRequest {
    ModelRequest::new(vec![Message::system("Count."), Message::user("How far can you count?")], 200)
}

impl Scene {
    /// One of [`FAULT_SCENARIOS`].
    pub(crate) async fn fault(name: &str, (provider, mode): Transfer) -> Self {
        let fault = FAULT_SCENARIOS
            .iter()
            .find(|fault| fault.name == name)
            .unwrap_or_else(|| panic!("there is no fault `{name}`"));
        Self::new(fault.scenario, RotationRules::prefer_primary(), &["primary", "fallback"], (provider, mode)).await
    }

    pub(crate) async fn new(scenario: &str, rules: RotationRules, order: &[&str], (provider, mode): Transfer) -> Self {
        let models = Scenario::read(scenario).expect("a scenario").start().await.expect("the models start");
        let target = |name: &&str| {
            let mut target = Target::new(*name, models[*name].base_url(), format!("{name}-model"));
            target.provider = provider;
            target.streaming = if mode == Mode::NotStreamed { Streaming::Off } else { Streaming::On };
            // The default timeouts: shorter if another model follows.
            if order.last() == Some(name) { target } else { target.with_fallback_timeouts() }
        };
        let targets = order.iter().map(target).collect();
        let clock = Arc::new(SystemClock::new());
        let model_rules = match rules.policy {
            RotationPolicy::Advance => BreakerRules::for_model(),
            RotationPolicy::PreferPrimary => BreakerRules::for_model_with_fallback(),
        };
        let policy = BreakerPolicy { models: model_rules, ..BreakerPolicy::default() };
        let breakers = Arc::new(Breakers::new(CallLimits::default(), policy, Arc::clone(&clock) as _));
        let clients = Arc::new(Models::new(targets).expect("the targets are valid"));
        let names = order.iter().map(|name| (*name).into()).collect();
        let stream_mode = if mode == Mode::Buffered { StreamMode::Buffered } else { StreamMode::Live };
        let client = RotatingClient::new(clients, names, rules, breakers, clock).with_stream_mode(stream_mode);
        Self { models, client }
    }

    pub(crate) async fn ask(&self) -> Observed {
        let (mut starts, mut text_items) = (vec![String::new()], 0);
        let started = Instant::now();
        let mut on_item = |item: StreamItem<'_>| match item {
            StreamItem::Delta { delta: Delta::Text(text), .. } => {
                text_items += 1;
                starts.last_mut().expect("there is one").push_str(text);
            }
            StreamItem::Delta { .. } => {}
            StreamItem::Restarted { .. } => starts.push(String::new()),
        };
        let result = self.client.ask(&request(), &mut on_item).await;
        Observed { result, took: started.elapsed(), starts, text_items }
    }

    /// The times at which a model was asked, since its start.
    pub(crate) fn times(&self, model: &str) -> Vec<Duration> {
        let requests = self.models[model].requests();
        for request in &requests {
            let roles: Vec<&str> = request.messages.iter().map(|message| message.role.as_str()).collect();
            assert_eq!(roles, ["system", "user"], "failed attempts do not change the request");
            assert!(request.matched);
        }
        requests.iter().map(|request| request.since_start).collect()
    }

    pub(crate) fn count(&self, model: &str) -> usize {
        self.times(model).len()
    }
}
