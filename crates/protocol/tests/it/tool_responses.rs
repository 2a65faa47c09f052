//! Envelopes and errors of tools.

use crate::parse;
use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Object, Retryable, ToolError, ToolResponse, Value};

fn read(text: &str) -> ToolResponse {
    ToolResponse::from_value(&parse(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_success_keeps_every_digit_of_its_data() {
    let text = r#"{"success":true,"data":{"symbol":"TSLA","current_price":468.2850,"volume":12345678901234567890123}}"#;
    let response = read(text);
    assert!(response.success());
    assert_eq!(response.error(), None);
    assert_eq!(response.to_value().to_string(), text);
    let data = response.into_result().expect("it is a success");
    assert_eq!(data.get("current_price").map(Value::to_string).as_deref(), Some("468.2850"));
}

#[test]
fn every_field_of_a_failure_is_read() {
    let text = r#"{"success":false,"error":{"code":"LOCATION_NOT_FOUND","message":"no place `Flower Mound`","category":"NOT_FOUND","retryable":true,"details":{"original_location":"Flower Mound","retry_after":60,"tried":["a","b"]}}}"#;
    let response = read(text);
    let error = response.error().expect("it is a failure");
    assert_eq!(error.code, codes::LOCATION_NOT_FOUND);
    assert_eq!(error.category, Some(Category::NotFound));
    assert_eq!(error.retryable, Retryable::Yes);
    assert_eq!(error.details.get("retry_after"), Some(&Value::from(60)), "details may be of any kind");
    assert_eq!(error.status(), 404);
    assert_eq!(error.to_string(), "no place `Flower Mound` (LOCATION_NOT_FOUND)");
    assert_eq!(response.to_value().to_string(), text);
    assert_eq!(response.clone().into_result(), Err(error.clone()));
}

#[test]
fn an_absent_or_null_retryable_is_not_a_no() {
    for (retryable, expected) in [
        ("", Retryable::Unspecified),
        (r#","retryable":null"#, Retryable::Unspecified),
        (r#","retryable":false"#, Retryable::No),
    ] {
        let text =
            format!(r#"{{"success":false,"error":{{"code":"X","message":"x","category":"RATE_LIMIT"{retryable}}}}}"#);
        let response = read(&text);
        assert_eq!(response.error().expect("it is a failure").retryable, expected, "text: {text}");
        assert_eq!(response.to_value().to_string(), text);
    }
}

#[test]
fn extra_fields_keep_their_position() {
    for text in [
        r#"{"request_id":"r-1","success":true,"took_ms":1.50,"data":null,"error":null,"meta":{"a":[]}}"#,
        r#"{"error":{"details":{},"help":"https://example.org","message":"m","code":"c","category":"TEAPOT"},"data":{"partial":1},"success":false}"#,
        r#"{"success":true}"#,
    ] {
        assert_eq!(read(text).to_value().to_string(), text);
    }
    let response = read(r#"{"success":true,"took_ms":1.50,"data":1}"#);
    assert_eq!(response.extra.get("took_ms").map(Value::to_string).as_deref(), Some("1.50"));
    assert_eq!(response.extra.get("data"), None, "a defined field is not an extra field");
}

#[test]
fn an_unknown_category_is_kept_and_an_absent_one_is_none() {
    let error = ToolError::from_value(&parse(r#"{"code":"c","message":"m","category":"TEAPOT"}"#)).unwrap();
    assert_eq!(error.category, Some(Category::Other("TEAPOT".to_owned())));
    let error = ToolError::from_value(&parse(r#"{"code":"c","message":"m"}"#)).unwrap();
    assert_eq!(error.category, None);
    assert_eq!(error.status(), 500);
}

#[test]
fn an_envelope_that_is_contradictory_or_incomplete_is_refused() {
    for (text, message) in [
        (r"[]", "`$`: expected an object, found an array"),
        (r#"{"data":1}"#, "`$.success`: expected a boolean, found nothing"),
        (r#"{"error":{"code":"c","message":"m"}}"#, "`$.success`: expected a boolean, found nothing"),
        (r#"{"success":null}"#, "`$.success`: expected a boolean, found null"),
        (r#"{"success":"true"}"#, "`$.success`: expected a boolean, found a string"),
        (
            r#"{"success":true,"error":{"code":"c","message":"m"}}"#,
            "`$.error`: expected no error, because `success` is true, found an object",
        ),
        (r#"{"success":true,"error":""}"#, "`$.error`: expected no error, because `success` is true, found a string"),
        (r#"{"success":false}"#, "`$.error`: expected an object, because `success` is false, found nothing"),
        (r#"{"success":false,"error":null}"#, "`$.error`: expected an object, because `success` is false, found null"),
        (r#"{"success":false,"error":"boom"}"#, "`$.error`: expected an object, found a string"),
        (r#"{"success":false,"error":{"message":"m"}}"#, "`$.error.code`: expected a string, found nothing"),
        (
            r#"{"success":false,"error":{"code":"c","message":"m","category":5}}"#,
            "`$.error.category`: expected a string, found a number",
        ),
        (
            r#"{"success":false,"error":{"code":"c","message":"m","retryable":"no"}}"#,
            "`$.error.retryable`: expected a boolean, found a string",
        ),
        (
            r#"{"success":false,"error":{"code":"c","message":"m","details":"d"}}"#,
            "`$.error.details`: expected an object, found a string",
        ),
    ] {
        let error = ToolResponse::from_value(&parse(text)).expect_err(text);
        assert_eq!(error.to_string(), message, "text: {text}");
    }
}

#[test]
fn a_body_is_an_envelope_if_success_is_a_boolean() {
    for (text, expected) in [
        (r#"{"success":false}"#, true),
        (r#"{"success":true,"price":1}"#, true),
        (r#"{"success":"yes"}"#, false),
        (r#"{"price":1}"#, false),
        (r"[true]", false),
    ] {
        assert_eq!(ToolResponse::is_envelope(&parse(text)), expected, "text: {text}");
    }
}

#[test]
fn responses_built_in_code_survive_the_round_trip() {
    let error = ToolError::new(codes::RATE_LIMIT_EXCEEDED, "slow down", Category::RateLimit)
        .retryable(Retryable::Yes)
        .detail("retry_after", "60s");
    for response in [ToolResponse::ok(Object::new()), ToolResponse::ok(Value::Null), ToolResponse::fail(error)] {
        assert_eq!(ToolResponse::from_value(&response.to_value()), Ok(response.clone()));
    }
    assert_eq!(ToolResponse::ok(1).to_value().to_string(), r#"{"success":true,"data":1}"#);
    let bare = ToolError::new("C", "m", Category::AuthError).to_value();
    assert_eq!(bare.to_string(), r#"{"code":"C","message":"m","category":"AUTH_ERROR"}"#);
}

#[test]
fn a_changed_error_is_written_with_its_changes() {
    let text = r#"{"message":"m","x":1,"retryable":true,"details":{},"code":"c"}"#;
    let mut error = ToolError::from_value(&parse(text)).unwrap();
    error.retryable = Retryable::Unspecified;
    error.details.insert("hint", "h");
    error.category = Some(Category::InputError);
    error.extra.insert("y", 2);
    error.extra.insert("x", 3);
    error.extra.insert("code", "cannot be overwritten this way");
    assert_eq!(error.extra.get("code"), None);
    let expected = r#"{"message":"m","x":3,"details":{"hint":"h"},"code":"c","y":2,"category":"INPUT_ERROR"}"#;
    assert_eq!(error.to_value().to_string(), expected);
}
