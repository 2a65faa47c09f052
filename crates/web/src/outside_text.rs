//! Text that models, tools and users wrote, as a page shows it.

use maud::{Markup, html};
use reknit_protocol::is_hidden;

const FOLDED_LINES: usize = 12;
const FOLDED_CHARS: usize = 1_200;
/// More characters than this are not shown: a page stays small. The command line and the API have all of them.
const MAX_CHARS: usize = 20_000;

/// A text whose characters that hide or reorder others are escapes, except those that some languages and emoji need.
pub fn plain_text(text: &str) -> String {
    let is_needed = |c| matches!(c, '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}');
    escaped(text, |c| is_hidden(c) && !is_needed(c))
}

/// A text for a decision or a comparison: every character that does not show, and every unusual space, is an escape.
pub(crate) fn exact_text(text: &str) -> String {
    escaped(text, does_not_show)
}

/// Whether a text has characters that [`exact_text`] writes as escapes.
pub(crate) fn has_hidden(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t') || does_not_show(c))
}

fn does_not_show(c: char) -> bool {
    is_hidden(c) || matches!(c, '\u{fe0e}' | '\u{fe0f}') || c.is_whitespace() && !matches!(c, ' ' | '\n' | '\t')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ if c.is_control() || is_escaped(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// As [`exact_text`], in one line of at most this many characters.
pub(crate) fn exact_line(text: &str, max_chars: usize) -> String {
    one_line(&exact_text(text), max_chars)
}

pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let line = plain_text(text).split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line, max_chars)
}

/// At most this many characters, with a mark where the rest is missing.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A framed block of text, folded if it is long.
pub(crate) fn block(text: &str) -> Markup {
    let shown = plain_text(text);
    let chars = shown.chars().count();
    let shown = if chars > MAX_CHARS { cut(&shown, MAX_CHARS) } else { shown };
    let lines = shown.lines().count();
    let more = (chars > MAX_CHARS).then(|| format!("{} of {chars} characters are shown.", MAX_CHARS - 1));
    let framed = html! {
        div.block {
            pre tabindex="0" { (shown) }
            button.copy type="button" hidden { "Copy" }
        }
        @if let Some(more) = more { p.muted { (more) } }
    };
    if lines <= FOLDED_LINES && chars <= FOLDED_CHARS {
        return framed;
    }
    html! {
        details.folded {
            summary { span.first { (one_line(&shown, 90)) } " " span.muted { (lines) " lines" } }
            (framed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_hide_or_reorder_text_are_written_as_escapes() {
        assert_eq!(plain_text("a\u{202e}b\u{0}c\u{1b}[2J\n\td\u{200d}é"), "a\\u{202e}b\\u{0}c\\u{1b}[2J\n\td\u{200d}é");
    }

    #[test]
    fn a_text_to_decide_about_shows_every_character() {
        for (text, shown) in [
            ("pay\u{200b}pal", "pay\\u{200b}pal"),
            ("a\u{200d}b\u{a0}c\u{ad}\u{feff}", "a\\u{200d}b\\u{a0}c\\u{ad}\\u{feff}"),
            ("5\u{202e}00\u{2066}1", "5\\u{202e}00\\u{2066}1"),
            ("x\u{e0041}\u{3164}\u{fe0f}\u{7f}", "x\\u{e0041}\\u{3164}\\u{fe0f}\\u{7f}"),
            ("two\n\tlines é 가격", "two\n\tlines é 가격"),
        ] {
            assert_eq!(exact_text(text), shown);
            assert_eq!(has_hidden(text), text != shown, "{shown}");
        }
    }

    #[test]
    fn a_long_text_is_folded_and_a_huge_one_cut() {
        assert!(!block("short").into_string().contains("<details"));
        assert!(block(&"line\n".repeat(13)).into_string().contains("<details"));
        let huge = block(&"x".repeat(100_000)).into_string();
        assert!(huge.len() < 21_000 && huge.contains("19999 of 100000 characters"), "{}", huge.len());
    }
}
