//! Streams of the four wire formats.

use reknit_dialogue::{Answer, Delta, Message, Request};
use reknit_models::{DecodeError, Provider, decode};

/// What was told piece by piece.
#[derive(Debug, Default, PartialEq)]
struct Told {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
}

/// A byte that picks the format, eight that say where to cut, then the stream: however it is cut, the answer is the same,
/// and the pieces that were told are that answer.
pub fn stream(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let (cuts, stream) = rest.split_at(rest.len().min(8));
    let provider = Provider::ALL[usize::from(*first) % Provider::ALL.len()];
    let whole = read(provider, [stream]);
    assert_eq!(read(provider, stream.chunks(1)), whole, "byte by byte");
    assert_eq!(read(provider, pieces(stream, cuts)), whole, "cut at {cuts:?}");
    if let (Ok(answer), told) = &whole {
        assert_eq!(told.text, answer.text);
        assert_eq!(told.reasoning, answer.reasoning.iter().map(|thought| thought.text.as_str()).collect::<String>());
        let calls: Vec<(String, String)> =
            answer.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
        assert_eq!(told.calls, calls);
    }
}

/// The stream in pieces of these lengths, over and over.
fn pieces<'a>(stream: &'a [u8], cuts: &[u8]) -> Vec<&'a [u8]> {
    let (mut rest, mut pieces) = (stream, Vec::new());
    for length in cuts.iter().cycle().map(|cut| usize::from(*cut).max(1)) {
        let (piece, behind) = rest.split_at(rest.len().min(length));
        pieces.push(piece);
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    pieces
}

fn read<'a>(
    provider: Provider,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Result<Answer, DecodeError>, Told) {
    let request = Request::new(vec![Message::user("?")], 100);
    let mut told = Told::default();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Text(words) => told.text.push_str(words),
        Delta::Reasoning(words) => told.reasoning.push_str(words),
        Delta::ToolCall { index, name, arguments } => {
            if index >= told.calls.len() {
                told.calls.resize_with(index + 1, Default::default);
            }
            told.calls[index].0.push_str(name.unwrap_or_default());
            told.calls[index].1.push_str(arguments);
        }
    };
    let answer = decode(provider, &request, pieces, &mut tell);
    (answer, told)
}
