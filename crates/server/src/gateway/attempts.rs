//! The attempts at one request of a caller.

use std::sync::Arc;

use axum::http::HeaderMap;
use reknit_gateway::{AnswerMender, GatewayRequest, MendedAnswer, UnusableAnswer};
use reknit_model_api::{Api, Delta, ErrorClass, Message, ModelAnswer, ModelFailure, RawEvent, TargetName};
use reknit_models::{ForwardedRequest, Models};
use reknit_protocol::{Object, Value};
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;

use super::bill::Bill;

/// What the attempts at one request share.
#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) request: GatewayRequest,
    pub(super) is_mending: bool,
    /// Whether a model is asked once more if its answer cannot be mended.
    asks_again: bool,
    /// Whether a stream waits for the whole answer.
    pub(super) is_buffered: bool,
    headers: Vec<(&'static str, String)>,
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
    /// The body, if it came whole from a server with the API of the caller.
    pub(super) body: Option<Vec<u8>>,
    /// Whether it came from a server with the API of the caller.
    pub(super) is_same_api: bool,
}

pub(super) type ReceivedAnswer = Received<ModelAnswer>;
pub(super) type MendedResponse = Received<MendedAnswer>;

pub(super) enum Piece<'a> {
    /// An event of a server with the API of the caller.
    Event(RawEvent<'a>),
    /// A part of an answer in another API.
    Delta(Delta<'a>),
}

impl Attempts {
    pub(super) fn new(
        request: GatewayRequest,
        headers: &HeaderMap,
        metrics: Arc<PrometheusMetrics>,
        bill: Option<Bill>,
    ) -> Self {
        let header_is = |name: &str, word: &str| {
            headers.get(name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(word.as_bytes()))
        };
        let is_mending = !header_is("x-reknit-mend", "off");
        let asks_again = !header_is("x-reknit-mend", "once");
        let is_buffered = header_is("x-reknit-stream", "buffered");
        let headers = api_headers(headers);
        Self { request, is_mending, asks_again, is_buffered, headers, metrics, bill, complaint: None, fallback: None }
    }

    pub(super) fn mender(&self) -> Option<AnswerMender<'_>> {
        self.is_mending.then(|| AnswerMender::of(&self.request).asked_again(self.complaint.is_some()))
    }

    /// Sends the request to one target: as it is to a server with the same API, else translated.
    pub(super) async fn send(
        &self,
        models: &Models,
        target: &TargetName,
        on_piece: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<ReceivedAnswer, ModelFailure> {
        let request = &self.request;
        if models.api(target) == Some(request.api) {
            let body = self.complaint.as_ref().map(|complaint| with_complaint(request, complaint));
            let (body, headers) = (body.as_ref().unwrap_or(&request.body), &self.headers[..]);
            let forwarded =
                ForwardedRequest { body, request: &request.request, headers, limits_answer: self.bill.is_some() };
            let answer = models.forward(target, forwarded, &mut |event| on_piece(Piece::Event(event))).await?;
            return Ok(Received { answer: answer.answer, body: answer.body, is_same_api: true });
        }
        if let Some(content) = &request.foreign_content {
            let message = format!("only a server with the API `{}` understands {content}", request.api);
            return Err(ModelFailure::new(ErrorClass::ModelError, message));
        }
        let mut translated = request.request.clone();
        translated.messages.extend(self.complaint.as_deref().map(|complaint| Message::user(again(complaint))));
        let answer = models.ask(target, &translated, &mut |delta| on_piece(Piece::Delta(delta))).await?;
        Ok(Received { answer, body: None, is_same_api: false })
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
        let Received { answer, body, is_same_api } = received;
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
                return Ok(Received { answer, body, is_same_api });
            }
            Err(unusable) => unusable,
        };
        let harmless = harmless.map(|answer| Received { answer: *answer, body, is_same_api });
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

/// Headers that belong to the API of the caller.
fn api_headers(headers: &HeaderMap) -> Vec<(&'static str, String)> {
    let names = ["anthropic-beta", "anthropic-version", "openai-beta"];
    let values =
        |name: &str| -> Vec<&str> { headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect() };
    names.into_iter().map(|name| (name, values(name).join(","))).filter(|(_, value)| !value.is_empty()).collect()
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
