//! The printer for strings.

use crate::json::plain_bytes::plain_prefix_len;

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Appends the text as a JSON string. Runs of plain bytes are copied whole.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let run = plain_prefix_len(rest.as_bytes());
        let Some((plain, special)) = rest.split_at_checked(run) else { break };
        out.push_str(plain);
        let mut letters = special.chars();
        let Some(letter) = letters.next() else { break };
        push_escape(out, letter);
        rest = letters.as_str();
    }
    out.push('"');
}

fn push_escape(out: &mut String, letter: char) {
    match letter {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        _ => {
            let code = u32::from(letter);
            out.push_str("\\u00");
            out.extend([code / 16, code % 16].into_iter().filter_map(|digit| char::from_digit(digit, 16)));
        }
    }
}
