//! Long values are stored as blobs under the digest of their text, so that events with the same value share it.
//!
//! Splitting cuts the long values out of a body and remembers the offset of each; joining puts them back. The body is
//! never parsed and printed again, so joining returns the same bytes for any input, even if it is not JSON.

use reknit_protocol::{Sha256, hex};

use crate::NewEvent;

/// Values longer than this become blobs. A page of `SQLite` has 4 KiB; for shorter values a blob costs more than it saves.
const BLOB_THRESHOLD: usize = 32 * 1024;

/// In the first event of a run, members longer than this become blobs: the prompts, the policy and the tools are the same for most
/// runs.
const SHARED_THRESHOLD: usize = 1024;

/// How many objects such a member is in: the event, its kind, and the contents of the kind.
const SHARED_DEPTH: usize = 3;

/// An event whose body has its long values cut out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitEvent {
    pub(crate) event: NewEvent,
    /// The values that were cut out of `event.body`, in the order of the text.
    pub(crate) blobs: Vec<Blob>,
}

/// A text whose long values are cut out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitText {
    pub(crate) rest: String,
    pub(crate) blobs: Vec<Blob>,
}

impl SplitText {
    pub(crate) fn join(&self) -> Option<String> {
        let blobs: Vec<(usize, String)> = self.blobs.iter().map(|blob| (blob.offset, blob.text.clone())).collect();
        join_body(&self.rest, &blobs)
    }
}

/// A long value that was cut out of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    /// Its place as a byte offset into the rest of the body.
    pub(crate) offset: usize,
    pub(crate) digest: String,
    pub(crate) text: String,
}

pub(crate) fn split_event(event: NewEvent) -> SplitEvent {
    split_event_over(BLOB_THRESHOLD, event)
}

/// Splits the first event of a run.
pub(crate) fn split_first_event(mut event: NewEvent) -> SplitEvent {
    let body = std::mem::take(&mut event.body);
    let mut split = cut_out(&body, shared_values(&body));
    if split.rest.len() > BLOB_THRESHOLD {
        split = split_text(body);
    }
    let SplitText { rest, blobs } = split;
    SplitEvent { event: NewEvent { body: rest, ..event }, blobs }
}

fn split_event_over(limit: usize, mut event: NewEvent) -> SplitEvent {
    let SplitText { rest, blobs } = split_text_over(limit, std::mem::take(&mut event.body));
    SplitEvent { event: NewEvent { body: rest, ..event }, blobs }
}

pub(crate) fn split_text(text: String) -> SplitText {
    split_text_over(BLOB_THRESHOLD, text)
}

fn split_text_over(limit: usize, body: String) -> SplitText {
    if body.len() <= limit {
        return SplitText { rest: body, blobs: Vec::new() };
    }
    cut_out(&body, long_values(limit, &body))
}

/// Cuts the values at these places out of a text.
fn cut_out(body: &str, places: Vec<(usize, usize)>) -> SplitText {
    let (mut rest, mut blobs, mut done) = (String::new(), Vec::new(), 0);
    for (start, end) in places {
        let (Some(before), Some(text)) = (body.get(done..start), body.get(start..end)) else { continue };
        rest.push_str(before);
        blobs.push(Blob { offset: rest.len(), digest: digest(text), text: text.to_owned() });
        done = end;
    }
    rest.push_str(body.get(done..).unwrap_or_default());
    SplitText { rest, blobs }
}

/// Puts the blobs back at their offsets. `None` if an offset lies outside the body: then the rows are damaged.
pub(crate) fn join_body(rest: &str, blobs: &[(usize, String)]) -> Option<String> {
    let mut body = String::with_capacity(rest.len() + blobs.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut done = 0;
    for (offset, text) in blobs {
        body.push_str(rest.get(done..*offset)?);
        body.push_str(text);
        done = *offset;
    }
    body.push_str(rest.get(done..)?);
    Some(body)
}

/// The key of a blob: the SHA-256 of its text, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// The ranges of the innermost strings, arrays and objects of more than `limit` bytes, in the order of the text.
///
/// The innermost, because many runs share the catalogue inside an event, but not the event around it.
fn long_values(limit: usize, text: &str) -> Vec<(usize, usize)> {
    let mut scanner = Scanner::default();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let Some(start) = scanner.step(at, byte) else { continue };
        // Values are found in the order of their ends, so the last one found is inside this one or before it.
        let contains_long_value = found.last().is_some_and(|(inner, _)| *inner >= start);
        if at + 1 - start > limit && !contains_long_value {
            found.push((start, at + 1));
        }
    }
    found
}

/// The places of the long members of a first event.
fn shared_values(text: &str) -> Vec<(usize, usize)> {
    let mut scanner = Scanner::default();
    let mut found = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let Some(start) = scanner.step(at, byte) else { continue };
        if scanner.containers.len() == SHARED_DEPTH && at + 1 - start > SHARED_THRESHOLD {
            found.push((start, at + 1));
        }
    }
    found
}

/// Tracks which values are open while scanning JSON text.
#[derive(Default)]
struct Scanner {
    /// The starts of the open arrays and objects.
    containers: Vec<usize>,
    string: Option<usize>,
    /// Whether the previous byte was the backslash of an escape.
    escaped: bool,
}

impl Scanner {
    /// The start of the value that ends with this byte, if one does.
    fn step(&mut self, at: usize, byte: u8) -> Option<usize> {
        if self.string.is_some() {
            return match byte {
                _ if self.escaped => {
                    self.escaped = false;
                    None
                }
                b'\\' => {
                    self.escaped = true;
                    None
                }
                b'"' => self.string.take(),
                _ => None,
            };
        }
        match byte {
            b'"' => self.string = Some(at),
            b'{' | b'[' => self.containers.push(at),
            b'}' | b']' => return self.containers.pop(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(limit: usize, body: &str) -> SplitEvent {
        split_event_over(limit, NewEvent::new(0, "test", body))
    }

    fn joined(split: &SplitEvent) -> Option<String> {
        let blobs: Vec<_> = split.blobs.iter().map(|blob| (blob.offset, blob.text.clone())).collect();
        join_body(&split.event.body, &blobs)
    }

    #[test]
    fn the_innermost_long_values_are_cut_out() {
        let body = r#"{"a":{"at":1,"catalogue":["tool-1","tool-2"]},"b":"long \"words\" {[","c":[1,2]}"#;
        let split = split(12, body);
        assert_eq!(split.event.body, r#"{"a":{"at":1,"catalogue":},"b":,"c":[1,2]}"#);
        let texts: Vec<_> = split.blobs.iter().map(|blob| blob.text.as_str()).collect();
        assert_eq!(texts, [r#"["tool-1","tool-2"]"#, r#""long \"words\" {[""#]);
        assert_eq!(joined(&split).as_deref(), Some(body));
    }

    #[test]
    fn the_long_members_of_a_first_event_are_cut_out_whole() {
        let (long, longer) = ("x".repeat(SHARED_THRESHOLD), "y".repeat(2 * SHARED_THRESHOLD));
        let body = format!(
            r#"{{"kind":{{"started":{{"run":"r","templates":{{"plan":"{longer}","b":1}},"prompt":"{long}","c":[]}}}}}}"#
        );
        let split = split_first_event(NewEvent::new(0, "started", body.clone()));
        assert_eq!(split.event.body, r#"{"kind":{"started":{"run":"r","templates":,"prompt":,"c":[]}}}"#);
        assert_eq!(joined(&split), Some(body));
    }

    #[test]
    fn a_body_of_many_short_values_is_one_blob() {
        let split = split(12, r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!((split.event.body.as_str(), split.blobs.len()), ("", 1));
    }

    #[test]
    fn a_body_up_to_the_limit_has_no_blobs() {
        assert_eq!(split(12, r#"{"a":"1234"}"#).blobs, []);
        assert_eq!(split(11, r#"{"a":"1234"}"#).blobs.len(), 1);
    }

    #[test]
    fn a_blob_outside_its_body_is_detected() {
        assert_eq!(join_body("{}", &[(3, String::new())]), None);
        assert_eq!(join_body("{}", &[(1, String::new()), (0, String::new())]), None);
        assert_eq!(join_body("ä", &[(1, String::new())]), None);
    }

    #[test]
    fn a_digest_is_sha_256() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    proptest! {
        #[test]
        fn joining_returns_every_byte_of_any_text(body in r#"[\[\]{}"\\,:a1 ä]{0,200}"#, limit in 0_usize..40) {
            prop_assert_eq!(joined(&split(limit, &body)), Some(body.clone()));
            prop_assert_eq!(joined(&split_first_event(NewEvent::new(0, "test", body.as_str()))), Some(body));
        }
    }
}
