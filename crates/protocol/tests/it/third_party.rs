//! Conversions for third-party libraries: which values are exact, rounded or refused.

use crate::parse;
use reknit_protocol::{Number, Object, Plan, ToolResponse, Value};
use serde_json::json;

#[test]
fn a_value_becomes_the_same_serde_json_value_in_the_same_order() {
    let value = parse(r#"{"z":[1,-2,2.5,true,null,"x"],"a":{"big":18446744073709551615}}"#);
    let theirs = value.to_serde();
    assert_eq!(theirs.to_string(), value.to_string());
    assert_eq!(Value::from(theirs), value);
}

#[test]
fn a_number_becomes_the_nearest_one_that_serde_json_can_hold() {
    for (text, theirs) in [
        ("5.0", json!(5.0)),
        ("1e3", json!(1000.0)),
        ("-0", json!(0)),
        ("-0.0", json!(-0.0)),
        ("9007199254740993", json!(9_007_199_254_740_993_i64)),
        ("9007199254740993.0", json!(9_007_199_254_740_993_i64)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
        ("0.10000000000000000000001", json!(0.1)),
        ("1e400", json!(f64::MAX)),
        ("-1e400", json!(f64::MIN)),
    ] {
        assert_eq!(parse(text).to_serde(), theirs, "text: {text}");
    }
}

#[test]
fn serialising_keeps_numbers_exact_or_fails() {
    for text in ["1", "-5", "18446744073709551615", "0.1", "1.5e300", "1e3", "9007199254740993.0"] {
        let written = serde_json::to_string(&parse(text)).expect("it fits");
        assert_eq!(parse(&written), parse(text), "text: {text}");
    }
    for text in ["18446744073709551616.5", "0.10000000000000000000001", "1e400", "[{\"a\":12345678901234567890123}]"] {
        let error = serde_json::to_string(&parse(text)).expect_err("it does not fit");
        assert!(
            error.to_string().contains("does not fit a 64-bit integer or float exactly"),
            "text: {text}, error: {error}"
        );
    }
}

#[test]
fn deserialising_accepts_every_kind_of_json_value() {
    let text = r#"{"b":[1,-1,1.5,true,null,"x",18446744073709551615],"a":{}}"#;
    let value: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(value.to_string(), text);
    assert_eq!(serde_json::from_str::<Number>("1.5").expect("it is a number"), Number::parse("1.5").unwrap());
    assert_eq!(serde_json::from_str::<Object>("{}").expect("it is an object"), Object::new());
}

#[test]
fn deserialising_refuses_infinities_duplicate_keys_and_wrong_kinds() {
    use serde::de::value::{Error, F64Deserializer};
    use serde::{Deserialize, de::IntoDeserializer};

    let infinite: F64Deserializer<Error> = f64::INFINITY.into_deserializer();
    let error = Value::deserialize(infinite).expect_err("JSON has no infinity");
    assert_eq!(error.to_string(), "infinities and NaN are not JSON numbers");
    for (text, message) in [(r#"{"a":1,"a":2}"#, "duplicate key \"a\""), ("[1]", "expected an object, found an array")]
    {
        let error = serde_json::from_str::<Object>(text).expect_err(text);
        assert!(error.to_string().starts_with(message), "text: {text}, error: {error}");
    }
}

#[test]
fn protocol_types_go_through_serde_as_their_json_form() {
    let text = r#"{"success":true,"data":[1],"trace":"t-1"}"#;
    let response: ToolResponse = serde_json::from_str(text).expect("it is an envelope");
    assert_eq!(serde_json::to_string(&response).expect("it fits"), text);
    let error = serde_json::from_str::<Plan>(r#"{"plan_id":1}"#).expect_err("ids are strings");
    assert!(error.to_string().starts_with("`$.plan_id`: expected a string, found a number"), "{error}");
}
