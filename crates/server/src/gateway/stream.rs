//! Responses that are streamed.

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use reknit_gateway::{GatewayError, StreamMender, StreamWriter, stream_error};
use reknit_model_api::{ModelFailure, TargetName};
use reknit_runtime::{ModelAttempts, NoAnswerError, RotatingClient, Served};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::attempts::{Attempts, Piece, ReceivedAnswer};
use super::reply::{add_attempts, identity, no_answer};

/// What the task that asks models tells the response.
#[derive(Debug)]
enum StreamPart {
    /// Bytes of the answer of this target, in the attempt with this number; the first with the headers of its response.
    Bytes { bytes: Vec<u8>, target: TargetName, attempt: usize, head: Option<HeaderMap> },
    /// No model answered, and nothing was passed on.
    Failed(Response),
}

struct StreamedAttempts {
    client: RotatingClient,
    attempts: Attempts,
    mender: StreamMender,
    sender: UnboundedSender<StreamPart>,
    /// How many attempts were made.
    number: usize,
    /// The headers of the response, until they are passed on.
    head: Option<HeaderMap>,
}

enum StreamEnd {
    /// With the whole answer.
    Whole,
    /// A part was passed on when the answer broke off.
    Broken(ModelFailure),
}

impl StreamedAttempts {
    fn new_mender(attempts: &Attempts, target: &str) -> StreamMender {
        let request = &attempts.request;
        let writer = StreamWriter::new(request.api, identity(), target, request.include_usage);
        StreamMender::new(writer, attempts.mender().as_ref(), attempts.is_buffered)
    }

    fn send(&mut self, target: &TargetName, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            let (target, head) = (target.clone(), self.head.take());
            // Without a receiver the caller has gone, and the task ends.
            let _ = self.sender.send(StreamPart::Bytes { bytes, target, attempt: self.number, head });
        }
    }
}

impl ModelAttempts for StreamedAttempts {
    type Answer = ReceivedAnswer;
    type Accepted = StreamEnd;

    async fn attempt(&mut self, target: &TargetName) -> Result<ReceivedAnswer, ModelFailure> {
        self.number += 1;
        let model = self.client.models().target(target).map_or_else(String::new, |target| target.model.clone());
        self.mender = Self::new_mender(&self.attempts, &model);
        let Self { client, attempts, mender, sender, number, head } = self;
        *head = None;
        let mut on_piece = |piece: Piece<'_>| {
            let bytes = match piece {
                Piece::Head(headers) => {
                    *head = Some(headers.clone());
                    Vec::new()
                }
                Piece::Event(event) => mender.event(event),
                Piece::Delta(delta) => mender.delta(delta),
            };
            if !bytes.is_empty() {
                let (target, head) = (target.clone(), head.take());
                let _ = sender.send(StreamPart::Bytes { bytes, target, attempt: *number, head });
            }
        };
        attempts.send(client.models(), target, &mut on_piece).await
    }

    fn accept(
        &mut self,
        target: &TargetName,
        result: Result<ReceivedAnswer, ModelFailure>,
    ) -> Result<StreamEnd, ModelFailure> {
        // An answer of an earlier attempt says nothing about what this one has passed on.
        let earlier = self.attempts.fallback.take();
        let result = result.map_err(|failure| self.attempts.count_failure(target, failure));
        let result = result.and_then(|received| {
            // A whole body instead of a stream is written as one.
            let is_raw = received.is_same_api && received.body.is_none();
            Ok((self.attempts.mend(target, received)?, is_raw))
        });
        match result {
            Ok((served, is_raw)) => {
                let rest = self.mender.end(&served.answer, is_raw);
                self.send(target, rest);
                Ok(StreamEnd::Whole)
            }
            Err(failure) if !self.mender.has_passed() => {
                self.attempts.fallback = self.attempts.fallback.take().or(earlier);
                Err(failure)
            }
            Err(failure) => match self.attempts.fallback.take() {
                // All but its end was passed on already.
                Some((_, served)) => {
                    let rest = self.mender.end(&served.answer, served.is_same_api);
                    self.send(target, rest);
                    Ok(StreamEnd::Whole)
                }
                None => Ok(StreamEnd::Broken(failure)),
            },
        }
    }
}

/// Asks models, and answers as soon as there is something to pass on.
pub(super) async fn respond(client: RotatingClient, attempts: Attempts) -> Result<Response, GatewayError> {
    let (sender, mut receiver) = unbounded_channel();
    let mender = StreamedAttempts::new_mender(&attempts, "");
    let streamed =
        StreamedAttempts { client: client.clone(), attempts, mender, sender: sender.clone(), number: 0, head: None };
    tokio::spawn(async move {
        tokio::select! {
            () = drive(&client, streamed) => {}
            // The caller has gone: dropping the attempt closes its connection.
            () = sender.closed() => {}
        }
    });
    match receiver.recv().await {
        Some(StreamPart::Bytes { bytes, target, attempt, head }) => {
            // A whole answer is written as a stream.
            let is_stream = |head: &HeaderMap| {
                head.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
            };
            let content_type = HeaderValue::from_static("text/event-stream; charset=utf-8");
            let mut headers = head.unwrap_or_default();
            if !is_stream(&headers) {
                headers.insert(CONTENT_TYPE, content_type);
            }
            headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
            add_attempts(&mut headers, &target, attempt);
            Ok((headers, body(bytes, receiver)).into_response())
        }
        Some(StreamPart::Failed(response)) => Ok(response),
        None => Err(GatewayError {
            status: 502,
            code: "upstream_error",
            message: "the answer was given up".to_owned(),
            retry_after_ms: None,
        }),
    }
}

async fn drive(client: &RotatingClient, mut streamed: StreamedAttempts) {
    let result = client.serve(&mut streamed).await;
    let api = streamed.attempts.request.api;
    if let Some(bill) = streamed.attempts.bill.take() {
        // Also if the caller has gone with the last event.
        tokio::spawn(bill.settle());
    }
    match result {
        Ok(Served { answer: StreamEnd::Whole, .. }) => {}
        Ok(Served { answer: StreamEnd::Broken(failure), target, .. }) => {
            let sent = streamed.attempts.last_error().filter(|error| error.status.is_none());
            let event = sent.map(|error| error.body.clone());
            let event = event.unwrap_or_else(|| stream_error(api, &GatewayError::from_failure(&failure)));
            streamed.send(&target, event);
        }
        Err(error) => give_up(&mut streamed, &error),
    }
}

/// Ends with an answer that is harmless, or with the error.
fn give_up(streamed: &mut StreamedAttempts, error: &NoAnswerError) {
    match streamed.attempts.fallback.take() {
        Some((target, served)) => {
            streamed.head = Some(served.headers.clone());
            streamed.mender = StreamedAttempts::new_mender(&streamed.attempts, "");
            let rest = streamed.mender.end(&served.answer, false);
            streamed.send(&target, rest);
        }
        None => {
            let _ = streamed.sender.send(StreamPart::Failed(no_answer(error, &streamed.attempts)));
        }
    }
}

fn body(first: Vec<u8>, receiver: UnboundedReceiver<StreamPart>) -> Body {
    let first = futures_util::stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from(first))]);
    let rest = unfold(receiver, |mut receiver| async move {
        let Some(StreamPart::Bytes { mut bytes, .. }) = receiver.recv().await else { return None };
        // What has arrived meanwhile is sent at once: one write instead of one for each event.
        while let Ok(StreamPart::Bytes { bytes: more, .. }) = receiver.try_recv() {
            bytes.extend(more);
        }
        Some((Ok(Bytes::from(bytes)), receiver))
    });
    Body::from_stream(futures_util::StreamExt::chain(first, rest))
}
