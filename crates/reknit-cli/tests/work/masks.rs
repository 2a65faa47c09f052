//! Masks what differs between runs.

use std::path::Path;

/// Replaces ids, ports, times, processes and the folder of the test.
pub(crate) fn masked(text: &str, folder: &Path) -> String {
    let mut text = ids(text).replace(&*folder.to_string_lossy(), "DIR");
    for (before, after, mask) in [
        ("process ", " on ", "PID"),
        ("after ", " ms", "N"),
        ("retrying in ", " s", "N"),
        ("answered in ", " ms", "N"),
        ("  (", " ms)", "N"),
        ("_ms\":", "", "0"),
    ] {
        text = numbers(&text, before, after, mask);
    }
    // Some lines of the help pages end with spaces, which editors would remove here.
    text.lines().map(|line| times(&ports(line)).trim_end().to_owned() + "\n").collect()
}

/// Replaces the ports that the system assigns; tests use fixed small ports on purpose.
fn ports(line: &str) -> String {
    const HOST: &str = "127.0.0.1:";
    let mut pieces = line.split(HOST);
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (port, rest) = piece.split_at(digits(piece));
        masked = masked + HOST + if port.len() > 4 { "PORT" } else { port } + rest;
    }
    masked
}

/// The digits at the start of a text.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Replaces every number between these two texts.
fn numbers(text: &str, before: &str, after: &str, mask: &str) -> String {
    let mut pieces = text.split(before);
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (number, rest) = piece.split_at(digits(piece));
        let shown = if !number.is_empty() && rest.starts_with(after) { mask } else { number };
        masked = masked + before + shown + rest;
    }
    masked
}

/// Replaces run ids and keys.
fn ids(text: &str) -> String {
    const ID: usize = 36;
    const KEY: usize = 32;
    let is_id = |text: &str| {
        let groups: Vec<usize> = text.split('-').map(str::len).collect();
        groups == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
    };
    let is_key = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
    let mut masked = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.get(..ID).is_some_and(is_id) {
            masked.push_str("RUN");
            rest = &rest[ID..];
        } else if rest.get(..KEY).is_some_and(is_key) {
            masked.push_str("KEY");
            rest = &rest[KEY..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    masked
}

/// Replaces timestamps, ages in a list, and durations.
fn times(line: &str) -> String {
    let word = |word: &str| {
        let is_point = word.len() > 19 && word.as_bytes().get(10) == Some(&b'T') && word.ends_with('Z');
        if is_point { "TIME".to_owned() } else { word.to_owned() }
    };
    let line = line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    if line.contains(" model call")
        && let Some((before, took)) = line.rsplit_once(", ")
        && took.ends_with(" s")
    {
        return format!("{before}, N s");
    }
    if let Some((before, tokens)) = line.split_once(" s, ")
        && tokens.contains(" tokens in")
        && let Some((attempt, seconds)) = before.rsplit_once(", ")
        && seconds.parse::<f64>().is_ok()
    {
        return format!("{attempt}, N s, {tokens}");
    }
    match line.find(" s ago") {
        Some(end) if line.starts_with("RUN") => format!("RUN  AGE{}", &line[end + " s ago".len()..]),
        _ => line,
    }
}

#[test]
fn masks_replace_only_what_differs_between_runs() {
    let text = "process 12 on host: 01a1de5f-2a33-716c-a1a5-f08471cb91c2 at 127.0.0.1:42421/x and 127.0.0.1:80 in /tmp/a/b.db\n\
                2 tool calls, 1 model calls, 1.0 s\nattempt 1  a  ok, 0.1 s, 8 tokens in, 0 out\n01a1de5f-2a33-716c-a1a5-f08471cb91c2    1 s ago  partial\n";
    let expected = "process PID on host: RUN at 127.0.0.1:PORT/x and 127.0.0.1:80 in DIR/b.db\n2 tool calls, 1 model calls, N s\nattempt 1  a  ok, N s, 8 tokens in, 0 out\nRUN  AGE  partial\n";
    assert_eq!(masked(text, Path::new("/tmp/a")), expected);
}
