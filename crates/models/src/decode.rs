//! Decoding of streamed answers, without a network.

use memchr::memchr2;
use reknit_model_api::{Delta, FormatUsed, ModelAnswer, ModelFailure, ModelRequest};

use crate::Provider;
use crate::answer_builder::{AnswerBuilder, OnDelta};
use crate::event_decoder::EventDecoder;
use crate::sanitize::sanitize;
use crate::wire_event::{ErrorBody, EventOutcome};
use crate::wire_format::WireFormat;

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
    let mut events = EventDecoder::new(wire.framing());
    let mut is_over = false;
    for chunk in chunks {
        events.feed(chunk);
        is_over = read_events(&mut wire, &mut builder, &mut events, on_delta, &mut || {})?;
        if is_over {
            break;
        }
    }
    if !is_over {
        events.end();
        read_events(&mut wire, &mut builder, &mut events, on_delta, &mut || {})?;
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
    /// The stream ends before the answer does.
    #[error("the stream ends without a finish reason{progress}")]
    Truncated {
        /// How much of the answer had arrived, as a phrase that follows a verb; empty if nothing had.
        progress: String,
    },
    /// The body is not JSON, or has no field for an answer.
    #[error("the body contains no answer")]
    NoAnswer,
    /// The stream contains an error of the server.
    #[error("the server reports an error: {0}")]
    ServerError(String),
    /// The server ended the answer as a failure.
    #[error(transparent)]
    Failed(#[from] ModelFailure),
}

impl From<ErrorBody> for DecodeError {
    fn from(ErrorBody(json): ErrorBody) -> Self {
        Self::ServerError(sanitize(&json.to_string(), None))
    }
}

/// Reads a part of a stream of server-sent events that ends with an event; true if it is the end mark.
pub(crate) fn read_block(
    wire: &mut WireFormat,
    builder: &mut AnswerBuilder,
    block: &[u8],
    on_delta: OnDelta<'_>,
    on_progress: &mut (dyn FnMut() + Send),
) -> Result<bool, ErrorBody> {
    let mut events = EventDecoder::new(wire.framing());
    match single_line(block) {
        Some(data) => return read_one(wire, builder, data, on_delta, on_progress),
        None => events.feed(block),
    }
    events.end();
    read_events(wire, builder, &mut events, on_delta, on_progress)
}

/// The data of an event that has one line, as nearly all have.
fn single_line(block: &[u8]) -> Option<&[u8]> {
    let line = block.strip_prefix(b"data: ")?.strip_suffix(b"\n\n")?;
    memchr2(b'\n', b'\r', line).is_none().then_some(line)
}

/// Reads all complete events into the builder; true if the end mark was among them.
pub(crate) fn read_events(
    wire: &mut WireFormat,
    builder: &mut AnswerBuilder,
    events: &mut EventDecoder,
    on_delta: OnDelta<'_>,
    on_progress: &mut (dyn FnMut() + Send),
) -> Result<bool, ErrorBody> {
    while let Some(event) = events.next() {
        if read_one(wire, builder, &event, on_delta, on_progress)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads one event into the builder; true if it is the end mark.
fn read_one(
    wire: &mut WireFormat,
    builder: &mut AnswerBuilder,
    event: &[u8],
    on_delta: OnDelta<'_>,
    on_progress: &mut (dyn FnMut() + Send),
) -> Result<bool, ErrorBody> {
    let Ok(event) = std::str::from_utf8(event) else {
        // A part of the answer would be missing.
        return Err(ErrorBody::of_message("an event of the stream is not valid UTF-8"));
    };
    match wire.read_event(builder, event, on_delta)? {
        EventOutcome::Progress => on_progress(),
        EventOutcome::EndMark => return Ok(true),
        EventOutcome::Unreadable => {}
    }
    Ok(false)
}
