//! Hostile input is read or rejected in linear time, without exhausting the stack.

use reknit_protocol::{MAX_DEPTH, Value};
use reknit_salvage::{ReadOptions, ReadTextError, read};

/// Small enough for a debug build; the bench measures ten megabytes.
const SIZE: usize = 1_000_000;

#[test]
fn a_million_open_brackets_are_rejected() {
    for bracket in ["[", "{\"a\":", "[{\"a\": ", "{{", "(", "f(1, "] {
        let text = bracket.repeat(SIZE / bracket.len());
        match read(&text, &ReadOptions::default()) {
            Err(ReadTextError::TooDeep { limit, .. }) => assert_eq!(limit, MAX_DEPTH),
            Err(ReadTextError::Unreadable { .. }) => {}
            other => panic!("{bracket}: {:?}", other.map(|reading| reading.fixes.len())),
        }
    }
}

#[test]
fn a_repeated_mark_is_read_as_valid_json_or_rejected() {
    for mark in [
        "\"",
        "'",
        "`",
        "\\",
        "\\\"",
        "```",
        "```json\n",
        ",",
        ":",
        "]",
        "}",
        "/*",
        "//",
        "...",
        "\"a,",
        "[\"a,",
        "{\"a:1,",
        "\"a+",
        "\"/*",
        "1 * ",
        "a(",
        "{{a}}",
        "</think>",
        "\"\"\"",
        "[/",
        "# ",
        "\n",
        "\u{a0}",
        "{\"a\":1}\n",
        "{\"a\":1} ",
        "\"x\": \"a \"b\" c\", ",
        "\\u",
        "[}",
        "x{ ",
        "“",
        "}, \"b\": 2",
        "\"\"a\"\": ",
        "\"k\": ",
        "NOTE \"b\": \"x\" ",
        "[\"a\" word], ",
        "(1, ",
        "\"a\"\n```\n",
    ] {
        for prefix in ["", "[", "{\"k\": \"", "Here: "] {
            let text = format!("{prefix}{}", mark.repeat(SIZE / 40 / mark.len()));
            if let Ok(reading) = read(&text, &ReadOptions::default()) {
                assert!(Value::parse(&reading.value.to_string()).is_ok(), "{prefix}{mark}");
            }
        }
    }
}

#[test]
fn a_large_broken_text_is_read_completely_and_all_its_fixes_are_counted() {
    let member = "  'name': 'it''s', \"n\": 007, // note\n";
    let text = format!("{{{}}}", (0..SIZE / 50).map(|n| member.replace("name", &format!("k{n}"))).collect::<String>());
    let reading = read(&text, &ReadOptions::default()).expect("readable");
    assert_eq!(reading.value.as_object().expect("an object").len(), SIZE / 50 + 1);
    let repairs: u64 = reading.fixes.iter().map(|fix| u64::from(fix.times)).sum();
    assert!(repairs > (SIZE / 50) as u64 * 3, "{repairs}");
    assert!(reading.fixes.len() < 10_100);
}

#[test]
fn a_deep_value_is_read_on_a_small_stack() {
    let text = format!("{}1,{}", "[".repeat(MAX_DEPTH - 1), "]".repeat(MAX_DEPTH - 1));
    let read = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || read(&text, &ReadOptions::default()).expect("as deep as may be").value.to_string().len());
    assert_eq!(read.expect("a thread").join().expect("no overflow"), 2 * (MAX_DEPTH - 1) + 1);
}

#[test]
fn a_nul_character_is_rejected() {
    for text in ["\0", "[\0]", "{\"a\": \"\0\"}"] {
        assert!(matches!(read(text, &ReadOptions::default()), Err(ReadTextError::Unreadable { .. })), "{text:?}");
    }
}
