//! Decoding model streams in the four wire formats.

use reknit_dialogue::{Delta, Message, ModelAnswer, ModelRequest};
use reknit_models::{DecodeError, Provider, decode_stream};

/// The text, reasoning and tool calls of all deltas, concatenated.
#[derive(Debug, Default, PartialEq)]
struct Deltas {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
}

/// The answer does not depend on how the stream is split into chunks, and the deltas add up to the answer.
///
/// The input is a byte that selects the format, eight chunk lengths, and the stream.
pub fn stream(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let (lengths, stream) = rest.split_at(rest.len().min(8));
    let provider = Provider::ALL[usize::from(*first) % Provider::ALL.len()];
    let whole = decode_chunks(provider, [stream]);
    assert_eq!(decode_chunks(provider, stream.chunks(1)), whole, "byte by byte");
    assert_eq!(decode_chunks(provider, split(stream, lengths)), whole, "chunks of {lengths:?}");
    if let (Ok(answer), deltas) = &whole {
        assert_eq!(deltas.text, answer.text);
        assert_eq!(deltas.reasoning, answer.reasoning.iter().map(|thought| thought.text.as_str()).collect::<String>());
        let calls: Vec<(String, String)> =
            answer.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        assert_eq!(deltas.calls, calls);
    }
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
