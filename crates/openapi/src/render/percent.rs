//! Percent-encoding.

use std::fmt::Write as _;

use reknit_protocol::Value;

/// How often a text is decoded before it counts as an attempt to hide something.
const MAX_ROUNDS: usize = 8;

/// The text, decoded until nothing is encoded any more; `None` if that takes too many rounds.
pub(super) fn decoded_fully(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..MAX_ROUNDS {
        let decoded = decoded(&bytes);
        if decoded == bytes {
            return Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        bytes = decoded;
    }
    None
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// JSON in ASCII: other characters are escaped.
pub(super) fn ascii_json(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}
