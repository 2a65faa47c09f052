//! JSON text of values.

use crate::parse;
use reknit_protocol::{Object, Value};

#[test]
fn compact_text_has_no_spaces_and_keeps_order_and_digits() {
    let text = r#"{ "z" : [ 1.50 , -0 , 1E5 ] , "a" : { "nested" : null } }"#;
    assert_eq!(parse(text).to_string(), r#"{"z":[1.50,-0,1E5],"a":{"nested":null}}"#);
}

#[test]
fn pretty_text_indents_by_two_spaces_and_keeps_empty_containers_on_one_line() {
    let pretty = "{\n  \"a\": [\n    1,\n    []\n  ],\n  \"b\": {}\n}";
    let value = parse(r#"{"a":[1,[]],"b":{}}"#);
    assert_eq!(value.to_pretty(), pretty);
    assert_eq!(format!("{value:#}"), pretty);
    assert_eq!(format!("{:#}", value.as_object().expect("it is an object")), pretty);
}

#[test]
fn debug_text_is_json() {
    let value = parse(r#"{"a":["x"]}"#);
    assert_eq!(format!("{value:?}"), r#"{"a":["x"]}"#);
    assert_eq!(format!("{:?}", value.as_object()), r#"Some({"a":["x"]})"#);
}

#[test]
fn canonical_text_sorts_keys_and_normalizes_numbers_at_every_level() {
    let value = parse(r#"[{"b":{"y":1.0,"x":[100e-2]},"a":-0.0,"é":1e2,"Z":"\u00e9\/"}]"#);
    assert_eq!(value.canonical(), r#"[{"Z":"é/","a":0,"b":{"x":[1],"y":1},"é":100}]"#);
}

#[test]
fn integers_of_every_length_print_correctly() {
    let mut number = 1_i64;
    for _ in 0..19 {
        for near in [number - 1, number, number + 1, number.wrapping_mul(7)] {
            for signed in [near, near.wrapping_neg()] {
                assert_eq!(Value::from(signed).to_string(), signed.to_string());
            }
        }
        number = number.wrapping_mul(10);
    }
    assert_eq!(Value::from(i64::MIN).to_string(), "-9223372036854775808");
    assert_eq!(Value::from(u64::MAX).to_string(), "18446744073709551615");
}

#[test]
fn an_object_prints_like_a_value() {
    let object = Object::from([("a\n", Value::Null)]);
    assert_eq!(object.to_string(), r#"{"a\n":null}"#);
    assert_eq!(Object::new().to_string(), "{}");
}
