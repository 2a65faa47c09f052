use super::*;

fn classified(status: u16, body: ReplyBody) -> Verdict {
    classify_reply(&ToolReply { status, retry_after_ms: None, body }, 0)
}

fn json(body: &str) -> ReplyBody {
    ReplyBody::Json(Value::parse(body).expect("it is JSON"))
}

#[test]
fn every_body_gives_a_message() {
    for (body, expected) in [
        (json(r#"{"odd": [1, {"x": 2}]}"#), r#"422: {"odd":[1,{"x":2}]}"#),
        (json("17"), "422: 17"),
        (json(r#"{"error": {"code": "MY_CODE", "message": "boom"}}"#), "422 MY_CODE: boom"),
        (json(r#"{"success": false, "errors": [{"field": "x", "message": "is odd"}]}"#), "422: x: is odd"),
        (ReplyBody::Text(" <h1>no</h1> ".to_owned()), "422: <h1>no</h1>"),
        (ReplyBody::Text("  ".to_owned()), "422: the tool answered 422 and said nothing more"),
        (json("{}"), "422: the tool answered 422 and said nothing more"),
        (ReplyBody::Empty, "422: the tool answered 422 and said nothing more"),
    ] {
        let Verdict::Correctable(fault) = classified(422, body) else { panic!("it can be mended") };
        assert_eq!(fault.to_string(), expected);
    }
}

#[test]
fn a_conflict_of_idempotency_keys_is_transient_and_never_correctable() {
    for (status, body) in [
        (409, r#"{"error": {"code": "idempotency_key_in_use", "message": "There is another request", "type": "x"}}"#),
        (
            409,
            r#"{"error": {"message": "There is currently another in-progress request using this Idempotent Key: abc."}}"#,
        ),
        (
            409,
            r#"{"title": "A request is outstanding for this Idempotency-Key", "detail": "A request with the same Idempotency-Key is being processed."}"#,
        ),
        (409, r#"{"title": "A request is outstanding for this Idempotency-Key", "detail": "Please wait."}"#),
        (422, r#"{"title": "Idempotency-Key is already used"}"#),
        (
            400,
            r#"{"success": false, "error": {"code": "IDEMPOTENCY_CONFLICT", "message": "x", "category": "INPUT_ERROR"}}"#,
        ),
    ] {
        assert!(matches!(classified(status, json(body)), Verdict::Transient(_)), "{body}");
    }
    for (status, body) in [
        (409, r#"{"message": "the order was changed by somebody else"}"#),
        (400, r#"{"title": "Idempotency-Key is missing"}"#),
        (422, r#"{"message": "idempotency_key is required"}"#),
    ] {
        assert!(matches!(classified(status, json(body)), Verdict::Correctable(_)), "{body}");
    }
}
