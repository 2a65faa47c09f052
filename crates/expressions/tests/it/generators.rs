//! Generators of values, expressions and texts for the property tests.

use proptest::collection::vec;
use proptest::prelude::*;
use reknit_expressions::Function;
use reknit_protocol::{Number, Value};

/// The step ids in generated texts. Some of them need quotes.
pub(crate) const IDS: [&str; 8] = ["a", "a.b", "step-1", "step-10", "odd id", "1", "sum", "true"];

fn number() -> impl Strategy<Value = Value> {
    let text = prop_oneof![r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,5})?", r"-?[1-9]?[0-9]"];
    text.prop_map(|text| Value::Number(Number::parse(&text).unwrap_or_default()))
}

/// Values of moderate size, with keys that generated references use.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![".{0,8}", "-?[0-9]{1,3}", "2024-0[1-9]-[0-3][0-9]", "[{}a-c.\"']{0,8}"];
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number(), text.prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key = prop_oneof!["[a-c]", Just("data".to_owned()), Just("response".to_owned()), ".{0,3}"];
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((key, inner), 0..5).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn reference() -> impl Strategy<Value = String> {
    let id = prop::sample::select(IDS.to_vec())
        .prop_map(|id| if ["odd id", "true", "1"].contains(&id) { format!("[\"{id}\"]") } else { id.to_owned() });
    let segment = prop_oneof![
        r"\.[a-c]",
        r"\[[0-3]\]",
        r"\.[0-3]",
        Just("[\"odd key\"]".to_owned()),
        Just(".data".to_owned()),
        Just(".response".to_owned()),
        Just("['b']".to_owned()),
    ];
    (id, vec(segment, 0..4)).prop_map(|(id, path)| format!("{id}{}", path.concat()))
}

/// The text of an expression that usually parses.
pub(crate) fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => reference(),
        2 => "[0-9]{1,3}(\\.[0-9]{1,3})?",
        1 => "\"[a-z ,:0-9-]{0,5}\"",
        2 => prop::sample::select(vec!["item", "item.a", "x.b[0]", "[\"a\"]", "[]", "[\"x\"]"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["true", "false", "null", "\"days\"", "'it\\'s'"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let operator = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "??", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in", "&&",
        ]);
        let for_items = prop::sample::select(vec!["filter", "map", "any", "all", "group_by", "sum_by"]);
        let function = prop::sample::select(Function::ALL.to_vec());
        prop_oneof![
            3 => (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            1 => inner.clone().prop_map(|a| format!("({a})")),
            1 => inner.clone().prop_map(|a| format!("first({a}).b[0]")),
            1 => inner.clone().prop_map(|a| format!("({a})[\"odd key\"].a")),
            1 => inner.clone().prop_map(|a| format!("-{a}")),
            1 => inner.clone().prop_map(|a| format!("not {a}")),
            1 => vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            3 => (for_items, inner.clone(), prop::sample::select(vec!["", "x => ", "a => "]), inner.clone())
                .prop_map(|(f, list, name, body)| format!("{f}({list}, {name}{body})")),
            1 => inner.clone().prop_map(|a| format!("{{{{{a}}}}}")),
            3 => (function, vec(inner, 1..4)).prop_map(|(f, arguments)| format!("{f}({})", arguments.join(", "))),
        ]
    })
}

/// Text that resembles expressions and templates.
pub(crate) fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{{", "}}", "{{{{", "step-1", ".", "[", "]", "\"", "'", "\\", "(", ")", ",", " - ", "-", "??", "sum",
            "if(", "filter(", "item", "=>", " and ", "not ", " in ", "1", "1e", " ", "é", "a.b", "odd id",
        ])
        .prop_map(str::to_owned),
        ".{0,3}",
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}
