//! Texts that arrive in chunks.

use proptest::prelude::*;
use reknit_protocol::{Path, Value};
use reknit_salvage::{PartialReading, PartialState, ReadOptions, ReadTextError, Reader, Schema, read, read_as};

use crate::laws::{damage, value};

fn pushed(chunks: &[&str]) -> Reader {
    let mut reader = Reader::default();
    for chunk in chunks {
        reader.push(chunk);
    }
    reader
}

/// The paths of all values that are complete.
fn complete_paths(partial: &PartialReading<'_>) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut pending = vec![Path::root()];
    while let Some(path) = pending.pop() {
        match partial.value().at(&path) {
            Some(Value::Object(object)) => pending.extend(object.keys().map(|key| path.key(key))),
            Some(Value::Array(items)) => pending.extend((0..items.len()).map(|index| path.index(index))),
            _ => {}
        }
        if partial.is_complete_at(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Pushes the text in chunks of these lengths, in turn, and checks that what is complete never changes.
fn push_in_chunks(text: &str, lengths: &[usize]) -> Reader {
    let mut reader = Reader::default();
    let mut complete: Vec<(Path, Value)> = Vec::new();
    let (mut rest, mut lengths) = (text.as_bytes(), lengths.iter().cycle());
    while !rest.is_empty() {
        let length = lengths.next().copied().unwrap_or(1).clamp(1, rest.len());
        let (chunk, tail) = rest.split_at(length);
        reader.push(chunk);
        rest = tail;
        let Some(partial) = reader.partial() else { continue };
        for (path, value) in &complete {
            assert!(partial.is_complete_at(path), "{path} is open again in {text:?}");
            assert_eq!(partial.value().at(path), Some(value), "{path} changes in {text:?}");
        }
        complete = complete_paths(&partial)
            .into_iter()
            .filter_map(|path| partial.value().at(&path).cloned().map(|value| (path, value)))
            .collect();
    }
    reader
}

#[test]
fn a_partial_reading_grows_with_the_text() {
    for (text, value, open) in [
        ("", "", ""),
        ("Sure, here you go", "", ""),
        ("[", "[]", "$"),
        ("[1", "[]", "$"),
        ("[1,", "[1]", "$[0]"),
        ("[1, 2", "[1]", "$[0]"),
        ("[1, 2 ", "[1,2]", "$[1]"),
        ("[1, 2]", "[1,2]", "$"),
        (r#"{"a": "x"#, r#"{"a":"x"}"#, "$.a"),
        (r#"{"a": "x""#, r#"{"a":"x"}"#, "$.a"),
        (r#"{"a": "x", "b""#, r#"{"a":"x"}"#, "$.a"),
        (r#"{"a": "x", "b":"#, r#"{"a":"x"}"#, "$"),
        (r#"{"a": "x", "b": {"c": [tru"#, r#"{"a":"x","b":{"c":[]}}"#, "$.b.c"),
        (r#"{"a": "x\u00"#, r#"{"a":"x"}"#, "$.a"),
        (r#"{"a": "x\ud83d\ude00!"#, r#"{"a":"x😀!"}"#, "$.a"),
        ("The plan:\n```json\n{\"a\": [1, [2, 3], 4", r#"{"a":[1,[2,3]]}"#, "$.a[1]"),
        ("Result: [\"a\", \"b", r#"["a","b"]"#, "$[1]"),
        ("<think>\n[1, 2]\n</think>\n[3, ", "[3]", "$[0]"),
        ("<think>\n[1, 2]\n</thi", "", ""),
        ("as [1] says\n{\"a\": 1,", r#"{"a":1}"#, "$.a"),
    ] {
        for lengths in [&[1][..], &[2, 3], &[1000]] {
            let reader = push_in_chunks(text, lengths);
            let partial = reader.partial();
            let found = partial.map(|partial| (partial.value().to_string(), partial.open().to_string()));
            assert_eq!(found.unwrap_or_default(), (value.to_owned(), open.to_owned()), "{text}");
        }
    }
}

#[test]
fn the_state_says_whether_more_is_expected() {
    for (text, expected) in [
        (r#"{"a": 1"#, PartialState::Open),
        (r#"{"a": 1} and so on"#, PartialState::Ended),
        (r#"{"a": 1, b: 2}"#, PartialState::Stopped),
        (r#"{"a": "the "best" one"}"#, PartialState::Stopped),
        (r#"{"a": 1, "a": 2}"#, PartialState::Stopped),
    ] {
        let reader = pushed(&[text]);
        assert_eq!(reader.partial().map(|partial| partial.state()), Some(expected), "{text}");
    }
}

#[test]
fn a_quote_that_was_not_escaped_completes_nothing() {
    let reader = pushed(&[r#"{"n": 1, "a": "the "best" one", "b": 2}"#]);
    let partial = reader.partial().expect("an object");
    assert_eq!(partial.open().to_string(), "$.a");
    let finished = reader.finish().expect("it can be read");
    assert!(finished.confirms_partial);
    assert_eq!(finished.reading.value.to_string(), r#"{"n":1,"a":"the \"best\" one","b":2}"#);
}

#[test]
fn another_answer_behind_the_first_one_is_reported() {
    let first = pushed(&["{\"a\": 1, \"b\": 2}", " No, wait:\n```json\n{\"a\": 3}\n```"]).finish().expect("a value");
    assert_eq!(first.reading.value.to_string(), r#"{"a":3}"#);
    assert!(!first.confirms_partial);
    let repeated = pushed(&[r#"{"a": 1, "b": 2, "a": 3}"#]).finish().expect("a value");
    assert!(!repeated.confirms_partial);
}

#[test]
fn a_text_that_is_too_large_is_refused_as_by_read() {
    let options = ReadOptions { max_bytes: 4 };
    let mut reader = Reader::new(options.clone());
    for chunk in ["[1", ", ", "2]"] {
        reader.push(chunk);
    }
    assert_eq!(reader.finish().map(|finished| finished.reading), read("[1, 2]", &options));
    assert_eq!(read("[1, 2]", &options), Err(ReadTextError::TooLarge { size: 6, limit: 4 }));
}

#[test]
fn a_streamed_value_is_fitted_at_the_end() {
    let schema = Value::parse(r#"{"properties": {"max_results": {"type": "integer"}}}"#).expect("JSON");
    let schema = Schema::compile(&schema).expect("a schema");
    let reading = pushed(&[r#"{"maxRes"#, r#"ults": "5"}"#]).finish_as(&schema).expect("it fits");
    assert_eq!(reading.value.to_string(), r#"{"max_results":5}"#);
}

#[test]
fn bytes_that_are_not_text_are_replaced_as_in_a_whole_text() {
    for bytes in [&b"[\"a\xff\xe2\x82\", \"\xe2\x82\xac\"]"[..], b"[\"\xf0\x9f\x98", b"\xf0\x9f[1]\xe2"] {
        let whole = read(&String::from_utf8_lossy(bytes), &ReadOptions::default());
        for length in 1..bytes.len() {
            let mut reader = Reader::default();
            bytes.chunks(length).for_each(|chunk| reader.push(chunk));
            assert_eq!(reader.finish().map(|finished| finished.reading), whole, "{bytes:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_chunks_yield_the_reading_of_the_whole_text_and_what_is_complete_stays(
        value in value(),
        damages in prop::collection::vec((0usize..8, any::<usize>()), 0..4),
        lengths in prop::collection::vec(1usize..9, 1..6),
    ) {
        let text = damages.iter().fold(value.to_pretty(), |text, (kind, at)| damage(&text, *kind, *at));
        let finished = push_in_chunks(&text, &lengths).finish();
        prop_assert_eq!(finished.map(|finished| finished.reading), read(&text, &ReadOptions::default()));
    }

    #[test]
    fn what_is_complete_in_a_valid_text_is_in_its_value(
        value in value(), lengths in prop::collection::vec(1usize..9, 1..6), is_fenced in any::<bool>()
    ) {
        // A bracket in a text alone may begin JSON as long as the text goes on.
        prop_assume!(!matches!(value, Value::String(_)));
        let json = value.to_pretty();
        let text = if is_fenced { format!("Here it is:\n\n```json\n{json}\n```\n") } else { json };
        let finished = push_in_chunks(&text, &lengths).finish();
        prop_assert!(!matches!(finished, Ok(finished) if finished.reading.value == value && !finished.confirms_partial));
    }

    #[test]
    fn any_json_punctuation_is_streamed_as_it_is_read(
        text in "[\\[\\]{}(),:\"'`\\\\/*+0-9a.tn \n<>-]{0,60}", lengths in prop::collection::vec(1usize..5, 1..4)
    ) {
        let finished = push_in_chunks(&text, &lengths).finish();
        prop_assert_eq!(finished.map(|finished| finished.reading), read(&text, &ReadOptions::default()));
    }
}

/// Texts in the notations that are read with a schema.
const NOTATIONS: [&str; 18] = [
    "f(path=\"/a\", days=3)",
    "path: \"/a\", days: 3",
    "{path = \"/a\"; days = 3}",
    "mapOf(\"path\" to \"/a\", \"days\" to 3)",
    "Map.of(\"path\", \"/a\", \"days\", 3)",
    "{ f(path: \"/a\", days: 3) }",
    "<|tool_call>call:f{path:<|\"|>/a<|\"|>,days:3}<tool_call|>",
    "<path>/a</path><days>3</days>",
    "<tool_call>\n<function=f>\n<parameter=path>\n/a\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>f\n<arg_key>path</arg_key><arg_value>/a</arg_value>\n<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
    "- **path**: /a\n- days: 3",
    "```yaml\npath: /a\ndays: 3\n```",
    "| Key | Value |\n|---|---|\n| path | /a |\n| days | 3 |",
    "### path\n/a\n### days\n3",
    "f --path /a --days=3",
    "(f :path \"/a\" :days 3)",
    "path=%2Fa&days=3",
    "{\"path\": \"/a\", \"days\": \"three (3)\"}",
];

#[test]
fn a_text_in_another_notation_is_read_alike_in_chunks_wherever_it_is_cut() {
    let schema = r#"{"type": "object", "properties": {"path": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["path", "days"], "additionalProperties": false}"#;
    let schema = Schema::compile(&Value::parse(schema).expect("JSON")).expect("a schema");
    for text in NOTATIONS {
        let whole = read_as(text, &schema).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(whole.value.to_string(), r#"{"path":"/a","days":3}"#, "{text}");
        for (at, _) in text.char_indices() {
            let (first, second) = text.split_at(at);
            assert_eq!(pushed(&[first]).finish_as(&schema), read_as(first, &schema), "{first}");
            assert_eq!(pushed(&[first, second]).finish_as(&schema).as_ref(), Ok(&whole), "{first} | {second}");
        }
    }
}

#[test]
fn the_time_for_a_notation_grows_with_its_length() {
    let schema = Schema::compile(&Value::parse(r#"{"properties": {"a": {"type": "string"}}}"#).expect("JSON"))
        .expect("a schema");
    let time = |text: &str| {
        let start = std::time::Instant::now();
        drop(read_as(text, &schema));
        start.elapsed()
    };
    for (begin, part, end) in [
        ("f(", "a=\"x\", ", ")"),
        ("", "a: x\n", ""),
        ("", "  - a: x\n", ""),
        ("", "<parameter=a>x</parameter>\n", ""),
        ("", "<a>x</a>", ""),
        ("<a>", "<item>x</item>", "</a>"),
        ("f ", "--a x ", ""),
        ("", "a=x ", ""),
        ("(f ", ":a \"x\" ", ")"),
        ("", "a=x&", ""),
        ("```\n", "a: x\n", "```"),
        ("", "<|x|>", "a=1"),
        ("", "[", ""),
        ("", "print(", ""),
    ] {
        let part_of = |number: usize| part.replace('a', &format!("a{number}"));
        let text = |parts: usize| [begin, &(0..parts).map(part_of).collect::<String>(), end].concat();
        let (short, long) = (text(1_000), text(16_000));
        time(&short);
        let (short, long) = (time(&short).max(time(&short)), time(&long));
        // Linear is 16, quadratic 256.
        assert!(long < short * 100 + std::time::Duration::from_millis(50), "{part:?}: {short:?} and {long:?}");
    }
}
