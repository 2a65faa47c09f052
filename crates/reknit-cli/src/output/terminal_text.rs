//! Makes untrusted text safe to print in a terminal, and fits it to its width.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use reknit_protocol::is_hidden;
use unicode_width::UnicodeWidthChar;

const DEFAULT_COLUMNS: usize = 80;

/// The columns of standard output, or `None` if it is no terminal: nothing needs to be cut there.
pub(crate) fn output_columns() -> Option<usize> {
    let out = io::stdout();
    out.is_terminal().then(|| columns_and_rows(&out).0)
}

/// The columns of standard error, or `None` if it is no terminal.
pub(crate) fn error_columns() -> Option<usize> {
    let out = io::stderr();
    out.is_terminal().then(|| columns_and_rows(&out).0)
}

/// The columns and rows of a terminal; 80 columns and unlimited rows if it does not report them.
pub(crate) fn columns_and_rows(out: &impl AsFd) -> (usize, usize) {
    let known = |size: u16, otherwise: usize| if size == 0 { otherwise } else { usize::from(size) };
    rustix::termios::tcgetwinsize(out).map_or((DEFAULT_COLUMNS, usize::MAX), |size| {
        (known(size.ws_col, DEFAULT_COLUMNS), known(size.ws_row, usize::MAX))
    })
}

/// The number of terminal columns of a text.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The text, filled with spaces to this number of columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The character, or a replacement of one column for a control or invisible character.
pub(crate) fn visible_char(c: char) -> char {
    match c {
        // The Unicode control pictures have the order of the control characters.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        other if is_hidden(other) => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}

/// A text on one line: hidden characters escaped, cut after `columns` with `…`, in quotes if it starts or ends with a space.
pub(crate) fn one_line(text: &str, columns: usize) -> String {
    let line = cut(text.chars().map(escaped), columns).concat();
    if line.starts_with(' ') || line.ends_with(' ') { format!("\"{line}\"") } else { line }
}

/// The same, but cut at the start.
pub(crate) fn one_line_end(text: &str, columns: usize) -> String {
    cut(text.chars().rev().map(escaped), columns).into_iter().rev().collect()
}

/// A text of one line, broken between words into parts of at most `columns`. A word that is longer is broken itself.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let visible = width(word.trim_end());
        if used > 0 && used + visible > columns {
            parts.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            if used > 0 && used + char_width(c) > columns && c != ' ' {
                parts.push(String::new());
                used = 0;
            }
            used += char_width(c);
            if let Some(part) = parts.last_mut() {
                part.push(c);
            }
        }
    }
    parts.iter().map(|part| part.trim_end().to_owned()).collect()
}

/// The pieces that fit into `columns`, and `…` if there are more.
pub(crate) fn cut(pieces: impl Iterator<Item = String>, columns: usize) -> Vec<String> {
    let mut kept = Vec::new();
    let mut used = 0;
    for piece in pieces {
        used += width(&piece);
        if used > columns {
            kept.push("…".to_owned());
            break;
        }
        kept.push(piece);
    }
    kept
}

fn escaped(c: char) -> String {
    match c {
        '\n' | '\r' | '\t' => c.escape_default().to_string(),
        ' ' => c.to_string(),
        other if other.is_control() || other.is_whitespace() || is_hidden(other) => other.escape_unicode().to_string(),
        other => other.to_string(),
    }
}

/// A text of several lines, with escapes for control characters and for marks that change the text direction. Characters
/// that some scripts need, such as joiners, stay.
pub(crate) fn escape_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\n' || (c == '\r' && rest.peek() == Some(&'\n'));
        let changes_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if ends_line || c == '\t' || !(c.is_control() || changes_direction) {
            shown.push(c);
        } else {
            shown.push_str(&escaped(c));
        }
    }
    shown
}

/// A word, quoted for a shell if necessary.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_escapes_and_cuts_a_text() {
        for (text, columns, expected) in [
            ("plain", 10, "plain"),
            ("exactly ten", 11, "exactly ten"),
            ("one too many", 11, "one too man…"),
            ("a\nb\tc", 10, r"a\nb\tc"),
            ("\u{1b}[31m", 20, r"\u{1b}[31m"),
            ("\u{202e}x", 20, r"\u{202e}x"),
            ("\u{a0}", 20, r"\u{a0}"),
            (" ", 20, "\" \""),
            ("가격표", 4, "가격…"),
            ("", 4, ""),
        ] {
            assert_eq!(one_line(text, columns), expected, "case: {text:?}");
        }
    }

    #[test]
    fn escape_controls_escapes_terminal_sequences() {
        for (text, expected) in [
            ("two\n\tlines\r\nand a third", "two\n\tlines\r\nand a third"),
            ("\u{1b}[2J\u{7}\u{9b}31m\u{7f}", r"\u{1b}[2J\u{7}\u{9b}31m\u{7f}"),
            ("paid\rnot paid", r"paid\rnot paid"),
            ("\u{202e}txt.exe", r"\u{202e}txt.exe"),
            ("나\u{200d}너 a\u{a0}b", "나\u{200d}너 a\u{a0}b"),
        ] {
            assert_eq!(escape_controls(text), expected, "case: {text:?}");
        }
    }

    #[test]
    fn one_line_end_cuts_the_start() {
        assert_eq!(one_line_end("$.items[0].price", 8), "…0].price");
        assert_eq!(one_line_end("$.a\tb", 8), r"$.a\tb");
    }

    #[test]
    fn a_text_is_broken_between_words_and_a_long_word_anywhere() {
        assert_eq!(wrapped("the price of one share", 9), ["the price", "of one", "share"]);
        assert_eq!(wrapped("a 0123456789 b", 4), ["a", "0123", "4567", "89 b"]);
        assert_eq!(wrapped("가격 가격", 5), ["가격", "가격"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn shell_word_quotes_only_if_necessary() {
        for (word, expected) in [
            ("answers/a-1.txt", "answers/a-1.txt"),
            ("my answer.txt", "'my answer.txt'"),
            ("it's", r"'it'\''s'"),
            ("$(rm)", "'$(rm)'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
