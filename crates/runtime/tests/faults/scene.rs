//! Two models on loopback and somebody who asks them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reknit_dialogue::{Delta, GateRules, Message, Policy, Request, Rules};
use reknit_models::{Models, Provider, Streaming, Target};
use reknit_runtime::{Asked, Asker, CallLimits, Gates, Piece, Rests, Stream, SystemClock, Unanswered};
use reknit_testing::scenario::FAULTS;
use reknit_testing::{Scenario, ScriptedModel};
use tokio::time::Instant;

/// How an answer is asked for and passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Live,
    Hold,
    /// In one piece.
    Whole,
}

/// Whose wire format, and how.
pub(crate) type Way = (Provider, Mode);

pub(crate) struct Scene {
    models: BTreeMap<String, ScriptedModel>,
    pub(crate) asker: Asker,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) result: Result<Asked, Unanswered>,
    pub(crate) took: Duration,
    /// The words that were passed on, one text for each start.
    pub(crate) starts: Vec<String>,
    pub(crate) pieces: usize,
}

impl Seen {
    pub(crate) fn asked(&self) -> &Asked {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn unanswered(&self) -> &Unanswered {
        self.result.as_ref().expect_err("nobody answers")
    }

    /// Who answered, with all of the answer.
    pub(crate) fn by(&self) -> &str {
        let Asked { answer, target, .. } = self.asked();
        assert_eq!(answer.text, whole_answer(target.as_str()), "the answer is whole");
        assert_eq!(self.starts.last(), Some(&answer.text), "what was passed on last is the answer");
        target.as_str()
    }
}

/// All 60 tokens that a model of the scenarios says.
pub(crate) fn whole_answer(model: &str) -> String {
    let letter = &model[..1];
    (1..=60).map(|number| format!("{letter}{number:02}...")).collect::<Vec<_>>().join(" ")
}

/// The answers themselves do not matter to the rules: this is what everybody is asked.
pub(crate) fn question() -> Request {
    Request::new(vec![Message::system("Count."), Message::user("How far can you count?")], 200)
}

impl Scene {
    /// One of the scenarios that come with the servers.
    pub(crate) async fn fault(name: &str, (provider, mode): Way) -> Self {
        let fault =
            FAULTS.iter().find(|fault| fault.name == name).unwrap_or_else(|| panic!("no fault is called {name}"));
        Self::new(fault.scenario, Rules::prefer_primary(), &["primary", "fallback"], (provider, mode)).await
    }

    pub(crate) async fn new(scenario: &str, rules: Rules, order: &[&str], (provider, mode): Way) -> Self {
        let models = Scenario::read(scenario).expect("a scenario").start().await.expect("they start");
        let target = |name: &&str| {
            let mut target = Target::new(*name, models[*name].base_url(), format!("{name}-model"));
            target.provider = provider;
            target.streaming = if mode == Mode::Whole { Streaming::Off } else { Streaming::On };
            // What counts without a word of configuration.
            if order.last() == Some(name) { target } else { target.before_another() }
        };
        let targets = order.iter().map(target).collect();
        let clock = Arc::new(SystemClock::new());
        let model_rests = match rules.policy {
            Policy::Advance => GateRules::model_in_turn(),
            Policy::PreferPrimary => GateRules::model(),
        };
        let rests = Rests { models: model_rests, ..Rests::default() };
        let gates = Arc::new(Gates::new(CallLimits::default(), rests, Arc::clone(&clock) as _));
        let asked = Arc::new(Models::new(targets).expect("the targets are well formed"));
        let names = order.iter().map(|name| (*name).into()).collect();
        let stream = if mode == Mode::Hold { Stream::Hold } else { Stream::Live };
        Self { models, asker: Asker::new(asked, names, rules, gates, clock).with_stream(stream) }
    }

    pub(crate) async fn ask(&self) -> Seen {
        let (mut starts, mut pieces) = (vec![String::new()], 0);
        let began = Instant::now();
        let mut see = |piece: Piece<'_>| match piece {
            Piece::More { delta: Delta::Text(words), .. } => {
                pieces += 1;
                starts.last_mut().expect("there is one").push_str(words);
            }
            Piece::More { .. } => {}
            Piece::Restarted { .. } => starts.push(String::new()),
        };
        let result = self.asker.ask(&question(), &mut see).await;
        Seen { result, took: began.elapsed(), starts, pieces }
    }

    /// When a model was asked, from its start.
    pub(crate) fn times(&self, model: &str) -> Vec<Duration> {
        let requests = self.models[model].requests();
        for request in &requests {
            let roles: Vec<&str> = request.messages.iter().map(|message| message.role.as_str()).collect();
            assert_eq!(roles, ["system", "user"], "failed attempts leave no trace in the question");
            assert!(request.matched);
        }
        requests.iter().map(|request| request.after).collect()
    }

    pub(crate) fn count(&self, model: &str) -> usize {
        self.times(model).len()
    }
}
