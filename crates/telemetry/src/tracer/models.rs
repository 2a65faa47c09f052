//! Questions to models.

use std::borrow::Cow;

use reknit_engine::{Attempt, ModelQuestion, ModelRecord};
use reknit_model_api::{ErrorClass, Message, ModelAnswer, ModelFailure, ModelRequest, Purpose, Usage};
use reknit_protocol::{EffectId, EffectOwner, ScopeLevel};

use super::{OpenEffect, OpenKind, OpenSpan, StepKey, Tracer, elapsed_ms};
use crate::attribute_value::AttributeValue;
use crate::signal::{SpanKind, SpanStatus};
use crate::table::{events, logs, metrics, spans};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuestionEnd<'a> {
    pub(super) answer: Option<&'a ModelAnswer>,
    failure: Option<&'a ModelFailure>,
}

/// A question of a turn that has ended, before the session has judged the answer.
#[derive(Debug, Clone)]
pub(super) struct EndedAttempt {
    question: ModelQuestion,
    since_ms: i64,
    answer: Option<ModelAnswer>,
    failure: Option<ModelFailure>,
}

impl QuestionEnd<'_> {
    /// The provider's id of the exchange, also of one that failed.
    fn request_id(&self) -> Option<&str> {
        let of_answer = self.answer.and_then(|answer| answer.request_id.as_deref());
        of_answer.or_else(|| self.failure?.request_id.as_deref())
    }

    fn usage(&self) -> Option<Usage> {
        self.answer.map(|answer| answer.usage).or_else(|| self.failure?.usage)
    }

    pub(super) fn error(&self) -> Option<String> {
        self.failure.map(ToString::to_string)
    }
}

impl Tracer {
    pub(super) fn map_model(&mut self, scope: &[ScopeLevel], record: &ModelRecord) {
        match record {
            ModelRecord::Asked(question) => {
                let id = question.id.clone().nested_in(scope);
                self.start_question(ModelQuestion { id, ..question.clone() });
            }
            ModelRecord::Answered { id, answer, failure } => {
                let end = QuestionEnd { answer: Some(answer), failure: failure.as_ref() };
                self.end_question(&id.clone().nested_in(scope), end);
            }
            ModelRecord::Failed { id, failure } => {
                let end = QuestionEnd { answer: None, failure: Some(failure) };
                self.end_question(&id.clone().nested_in(scope), end);
            }
            ModelRecord::Skipped { id, until_ms } => {
                self.skip_effect(&id.clone().nested_in(scope), *until_ms);
            }
        }
    }

    fn start_question(&mut self, question: ModelQuestion) {
        // The question was asked again after a crash, and its request event exists already.
        if self.open.contains_key(&question.id) {
            return;
        }
        match question.purpose {
            Purpose::PlanGeneration | Purpose::TieredSelection | Purpose::Synthesis => {
                self.add_request_event(&question);
            }
            Purpose::MicroResolution | Purpose::ErrorAnalysis => self.add_repair_request_event(&question),
            Purpose::SemanticRetry
            | Purpose::Correction
            | Purpose::SynthesisStreaming
            | Purpose::HallucinationDetection
            | Purpose::AgentTurn
            | Purpose::Mandate => {}
        }
        let effect = OpenEffect { since_ms: self.at_ms, kind: OpenKind::Question(question.clone()) };
        self.open.insert(question.id, effect);
    }

    fn add_repair_request_event(&mut self, question: &ModelQuestion) {
        let Some(key) = StepKey::of(&question.id).filter(|_| self.has_readers) else { return };
        let Some(step) = self.steps.get_mut(&key) else { return };
        let (id, capability) = (step.id(), step.capability());
        let event = if question.purpose == Purpose::MicroResolution {
            let text = prompt(&question.request);
            let length = text.len().into();
            events::RESOLUTION_REQUEST.event_at(self.at_ms, [id, capability, AttributeValue::prompt(&text), length])
        } else {
            events::ANALYSIS_START.event_at(self.at_ms, [id, capability, step.status().into()])
        };
        step.add_event(event);
    }

    fn end_question(&mut self, id: &EffectId, end: QuestionEnd<'_>) {
        let Some(OpenEffect { since_ms, kind: OpenKind::Question(question) }) = self.open.remove(id) else { return };
        let (purpose, ms) = (question.purpose, elapsed_ms(since_ms, self.at_ms));
        self.latency_ms = ms;
        let status = if end.failure.is_some() { "error" } else { "success" };
        let (module, word) = (self.module, purpose.as_str());
        let labels = |last: &'static str| [Cow::from(module), word.into(), word.into(), last.into()];
        self.count(&metrics::AI_REQUESTS, labels(status));
        self.measure(&metrics::AI_REQUEST_MS, ms, labels(status));
        if let Some(usage) = end.usage() {
            for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
                self.measure(&metrics::AI_TOKENS, tokens, labels(kind));
            }
        }
        // A failed attempt has a record of its own, whatever was asked; an answer only if it is a turn.
        let is_attempt = match purpose {
            Purpose::AgentTurn => true,
            Purpose::Mandate => end.failure.is_some(),
            _ => false,
        };
        if is_attempt {
            let (answer, failure) = (end.answer.cloned(), end.failure.cloned());
            self.ended_attempt = Some(EndedAttempt { question: question.clone(), since_ms, answer, failure });
        } else {
            self.close_question(&question, since_ms, end, None);
        }
        if let Some(failure) = end.failure.filter(|_| !is_attempt) {
            let error = AttributeValue::error(&failure.to_string());
            let values = [purpose.as_str().into(), self.run_id(), error, failure.class.as_str().into(), ms.into()];
            self.log(&logs::MODEL_FAILED, values);
        }
        match purpose {
            Purpose::PlanGeneration | Purpose::TieredSelection | Purpose::Synthesis => {
                self.add_response_event(&question, end, ms);
            }
            Purpose::SemanticRetry => self.map_context_latency(id, &end),
            _ => {}
        }
    }

    /// Closes the span of an attempt of a turn. An attempt that the session gave up is still open.
    pub(super) fn end_attempt(&mut self, attempt: &Attempt) {
        if let Some(ended) = self.ended_attempt.take() {
            let end = QuestionEnd { answer: ended.answer.as_ref(), failure: ended.failure.as_ref() };
            return self.close_question(&ended.question, ended.since_ms, end, Some(attempt));
        }
        let owner = EffectOwner::Turn(attempt.turn);
        let id = self.open.keys().find(|id| *id.owner() == owner && id.scope().is_empty()).cloned();
        if let Some(OpenEffect { since_ms, kind: OpenKind::Question(question) }) =
            id.and_then(|id| self.open.remove(&id))
        {
            self.close_question(&question, since_ms, QuestionEnd::default(), Some(attempt));
        }
    }

    /// Reports the span of a question. `attempt` is the session's judgement of it.
    fn close_question(
        &mut self,
        question: &ModelQuestion,
        since_ms: i64,
        end: QuestionEnd<'_>,
        attempt: Option<&Attempt>,
    ) {
        let target = question.target.as_str();
        let (answer, usage) = (end.answer, end.usage());
        let error = attempt.and_then(|attempt| attempt.error.clone()).or_else(|| end.error());
        let failure_class = end.failure.map(|failure| failure.class.as_str());
        let outcome = attempt.map(|attempt| attempt.status.as_str()).or(failure_class).unwrap_or("success");
        let backoff_ms = attempt.and_then(|attempt| attempt.directive.as_ref()?.backoff_ms);
        let (provider, model) = match self.models.get(&question.target) {
            Some(identity) => (identity.provider.as_str(), identity.model.as_str()),
            None => (target, target),
        };
        let values = [
            self.run_id(),
            question.purpose.as_str().into(),
            target.into(),
            attempt.map_or_else(|| "".into(), |attempt| attempt.turn.into()),
            attempt.map_or(question.attempt, |attempt| attempt.attempt).into(),
            outcome.into(),
            backoff_ms.map_or_else(|| "".into(), AttributeValue::from),
            "chat".into(),
            provider.into(),
            model.into(),
            question.request.max_tokens.into(),
            AttributeValue::Number(temperature(&question.request)),
            answer.map_or("", |answer| answer.model.as_str()).into(),
            end.request_id().unwrap_or_default().into(),
            answer.map_or_else(String::new, |answer| answer.finish.to_string()).as_str().into(),
            usage.map_or(0, |usage| usage.input_tokens).into(),
            usage.map_or(0, |usage| usage.output_tokens).into(),
            if error.is_some() { outcome } else { "" }.into(),
        ];
        let status = match error {
            None => SpanStatus::Ok,
            Some(error) => SpanStatus::Error(AttributeValue::error(&error).to_string()),
        };
        let span = OpenSpan::new(question.id.to_string(), since_ms);
        let parent = Some(self.effect_parent(&question.id));
        self.close(span, (SpanKind::Client, parent), (&spans::CHAT, values), status);
    }

    /// Closes calls and questions whose outcome will never arrive.
    pub(super) fn abandon(&mut self, is_abandoned: impl Fn(&EffectId) -> bool) {
        let ids: Vec<EffectId> = self.open.keys().filter(|id| is_abandoned(id)).cloned().collect();
        for id in ids {
            match self.open.remove(&id) {
                Some(OpenEffect { since_ms, kind: OpenKind::Question(question) }) => {
                    let failure = ModelFailure::new(ErrorClass::NetworkError, "the answer was not awaited");
                    let end = QuestionEnd { answer: None, failure: Some(&failure) };
                    self.close_question(&question, since_ms, end, None);
                }
                Some(OpenEffect { since_ms, kind: OpenKind::Call(call) }) => {
                    self.close_call((&id, &call), since_ms, &reknit_engine::CallEnd::Interrupted, None);
                }
                None => {}
            }
        }
    }

    /// Reports a call or question that was not sent because a circuit breaker is open. It has no span.
    pub(super) fn skip_effect(&mut self, id: &EffectId, until_ms: i64) {
        let kind = match self.open.remove(id).map(|effect| effect.kind) {
            Some(OpenKind::Question(_)) => "model",
            Some(OpenKind::Call(_)) => "tool",
            None => return,
        };
        self.count(&metrics::GATE_CLOSED, [self.module(), kind.into()]);
        let wait_ms = elapsed_ms(self.at_ms, until_ms);
        let event =
            events::GATE_CLOSED.event_at(self.at_ms, [kind.into(), id.to_string().as_str().into(), wait_ms.into()]);
        match StepKey::of(id).and_then(|key| self.steps.get_mut(&key)) {
            Some(step) => step.add_event(event),
            None => self.add_event(event),
        }
    }
}

/// The text of all messages of a question.
pub(super) fn prompt(request: &ModelRequest) -> String {
    request.messages.iter().map(Message::text).collect::<Vec<_>>().join("\n\n")
}

pub(super) fn temperature(request: &ModelRequest) -> f64 {
    request.temperature.map_or(-1.0, |temperature| f64::from(temperature.hundredths()) / 100.0)
}
