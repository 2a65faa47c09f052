//! The attempts at one request of a caller.

use std::sync::Arc;

use axum::http::HeaderMap;
use reknit_gateway::{AnswerMender, GatewayRequest, MendedAnswer, UnusableAnswer};
use reknit_model_api::{Api, Delta, ErrorClass, Message, ModelAnswer, ModelFailure, RawEvent, TargetName};
use reknit_models::{ForwardedError, ForwardedPart, ForwardedRequest, Models};
use reknit_protocol::{Number, Object, Value};
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;

use super::bill::Bill;
use super::headers::{of_response, without_idempotency_key};

/// What the attempts at one request share.
#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) request: GatewayRequest,
    pub(super) is_mending: bool,
    /// Whether a model is asked once more if its answer cannot be mended.
    asks_again: bool,
    /// Whether a stream waits for the whole answer.
    pub(super) is_buffered: bool,
    headers: HeaderMap,
    /// The errors that servers have sent, one place for each attempt.
    errors: Vec<Option<ForwardedError>>,
    metrics: Arc<PrometheusMetrics>,
    pub(super) bill: Option<Bill>,
    /// Why the answer before could not be used. A model is asked again once for that.
    pub(super) complaint: Option<String>,
    /// An answer that could not be mended, but that is harmless.
    pub(super) fallback: Option<(TargetName, MendedResponse)>,
}

/// An answer, and the bytes in which it came.
#[derive(Debug)]
pub(super) struct Received<A> {
    pub(super) answer: A,
    /// The headers of its response, if it came from a server with the API of the caller.
    pub(super) headers: HeaderMap,
    /// The body, if it came whole from a server with the API of the caller.
    pub(super) body: Option<Vec<u8>>,
    /// Whether it came from a server with the API of the caller.
    pub(super) is_same_api: bool,
}

pub(super) type ReceivedAnswer = Received<ModelAnswer>;
pub(super) type MendedResponse = Received<MendedAnswer>;

pub(super) enum Piece<'a> {
    /// The headers of the response of such a server, before its events.
    Head(&'a HeaderMap),
    /// An event of a server with the API of the caller.
    Event(RawEvent<'a>),
    /// A part of an answer in another API.
    Delta(Delta<'a>),
}

impl Attempts {
    pub(super) fn new(
        request: GatewayRequest,
        headers: &HeaderMap,
        sent: HeaderMap,
        metrics: Arc<PrometheusMetrics>,
        bill: Option<Bill>,
    ) -> Self {
        let header_is = |name: &str, word: &str| {
            headers.get(name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
        };
        // Only the first of several answers is read.
        let is_mending = !header_is("x-reknit-mend", "off") && !wants_several(&request.body);
        let asks_again = !header_is("x-reknit-mend", "once");
        let is_buffered = header_is("x-reknit-stream", "buffered");
        let (errors, complaint, fallback) = (Vec::new(), None, None);
        Self { request, is_mending, asks_again, is_buffered, headers: sent, errors, metrics, bill, complaint, fallback }
    }

    pub(super) fn mender(&self) -> Option<AnswerMender<'_>> {
        self.is_mending.then(|| AnswerMender::of(&self.request).asked_again(self.complaint.is_some()))
    }

    /// Sends the request to one target: as it is to a server with the same API, else translated.
    pub(super) async fn send(
        &mut self,
        models: &Models,
        target: &TargetName,
        on_piece: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<ReceivedAnswer, ModelFailure> {
        if models.api(target) == Some(self.request.api) {
            return self.forward(models, target, on_piece).await;
        }
        self.errors.push(None);
        let request = &self.request;
        if let Some(content) = &request.foreign_content {
            let message = format!("only a server with the API `{}` understands {content}", request.api);
            return Err(ModelFailure::new(ErrorClass::ModelError, message));
        }
        let mut translated = request.request.clone();
        translated.messages.extend(self.complaint.as_deref().map(|complaint| Message::user(again(complaint))));
        let answer = models.ask(target, &translated, &mut |delta| on_piece(Piece::Delta(delta))).await?;
        Ok(Received { answer, headers: HeaderMap::new(), body: None, is_same_api: false })
    }

    async fn forward(
        &mut self,
        models: &Models,
        target: &TargetName,
        on_piece: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<ReceivedAnswer, ModelFailure> {
        let request = &self.request;
        let changed = self.complaint.as_ref().map(|complaint| with_complaint(request, complaint));
        let own = changed.is_some().then(|| without_idempotency_key(self.headers.clone()));
        let (body, headers) = (changed.as_ref().unwrap_or(&request.body), own.as_ref().unwrap_or(&self.headers));
        let limits_answer = self.bill.is_some();
        let forwarded = ForwardedRequest { body, request: &request.request, headers, limits_answer };
        let (mut head, mut error) = (HeaderMap::new(), None);
        let mut on_part = |part: ForwardedPart<'_>| match part {
            ForwardedPart::Head(headers) => {
                head = of_response(headers);
                on_piece(Piece::Head(&head));
            }
            ForwardedPart::Event(event) => on_piece(Piece::Event(event)),
            ForwardedPart::Error(sent) => error = Some(sent),
        };
        let result = models.forward(target, forwarded, &mut on_part).await;
        self.errors.push(error);
        let answer = result?;
        Ok(Received { answer: answer.answer, headers: head, body: answer.body, is_same_api: true })
    }

    /// The error that a server has sent in an attempt, counted from 0.
    pub(super) fn error(&self, attempt: usize) -> Option<&ForwardedError> {
        self.errors.get(attempt)?.as_ref()
    }

    /// The error that a server has sent in the last attempt.
    pub(super) fn last_error(&self) -> Option<&ForwardedError> {
        self.errors.last()?.as_ref()
    }

    fn count(&self, name: &str, help: &str, target: &TargetName) {
        self.metrics.count(name, help, &[("target", target.as_str())], 1);
    }

    pub(super) fn count_failure(&mut self, target: &TargetName, failure: ModelFailure) -> ModelFailure {
        if let (Some(bill), Some(usage)) = (&mut self.bill, &failure.usage) {
            bill.add(target, usage);
        }
        let labels = [("target", target.as_str()), ("class", failure.class.as_str())];
        self.metrics.count("reknit_gateway_failed_attempts_total", "Attempts that failed.", &labels, 1);
        failure
    }

    /// Mends an answer. An answer that cannot be used is a failure, after which a model is asked again, once.
    pub(super) fn mend(
        &mut self,
        target: &TargetName,
        received: ReceivedAnswer,
    ) -> Result<MendedResponse, ModelFailure> {
        let Received { answer, headers, body, is_same_api } = received;
        let usage = answer.usage;
        if let Some(bill) = &mut self.bill {
            bill.add(target, &usage);
        }
        let result = match self.mender() {
            Some(mender) => mender.mend(answer),
            None => Ok(MendedAnswer::unchanged(answer)),
        };
        let UnusableAnswer { reason, harmless } = match result {
            Ok(answer) => {
                if !answer.changes.is_empty() {
                    self.count("reknit_gateway_mended_total", "Answers that were changed.", target);
                }
                return Ok(Received { answer, headers, body, is_same_api });
            }
            Err(unusable) => unusable,
        };
        let harmless = harmless.map(|answer| Received { answer: *answer, headers, body, is_same_api });
        self.count("reknit_gateway_unusable_answers_total", "Answers for which a model was asked again.", target);
        let is_last = self.complaint.replace(reason.clone()).is_some() || !self.asks_again;
        match harmless {
            Some(served) if is_last => return Ok(served),
            Some(served) => self.fallback = Some((target.clone(), served)),
            None => {}
        }
        Err(ModelFailure::new(ErrorClass::InvalidResponse, reason).with_usage(usage))
    }
}

/// Whether a request asks for several answers at once.
fn wants_several(body: &Object) -> bool {
    body.get("n").and_then(Value::as_number).and_then(Number::as_u64).is_some_and(|answers| answers != 1)
}

fn again(complaint: &str) -> String {
    format!("An earlier answer to this request could not be used: {complaint}. Answer without this mistake.")
}

/// The body with a message about the answer before.
fn with_complaint(request: &GatewayRequest, complaint: &str) -> Object {
    let mut body = request.body.clone();
    let key = match request.api {
        Api::ChatCompletions | Api::Messages => "messages",
        Api::Responses => "input",
    };
    let user = |text: &str| Value::from([("role", "user".into()), ("content", text.into())]);
    let mut messages = match body.remove(key) {
        Some(Value::Array(messages)) => messages,
        Some(Value::String(input)) => vec![user(&input)],
        _ => Vec::new(),
    };
    messages.push(user(&again(complaint)));
    body.insert(key, messages);
    body
}
