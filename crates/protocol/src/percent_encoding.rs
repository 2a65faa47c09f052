//! Percent-encoding.

use std::fmt::Write as _;

/// The text with all bytes encoded but letters, digits and `-._~`.
pub fn percent_encoded(text: &str) -> String {
    percent_encoded_except(text, "")
}

/// The text with all bytes encoded but letters, digits, `-._~` and those in `kept`.
pub fn percent_encoded_except(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
