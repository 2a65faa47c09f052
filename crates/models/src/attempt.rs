//! One request, from the first byte sent to the last one read.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use reknit_dialogue::{Answer, ErrorClass, Failure, Request, Timings};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, LOCATION};

use crate::Streaming;
use crate::body::{Body, Broken};
use crate::decode::take_events;
use crate::draft::{Draft, OnDelta};
use crate::endpoint::Endpoint;
use crate::limits::{Stage, Watch};
use crate::refusal::Refusal;
use crate::sse::Events;
use crate::text::{root_cause, tidy, without_secret};
use crate::wire::{Refused, Wire};

/// Enough for any error a server has to tell.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Enough to recognise what has come instead of an answer.
const MAX_SAMPLE: usize = 100;
/// No text has fewer tokens than that, or nearly none.
const MOST_CHARACTERS_PER_TOKEN: usize = 8;

/// One request to one endpoint.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    endpoint: &'a Endpoint,
    request: &'a Request,
    watch: Watch,
    draft: Draft,
    wire: Wire,
}

impl<'a> Attempt<'a> {
    /// Starts the clock.
    pub(crate) fn new(endpoint: &'a Endpoint, request: &'a Request) -> Self {
        let mut limits = endpoint.target.limits;
        if let Some(ms) = request.max_ms {
            limits.total = limits.total.min(Duration::from_millis(ms));
        }
        Self {
            endpoint,
            request,
            watch: Watch::start(limits),
            draft: Draft::default(),
            wire: Wire::of(endpoint.target.provider),
        }
    }

    /// Sends the request and reads the answer.
    pub(crate) async fn run(mut self, on_delta: OnDelta<'_>) -> Result<Answer, Failure> {
        self.check_length()?;
        let target = &self.endpoint.target;
        let rendered = self.wire.render(target, self.request);
        let sending = self.endpoint.send(rendered.body.to_string());
        let response = match self.watch.within(Stage::Head, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.unanswered(&error)),
            Err(exceeded) => return Err(self.cut(&Broken::Exceeded(exceeded))),
        };
        let first_byte_ms = self.watch.elapsed_ms();
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        self.draft.request_id = request_id(&response);
        if is_stream(&response, target.streaming) {
            self.read_stream(response, on_delta).await?;
        } else {
            self.read_whole(response, on_delta).await?;
        }
        let timings = Timings { first_byte_ms, total_ms: self.watch.elapsed_ms() };
        let secret = self.endpoint.secret();
        match self.draft.conclude(self.request, &target.model, rendered.format_used) {
            Ok(answer) => {
                let cost = target.prices.map(|prices| prices.cost(&answer.usage));
                let left_out = rendered.left_out.into_iter().map(str::to_owned).collect();
                Ok(Answer { cost, left_out, timings: Some(timings), ..answer })
            }
            Err(failure) => Err(Failure { message: tidy(&failure.message, secret), ..failure }),
        }
    }

    fn check_length(&self) -> Result<(), Failure> {
        let Some(max_context) = self.endpoint.target.max_context else { return Ok(()) };
        let characters: usize = self.request.messages.iter().map(|message| message.text().chars().count()).sum();
        if characters / MOST_CHARACTERS_PER_TOKEN <= usize::try_from(max_context).unwrap_or(usize::MAX) {
            return Ok(());
        }
        let message = format!("not sent: {characters} characters cannot fit into {max_context} tokens");
        Err(Failure::new(ErrorClass::ContextLength, message))
    }

    async fn read_whole(&mut self, response: Response, on_delta: OnDelta<'_>) -> Result<(), Failure> {
        let body = Body::new(response).whole(&mut self.watch).await.map_err(|broken| self.cut(&broken))?;
        let Some(json) = crate::json::parse(&body) else {
            let message = if body.trim_ascii().is_empty() { "an empty body".to_owned() } else { not_json(&body) };
            return Err(self.worked_for(ErrorClass::InvalidResponse, &message));
        };
        match self.wire.whole(&mut self.draft, json, on_delta) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.worked_for(ErrorClass::InvalidResponse, &no_answer(&body))),
            Err(refused) => Err(self.refused_inside(&refused)),
        }
    }

    async fn read_stream(&mut self, response: Response, on_delta: OnDelta<'_>) -> Result<(), Failure> {
        let mut body = Body::new(response);
        let mut events = Events::default();
        let mut sample = Vec::new();
        loop {
            let piece = match body.next(&self.watch, self.stage()).await {
                Ok(piece) => piece,
                // The answer is complete; what broke could only have brought its count of tokens.
                Err(_) if self.draft.is_ended() => return Ok(()),
                Err(broken) => return Err(self.cut(&broken)),
            };
            match &piece {
                Some(piece) => {
                    events.feed(piece.as_ref());
                    sample.extend(piece.as_ref().iter().take(MAX_SAMPLE.saturating_sub(sample.len())));
                }
                None => events.end(),
            }
            let Self { wire, draft, watch, .. } = self;
            match take_events(wire, draft, &mut events, on_delta, &mut || watch.progress()) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(refused) => return Err(self.refused_inside(&refused)),
            }
            if piece.is_none() {
                return if self.draft.is_ended() { Ok(()) } else { Err(self.unended(&sample)) };
            }
        }
    }

    fn stage(&self) -> Stage {
        if self.draft.is_ended() {
            Stage::Tail
        } else if self.draft.is_begun() {
            Stage::Next
        } else {
            Stage::FirstToken
        }
    }

    /// The server says no with its status.
    async fn refused(&mut self, response: Response) -> Failure {
        let status = response.status();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let body = Body::new(response).beginning(&mut self.watch, MAX_ERROR_BODY).await;
        let now_ms = now_ms();
        let refusal = Refusal::read(&self.wire, Some(status.as_u16()), &body, now_ms);
        let refusal = match header(LOCATION.as_str()).filter(|_| status.is_redirection()) {
            Some(location) => refusal.with_message(format!("it points to {location}; redirects are not followed")),
            None => refusal.or_message(status.canonical_reason().unwrap_or_default()),
        };
        self.tidied(refusal.failure(&self.wire, header, now_ms))
    }

    /// The server says no in the place of an answer, or in the middle of one.
    fn refused_inside(&self, Refused(json): &Refused) -> Failure {
        let now_ms = now_ms();
        let refusal = Refusal::read(&self.wire, None, json.to_string().as_bytes(), now_ms);
        let failure = self.tidied(refusal.failure(&self.wire, |_| None, now_ms));
        if self.draft.is_begun() { self.with_what_arrived(failure) } else { failure }
    }

    fn tidied(&self, failure: Failure) -> Failure {
        Failure { message: tidy(&failure.message, self.endpoint.secret()), ..failure }
    }

    /// No response came.
    fn unanswered(&self, error: &reqwest::Error) -> Failure {
        let server = self.endpoint.server();
        let cause = tidy(&root_cause(error), self.endpoint.secret());
        if error.is_connect() && error.is_timeout() {
            let limit = self.endpoint.target.limits.connect;
            return Failure::new(ErrorClass::Timeout, format!("no connection to {server} within {limit:?}"));
        }
        if error.is_connect() {
            return Failure::new(ErrorClass::NetworkError, format!("no connection to {server}: {cause}"));
        }
        self.worked_for(ErrorClass::NetworkError, &format!("{server} broke the connection before it answered: {cause}"))
    }

    /// The answer broke off.
    fn cut(&self, broken: &Broken) -> Failure {
        let class = match broken {
            Broken::Exceeded(_) => ErrorClass::Timeout,
            Broken::Connection(_) => ErrorClass::NetworkError,
            Broken::TooLong => ErrorClass::InvalidResponse,
        };
        self.worked_for(class, &format!("{broken}{}", self.draft.reached()))
    }

    /// The stream came to its proper end, the answer did not.
    fn unended(&self, sample: &[u8]) -> Failure {
        let message = match self.draft.reached() {
            reached if !reached.is_empty() => format!("the stream ended without a finish reason{reached}"),
            _ if sample.trim_ascii().is_empty() => "an empty stream".to_owned(),
            _ => format!("a stream without an answer, which begins with `{}`", String::from_utf8_lossy(sample)),
        };
        self.worked_for(ErrorClass::InvalidResponse, &message)
    }

    /// A failure for which the server may have worked, and may want to be paid.
    fn worked_for(&self, class: ErrorClass, message: &str) -> Failure {
        self.with_what_arrived(Failure::new(class, tidy(message, self.endpoint.secret())))
    }

    fn with_what_arrived(&self, failure: Failure) -> Failure {
        let partial = without_secret(&self.draft.text, self.endpoint.secret());
        failure.with_usage(self.draft.usage(self.request)).with_partial(partial)
    }
}

/// For waits until a moment that a server names.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn not_json(body: &[u8]) -> String {
    format!("not JSON, but something that begins with `{}`", sample(body))
}

fn no_answer(body: &[u8]) -> String {
    format!("no answer in `{}`", sample(body))
}

fn sample(body: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(body.get(..MAX_SAMPLE).unwrap_or(body))
}

/// What the server calls this exchange, in whichever header.
fn request_id(response: &Response) -> Option<String> {
    const NAMES: &[&str] = &["x-request-id", "request-id", "x-groq-request-id", "cf-ray"];
    let id = NAMES.iter().find_map(|name| response.headers().get(*name)?.to_str().ok());
    id.map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Servers answer in the form they like; what they call it counts more than what was asked for.
fn is_stream(response: &Response, asked: Streaming) -> bool {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.to_ascii_lowercase();
    media_type.starts_with("text/event-stream") || (asked == Streaming::On && !media_type.contains("json"))
}
