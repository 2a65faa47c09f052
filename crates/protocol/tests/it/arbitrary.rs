//! Strategies for arbitrary JSON.

use proptest::collection::vec;
use proptest::prelude::*;
use reknit_protocol::{Number, Object, Path, Value};

/// Any number of moderate size, in any spelling.
pub(crate) fn number_text() -> impl Strategy<Value = String> {
    prop_oneof![
        r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1})?",
        r"-?(0|[1-9][0-9]?)(\.[0-9]{1,2})?([eE][+-]?0?[0-9])?",
        any::<i64>().prop_map(|integer| integer.to_string()),
    ]
}

/// Two spellings of the same number: the second has a moved point and more zeros.
pub(crate) fn two_spellings() -> impl Strategy<Value = (String, String)> {
    ("-?", "0|[1-9][0-9]{0,20}", 0_usize..8, 0_usize..4, -9_i64..10).prop_map(
        |(sign, digits, shift, zeros, exponent)| {
            let text = format!("{sign}{digits}e{exponent}");
            let padded = format!("{digits:0>width$}", width = shift + 1);
            let (whole, fraction) = padded.split_at(padded.len() - shift);
            let point = if shift + zeros > 0 { "." } else { "" };
            let power = exponent + i64::try_from(shift).expect("it is small");
            let whole = match whole.trim_start_matches('0') {
                "" => "0",
                trimmed => trimmed,
            };
            (text, format!("{sign}{whole}{point}{fraction}{}E{power:+03}", "0".repeat(zeros)))
        },
    )
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number_text().prop_map(|text| Value::Number(Number::parse(&text).expect("it is a number"))),
        any::<String>().prop_map(Value::from),
        "[a-z\"\\\\\n\u{1}/~é😀]{0,12}".prop_map(Value::from),
    ]
}

fn nested(leaf: impl Strategy<Value = Value> + 'static, key: &'static str) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((key, inner), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Any value of moderate size.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    nested(leaf(), "[a-z0-9 ~/\"\\\\é]{0,6}")
}

/// Values from a small set, so that two of them are often equal.
pub(crate) fn small_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop_oneof!["0", "1", "1\\.0", "10e-1", "0\\.1"]
            .prop_map(|text| Value::Number(Number::parse(&text).expect("it is a number"))),
        prop_oneof!["", "1", "null"].prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec(("[ab]", inner), 0..3).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// The same value with reversed keys and numbers in another spelling.
pub(crate) fn respelt(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let other = if text.contains(['e', 'E', '.']) { number.canonical() } else { format!("{text}.00e+0") };
            Value::Number(Number::parse(&other).expect("it is a number"))
        }
        Value::Array(items) => items.iter().map(respelt).collect(),
        Value::Object(object) => {
            let entries = object.iter().rev().map(|(key, value)| (key.to_owned(), respelt(value)));
            Value::Object(entries.collect::<Object>())
        }
        other => other.clone(),
    }
}

/// Calls `see` for every place in a value.
pub(crate) fn visit(value: &Value, path: &Path, see: &mut impl FnMut(&Path, &Value)) {
    see(path, value);
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(item, &path.index(index), see));
        }
        Value::Object(object) => object.iter().for_each(|(key, value)| visit(value, &path.key(key), see)),
        _ => {}
    }
}
