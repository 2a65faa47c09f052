//! Decoding of streamed answers, without a network.

use reknit_model_api::{Delta, FormatUsed, ModelAnswer, ModelFailure, ModelRequest};

use crate::Provider;
use crate::answer_builder::{AnswerBuilder, OnDelta};
use crate::event_decoder::EventDecoder;
use crate::sanitize::sanitize;
use crate::sse::event_data;
use crate::wire_format::{ErrorBody, EventOutcome, WireFormat};

/// Decodes an answer from the bytes of a recorded stream, as [`Models::ask`](crate::Models::ask) does with a live one. How
/// the bytes are split into chunks makes no difference.
///
/// ```
/// use reknit_model_api::{Message, ModelRequest};
/// use reknit_models::{Provider, decode_stream};
///
/// let request = ModelRequest::new(vec![Message::user("Say hello.")], 10);
/// let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hello!\"},\"finish_reason\":\"stop\"}]}\n\n".chunks(7);
/// let answer = decode_stream(Provider::Compatible, &request, stream, &mut |_| {})?;
/// assert_eq!(answer.text, "Hello!");
/// # Ok::<(), reknit_models::DecodeError>(())
/// ```
pub fn decode_stream<'a>(
    provider: Provider,
    request: &ModelRequest,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Result<ModelAnswer, DecodeError> {
    let (mut wire, mut builder) = (WireFormat::of(provider), AnswerBuilder::default());
    let mut events = wire.event_decoder();
    for chunk in chunks.into_iter().map(Some).chain([None]) {
        events.feed(chunk);
        if read_events(&mut wire, &mut builder, &mut events, on_delta)? == EventOutcome::EndMark {
            break;
        }
    }
    if !builder.is_ended() {
        return Err(DecodeError::Truncated { progress: builder.progress() });
    }
    wire.finish(&mut builder);
    Ok(builder.build(request, "", FormatUsed::Text)?)
}

/// Decodes an answer from the recorded body of a response that was not streamed.
///
/// ```
/// use reknit_model_api::{Message, ModelRequest};
/// use reknit_models::{Provider, decode_body};
///
/// let request = ModelRequest::new(vec![Message::user("Say hello.")], 10);
/// let body = br#"{"message":{"role":"assistant","content":"Hello!"},"done":true,"done_reason":"stop"}"#;
/// assert_eq!(decode_body(Provider::Ollama, &request, body)?.text, "Hello!");
/// # Ok::<(), reknit_models::DecodeError>(())
/// ```
pub fn decode_body(provider: Provider, request: &ModelRequest, body: &[u8]) -> Result<ModelAnswer, DecodeError> {
    let (mut wire, mut builder) = (WireFormat::of(provider), AnswerBuilder::default());
    let json = crate::json::parse(body).ok_or(DecodeError::NoAnswer)?;
    if !wire.read_whole(&mut builder, json, &mut |_| {})? {
        return Err(DecodeError::NoAnswer);
    }
    Ok(builder.build(request, "", FormatUsed::Text)?)
}

/// Why a stream contains no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the stream ends without a finish reason{progress}")]
    Truncated {
        /// How much of the answer had arrived, as a phrase that follows a verb; empty if nothing had.
        progress: String,
    },
    /// The body is not JSON, or has no field for an answer.
    #[error("the body contains no answer")]
    NoAnswer,
    #[error("the server reports an error: {0}")]
    ServerError(String),
    #[error(transparent)]
    Failed(#[from] ModelFailure),
}

impl From<ErrorBody> for DecodeError {
    fn from(ErrorBody(json): ErrorBody) -> Self {
        Self::ServerError(sanitize(&json.to_string(), None))
    }
}

/// Reads a part of a stream of server-sent events that ends with an event.
pub(crate) fn read_block(
    wire: &mut WireFormat,
    builder: &mut AnswerBuilder,
    block: &[u8],
    on_delta: OnDelta<'_>,
) -> Result<EventOutcome, ErrorBody> {
    event_data(block).map_or(Ok(EventOutcome::Unreadable), |data| read_one(wire, builder, &data, on_delta))
}

/// Reads all complete events into the builder, up to the end mark. The outcome is progress if any event was read.
pub(crate) fn read_events(
    wire: &mut WireFormat,
    builder: &mut AnswerBuilder,
    events: &mut EventDecoder,
    on_delta: OnDelta<'_>,
) -> Result<EventOutcome, ErrorBody> {
    let mut outcome = EventOutcome::Unreadable;
    while let Some(event) = events.next() {
        match read_one(wire, builder, &event, on_delta)? {
            EventOutcome::EndMark => return Ok(EventOutcome::EndMark),
            EventOutcome::Progress => outcome = EventOutcome::Progress,
            EventOutcome::Unreadable => {}
        }
    }
    Ok(outcome)
}

fn read_one(
    wire: &mut WireFormat,
    builder: &mut AnswerBuilder,
    event: &[u8],
    on_delta: OnDelta<'_>,
) -> Result<EventOutcome, ErrorBody> {
    match std::str::from_utf8(event) {
        Ok(event) => wire.read_event(builder, event, on_delta),
        // A part of the answer would be missing.
        Err(_) => Err(ErrorBody::of_message("an event of the stream is not valid UTF-8")),
    }
}
