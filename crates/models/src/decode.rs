//! Streams without a network: what is done with the bytes that arrive.

use reknit_dialogue::{Answer, Delta, Failure, FormatUsed, Request};

use crate::draft::{Draft, OnDelta};
use crate::sse::Events;
use crate::wire::{Refused, Seen, Wire};
use crate::{Provider, text};

/// Reads an answer out of the bytes of a stream, as [`Models::ask`](crate::Models::ask) does with what arrives; for
/// streams that somebody has kept. How the bytes are cut into pieces makes no difference.
///
/// ```
/// use reknit_dialogue::{Message, Request};
/// use reknit_models::{Provider, decode};
///
/// let request = Request::new(vec![Message::user("Say hello.")], 10);
/// let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hello!\"},\"finish_reason\":\"stop\"}]}\n\n".chunks(7);
/// let answer = decode(Provider::Compatible, &request, stream, &mut |_| {})?;
/// assert_eq!(answer.text, "Hello!");
/// # Ok::<(), reknit_models::DecodeError>(())
/// ```
pub fn decode<'a>(
    provider: Provider,
    request: &Request,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Result<Answer, DecodeError> {
    let (mut wire, mut draft, mut events) = (Wire::of(provider), Draft::default(), Events::default());
    let mut is_over = false;
    for piece in pieces {
        events.feed(piece);
        is_over = take_events(&mut wire, &mut draft, &mut events, on_delta, &mut || {})?;
        if is_over {
            break;
        }
    }
    if !is_over {
        events.end();
        take_events(&mut wire, &mut draft, &mut events, on_delta, &mut || {})?;
    }
    if !draft.is_ended() {
        return Err(DecodeError::Cut { reached: draft.reached() });
    }
    Ok(draft.conclude(request, "", FormatUsed::Text)?)
}

/// Why there is no answer in a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It ends before the answer does.
    #[error("the stream ends without a finish reason{reached}")]
    Cut {
        /// How far it came, in words.
        reached: String,
    },
    /// The server says no in it.
    #[error("the server reports an error: {0}")]
    Refused(String),
    /// The server has ended the answer as a failure.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<Refused> for DecodeError {
    fn from(Refused(json): Refused) -> Self {
        Self::Refused(text::tidy(&json.to_string(), None))
    }
}

/// Takes in all events that are whole. Says whether the mark behind the last one was among them.
pub(crate) fn take_events(
    wire: &mut Wire,
    draft: &mut Draft,
    events: &mut Events,
    on_delta: OnDelta<'_>,
    on_progress: &mut (dyn FnMut() + Send),
) -> Result<bool, Refused> {
    while let Some(event) = events.next() {
        match wire.event(draft, &event, on_delta)? {
            Seen::Progress => on_progress(),
            Seen::EndMark => return Ok(true),
            Seen::Nothing => {}
        }
    }
    Ok(false)
}
