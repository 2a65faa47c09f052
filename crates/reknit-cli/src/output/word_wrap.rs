//! Breaks texts for people between words, where a terminal would break inside of them.

use crate::output::width;

/// Breaks each line that is longer than the terminal is wide. Lines between fences of code stay, and so do words and commands in
/// backticks that are longer than a line.
pub(crate) fn fill(text: &str, columns: usize) -> String {
    let mut is_code = false;
    let mut filled = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let is_fence = content.trim_start().starts_with("```");
        if is_code || is_fence {
            filled.push_str(content);
        } else {
            fill_line(content, columns, &mut filled);
        }
        is_code ^= is_fence;
        filled.push_str(&line[content.len()..]);
    }
    filled
}

/// The same for a help text, whose paragraphs were broken for wider lines. Examples are commands, and stay as they are.
pub(crate) fn fill_help(text: &str, columns: usize) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with([' ', '-']) && !line.ends_with(':');
    let mut lines: Vec<(String, bool)> = Vec::new();
    let (mut before, mut is_example) = ("", false);
    for line in text.lines() {
        is_example = without_styles(line) == "Examples:" || (is_example && !line.is_empty());
        let goes_on = is_prose(before) && is_prose(line) && width_without_styles(before) > 80;
        match lines.last_mut() {
            Some((paragraph, _)) if goes_on => paragraph.extend([" ", line]),
            _ => lines.push((line.to_owned(), is_example)),
        }
        before = line;
    }
    let mut filled = String::with_capacity(text.len() + text.len() / 16);
    for (line, is_example) in lines {
        if is_example {
            filled.push_str(&line);
        } else {
            fill_line(&line, columns, &mut filled);
        }
        filled.push('\n');
    }
    filled
}

fn fill_line(line: &str, columns: usize, filled: &mut String) {
    if width_without_styles(line) <= columns {
        filled.push_str(line);
        return;
    }
    let indent = hanging_indent(line, columns);
    let mut used = 0;
    let mut is_first = true;
    let pieces = words(line).flat_map(|(gap, word)| {
        // JSON is one long word, which can be broken between its fields.
        let is_long = indent + width_without_styles(word) > columns;
        let mut pieces: Vec<&str> = if is_long { word.split_inclusive(',').collect() } else { vec![word] };
        if pieces.is_empty() {
            pieces.push(word);
        }
        let gaps = std::iter::once(gap).chain(std::iter::repeat(""));
        gaps.zip(pieces).collect::<Vec<_>>()
    });
    for (gap, word) in pieces {
        let needed = width_without_styles(word);
        if !is_first && used + gap.len() + needed > columns {
            filled.push('\n');
            filled.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else {
            filled.push_str(gap);
            used += gap.len();
        }
        filled.push_str(word);
        used += needed;
        is_first = false;
    }
}

/// The words of a line, each with the spaces before it. What is in backticks is one word.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = rest.find(|c| c != ' ').unwrap_or(rest.len());
        let (gap, after) = rest.split_at(start);
        let mut in_backticks = false;
        let end = after.find(|c| {
            in_backticks ^= c == '`';
            c == ' ' && !in_backticks
        });
        // A single backtick quotes nothing.
        let end = if in_backticks { after.find(' ') } else { end };
        let (word, next) = after.split_at(end.unwrap_or(after.len()));
        rest = next;
        Some((gap, word))
    })
}

/// Where the lines after the first begin: below the text of an item of a list, and below the second column of a table.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let plain = without_styles(line);
    let indent = plain.len() - plain.trim_start_matches(' ').len();
    let text = &plain[indent..];
    let column = text.find("  ").map(|gap| gap + text[gap..].len() - text[gap..].trim_start_matches(' ').len());
    let number =
        text.find(". ").filter(|end| text[..*end].bytes().all(|byte| byte.is_ascii_digit())).map(|end| end + 2);
    let within = match column {
        Some(column) => width(&text[..column]),
        None if text.starts_with("- ") || text.starts_with("* ") => 2,
        None => number.unwrap_or(0),
    };
    let all = indent + within;
    if all > columns / 2 { 0 } else { all }
}

fn width_without_styles(text: &str) -> usize {
    width(&without_styles(text))
}

/// The text without the sequences that set colours and the like.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_go_on_below_their_text() {
        for (text, expected) in [
            ("one two three", "one two\nthree"),
            ("- one two three", "- one two\n  three"),
            ("2. one two three", "2. one two\n   three"),
            ("  one two three\nfour", "  one two\n  three\nfour"),
            ("incomprehensible one", "incomprehensible\none"),
            ("see `a b c d e` now", "see\n`a b c d e`\nnow"),
            ("a ` alone here", "a ` alone\nhere"),
            ("```\none two three four\n```\none two three", "```\none two three four\n```\none two\nthree"),
            ("\u{1b}[1mone\u{1b}[0m two three", "\u{1b}[1mone\u{1b}[0m two\nthree"),
            (r#"{"a":1,"b":2,"c":3}"#, "{\"a\":1,\n\"b\":2,\n\"c\":3}"),
            ("경기 경기 경기", "경기 경기\n경기"),
        ] {
            assert_eq!(fill(text, 10), expected, "{text}");
        }
        assert_eq!(fill("  --a  one two three four", 16), "  --a  one two\n       three\n       four");
    }

    #[test]
    fn paragraphs_of_a_help_text_are_joined_and_broken_again() {
        let long = "x ".repeat(41);
        let rest = "\n\nOptions:\n  -h  Help\n\nExamples:\n  one long command\n  another\n\nExit status: 0\n";
        let help = format!("{}\nend.{rest}", long.trim_end());
        assert_eq!(fill_help(&help, 200), format!("{} end.{rest}", long.trim_end()));
        assert!(fill_help(&help, 10).contains("\n\nExamples:\n  one long command\n  another\n\nExit\nstatus: 0\n"));
    }

    proptest! {
        #[test]
        fn nothing_but_spaces_and_line_breaks_changes(text in "[a-z` \\-\n]{0,80}", columns in 1_usize..40) {
            let letters = |text: &str| text.split_whitespace().collect::<Vec<_>>().concat();
            let filled = fill(&text, columns);
            prop_assert_eq!(letters(&filled), letters(&text));
            prop_assert_eq!(fill(&text, usize::MAX / 2), text);
        }
    }
}
