//! The printers for strings, and for integers two digits at a time.

use crate::json::parse::plain_prefix_len;

pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Appends the text as a JSON string. Runs of plain bytes are copied whole.
pub(super) fn push_quoted(out: &mut String, text: &str) {
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

/// The pairs from `00` to `99`.
const PAIRS: &str = "0001020304050607080910111213141516171819\
                     2021222324252627282930313233343536373839\
                     4041424344454647484950515253545556575859\
                     6061626364656667686970717273747576777879\
                     8081828384858687888990919293949596979899";

/// Appends an integer in decimal.
///
/// It copies slices of a text, because assembled bytes would need a UTF-8 check.
pub(crate) fn push_integer(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    let mut rest = value.unsigned_abs();
    let mut pairs = [0_usize; 10];
    let mut count = 0;
    for pair in &mut pairs {
        *pair = (rest % 100) as usize;
        rest /= 100;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    let mut leading = true;
    for pair in pairs.iter().take(count).rev() {
        let skipped = usize::from(leading && *pair < 10);
        leading = false;
        out.push_str(PAIRS.get(pair * 2 + skipped..pair * 2 + 2).unwrap_or_default());
    }
}
