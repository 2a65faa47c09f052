//! Plays recorded answers back where models and tools are asked.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reknit_engine::{AskModel, CountTokens};
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure, Purpose};
use reknit_protocol::{CallTool, Delivery, ToolReply, TransportFailure, TransportKind};
use reknit_runtime::{BoxFuture, Transport};
use tokio_util::sync::CancellationToken;

use crate::facts::MadeCall;
use crate::recording::{CallRecording, ModelMatch, ModelRecording, call_name, prompt_digest};
use crate::test_file::TestFile;

/// A transport that answers from the recordings of a test.
#[derive(Debug)]
pub(crate) struct Player {
    calls: Vec<CallRecording>,
    models: Vec<ModelRecording>,
    token_counts: Vec<Option<u64>>,
    strictness: Strictness,
    state: Mutex<Played>,
    /// Cancelled at the first question that nothing answers: what follows from it says nothing about the test.
    pub(crate) stop: CancellationToken,
}

/// Whether the digest of a question to a model counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// As the recordings say.
    AsRecorded,
    /// Never: the digests are about to be written.
    AnyPrompt,
}

/// What was played so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Played {
    pub(crate) calls: Vec<u32>,
    pub(crate) models: Vec<u32>,
    pub(crate) made: Vec<MadeCall>,
    pub(crate) unexpected: Vec<UnexpectedRequest>,
    /// The digest of the last question that each recorded answer was given to.
    pub(crate) digests: Vec<Option<String>>,
    counted: usize,
}

/// A call or a question that no recording answers.
#[derive(Debug, Clone, PartialEq)]
pub enum UnexpectedRequest {
    Call(MadeCall),
    /// A question to a model.
    Question {
        purpose: Purpose,
        target: String,
        /// The digest of what the model sees.
        digest: String,
        /// The end of the last message, for people.
        excerpt: String,
    },
}

/// How much of a message an excerpt has.
const EXCERPT_CHARS: usize = 300;

impl Player {
    pub(crate) fn new(file: &TestFile, strictness: Strictness) -> Self {
        let state = Played {
            calls: vec![0; file.calls.len()],
            models: vec![0; file.models.len()],
            digests: vec![None; file.models.len()],
            ..Played::default()
        };
        Self {
            calls: file.calls.clone(),
            models: file.models.clone(),
            token_counts: file.token_counts.clone(),
            strictness,
            state: Mutex::new(state),
            stop: CancellationToken::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Played> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn played(&self) -> Played {
        self.lock().clone()
    }

    fn next_call(&self, call: &CallTool) -> Option<&CallRecording> {
        let made = made_call(call);
        let mut state = self.lock();
        state.made.push(made.clone());
        let is_left = |(index, recording): &(usize, &CallRecording)| {
            recording.answers(call) && recording.plays.allows(state.calls.get(*index).copied().unwrap_or_default())
        };
        let of_step = |(_, recording): &(usize, &CallRecording)| recording.step.as_deref() == Some(call.step.as_str());
        let mut left = self.calls.iter().enumerate().filter(is_left);
        let first = left.clone().find(of_step).or_else(|| left.next());
        let Some((index, recording)) = first else {
            state.unexpected.push(UnexpectedRequest::Call(made));
            self.stop.cancel();
            return None;
        };
        if let Some(count) = state.calls.get_mut(index) {
            *count += 1;
        }
        Some(recording)
    }

    fn next_answer(&self, ask: &AskModel) -> Option<&ModelRecording> {
        let digest = prompt_digest(&ask.request);
        let mut state = self.lock();
        let is_left = |(index, recording): &(usize, &ModelRecording)| {
            recording.purpose == ask.purpose
                && recording.target.as_ref().is_none_or(|target| *target == ask.target.as_str())
                && recording.plays.allows(state.models.get(*index).copied().unwrap_or_default())
        };
        let is_same = |(_, recording): &(usize, &ModelRecording)| recording.digest.as_ref() == Some(&digest);
        let is_loose = |(_, recording): &(usize, &ModelRecording)| {
            recording.matching == ModelMatch::Purpose || self.strictness == Strictness::AnyPrompt
        };
        let left = || self.models.iter().enumerate().filter(is_left);
        let Some((index, recording)) = left().find(is_same).or_else(|| left().find(is_loose)) else {
            let last = ask.request.messages.last().map(|message| message.text().to_owned()).unwrap_or_default();
            let skipped = last.chars().count().saturating_sub(EXCERPT_CHARS);
            let excerpt = last.chars().skip(skipped).collect();
            let target = ask.target.to_string();
            state.unexpected.push(UnexpectedRequest::Question { purpose: ask.purpose, target, digest, excerpt });
            self.stop.cancel();
            return None;
        };
        if let Some(count) = state.models.get_mut(index) {
            *count += 1;
        }
        if let Some(slot) = state.digests.get_mut(index) {
            *slot = Some(digest);
        }
        Some(recording)
    }
}

pub(crate) fn made_call(call: &CallTool) -> MadeCall {
    MadeCall {
        call: call_name(call),
        step: call.step.to_string(),
        parameters: call.parameters.clone(),
        is_job: call.job.is_some(),
    }
}

/// The answer to a call that no recording answers. Nothing was sent.
pub(crate) fn not_recorded() -> TransportFailure {
    TransportFailure {
        kind: TransportKind::NotCallable,
        delivery: Delivery::NotSent,
        message: "the test has no recorded answer to this call".to_owned(),
    }
}

impl Transport for Player {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async move {
            let Some(recording) = self.next_answer(ask) else {
                let message = "the test has no recorded answer to this question";
                return Err(ModelFailure::new(ErrorClass::AuthError, message));
            };
            tokio::time::sleep(Duration::from_millis(recording.took_ms)).await;
            recording.outcome.clone()
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move {
            let Some(recording) = self.next_call(call) else { return Err(not_recorded()) };
            tokio::time::sleep(Duration::from_millis(recording.took_ms)).await;
            recording.outcome.clone()
        })
    }

    fn count<'a>(&'a self, _count: &'a CountTokens) -> BoxFuture<'a, Option<u64>> {
        let count = {
            let mut state = self.lock();
            let count = self.token_counts.get(state.counted).copied().flatten();
            state.counted += 1;
            count
        };
        Box::pin(std::future::ready(count))
    }
}
