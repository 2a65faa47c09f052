//! The line of a text that an error is about, with a mark under the position.

use std::fmt;

use reknit_salvage::TextPosition;

use crate::output::{cut, visible_char, width};

/// The columns that are shown on each side of the position.
const SIDE_COLUMNS: usize = 36;

/// One line of a text around a position, at most about 75 columns wide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    line: usize,
    before: String,
    after: String,
}

impl Excerpt {
    pub(crate) fn of(text: &str, position: TextPosition) -> Self {
        let (before, after) = text.split_at(text.floor_char_boundary(position.offset));
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split('\n').next().unwrap_or_default();
        let visible = |c: char| visible_char(c).to_string();
        Self {
            line: position.line,
            before: cut(before.chars().rev().map(visible), SIDE_COLUMNS).into_iter().rev().collect(),
            after: cut(after.trim_end_matches('\r').chars().map(visible), SIDE_COLUMNS).concat(),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        writeln!(f, "  {number} | {}{}", self.before, self.after)?;
        writeln!(f, "  {:pad$} | {:mark$}^", "", "", pad = number.len(), mark = width(&self.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, mark: &str) -> String {
        Excerpt::of(text, TextPosition::at_offset(text, text.find(mark).unwrap())).to_string()
    }

    #[test]
    fn the_mark_is_under_the_position() {
        insta::assert_snapshot!(excerpt("{\n  \"a\": 1,\n  \"b\" @ 2\n}", "@"), @r#"
        3 |   "b" @ 2
          |       ^
        "#);
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        let text = format!("[{}@{}]", "1, ".repeat(5_000), ", 2".repeat(5_000));
        insta::assert_snapshot!(excerpt(&text, "@"), @"
        1 | …1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, @, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, …
          |                                      ^
        ");
    }

    #[test]
    fn tabs_controls_and_wide_letters_keep_the_mark_in_place() {
        insta::assert_snapshot!(excerpt("\t\"가격\u{1b}\": @,\r\n", "@"), @r#"
        1 | ␉"가격␛": @,
          |           ^
        "#);
    }

    #[test]
    fn the_end_of_the_text_can_be_marked() {
        let text = "[1, 2";
        insta::assert_snapshot!(Excerpt::of(text, TextPosition::at_offset(text, text.len())).to_string(), @"
        1 | [1, 2
          |      ^
        ");
    }
}
