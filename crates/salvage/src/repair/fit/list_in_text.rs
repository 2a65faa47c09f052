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
    let text = text.trim().trim_end_matches([';', ',']).trim_end();
    if let Some(items) = quoted_items(text) {
        return Some(TextList::Marked(items));
    }
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

/// The items of `'red', 'blue'`: all in the same quotes.
fn quoted_items(text: &str) -> Option<Vec<&str>> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let item = |item: &'_ str| -> bool { !item.is_empty() && !item.contains(quote) };
    let items =
        text.split(',').map(|part| part.trim().strip_prefix(quote)?.strip_suffix(quote)).collect::<Option<Vec<_>>>()?;
    (items.len() > 1 && items.iter().all(|text| item(text))).then_some(items)
}

/// The items of a list with brackets of another kind or without commas, `{1,2}` or `[1 2]`, or with a word before the last one,
/// `1, 2 and 3`. Such a text may well be one item.
pub(super) fn list_in_words(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let text = text.strip_prefix("array(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    for (open, close) in [('{', '}'), ('[', ']'), ('(', ')')] {
        if let Some(inner) = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
            let items: Vec<&str> = inner.split([',', ' ']).filter(|item| !item.is_empty()).collect();
            return (!items.is_empty()).then_some(items);
        }
    }
    let (front, last) = [" and ", " & "].iter().find_map(|word| text.rsplit_once(word))?;
    Some(front.trim_end_matches(',').split(',').chain([last]).map(str::trim).collect())
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
            ("red, light, blue;", separated(&["red", "light", "blue"])),
            ("1 2 3", separated(&["1", "2", "3"])),
            ("'red', 'blue'", marked(&["red", "blue"])),
            ("1, 2,", separated(&["1", "2"])),
            ("dark red", None),
            ("", None),
        ] {
            assert_eq!(list_in_text(text), expected, "case: {text}");
        }
    }
}
