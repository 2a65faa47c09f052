//! A table whose rows show a thing of two runs.

use maud::{Markup, html};

/// A row: what it is about, and how that is in each run.
pub(super) struct Row {
    pub(super) about: Markup,
    pub(super) left: Markup,
    pub(super) right: Markup,
    pub(super) differs: bool,
}

impl Row {
    /// A row of plain texts, which differ if they are not equal.
    pub(super) fn of_texts(about: &str, left: &str, right: &str) -> Self {
        Self { about: html! { (about) }, left: html! { (left) }, right: html! { (right) }, differs: left != right }
    }
}

/// The rows as the body of a table.
pub(super) fn body(rows: &[Row]) -> Markup {
    html! {
        tbody {
            @for row in rows {
                tr.differs[row.differs] {
                    th scope="row" {
                        span.differs-mark { @if row.differs { span aria-hidden="true" { "≠" } span.hidden { "differs: " } } }
                        (row.about)
                    }
                    td { (row.left) }
                    td { (row.right) }
                }
            }
        }
    }
}

/// Whether a time is so much longer that a reader wants to know: half as long again, and a tenth of a second.
pub(super) fn takes_longer(one_ms: u64, other_ms: u64) -> bool {
    let (short, long) = (one_ms.min(other_ms), one_ms.max(other_ms));
    long.saturating_sub(short) >= 100 && long.saturating_sub(short).saturating_mul(2) >= short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_differs_if_it_is_half_as_long_again_and_a_tenth_of_a_second() {
        let pairs = [(0, 99), (0, 100), (1_000, 1_499), (1_500, 1_000), (1_000, 1_000)];
        assert_eq!(pairs.map(|(one, other)| takes_longer(one, other)), [false, true, false, true, false]);
    }
}
