//! Long values are kept apart, under the digest of their text, and shared by all that have the same.
//!
//! A body is folded by cutting out its long values: what is left, and where each belongs. Nothing is parsed into values
//! or printed again, so that unfolding gives the same bytes whatever they were, even if they were not JSON.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::NewEvent;

/// Longer values are blobs. A page of `SQLite` has 4 KiB; up to this length the detour costs more than it saves.
pub(crate) const LIMIT: usize = 32 * 1024;

/// An event without its long values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) event: NewEvent,
    /// What was cut out of `event.body`, in the order of the text.
    pub(crate) blobs: Vec<Blob>,
}

/// A long value that was cut out of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    /// Where it belongs: so many bytes into what is left of the body.
    pub(crate) offset: usize,
    /// The digest of the text.
    pub(crate) digest: String,
    /// The text.
    pub(crate) text: String,
}

/// Cuts the long values out of an event.
pub(crate) fn fold(event: NewEvent) -> Folded {
    fold_over(LIMIT, event)
}

fn fold_over(limit: usize, event: NewEvent) -> Folded {
    if event.body.len() <= limit {
        return Folded { event, blobs: Vec::new() };
    }
    let (mut left, mut blobs, mut done) = (String::new(), Vec::new(), 0);
    for (start, end) in long_values(limit, &event.body) {
        let (Some(before), Some(text)) = (event.body.get(done..start), event.body.get(start..end)) else { continue };
        left.push_str(before);
        blobs.push(Blob { offset: left.len(), digest: digest(text), text: text.to_owned() });
        done = end;
    }
    left.push_str(event.body.get(done..).unwrap_or_default());
    Folded { event: NewEvent { body: left, ..event }, blobs }
}

/// Puts what was cut out back. `None` if a blob lies outside the body: then the rows are not what was written.
pub(crate) fn unfold(left: &str, blobs: &[(usize, String)]) -> Option<String> {
    let mut body = String::with_capacity(left.len() + blobs.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut done = 0;
    for (offset, text) in blobs {
        body.push_str(left.get(done..*offset)?);
        body.push_str(text);
        done = *offset;
    }
    body.push_str(left.get(done..)?);
    Some(body)
}

/// The digest under which a text is kept.
pub(crate) fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Where the innermost strings, arrays and objects of more than `limit` bytes begin and end, in the order of the text.
///
/// The innermost, because a catalogue inside an event is the same for many runs, and the event around it is not.
fn long_values(limit: usize, text: &str) -> Vec<(usize, usize)> {
    let mut scan = Scan::default();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let Some(start) = scan.step(at, byte) else { continue };
        // Values end in the order of the text, so the last one found is inside this one or before it.
        let holds_a_long_one = found.last().is_some_and(|(inner, _)| *inner >= start);
        if at + 1 - start > limit && !holds_a_long_one {
            found.push((start, at + 1));
        }
    }
    found
}

/// What is open at a place in the text.
#[derive(Default)]
struct Scan {
    /// Where arrays and objects began.
    containers: Vec<usize>,
    /// Where the string began.
    string: Option<usize>,
    /// Whether the byte before was the backslash of an escape.
    escaped: bool,
}

impl Scan {
    /// Where the value began that ends with this byte, if one does.
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

    fn folded(limit: usize, body: &str) -> Folded {
        fold_over(limit, NewEvent::new(0, "test", body))
    }

    fn unfolded(folded: &Folded) -> Option<String> {
        let blobs: Vec<_> = folded.blobs.iter().map(|blob| (blob.offset, blob.text.clone())).collect();
        unfold(&folded.event.body, &blobs)
    }

    #[test]
    fn the_innermost_long_values_are_cut_out() {
        let body = r#"{"a":{"at":1,"catalogue":["tool-1","tool-2"]},"b":"long \"words\" {[","c":[1,2]}"#;
        let folded = folded(12, body);
        assert_eq!(folded.event.body, r#"{"a":{"at":1,"catalogue":},"b":,"c":[1,2]}"#);
        let texts: Vec<_> = folded.blobs.iter().map(|blob| blob.text.as_str()).collect();
        assert_eq!(texts, [r#"["tool-1","tool-2"]"#, r#""long \"words\" {[""#]);
        assert_eq!(unfolded(&folded).as_deref(), Some(body));
    }

    #[test]
    fn a_body_of_many_short_values_is_one_blob() {
        let folded = folded(12, r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!((folded.event.body.as_str(), folded.blobs.len()), ("", 1));
    }

    #[test]
    fn a_body_up_to_the_limit_stays_whole() {
        assert_eq!(folded(12, r#"{"a":"1234"}"#).blobs, []);
        assert_eq!(folded(11, r#"{"a":"1234"}"#).blobs.len(), 1);
    }

    #[test]
    fn a_blob_outside_its_body_is_noticed() {
        assert_eq!(unfold("{}", &[(3, String::new())]), None);
        assert_eq!(unfold("{}", &[(1, String::new()), (0, String::new())]), None);
        assert_eq!(unfold("ä", &[(1, String::new())]), None);
    }

    #[test]
    fn a_digest_is_sha_256() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    proptest! {
        #[test]
        fn unfolding_gives_back_every_byte_of_any_text(body in r#"[\[\]{}"\\,:a1 ä]{0,200}"#, limit in 0_usize..40) {
            let folded = folded(limit, &body);
            prop_assert_eq!(unfolded(&folded), Some(body));
        }
    }
}
