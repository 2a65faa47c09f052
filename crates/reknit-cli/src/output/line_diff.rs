//! The lines in which two texts differ.

use similar::{ChangeTag, TextDiff};

/// Which lines a difference has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLines {
    All,
    Changed,
}

/// The lines that only the first text has, with `-`, those that only the second one has, with `+`, and those of both, with a space.
pub(crate) fn line_diff(before: &str, after: &str, lines: DiffLines) -> String {
    let difference = TextDiff::from_lines(before, after);
    let shown =
        difference.iter_all_changes().filter(|change| lines == DiffLines::All || change.tag() != ChangeTag::Equal);
    shown
        .flat_map(|change| {
            [
                change.tag().to_string(),
                " ".to_owned(),
                change.value().trim_end_matches('\n').to_owned(),
                "\n".to_owned(),
            ]
        })
        .collect()
}

#[test]
fn only_lines_that_differ_are_shown() {
    assert_eq!(line_diff("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n", DiffLines::Changed), "- b\n+ x\n+ y\n");
    assert_eq!(line_diff("a\n", "a\n", DiffLines::Changed), "");
    assert_eq!(line_diff("a\nb", "a\nc", DiffLines::All), "  a\n- b\n+ c\n");
}
