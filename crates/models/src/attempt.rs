//! One attempt: a request and its response.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use reknit_model_api::{ErrorClass, FormatUsed, ModelAnswer, ModelFailure, ModelRequest, RawEvent, Timings};
use reknit_protocol::Value;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};

use crate::Streaming;
use crate::answer_builder::{AnswerBuilder, OnDelta};
use crate::attachments::prepare;
use crate::body::{Body, BodyError};
use crate::decode::{read_block, read_events};
use crate::endpoint::Endpoint;
use crate::error_response::ErrorResponse;
use crate::forward::{
    EventContent, ForwardedAnswer, ForwardedError, ForwardedPart, ForwardedRequest, OnForwardedPart, PassedTexts,
    limit_answer,
};
use crate::sanitize::{redact_secret, root_cause, sanitize};
use crate::sse::SseBlocks;
use crate::timeouts::{Stage, TimeoutTracker};
use crate::wire_format::{ErrorBody, EventOutcome, WireFormat};

/// Enough for any error message of a server.
const MAX_ERROR_BODY: usize = 64 * 1024;
const MAX_SAMPLE: usize = 100;
/// Hardly any text has more characters per token.
const MAX_CHARACTERS_PER_TOKEN: usize = 8;

#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    endpoint: &'a Endpoint,
    request: &'a ModelRequest,
    tracker: TimeoutTracker,
    builder: AnswerBuilder,
    wire: WireFormat,
    request_id: Option<String>,
    /// The error that the server has sent.
    refusal: Option<ForwardedError>,
}

impl<'a> Attempt<'a> {
    /// Prepares an attempt. Its timeouts run from now.
    pub(crate) fn start(endpoint: &'a Endpoint, request: &'a ModelRequest) -> Self {
        let mut timeouts = endpoint.target.timeouts;
        if let Some(ms) = request.timeout_ms {
            timeouts.set_total(Duration::from_millis(ms));
        }
        Self {
            endpoint,
            request,
            tracker: TimeoutTracker::start(timeouts),
            builder: AnswerBuilder::default(),
            wire: WireFormat::of(endpoint.target.provider),
            request_id: None,
            refusal: None,
        }
    }

    pub(crate) async fn run(mut self, on_delta: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        let result = self.exchange(on_delta).await;
        result.map_err(|failure| ModelFailure { request_id: self.request_id.take(), ..failure })
    }

    /// Sends the request of another program as it is, and reads the answer.
    pub(crate) async fn forward(
        mut self,
        request: ForwardedRequest<'_>,
        on_part: OnForwardedPart<'_>,
    ) -> Result<ForwardedAnswer, ModelFailure> {
        let result = self.exchange_forwarded(request, on_part).await;
        if let (Err(_), Some(refusal)) = (&result, self.refusal.take()) {
            on_part(ForwardedPart::Error(refusal));
        }
        result.map_err(|failure| ModelFailure { request_id: self.request_id.take(), ..failure })
    }

    async fn exchange_forwarded(
        &mut self,
        request: ForwardedRequest<'_>,
        on_part: OnForwardedPart<'_>,
    ) -> Result<ForwardedAnswer, ModelFailure> {
        self.check_length()?;
        let target = &self.endpoint.target;
        let mut body = request.body.clone();
        body.insert("model", target.model.as_str());
        if target.streaming == Streaming::Off && body.remove("stream").is_some() {
            body.remove("stream_options");
        }
        if request.limits_answer {
            limit_answer(&mut body, target, self.request.max_tokens);
        }
        target.extras.apply(&mut body);
        let streaming = match body.get("stream") {
            Some(Value::Bool(true)) => Streaming::On,
            _ => Streaming::Off,
        };
        let (response, first_byte_ms) = self.respond(body.to_string(), request.headers).await?;
        on_part(ForwardedPart::Head(response.headers()));
        let body = if is_stream(&response, streaming) {
            self.pass_stream(response, on_part).await?;
            None
        } else {
            Some(self.read_whole(response, &mut |_| {}).await?)
        };
        Ok(ForwardedAnswer { answer: self.finish(first_byte_ms, FormatUsed::Text)?, body })
    }

    async fn exchange(&mut self, on_delta: OnDelta<'_>) -> Result<ModelAnswer, ModelFailure> {
        self.check_length()?;
        let target = &self.endpoint.target;
        let request = prepare(target, self.request).await?;
        let body = self.wire.render(target, &request);
        let (response, first_byte_ms) = self.respond(body.json.to_string(), &HeaderMap::new()).await?;
        if is_stream(&response, target.streaming) {
            self.read_stream(response, on_delta).await?;
        } else {
            self.read_whole(response, on_delta).await?;
        }
        let omitted_options = body.omitted_options.into_iter().map(str::to_owned).collect();
        Ok(ModelAnswer { omitted_options, ..self.finish(first_byte_ms, body.format_used)? })
    }

    /// Sends a body, and waits for the response. Fails if its status is an error.
    async fn respond(&mut self, body: String, headers: &HeaderMap) -> Result<(Response, u64), ModelFailure> {
        let sending = self.endpoint.send(body, headers);
        let response = match self.tracker.within(Stage::Headers, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.send_failure(&error)),
            Err(exceeded) => return Err(self.body_failure(&BodyError::Timeout(exceeded))),
        };
        let first_byte_ms = self.tracker.elapsed_ms();
        self.request_id = request_id(&response);
        if !response.status().is_success() {
            return Err(self.error_status(response).await);
        }
        self.builder.request_id.clone_from(&self.request_id);
        Ok((response, first_byte_ms))
    }

    fn finish(&mut self, first_byte_ms: u64, format_used: FormatUsed) -> Result<ModelAnswer, ModelFailure> {
        let target = &self.endpoint.target;
        let timings = Timings { first_byte_ms, total_ms: self.tracker.elapsed_ms() };
        let secret = self.endpoint.secret();
        self.wire.finish(&mut self.builder);
        self.request_id = self.request_id.take().or_else(|| self.builder.request_id.clone());
        match std::mem::take(&mut self.builder).build(self.request, &target.model, format_used) {
            Ok(answer) => {
                let cost = target.prices.map(|prices| prices.cost(&answer.usage)).or(answer.reported_cost);
                Ok(ModelAnswer { cost, timings: Some(timings), ..answer })
            }
            Err(failure) => Err(ModelFailure { message: sanitize(&failure.message, secret), ..failure }),
        }
    }

    fn check_length(&self) -> Result<(), ModelFailure> {
        let Some(max_context) = self.endpoint.target.max_context else { return Ok(()) };
        let characters: usize = self.request.messages.iter().map(|message| message.text().chars().count()).sum();
        if characters / MAX_CHARACTERS_PER_TOKEN <= usize::try_from(max_context).unwrap_or(usize::MAX) {
            return Ok(());
        }
        let message = format!("not sent: {characters} characters cannot fit into {max_context} tokens");
        Err(ModelFailure::new(ErrorClass::ContextLength, message))
    }

    async fn read_whole(&mut self, response: Response, on_delta: OnDelta<'_>) -> Result<Vec<u8>, ModelFailure> {
        let body = Body::new(response).read_all(&mut self.tracker).await.map_err(|error| self.body_failure(&error))?;
        let Some(json) = crate::json::parse(&body) else {
            let message = match body.trim_ascii() {
                [] => "the body is empty".to_owned(),
                body if std::str::from_utf8(body).is_err() => "the body is not valid UTF-8".to_owned(),
                _ => format!("the body is not JSON; it starts with `{}`", sample(&body)),
            };
            return Err(self.billable_failure(ErrorClass::InvalidResponse, &message));
        };
        match self.wire.read_whole(&mut self.builder, json, on_delta) {
            Ok(true) => Ok(body),
            Ok(false) => {
                let message = format!("the body contains no answer: `{}`", sample(&body));
                Err(self.billable_failure(ErrorClass::InvalidResponse, &message))
            }
            Err(error) => Err(self.error_in_body(&error)),
        }
    }

    async fn read_stream(&mut self, response: Response, on_delta: OnDelta<'_>) -> Result<(), ModelFailure> {
        let mut events = self.wire.event_decoder();
        self.read_chunks(response, |attempt, chunk| {
            events.feed(chunk);
            let read = read_events(&mut attempt.wire, &mut attempt.builder, &mut events, on_delta);
            read.map_err(|error| attempt.error_in_body(&error))
        })
        .await
    }

    /// Reads a stream, and passes each event on once it was read.
    async fn pass_stream(&mut self, response: Response, on_part: OnForwardedPart<'_>) -> Result<(), ModelFailure> {
        let mut blocks = SseBlocks::default();
        self.read_chunks(response, |attempt, chunk| {
            match chunk {
                Some(chunk) => blocks.feed(chunk),
                None => blocks.end(),
            }
            attempt.pass_events(&mut blocks, on_part)
        })
        .await
    }

    /// Passes on the events that are complete. The outcome is that of [`read_events`].
    fn pass_events(
        &mut self,
        blocks: &mut SseBlocks,
        on_part: OnForwardedPart<'_>,
    ) -> Result<EventOutcome, ModelFailure> {
        // Events with nothing but text that arrive together are passed on together.
        let mut texts = PassedTexts::default();
        let mut outcome = EventOutcome::Unreadable;
        while let Some(place) = blocks.next() {
            let mut content = EventContent::default();
            let skipped = self.builder.skipped_events;
            let block = blocks.bytes(place.clone());
            let read = read_block(&mut self.wire, &mut self.builder, block, &mut |delta| content.add(delta));
            let is_readable = self.builder.skipped_events == skipped;
            if let Ok(EventOutcome::Progress) = read {
                outcome = EventOutcome::Progress;
                if is_readable && content.is_text() {
                    texts.add(place, &content.text);
                    continue;
                }
            }
            texts.pass_on(blocks, on_part);
            if read.is_err() {
                let body = self.redacted(blocks.bytes(place.clone()));
                self.refusal = Some(ForwardedError { status: None, headers: HeaderMap::new(), body });
            }
            let is_over = read.map_err(|error| self.error_in_body(&error))? == EventOutcome::EndMark;
            let EventContent { text, has_reasoning, has_calls } = content;
            // What we cannot read, the caller cannot either: it is counted and left out.
            if is_readable {
                let bytes = blocks.bytes(place);
                on_part(ForwardedPart::Event(RawEvent { bytes, text: &text, has_reasoning, has_calls }));
            }
            if is_over {
                return Ok(EventOutcome::EndMark);
            }
        }
        texts.pass_on(blocks, on_part);
        Ok(outcome)
    }

    /// Hands each chunk of a stream to `read`, and none at its end, until `read` has seen the end mark.
    async fn read_chunks(
        &mut self,
        response: Response,
        mut read: impl FnMut(&mut Self, Option<&[u8]>) -> Result<EventOutcome, ModelFailure>,
    ) -> Result<(), ModelFailure> {
        let mut body = Body::new(response);
        let mut prefix = Vec::new();
        loop {
            let chunk = match body.next_chunk(&self.tracker, self.stage()).await {
                Ok(chunk) => chunk,
                // The answer is complete; only its token counts are lost.
                Err(_) if self.builder.is_ended() && !self.wire.continues_after_finish() => return Ok(()),
                Err(error) => return Err(self.body_failure(&error)),
            };
            let bytes = chunk.as_ref().map(AsRef::as_ref);
            prefix.extend(bytes.unwrap_or_default().iter().take(MAX_SAMPLE.saturating_sub(prefix.len())));
            match read(self, bytes)? {
                EventOutcome::EndMark => return Ok(()),
                EventOutcome::Progress => self.tracker.note_progress(),
                EventOutcome::Unreadable => {}
            }
            if chunk.is_none() {
                return if self.builder.is_ended() { Ok(()) } else { Err(self.truncated_stream(&prefix)) };
            }
        }
    }

    fn stage(&self) -> Stage {
        if self.builder.is_ended() && !self.wire.continues_after_finish() {
            Stage::Trailer
        } else if self.builder.has_begun() {
            Stage::NextToken
        } else {
            Stage::FirstToken
        }
    }

    async fn error_status(&mut self, response: Response) -> ModelFailure {
        let status = response.status();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let body = Body::new(response).read_prefix(&mut self.tracker, MAX_ERROR_BODY).await;
        self.refusal = Some(ForwardedError {
            status: Some(status.as_u16()),
            headers: headers.clone(),
            body: self.redacted(&body),
        });
        let now_ms = now_ms();
        let mut error = ErrorResponse::parse(&self.wire, Some(status.as_u16()), &body, now_ms);
        let message = &mut error.evidence.message;
        if let Some(location) = header(LOCATION.as_str()).filter(|_| status.is_redirection()) {
            *message = format!("the server redirects to {location}; redirects are not followed");
        } else if message.is_empty() {
            status.canonical_reason().unwrap_or_default().clone_into(message);
        }
        self.sanitized(error.into_failure(&self.wire, header, now_ms))
    }

    /// The failure of an error in the body of a successful response or in a stream.
    fn error_in_body(&self, ErrorBody(json): &ErrorBody) -> ModelFailure {
        let now_ms = now_ms();
        let error = ErrorResponse::parse(&self.wire, None, json.to_string().as_bytes(), now_ms);
        let failure = self.sanitized(error.into_failure(&self.wire, |_| None, now_ms));
        if self.builder.has_begun() { self.with_partial_answer(failure) } else { failure }
    }

    /// Bytes of the server, without the API key.
    fn redacted(&self, bytes: &[u8]) -> Vec<u8> {
        match (std::str::from_utf8(bytes), self.endpoint.secret()) {
            (Ok(text), Some(_)) => redact_secret(text, self.endpoint.secret()).into_bytes(),
            _ => bytes.to_vec(),
        }
    }

    fn sanitized(&self, failure: ModelFailure) -> ModelFailure {
        ModelFailure { message: sanitize(&failure.message, self.endpoint.secret()), ..failure }
    }

    fn send_failure(&self, error: &reqwest::Error) -> ModelFailure {
        let server = self.endpoint.server();
        let cause = sanitize(&root_cause(error), self.endpoint.secret());
        if error.is_connect() && error.is_timeout() {
            let timeout = self.endpoint.target.timeouts.connect;
            return ModelFailure::new(ErrorClass::Timeout, format!("no connection to {server} within {timeout:?}"));
        }
        if error.is_connect() {
            return ModelFailure::new(ErrorClass::NetworkError, format!("cannot connect to {server}: {cause}"));
        }
        let message = format!("{server} closed the connection before it answered: {cause}");
        self.billable_failure(ErrorClass::NetworkError, &message)
    }

    fn body_failure(&self, error: &BodyError) -> ModelFailure {
        let class = match error {
            BodyError::Timeout(_) => ErrorClass::Timeout,
            BodyError::Connection(_) => ErrorClass::NetworkError,
            BodyError::TooLong => ErrorClass::InvalidResponse,
        };
        self.billable_failure(class, &format!("{error}{}", self.builder.progress()))
    }

    fn truncated_stream(&self, prefix: &[u8]) -> ModelFailure {
        let message = match self.builder.progress() {
            progress if !progress.is_empty() => format!("the stream ended without a finish reason{progress}"),
            _ if prefix.trim_ascii().is_empty() => "the stream is empty".to_owned(),
            _ => format!("the stream contains no answer; it starts with `{}`", String::from_utf8_lossy(prefix)),
        };
        self.billable_failure(ErrorClass::InvalidResponse, &message)
    }

    fn billable_failure(&self, class: ErrorClass, message: &str) -> ModelFailure {
        self.with_partial_answer(ModelFailure::new(class, sanitize(message, self.endpoint.secret())))
    }

    fn with_partial_answer(&self, failure: ModelFailure) -> ModelFailure {
        let partial = redact_secret(&self.builder.text, self.endpoint.secret());
        ModelFailure { partial, usage: Some(self.builder.usage(self.request)), ..failure }
    }
}

/// Unix time, for waits until a point in time.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn sample(body: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(body.get(..MAX_SAMPLE).unwrap_or(body))
}

fn request_id(response: &Response) -> Option<String> {
    const NAMES: &[&str] = &["x-request-id", "request-id", "x-amzn-requestid", "x-groq-request-id", "cf-ray"];
    let id = NAMES.iter().find_map(|name| response.headers().get(*name)?.to_str().ok());
    id.map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Whether the response is a stream. Its content type counts more than the request.
fn is_stream(response: &Response, requested: Streaming) -> bool {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.to_ascii_lowercase();
    // Of Ollama and of Bedrock.
    let is_other_stream = media_type.contains("ndjson") || media_type.contains("eventstream");
    media_type.starts_with("text/event-stream")
        || is_other_stream
        || (requested == Streaming::On && !media_type.contains("json"))
}
