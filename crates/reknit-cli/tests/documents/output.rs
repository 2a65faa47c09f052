//! Compares what a command printed with what a page shows.

/// Whether a page shows this output. `…` in a line stands for any text, and a line that is only `…` for any number of lines.
pub(crate) fn is_shown(shown: &str, printed: &str) -> bool {
    let shown: Vec<&str> = shown.lines().collect();
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    lines_match(&shown, &printed)
}

fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..])),
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, printed)| line_matches(line.trim_end(), first) && lines_match(rest, printed)),
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((before, mut rest)) = shown.split_once('…') else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(before) else { return false };
    loop {
        match rest.split_once('…') {
            None => return left.ends_with(rest),
            Some((part, after)) => match left.find(part) {
                Some(found) => (left, rest) = (&left[found + part.len()..], after),
                None => return false,
            },
        }
    }
}

#[test]
fn an_ellipsis_stands_for_text_or_lines() {
    assert!(is_shown("a\nb\n", "a\nb\n"));
    assert!(!is_shown("a\n", "a\nb\n"));
    assert!(!is_shown("a\nb\n", "a\n"));
    assert!(is_shown("run … done … s\n…\nend\n", "run 17 done in 3 s\nx\ny\nend\n"));
    assert!(is_shown("…\nend\n", "end\n"));
    assert!(!is_shown("run … done\n", "run 17 failed\n"));
    assert!(!is_shown("", "printed\n"));
}
