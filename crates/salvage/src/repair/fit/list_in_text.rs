//! Lists that are written as one text: `red, blue`, or lines with bullets.

/// How the items of a list in a text are set apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextList<'t> {
    /// Every line begins with a bullet or the next number, so that the text cannot be one item.
    Marked(Vec<&'t str>),
    /// The separator may belong to an item.
    Separated(Vec<&'t str>),
}

/// The list that the text may be; `None` if nothing separates items.
pub(super) fn list_in_text(text: &str) -> Option<TextList<'_>> {
    let text = text.trim();
    if text.contains('\n') {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        return Some(marked_items(&lines).map_or(TextList::Separated(lines), TextList::Marked));
    }
    let is_numeric = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '.' | '-');
    let separator = [';', '|', ','].into_iter().find(|separator| text.contains(*separator));
    let separator = separator.or_else(|| (text.contains(' ') && text.chars().all(is_numeric)).then_some(' '))?;
    let items = text.split(separator).map(str::trim).filter(|item| !item.is_empty());
    Some(TextList::Separated(items.collect()))
}

/// The items of lines that all have the same bullet, or the numbers from 1.
fn marked_items<'t>(lines: &[&'t str]) -> Option<Vec<&'t str>> {
    let with_bullet = |bullet: char| {
        let item = |line: &&'t str| line.strip_prefix(bullet)?.strip_prefix(' ').map(str::trim);
        lines.iter().map(item).collect::<Option<Vec<_>>>()
    };
    let numbered = || {
        let item = |(number, line): (usize, &&'t str)| {
            let rest = line.strip_prefix(number.to_string().as_str())?.strip_prefix(['.', ')'])?;
            rest.strip_prefix(' ').map(str::trim)
        };
        (1..).zip(lines).map(item).collect::<Option<Vec<_>>>()
    };
    let items = ['-', '*', '•', '+'].into_iter().find_map(with_bullet).or_else(numbered)?;
    (items.len() > 1 && items.iter().all(|item| !item.is_empty())).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_set_apart_by_marks_or_separators() {
        let marked = |items: &[&'static str]| Some(TextList::Marked(items.to_vec()));
        let separated = |items: &[&'static str]| Some(TextList::Separated(items.to_vec()));
        for (text, expected) in [
            ("- red\n- blue", marked(&["red", "blue"])),
            ("1. red\n2. blue\n", marked(&["red", "blue"])),
            ("1. red\n3. blue", separated(&["1. red", "3. blue"])),
            ("- red\nblue", separated(&["- red", "blue"])),
            ("-red\n-blue", separated(&["-red", "-blue"])),
            ("red, blue", separated(&["red", "blue"])),
            ("red, light, blue;", separated(&["red, light, blue"])),
            ("1 2 3", separated(&["1", "2", "3"])),
            ("dark red", None),
            ("", None),
        ] {
            assert_eq!(list_in_text(text), expected, "case: {text}");
        }
    }
}
