//! What became of calls and questions.

use std::borrow::Cow;

use reknit_dialogue::{Answer, ErrorClass, Failure, Purpose, Usage};

use super::{Doing, Heard, OpenSpan, Tracer, UnderWay, owner, since};
use crate::event::What;
use crate::run::Run;
use crate::telemetry::datum::{Datum, ERROR};
use crate::telemetry::signal::{SpanKind, SpanStatus};
use crate::telemetry::table::{events, logs, metrics, spans};
use reknit_mend::{read_context, read_feedback};
use reknit_protocol::EffectId;
use reknit_protocol::{ToolReply, TransportFailure, TransportKind};

/// How a question ended.
struct Asked<'a> {
    answer: Option<&'a Answer>,
    usage: Option<Usage>,
    error: Option<(ErrorClass, String)>,
}

impl<'a> Asked<'a> {
    /// Words are wanted of every question but that of a session, which takes calls.
    fn answered(answer: &'a Answer, purpose: Purpose) -> Self {
        let failure = match purpose {
            Purpose::AgentTurn => None,
            _ => answer.words().err(),
        };
        let error = failure.map(|failure| (failure.class, failure.to_string()));
        Self { answer: Some(answer), usage: Some(answer.usage), error }
    }

    fn failed(failure: &Failure) -> Self {
        Self { answer: None, usage: failure.usage, error: Some((failure.class, failure.to_string())) }
    }
}

impl Tracer {
    /// Takes in the outcome of an effect; says what was heard about a step.
    pub(super) fn hear<'a>(&mut self, run: Option<&Run>, what: &'a What, at_ms: i64) -> Option<Heard<'a>> {
        let id = what.effect()?;
        let effect = self.under_way.remove(id)?;
        match (what, &effect.what) {
            (What::ModelAnswered { answer, .. }, Doing::Asking { purpose, .. }) => {
                let asked = Asked::answered(answer, *purpose);
                self.hear_model(run, id, &effect, &asked, at_ms)
            }
            (What::ModelFailed { failure, .. }, Doing::Asking { .. }) => {
                let heard = self.hear_model(run, id, &effect, &Asked::failed(failure), at_ms);
                heard.map(|heard| Heard { text: "", ..heard })
            }
            (What::ToolAnswered { reply, .. }, Doing::Calling { .. }) => {
                self.hear_tool(id, &effect, &Ok(reply), at_ms);
                None
            }
            (What::ToolFailed { failure, .. }, Doing::Calling { .. }) => {
                self.hear_tool(id, &effect, &Err(Some(failure)), at_ms);
                None
            }
            (What::GateClosed { until_ms, .. }, _) => {
                self.hear_of_gate(id, &effect, since(at_ms, *until_ms), at_ms);
                None
            }
            _ => {
                self.close_abandoned(id, &effect, at_ms);
                None
            }
        }
    }

    fn hear_model<'a>(
        &mut self,
        run: Option<&Run>,
        id: &EffectId,
        effect: &UnderWay,
        asked: &Asked<'a>,
        at_ms: i64,
    ) -> Option<Heard<'a>> {
        let Doing::Asking { purpose, attempt, .. } = &effect.what else { return None };
        let ms = since(effect.since_ms, at_ms);
        let status = if asked.error.is_some() { "error" } else { "success" };
        let labels = || [self.module(), Cow::from(purpose.as_str()), status.into()];
        let mut measured = vec![metrics::AI_REQUESTS.amount(1, labels()), metrics::AI_REQUEST_MS.amount(ms, labels())];
        if let Some(usage) = &asked.usage {
            for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
                let labels = [self.module(), purpose.as_str().into(), kind.into()];
                measured.push(metrics::AI_TOKENS.amount(tokens, labels));
            }
        }
        self.told.extend(measured.into_iter().map(Into::into));
        self.close_question(id, effect, asked, at_ms);
        if let Some((class, error)) = asked.error.as_ref().filter(|_| *purpose != Purpose::AgentTurn) {
            let fields = [purpose.as_str().into(), self.run_id(), Datum::words(error, ERROR)];
            let [operation, request_id, error] = fields;
            self.say(logs::MODEL_FAILED.line("", [operation, request_id, error, class.as_str().into(), ms.into()]));
        }
        let text = asked.answer.map_or("", |answer| answer.text.as_str());
        match purpose {
            Purpose::PlanGeneration | Purpose::TieredSelection | Purpose::Synthesis => {
                let error = asked.error.as_ref().map(|(_, words)| words.as_str());
                self.hear_of_run(run, *purpose, (asked.answer, error), (*attempt, ms), at_ms);
                None
            }
            Purpose::MicroResolution | Purpose::ErrorAnalysis | Purpose::SemanticRetry => {
                let advice = asked.error.is_none().then(|| match purpose {
                    Purpose::SemanticRetry => read_context(text),
                    _ => read_feedback(text),
                });
                let heard = Heard { owner: owner(&id.to_string()).to_owned(), ms, text, advice };
                let error = asked.error.as_ref().map(|(_, words)| words.as_str());
                if let Some(run) = run {
                    self.hear_of_step(run, *purpose, &heard, error, at_ms);
                }
                Some(heard)
            }
            _ => None,
        }
    }

    fn close_question(&mut self, id: &EffectId, effect: &UnderWay, asked: &Asked<'_>, at_ms: i64) {
        let Doing::Asking { target, purpose, max_tokens, temperature, .. } = &effect.what else { return };
        let (answer, usage) = (asked.answer, asked.usage.as_ref());
        let values = [
            self.run_id(),
            purpose.as_str().into(),
            "chat".into(),
            target.as_str().into(),
            target.as_str().into(),
            (*max_tokens).into(),
            Datum::Number(*temperature),
            answer.map_or("", |answer| answer.model.as_str()).into(),
            answer.and_then(|answer| answer.request_id.as_deref()).unwrap_or_default().into(),
            answer.map_or_else(String::new, |answer| answer.finish.to_string()).as_str().into(),
            usage.map_or(0, |usage| usage.input_tokens).into(),
            usage.map_or(0, |usage| usage.output_tokens).into(),
            asked.error.as_ref().map_or("", |(class, _)| class.as_str()).into(),
        ];
        let status = match &asked.error {
            None => SpanStatus::Ok,
            Some((_, words)) => SpanStatus::Error(Datum::words(words, ERROR).to_string()),
        };
        let span = OpenSpan::new(&id.to_string(), effect.since_ms);
        self.close(span, SpanKind::Client, (&spans::CHAT, values), status, at_ms);
    }

    fn hear_tool(
        &mut self,
        id: &EffectId,
        effect: &UnderWay,
        outcome: &Result<&ToolReply, Option<&TransportFailure>>,
        at_ms: i64,
    ) {
        let Doing::Calling { step, agent, capability, attempt } = &effect.what else { return };
        let (status, code, error) = match outcome {
            Ok(reply) if reply.status < 400 => ("success", reply.status, String::new()),
            Ok(reply) => ("error", reply.status, reply.status.to_string()),
            Err(Some(failure)) => ("failed", 0, transport(failure.kind).to_owned()),
            Err(None) => ("interrupted", 0, "interrupted".to_owned()),
        };
        let labels = || [capability.to_string().into(), agent.to_string().into(), self.module(), Cow::from(status)];
        let (calls, latency) = (
            metrics::TOOL_CALLS.amount(1, labels()),
            metrics::TOOL_CALL_MS.amount(since(effect.since_ms, at_ms), labels()),
        );
        self.count(calls);
        self.count(latency);
        let values = [
            self.run_id(),
            step.as_str().into(),
            agent.as_str().into(),
            capability.as_str().into(),
            (*attempt).into(),
            "POST".into(),
            u32::from(code).into(),
            error.as_str().into(),
        ];
        let words = match outcome {
            Err(Some(failure)) => Datum::words(&failure.message, ERROR).to_string(),
            _ => error,
        };
        let status = if words.is_empty() { SpanStatus::Ok } else { SpanStatus::Error(words) };
        let span = OpenSpan::new(&id.to_string(), effect.since_ms);
        self.close(span, SpanKind::Client, (&spans::HTTP_CLIENT_REQUEST, values), status, at_ms);
    }

    /// Nobody will ever hear what became of it.
    pub(super) fn close_abandoned(&mut self, id: &EffectId, effect: &UnderWay, at_ms: i64) {
        match &effect.what {
            Doing::Calling { .. } => self.hear_tool(id, effect, &Err(None), at_ms),
            Doing::Asking { .. } => {
                let error = Some((ErrorClass::NetworkError, "it was not waited for".to_owned()));
                self.close_question(id, effect, &Asked { answer: None, usage: None, error }, at_ms);
            }
        }
    }

    /// Nothing was sent, so there is no span.
    fn hear_of_gate(&mut self, id: &EffectId, effect: &UnderWay, wait_ms: u64, at_ms: i64) {
        let kind = match effect.what {
            Doing::Asking { .. } => "model",
            Doing::Calling { .. } => "tool",
        };
        self.count(metrics::GATE_CLOSED.amount(1, [self.module(), kind.into()]));
        let event = events::GATE_CLOSED.at(at_ms, [kind.into(), id.to_string().as_str().into(), wait_ms.into()]);
        let id_text = id.to_string();
        let owner = owner(&id_text);
        if self.steps.contains_key(owner) { self.happen_in(owner, event) } else { self.happen(event) }
    }
}

fn transport(kind: TransportKind) -> &'static str {
    match kind {
        TransportKind::Refused => "refused",
        TransportKind::Reset => "reset",
        TransportKind::TimedOut => "timed_out",
        TransportKind::TooLarge => "bad_answer",
        TransportKind::Unreadable => "unreadable",
        TransportKind::NotCallable => "unusable",
    }
}
