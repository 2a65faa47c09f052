//! Binary frames of AWS: the lengths of the frame and of its headers, a checksum of both, the headers, the payload, and a
//! checksum of all. Each frame becomes one JSON event: an object whose only key is the type of the event.

use std::collections::VecDeque;

use reknit_protocol::{Object, Value};

const PRELUDE_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;
const TEXT_HEADER: u8 = 7;

/// Incremental decoder of frames. After a frame that is damaged nothing more is read.
#[derive(Debug, Default)]
pub(crate) struct FrameDecoder {
    bytes: Vec<u8>,
    pub(super) ready: VecDeque<Vec<u8>>,
    is_damaged: bool,
}

impl FrameDecoder {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.is_damaged {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(rest) = self.bytes.get(start..) {
            let Some(length) = number(rest, 0) else { break };
            let minimum = PRELUDE_BYTES + CHECKSUM_BYTES;
            if !(minimum..=MAX_FRAME_BYTES).contains(&length) {
                return self.fail("a frame of the stream has an impossible length");
            }
            let Some(frame) = rest.get(..length) else { break };
            match decode(frame) {
                Ok(event) => self.ready.push_back(event.to_string().into_bytes()),
                Err(problem) => return self.fail(problem),
            }
            start += length;
        }
        self.bytes.drain(..start);
    }

    fn fail(&mut self, problem: &str) {
        self.is_damaged = true;
        self.bytes.clear();
        self.ready.push_back(error("invalidFrame", problem).to_string().into_bytes());
    }
}

fn error(kind: &str, message: &str) -> Value {
    object! {"error": object! {"type": kind, "message": message}}
}

/// The big-endian number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

fn decode(frame: &[u8]) -> Result<Value, &'static str> {
    const DAMAGED: &str = "a frame of the stream is damaged";
    let headers_length = number(frame, 4).ok_or(DAMAGED)?;
    let payload_end = frame.len() - CHECKSUM_BYTES;
    let prelude = frame.get(..8).ok_or(DAMAGED)?;
    let body = frame.get(..payload_end).ok_or(DAMAGED)?;
    let is_intact = number(frame, 8) == usize::try_from(crc32(prelude)).ok()
        && number(frame, payload_end) == usize::try_from(crc32(body)).ok();
    if !is_intact {
        return Err(DAMAGED);
    }
    let payload_start = PRELUDE_BYTES.checked_add(headers_length).ok_or(DAMAGED)?;
    let headers = frame.get(PRELUDE_BYTES..payload_start).ok_or(DAMAGED)?;
    let payload = frame.get(payload_start..payload_end).ok_or(DAMAGED)?;
    let headers = text_headers(headers).ok_or(DAMAGED)?;
    let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let payload = std::str::from_utf8(payload).map_err(|_| "an event of the stream is not valid UTF-8")?;
    let payload = Value::parse(payload).unwrap_or_else(|_| Object::new().into());
    let message = payload.get("message").and_then(Value::as_str);
    Ok(match header(":message-type") {
        Some("event") => Value::from([(header(":event-type").unwrap_or_default(), payload)]),
        Some("exception") => {
            error(header(":exception-type").unwrap_or_default(), message.unwrap_or("the stream broke off"))
        }
        _ => error(
            header(":error-code").unwrap_or_default(),
            header(":error-message").or(message).unwrap_or("the stream broke off"),
        ),
    })
}

/// The headers with texts as values. Headers of other types do not occur in the streams of models.
fn text_headers(mut rest: &[u8]) -> Option<Vec<(&str, &str)>> {
    let mut headers = Vec::new();
    while let Some((length, after)) = rest.split_first() {
        let (name, after) = after.split_at_checked(usize::from(*length))?;
        let (kind, after) = after.split_first()?;
        if *kind != TEXT_HEADER {
            return None;
        }
        let (length, after) = after.split_first_chunk::<2>()?;
        let (value, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        headers.push((std::str::from_utf8(name).ok()?, std::str::from_utf8(value).ok()?));
        rest = after;
    }
    Some(headers)
}

/// The checksum of zip and Ethernet.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let mask = (crc & 1).wrapping_neg();
            crc = (crc >> 1) ^ (0xEDB8_8320 & mask);
        }
    }
    !crc
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut encoded = Vec::new();
        for (name, value) in headers {
            encoded.push(u8::try_from(name.len()).unwrap());
            encoded.extend_from_slice(name.as_bytes());
            encoded.push(TEXT_HEADER);
            encoded.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
            encoded.extend_from_slice(value.as_bytes());
        }
        let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
        let mut frame = length(PRELUDE_BYTES + encoded.len() + payload.len() + CHECKSUM_BYTES).to_vec();
        frame.extend_from_slice(&length(encoded.len()));
        frame.extend_from_slice(&crc32(&frame).to_be_bytes());
        frame.extend_from_slice(&encoded);
        frame.extend_from_slice(payload.as_bytes());
        frame.extend_from_slice(&crc32(&frame).to_be_bytes());
        frame
    }

    pub(crate) fn event(kind: &str, payload: &str) -> Vec<u8> {
        frame(&[(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")], payload)
    }

    fn decode_all(stream: &[u8], size: usize) -> Vec<String> {
        let mut frames = FrameDecoder::default();
        stream.chunks(size).for_each(|chunk| frames.feed(chunk));
        std::iter::from_fn(|| frames.ready.pop_front()).map(|event| String::from_utf8(event).unwrap()).collect()
    }

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn each_frame_is_an_event_however_the_stream_is_split() {
        let exception = [(":exception-type", "throttlingException"), (":message-type", "exception")];
        let stream =
            [event("messageStart", r#"{"role":"assistant"}"#), frame(&exception, r#"{"message":"slow down"}"#)]
                .concat();
        for size in [1, 7, stream.len()] {
            assert_eq!(
                decode_all(&stream, size),
                [
                    r#"{"messageStart":{"role":"assistant"}}"#,
                    r#"{"error":{"type":"throttlingException","message":"slow down"}}"#
                ]
            );
        }
    }

    #[test]
    fn a_damaged_frame_is_an_error_and_ends_the_stream() {
        let good = event("messageStart", "{}");
        for place in [0, 5, 9, 20, good.len() - 1] {
            let mut stream = good.clone();
            stream[place] ^= 0x40;
            stream.extend_from_slice(&good);
            let events = decode_all(&stream, 3);
            // A longer length makes the frame wait for bytes that do not come.
            assert!(events.len() <= 1 && events.iter().all(|event| event.contains("error")), "{place}: {events:?}");
        }
        assert!(decode_all(&[0, 0, 0, 3], 1)[0].contains("impossible length"));
    }
}
