//! Which characters a reader does not see, and how they and the signs of XML and HTML are escaped.

use std::fmt::Write as _;

/// Whether a character has no width, changes the direction or the line of the text around it, or is a control character other than
/// the ASCII ones below the space. A text that has one is not what it looks like.
///
/// ```
/// use reknit_protocol::is_hidden;
///
/// assert!(is_hidden('\u{200b}') && is_hidden('\u{202e}') && is_hidden('\u{e0041}'));
/// assert!(!is_hidden('é') && !is_hidden('가') && !is_hidden(' '));
/// ```
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        // Delete and the C1 controls, the soft hyphen, joiners of graphemes and the Arabic mark of direction.
        '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        // Fillers of Hangul and Khmer, separators of Mongolian.
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
        // Spaces without width, joiners, separators of lines, marks and overrides of direction, invisible operators.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        // Selectors of variants but for those of emoji, marks of annotations and of music, tags.
        | '\u{fe00}'..='\u{fe0d}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A JSON text in which hidden characters are written as escapes. It has the same value; outside of strings JSON has none of them.
///
/// ```
/// use reknit_protocol::json_without_hidden;
///
/// assert_eq!(json_without_hidden("\"a\u{200b}b\u{e0041}\""), r#""a\u200bb\udb40\udc41""#);
/// ```
pub fn json_without_hidden(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A text that stands in an element or an attribute of XML or HTML. Characters that XML does not know are replaced.
///
/// ```
/// use reknit_protocol::markup_text;
///
/// assert_eq!(markup_text("a < \"b\"\u{0}"), "a &lt; &quot;b&quot;\u{fffd}");
/// ```
pub fn markup_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
