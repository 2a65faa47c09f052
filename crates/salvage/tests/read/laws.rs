//! Properties of reading, over generated values and generated damage.

use proptest::prelude::*;
use reknit_protocol::{Number, Object, Value};
use reknit_salvage::{Completeness, FixKind, ReadOptions, ReadTextError, read};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 _.:/@#*+-]{0,12}",
        "[\\PC]{0,8}",
        Just("*/5 * * * *".to_owned()),
        Just("2**8".to_owned()),
        Just("{{step-1.price}}".to_owned()),
        Just("```json\n{}\n```".to_owned()),
        Just("say \"hi\", then go".to_owned()),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?"
        .prop_map(|text| Value::Number(Number::parse(&text).expect("the pattern is the grammar")))
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), number(), text().prop_map(Value::String)];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Object>())),
        ]
    })
}

/// Changes one place of a JSON text, as models do.
pub(crate) fn damage(text: &str, kind: usize, at: usize) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return String::new();
    }
    let at = at % chars.len();
    match kind {
        0 => drop(chars.remove(at)),
        1 => chars.insert(at, ','),
        2 => chars.insert(at, '"'),
        3 => chars.truncate(at),
        4 => chars.insert(at, '\\'),
        5 => chars.splice(at..at, " // note\n".chars()).for_each(drop),
        6 => chars.insert(at, '}'),
        _ => chars.splice(0..0, "Here it is: ".chars()).for_each(drop),
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn valid_text_is_unchanged(value in value()) {
        for text in [value.to_string(), value.to_pretty()] {
            let reading = read(&text, &ReadOptions::default()).expect("valid");
            prop_assert_eq!(reading.value.to_string(), value.to_string());
            prop_assert!(reading.fixes.is_empty());
            prop_assert_eq!(reading.completeness, Completeness::Complete);
        }
    }

    #[test]
    fn damaged_text_becomes_strict_json_that_reads_unchanged(
        value in value(), damages in prop::collection::vec((0usize..8, any::<usize>()), 1..4)
    ) {
        let text = damages.iter().fold(value.to_pretty(), |text, (kind, at)| damage(&text, *kind, *at));
        if let Ok(reading) = read(&text, &ReadOptions::default()) {
            let printed = reading.value.to_string();
            prop_assert!(serde_json::from_str::<serde_json::Value>(&printed).is_ok() || printed.contains('e') || printed.contains('E'), "{}", printed);
            let again = read(&printed, &ReadOptions::default()).expect("a result is valid");
            prop_assert_eq!(&again.value.to_string(), &printed);
            prop_assert!(again.fixes.is_empty());
        }
    }

    #[test]
    fn a_change_is_never_silent(value in value(), kind in 0usize..8, at in any::<usize>()) {
        let text = damage(&value.to_string(), kind, at);
        if let Ok(reading) = read(&text, &ReadOptions::default()) && reading.fixes.is_empty() {
            prop_assert_eq!(Value::parse(text.trim()).expect("no fixes means valid"), reading.value);
        }
    }

    #[test]
    fn a_prefix_of_an_array_is_flagged_as_truncated(value in value(), at in any::<usize>()) {
        let text = Value::Array(vec![value]).to_string();
        let cut = text.floor_char_boundary(1 + at % (text.len() - 1));
        prop_assume!(cut > 0 && cut < text.len());
        match read(&text[..cut], &ReadOptions::default()) {
            Ok(reading) => {
                // `["x]` may be a truncated `["x]..."]`, or `["x"]` without its quote. The second is more likely.
                let quote_added = reading.fixes.iter().any(|fix| fix.kind == FixKind::MissingQuote);
                prop_assert!(reading.completeness == Completeness::Truncated || quote_added, "{}", &text[..cut]);
            }
            Err(error) => prop_assert!(matches!(error, ReadTextError::Unreadable { .. }), "{}: {}", &text[..cut], error),
        }
    }

    #[test]
    fn any_text_is_read_or_rejected_without_a_panic(text in "\\PC{0,60}") {
        let _ = read(&text, &ReadOptions::default());
    }

    #[test]
    fn any_json_punctuation_is_read_as_valid_json_or_rejected(text in "[\\[\\]{}(),:\"'`\\\\/*+0-9a.tn \n-]{0,60}") {
        if let Ok(reading) = read(&text, &ReadOptions::default()) {
            prop_assert!(Value::parse(&reading.value.to_string()).is_ok());
        }
    }
}
