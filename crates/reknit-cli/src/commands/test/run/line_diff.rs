//! The lines in which two texts differ.

/// The lines that only the first text has, with `-`, and those that only the second one has, with `+`.
pub(super) fn line_diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same_start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (before, after) = (before.get(same_start..).unwrap_or_default(), after.get(same_start..).unwrap_or_default());
    let ends = before.iter().rev().zip(after.iter().rev());
    let same_end = ends.take_while(|(one, other)| one == other).count();
    let before = before.get(..before.len() - same_end).unwrap_or_default();
    let after = after.get(..after.len() - same_end).unwrap_or_default();
    let width = after.len() + 1;
    // How many lines the rests of both texts have in common.
    let mut common = vec![0_u32; (before.len() + 1) * width];
    let at = |table: &[u32], row: usize, column: usize| table.get(row * width + column).copied().unwrap_or_default();
    for (row, one) in before.iter().enumerate().rev() {
        for (column, other) in after.iter().enumerate().rev() {
            let best = if one == other {
                at(&common, row + 1, column + 1) + 1
            } else {
                at(&common, row + 1, column).max(at(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column, mut text) = (0, 0, String::new());
    let mut push = |sign: char, line: &str| text.extend([&sign.to_string(), " ", line, "\n"]);
    loop {
        match (before.get(row), after.get(column)) {
            (Some(one), Some(other)) if one == other => (row, column) = (row + 1, column + 1),
            (Some(_), Some(other)) if at(&common, row, column + 1) > at(&common, row + 1, column) => {
                push('+', other);
                column += 1;
            }
            (Some(one), _) => {
                push('-', one);
                row += 1;
            }
            (None, Some(other)) => {
                push('+', other);
                column += 1;
            }
            (None, None) => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_shown() {
        assert_eq!(line_diff("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n"), "- b\n+ x\n+ y\n");
        assert_eq!(line_diff("a\n", "a\n"), "");
    }
}
