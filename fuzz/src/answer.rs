//! Decoding the answers of models in each wire format, as streams and as whole bodies.

use reknit_model_api::{Delta, Message, ModelAnswer, ModelRequest};
use reknit_models::{DecodeError, Provider, decode_body, decode_stream};

/// `chat/completions`.
pub fn chat(data: &[u8]) {
    answer(Provider::Compatible, data);
}

/// `responses` of OpenAI.
pub fn responses(data: &[u8]) {
    answer(Provider::OpenAiResponses, data);
}

/// `messages` of Anthropic.
pub fn anthropic(data: &[u8]) {
    answer(Provider::Anthropic, data);
}

/// `generateContent` of Google.
pub fn gemini(data: &[u8]) {
    answer(Provider::Gemini, data);
}

/// `chat` of Cohere.
pub fn cohere(data: &[u8]) {
    answer(Provider::Cohere, data);
}

/// `api/chat` of Ollama.
pub fn ollama(data: &[u8]) {
    answer(Provider::Ollama, data);
}

/// `converse` of Bedrock. The input is used as it is, and with each line (the type of an event, a space, its JSON) as a frame
/// with valid checksums.
pub fn bedrock(data: &[u8]) {
    answer(Provider::Bedrock, data);
    let (lengths, lines) = data.split_at(data.len().min(8));
    let mut framed = lengths.to_vec();
    for line in lines.split(|byte| *byte == b'\n') {
        let space = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (kind, payload) = line.split_at(space);
        framed.extend(frame(kind, payload));
    }
    answer(Provider::Bedrock, &framed);
}

/// A frame with an event, or with an exception if its type says so.
fn frame(kind: &[u8], payload: &[u8]) -> Vec<u8> {
    let is_exception = kind.ends_with(b"Exception");
    let name: &[u8] = if is_exception { b":exception-type" } else { b":event-type" };
    let message: &[u8] = if is_exception { b"exception" } else { b"event" };
    let mut headers = Vec::new();
    for (name, value) in [(name, &kind[..kind.len().min(1_000)]), (b":message-type", message)] {
        headers.push(name.len() as u8);
        headers.extend_from_slice(name);
        headers.push(7);
        headers.extend_from_slice(&(value.len() as u16).to_be_bytes());
        headers.extend_from_slice(value);
    }
    let mut frame = ((16 + headers.len() + payload.len()) as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    frame.extend_from_slice(&checksum(&frame).to_be_bytes());
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&checksum(&frame).to_be_bytes());
    frame
}

fn checksum(bytes: &[u8]) -> u32 {
    let bit = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| bit(crc)))
}

/// The text, reasoning and tool calls of all deltas, concatenated.
#[derive(Debug, Default, PartialEq)]
struct Deltas {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
}

/// The answer does not depend on how the stream is split into chunks, the deltas add up to the answer, and every call has an
/// id of its own. The same bytes as a whole body are an answer or an error.
///
/// The input is eight chunk lengths, and the stream.
fn answer(provider: Provider, data: &[u8]) {
    let (lengths, stream) = data.split_at(data.len().min(8));
    let whole = decode_chunks(provider, [stream]);
    assert_eq!(decode_chunks(provider, stream.chunks(1)), whole, "byte by byte");
    assert_eq!(decode_chunks(provider, split(stream, lengths)), whole, "chunks of {lengths:?}");
    if let (Ok(answer), deltas) = &whole {
        assert_eq!(deltas.text, answer.text);
        assert_eq!(deltas.reasoning, answer.reasoning.iter().map(|thought| thought.text.as_str()).collect::<String>());
        let calls: Vec<(String, String)> =
            answer.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        assert_eq!(deltas.calls, calls);
        assert!(answer.tool_calls.iter().all(|call| !call.id.as_str().is_empty()), "a call without an id");
    }
    let request = ModelRequest::new(vec![Message::user("?")], 100);
    let body = decode_body(provider, &request, stream);
    assert_eq!(decode_body(provider, &request, stream), body, "decoding is deterministic");
}

/// The stream in chunks of these lengths, which repeat.
fn split<'a>(stream: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let (mut rest, mut chunks) = (stream, Vec::new());
    for length in lengths.iter().cycle().map(|length| usize::from(*length).max(1)) {
        let (chunk, after) = rest.split_at(rest.len().min(length));
        chunks.push(chunk);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    chunks
}

fn decode_chunks<'a>(
    provider: Provider,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Result<ModelAnswer, DecodeError>, Deltas) {
    let request = ModelRequest::new(vec![Message::user("?")], 100);
    let mut deltas = Deltas::default();
    let mut collect = |delta: Delta<'_>| match delta {
        Delta::Text(text) => deltas.text.push_str(text),
        Delta::Reasoning(text) => deltas.reasoning.push_str(text),
        Delta::ToolCall { index, name, arguments } => {
            if index >= deltas.calls.len() {
                deltas.calls.resize_with(index + 1, Default::default);
            }
            deltas.calls[index].0.push_str(name.unwrap_or_default());
            deltas.calls[index].1.push_str(arguments);
        }
    };
    let answer = decode_stream(provider, &request, chunks, &mut collect);
    (answer, deltas)
}
