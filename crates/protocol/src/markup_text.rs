//! Text inside XML and HTML.

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
