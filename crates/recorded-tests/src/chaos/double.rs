//! A double of the tools and models of a test. It answers from the recordings, counts what takes effect, and has one fault.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reknit_engine::AskModel;
use reknit_model_api::{ErrorClass, FinishReason, ModelAnswer, ModelFailure};
use reknit_protocol::{
    CallTool, Delivery, ReplyBody, RetryAfter, SideEffect, ToolReply, TransportFailure, TransportKind, Value,
    timestamp_text,
};
use reknit_runtime::{BoxFuture, Clock, Transport};
use tokio::sync::Notify;

use super::ChaosCase;
use super::fault::{ChaosFault, ModelFault, ProcessFault, ToolFault, with_wrong_type};
use crate::player::not_recorded;
use crate::recording::{CallRecording, ModelMatch, ModelRecording, call_name, prompt_digest};
use crate::test_file::TestFile;

/// How long a server asks to wait.
const RETRY_AFTER_MS: i64 = 5_000;

/// How long a slow model takes.
const SLOW_MODEL_MS: u64 = 60_000;

#[derive(Debug, Clone)]
pub(super) enum SentKind {
    Call(Option<ReplyBody>),
    Question,
}

impl SentKind {
    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::Call(_))
    }
}

/// A call or a question in the order in which they were sent.
#[derive(Debug, Clone)]
pub(super) struct SentEffect {
    pub(super) id: String,
    /// The capability, or the purpose of the question.
    pub(super) of: String,
    pub(super) kind: SentKind,
}

/// A call that took effect.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Deed {
    pub(super) call: String,
    pub(super) step: String,
    pub(super) parameters: Value,
}

/// What the double did so far. It outlives a process that is killed.
#[derive(Debug, Clone, Default)]
pub(super) struct DoubleState {
    /// How often the recorded replies to equal calls were given, by call and parameters.
    given: HashMap<String, usize>,
    /// The replies to calls with a key.
    by_key: HashMap<String, Result<ToolReply, TransportFailure>>,
    /// How often each recorded answer of a model was given.
    answered: HashMap<String, usize>,
    /// How many answers for each purpose were given.
    delivered: HashMap<&'static str, usize>,
    pub(super) deeds: Vec<Deed>,
    pub(super) effects: Vec<SentEffect>,
    pub(super) sent_calls: Vec<String>,
    /// Calls that the recordings do not have.
    pub(super) unknown_calls: Vec<String>,
    /// A model was asked something that the recordings do not have, and got an answer to another question.
    pub(super) asked_unrecorded: bool,
    /// The fault of the case has happened.
    pub(super) has_faulted: bool,
    is_out: bool,
}

#[derive(Debug)]
pub(super) struct Double {
    calls: Vec<CallRecording>,
    models: Vec<ModelRecording>,
    case: Option<ChaosCase>,
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<DoubleState>>,
    /// The process must die now.
    pub(super) killed: Arc<Notify>,
}

impl Double {
    pub(super) fn new(
        file: &TestFile,
        case: Option<&ChaosCase>,
        clock: Arc<dyn Clock>,
        state: Arc<Mutex<DoubleState>>,
    ) -> Self {
        let (calls, models) = (file.calls.clone(), file.models.clone());
        Self { calls, models, case: case.cloned(), clock, state, killed: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, DoubleState> {
        lock(&self.state)
    }

    fn fault_of(&self, effect: &str) -> Option<ChaosFault> {
        let case = self.case.as_ref().filter(|case| case.effect == effect)?;
        let mut state = self.lock();
        let is_first = !std::mem::replace(&mut state.has_faulted, true);
        is_first.then(|| case.fault.clone())
    }

    /// The answer to a call that arrives, which may take effect.
    fn perform(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        let mut state = self.lock();
        // What is keyed or idempotent takes effect once for each key.
        let has_key = matches!(call.side_effect, SideEffect::Keyed | SideEffect::Idempotent) && call.job.is_none();
        let key = call.idempotency_key.as_ref().filter(|_| has_key).map(|key| format!("{} {key}", call_name(call)));
        if let Some(known) = key.as_ref().and_then(|key| state.by_key.get(key)) {
            return known.clone();
        }
        let mut recorded: Vec<&CallRecording> = self.calls.iter().filter(|recording| recording.answers(call)).collect();
        let is_of_step = |recording: &&CallRecording| recording.step.as_deref() == Some(call.step.as_str());
        if recorded.iter().any(is_of_step) {
            recorded.retain(is_of_step);
        }
        let (name, parameters) = (call_name(call), Value::Object(call.parameters.clone()));
        let given = format!("{name} {} {} {:?}", call.step, parameters.canonical(), call.job);
        let given = state.given.entry(given).or_default();
        let Some(recording) = recorded.get(*given).or_else(|| recorded.last()) else {
            state.unknown_calls.push(format!("the call {name} {parameters}"));
            return Err(not_recorded());
        };
        *given += 1;
        let outcome = recording.outcome.clone();
        let is_success = outcome.as_ref().is_ok_and(|reply| reply.status < 400);
        if is_success && call.side_effect != SideEffect::Read && call.job.is_none() {
            state.deeds.push(Deed { call: name, step: call.step.to_string(), parameters });
        }
        if let (true, Some(key)) = (is_success, key) {
            state.by_key.insert(key, outcome.clone());
        }
        outcome
    }

    async fn call_tool(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        let id = call.id.to_string();
        let fault = self.fault_of(&id);
        let line = format!("{} {}", call_name(call), Value::Object(call.parameters.clone()).canonical());
        self.lock().sent_calls.push(line);
        let recording = self.calls.iter().find(|recording| recording.answers(call));
        sleep(recording.map_or(0, |recording| recording.took_ms)).await;
        let outcome = match &fault {
            // A model's fault cannot happen to a call.
            None | Some(ChaosFault::Model(_)) => self.perform(call),
            Some(ChaosFault::WrongType(path)) => self.perform(call).map(|mut reply| {
                if let ReplyBody::Json(value) = &reply.body {
                    reply.body = ReplyBody::Json(with_wrong_type(value, path));
                }
                reply
            }),
            Some(ChaosFault::Tool(fault)) => self.faulty_call(call, *fault).await,
            Some(ChaosFault::Process(fault)) => {
                if fault.is_after_effect() {
                    // Whoever would hear of it is dead.
                    let _ = self.perform(call);
                }
                self.die().await
            }
        };
        let body = outcome.as_ref().ok().filter(|reply| reply.status < 400 && reply.job.is_none());
        let kind = SentKind::Call(body.map(|reply| reply.body.clone()));
        self.lock().effects.push(SentEffect { id, of: call_name(call), kind });
        outcome
    }

    async fn faulty_call(&self, call: &CallTool, fault: ToolFault) -> Result<ToolReply, TransportFailure> {
        let performed = fault.has_effect().then(|| self.perform(call));
        let failure =
            |kind, delivery, message: &str| Err(TransportFailure { kind, delivery, message: message.to_owned() });
        let reply = |status, retry_after_ms, body| Ok(ToolReply { status, retry_after_ms, body, job: None });
        let error = |code: &str, message: &str| {
            let error = Value::from([("code", Value::from(code)), ("message", message.into())]);
            ReplyBody::Json(Value::from([("success", Value::Bool(false)), ("error", error)]))
        };
        match fault {
            ToolFault::Timeout | ToolFault::LateAnswer => {
                sleep(call.timeout_ms).await;
                failure(TransportKind::TimedOut, Delivery::Possible, "no reply arrived in time")
            }
            ToolFault::Reset | ToolFault::LostAnswer => {
                failure(TransportKind::Reset, Delivery::Possible, "the connection broke before the reply arrived")
            }
            ToolFault::Refused => failure(TransportKind::Refused, Delivery::NotSent, "the connection was refused"),
            ToolFault::RateLimit => reply(429, self.retry_after(), ReplyBody::Empty),
            ToolFault::Unavailable => reply(503, None, ReplyBody::Empty),
            ToolFault::HalfBody => {
                failure(TransportKind::Unreadable, Delivery::Possible, "the JSON body cannot be parsed: it ends early")
            }
            ToolFault::ErrorInSuccess => reply(200, None, error("INTERNAL_ERROR", "the database is locked")),
            ToolFault::StaleId => reply(404, None, error("NOT_FOUND", "there is nothing with this id any more")),
            ToolFault::Slow => {
                sleep(call.timeout_ms.saturating_mul(9) / 10).await;
                performed.unwrap_or_else(|| Err(not_recorded()))
            }
        }
    }

    /// The wait until a date, as a header states it.
    fn retry_after(&self) -> Option<u64> {
        let now_ms = self.clock.now_ms();
        let date = timestamp_text(now_ms.saturating_add(RETRY_AFTER_MS));
        let wait = RetryAfter::from_text(&date, "retry-after", u64::try_from(now_ms).unwrap_or_default());
        wait.map(|wait| wait.ms)
    }

    async fn die<T>(&self) -> T {
        self.killed.notify_one();
        std::future::pending().await
    }

    /// The recorded answer to a question: to the same one, or else the next one for the same purpose.
    fn recorded_answer(&self, ask: &AskModel) -> Option<ModelRecording> {
        let digest = prompt_digest(&ask.request);
        let mut state = self.lock();
        let of_purpose = |recording: &&ModelRecording| {
            recording.purpose == ask.purpose
                && recording.target.as_ref().is_none_or(|target| *target == ask.target.as_str())
        };
        let of_purpose: Vec<&ModelRecording> = self.models.iter().filter(of_purpose).collect();
        let is_same = |recording: &&ModelRecording| recording.digest.as_ref() == Some(&digest);
        let same: Vec<&ModelRecording> = of_purpose.iter().copied().filter(is_same).collect();
        let given = state.answered.entry(digest.clone()).or_default();
        let found = same.get(*given).or_else(|| same.last()).copied();
        *given += 1;
        let found = found.or_else(|| {
            let delivered = state.delivered.get(ask.purpose.as_str()).copied().unwrap_or_default();
            let next = of_purpose.get(delivered).or_else(|| of_purpose.last()).copied();
            state.asked_unrecorded |= next.is_none_or(|recording| recording.matching == ModelMatch::Digest);
            next
        });
        if found.is_some() {
            *state.delivered.entry(ask.purpose.as_str()).or_default() += 1;
        }
        found.cloned()
    }

    async fn answer(&self, ask: &AskModel) -> Result<ModelAnswer, ModelFailure> {
        let id = ask.id.to_string();
        let fault = self.fault_of(&id);
        if fault == Some(ChaosFault::Model(ModelFault::Outage)) {
            self.lock().is_out = true;
        }
        self.lock().effects.push(SentEffect { id, of: ask.purpose.to_string(), kind: SentKind::Question });
        if self.lock().is_out {
            sleep(100).await;
            return Err(ModelFailure::new(ErrorClass::NetworkError, "the provider is down").with_status(503));
        }
        match fault {
            Some(ChaosFault::Model(fault)) => self.faulty_answer(ask, fault).await,
            Some(ChaosFault::Process(fault)) => {
                if fault == ProcessFault::KilledBefore {
                    return self.die().await;
                }
                sleep(self.recorded_answer(ask).map_or(0, |recording| recording.took_ms)).await;
                // The answer is lost with the process, so that the next question is the same.
                self.undo_answer(ask);
                self.die().await
            }
            _ => self.give(ask).await,
        }
    }

    /// The last answer was never received.
    fn undo_answer(&self, ask: &AskModel) {
        let mut state = self.lock();
        let DoubleState { answered, delivered, .. } = &mut *state;
        let counts = [answered.get_mut(&prompt_digest(&ask.request)), delivered.get_mut(ask.purpose.as_str())];
        counts.into_iter().flatten().for_each(|count| *count = count.saturating_sub(1));
    }

    async fn give(&self, ask: &AskModel) -> Result<ModelAnswer, ModelFailure> {
        let Some(recording) = self.recorded_answer(ask) else {
            let message = "the test has no recorded answer to this question";
            return Err(ModelFailure::new(ErrorClass::ModelError, message).with_status(404));
        };
        sleep(recording.took_ms).await;
        recording.outcome
    }

    async fn faulty_answer(&self, ask: &AskModel, fault: ModelFault) -> Result<ModelAnswer, ModelFailure> {
        match fault {
            ModelFault::Timeout => {
                sleep(ask.request.timeout_ms.unwrap_or(SLOW_MODEL_MS)).await;
                Err(ModelFailure::new(ErrorClass::Timeout, "no answer arrived in time"))
            }
            ModelFault::RateLimit => {
                let failure = ModelFailure::new(ErrorClass::RateLimit, "too many requests").with_status(429);
                Err(failure.with_retry_after_ms(self.retry_after().unwrap_or_default()))
            }
            ModelFault::Unavailable | ModelFault::Outage => {
                Err(ModelFailure::new(ErrorClass::NetworkError, "the provider is overloaded").with_status(503))
            }
            ModelFault::SlowStream => {
                let limit = ask.request.timeout_ms.map_or(SLOW_MODEL_MS, |limit| limit.saturating_mul(9) / 10);
                sleep(limit.min(SLOW_MODEL_MS)).await;
                self.give(ask).await
            }
            ModelFault::Truncated | ModelFault::TextOnly => {
                let answer = self.give(ask).await?;
                self.undo_answer(ask);
                Ok(if fault == ModelFault::Truncated { truncated(answer) } else { text_only(answer) })
            }
        }
    }
}

/// The first half of an answer.
fn truncated(mut answer: ModelAnswer) -> ModelAnswer {
    let half = |text: &str| text.chars().take(text.chars().count() / 2).collect::<String>();
    answer.text = half(&answer.text);
    answer.tool_calls.truncate(answer.tool_calls.len().div_ceil(2));
    if let Some(last) = answer.tool_calls.last_mut() {
        last.arguments = half(&last.arguments);
    }
    answer.content_state = None;
    answer.finish = FinishReason::Length;
    answer
}

/// Prose instead of an answer.
fn text_only(answer: ModelAnswer) -> ModelAnswer {
    let text = "Of course! I would be happy to help. Let me think about the best way to go about this.".to_owned();
    ModelAnswer { text, tool_calls: Vec::new(), content_state: None, finish: FinishReason::Complete, ..answer }
}

pub(super) fn lock(state: &Mutex<DoubleState>) -> MutexGuard<'_, DoubleState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn sleep(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

impl Transport for Double {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(self.answer(ask))
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(self.call_tool(call))
    }
}
