use super::*;

fn classified(status: u16, body: ReplyBody) -> Verdict {
    classified_for(SideEffect::Read, status, body)
}

fn classified_for(class: SideEffect, status: u16, body: ReplyBody) -> Verdict {
    classify_reply(&ToolReply { status, retry_after_ms: None, body, job: None }, ReplyContext::new(class, 0))
}

/// The kind of a verdict and the fate of the call: `transient rejected`.
fn outcome(verdict: &Verdict) -> String {
    let (kind, fault) = match verdict {
        Verdict::Success(_) => return "success".to_owned(),
        Verdict::Permanent(fault) => ("permanent", fault),
        Verdict::Transient(fault) => ("transient", fault),
        Verdict::Correctable(fault) => ("correctable", fault),
    };
    let fate = match fault.fate {
        Fate::NotSent => "not sent",
        Fate::Rejected => "rejected",
        Fate::Unknown => "unknown",
    };
    format!("{kind} {fate}")
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
fn denied_access_is_permanent_and_had_no_effect_at_any_status() {
    for (status, body) in [
        (401, r#"{"message": "who are you"}"#),
        (403, "{}"),
        (407, r#"{"message": "proxy authentication required"}"#),
        (400, r#"{"message": "Invalid API key"}"#),
        (400, r#"{"error": {"message": "API key not valid. Please pass a valid API key.", "code": 400}}"#),
        (400, r#"{"error": {"message": "Incorrect api-key provided: sk-…", "code": "invalid_api_key"}}"#),
        (422, r#"{"success": false, "error": {"code": "UNAUTHORIZED", "message": "x", "category": "INPUT_ERROR"}}"#),
        (200, r#"{"error": {"code": "401", "message": "who are you"}}"#),
        (200, r#"{"error": {"code": 403, "message": "not yours"}}"#),
        (200, r#"{"code": "401", "message": "token expired"}"#),
        (200, r#"{"code": 401, "msg": "login first", "data": null}"#),
        (200, r#"{"success": false, "error": {"code": "401", "message": "no", "category": "SERVICE_ERROR"}}"#),
        (200, r#"{"error": "Unauthorized"}"#),
    ] {
        for class in [SideEffect::Read, SideEffect::Keyed, SideEffect::Unsafe] {
            let verdict = classified_for(class, status, json(body));
            assert_eq!(outcome(&verdict), "permanent rejected", "{status} {body} {class}");
            let Verdict::Permanent(fault) = verdict else { panic!("it is permanent") };
            assert_eq!(fault.category.as_deref(), Some("AUTH_ERROR"), "{status} {body}");
        }
    }
    for (status, body, expected) in [
        (400, r#"{"message": "the door key is invalid"}"#, "correctable rejected"),
        (400, r#"{"message": "unauthorized discount code X"}"#, "correctable rejected"),
        (200, r#"{"code": 401, "data": {"x": 1}, "message": "ok"}"#, "success"),
        (200, r#"{"code": "401", "name": "Highway"}"#, "success"),
        (200, r#"{"status": 401, "message": "Unauthorized", "url": "http://x"}"#, "success"),
        (503, r#"{"message": "invalid api key cache"}"#, "transient unknown"),
    ] {
        assert_eq!(outcome(&classified(status, json(body))), expected, "{status} {body}");
    }
}

#[test]
fn a_conflict_of_idempotency_keys_is_transient_and_never_correctable() {
    let transient = r#"
        409 {"error": {"code": "idempotency_key_in_use", "message": "There is another request", "type": "x"}}
        409 {"error": {"message": "There is currently another in-progress request using this Idempotent Key: abc."}}
        409 {"title": "A request is outstanding for this Idempotency-Key", "detail": "A request with the same Idempotency-Key is being processed."}
        409 {"title": "A request is outstanding for this Idempotency-Key", "detail": "Please wait."}
        422 {"title": "Idempotency-Key is already used"}
        400 {"success": false, "error": {"code": "IDEMPOTENCY_CONFLICT", "message": "x", "category": "INPUT_ERROR"}}
    "#;
    let correctable = r#"
        409 {"message": "the order was changed by somebody else"}
        400 {"title": "Idempotency-Key is missing"}
        422 {"message": "idempotency_key is required"}
    "#;
    for (rows, kind) in [(transient, "transient "), (correctable, "correctable ")] {
        for row in rows.trim().lines() {
            let (status, body) = row.trim().split_once(' ').expect("a row has a status and a body");
            let found = outcome(&classified(status.parse().expect("a status"), json(body)));
            assert!(found.starts_with(kind), "{row}: {found}");
        }
    }
}

#[test]
fn a_structured_error_rejects_a_call_unless_its_tool_declares_what_it_changes() {
    let structured = [
        r#"{"success": false, "error": {"code": "DOWN", "message": "no", "category": "SERVICE_ERROR"}}"#,
        r#"{"success": false, "error": "no"}"#,
        r#"{"error": {"code": "DOWN", "message": "no"}}"#,
        r#"{"error": {"message": "no", "category": "SERVICE_ERROR"}}"#,
        r#"{"code": "DOWN", "message": "no"}"#,
    ];
    let unstructured = [
        r#"{"message": "Internal server error"}"#,
        r#"{"error": "no"}"#,
        r#"{"error": {"code": 503, "message": "no"}}"#,
        r#"{"code": "503", "message": "no"}"#,
        r#""<html><h1>502 Bad Gateway</h1></html>""#,
        "{}",
    ];
    for (class, when_structured) in [
        (SideEffect::Read, "transient rejected"),
        (SideEffect::Undeclared, "transient rejected"),
        (SideEffect::Idempotent, "transient unknown"),
        (SideEffect::Keyed, "transient unknown"),
        (SideEffect::Unsafe, "transient unknown"),
    ] {
        for status in [500, 502, 503, 504] {
            for body in structured {
                assert_eq!(outcome(&classified_for(class, status, json(body))), when_structured, "{class:?} {body}");
            }
            for body in unstructured {
                let found = outcome(&classified_for(class, status, json(body)));
                assert_eq!(found, "transient unknown", "{class:?} {body}");
            }
        }
    }
}

#[test]
fn a_type_error_is_correctable_at_any_status_that_does_not_deny_access() {
    let go = r#"{"error": "json: cannot unmarshal string into Go struct field Request.lat of type float64"}"#;
    let response = r#"{"error": "decode response: json: cannot unmarshal string into Go value of type float64"}"#;
    for (class, status, body, expected) in [
        (SideEffect::Keyed, 400, go, "correctable rejected"),
        (SideEffect::Keyed, 500, go, "correctable rejected"),
        (SideEffect::Keyed, 503, go, "correctable rejected"),
        (SideEffect::Undeclared, 429, go, "correctable rejected"),
        (SideEffect::Idempotent, 500, r#""Type mismatch for amount""#, "correctable rejected"),
        (SideEffect::Unsafe, 400, go, "correctable rejected"),
        (SideEffect::Unsafe, 500, go, "transient unknown"),
        (SideEffect::Keyed, 401, go, "permanent rejected"),
        (SideEffect::Keyed, 403, go, "permanent rejected"),
        (SideEffect::Keyed, 405, go, "permanent rejected"),
        (SideEffect::Keyed, 407, go, "permanent rejected"),
        (SideEffect::Keyed, 500, response, "transient unknown"),
        (SideEffect::Keyed, 500, r#""invalid type: string, expected i32""#, "correctable rejected"),
        (SideEffect::Keyed, 500, r#""Invalid type for parameter lat""#, "correctable rejected"),
        (SideEffect::Keyed, 500, r#""lat: expected number, got string""#, "correctable rejected"),
        (SideEffect::Keyed, 500, r#""expected boolean""#, "correctable rejected"),
        (SideEffect::Keyed, 500, r#""expected an integer for n""#, "correctable rejected"),
        (SideEffect::Keyed, 500, r#""Unexpected string in JSON at position 5""#, "transient unknown"),
        (SideEffect::Keyed, 500, r#""expected number of rows is 1, got 0""#, "transient unknown"),
        (SideEffect::Keyed, 500, r#""invalid value 'x' for lat""#, "transient unknown"),
    ] {
        assert_eq!(outcome(&classified_for(class, status, json(body))), expected, "{class:?} {status} {body}");
    }
}

#[test]
fn an_error_in_a_success_leaves_open_what_the_call_did_unless_it_is_structured() {
    let text = r#""Error: payment amount does not add up""#;
    let coded = r#"{"error": {"code": "DECLINED", "message": "no"}}"#;
    let categorized = r#"{"error": {"message": "no", "category": "INPUT_ERROR"}}"#;
    let denied = r#"{"success": false, "error": {"code": "X", "message": "no", "category": "INPUT_ERROR"}}"#;
    for (class, body, expected) in [
        (SideEffect::Read, text, "transient unknown"),
        (SideEffect::Undeclared, text, "permanent unknown"),
        (SideEffect::Idempotent, text, "permanent unknown"),
        (SideEffect::Keyed, text, "permanent unknown"),
        (SideEffect::Unsafe, text, "permanent unknown"),
        (SideEffect::Read, coded, "correctable rejected"),
        (SideEffect::Undeclared, coded, "correctable rejected"),
        (SideEffect::Keyed, coded, "permanent unknown"),
        (SideEffect::Keyed, categorized, "correctable rejected"),
        (SideEffect::Unsafe, denied, "correctable rejected"),
        (SideEffect::Undeclared, r#"{"code": "EUR", "message": "ok", "category": "currency"}"#, "success"),
    ] {
        assert_eq!(outcome(&classified_for(class, 200, json(body))), expected, "{class:?} {body}");
    }
}

#[test]
fn a_tool_whose_errors_are_ignored_fails_only_with_success_false() {
    let context =
        ReplyContext { errors_in_success: ErrorsInSuccess::Ignore, ..ReplyContext::new(SideEffect::Undeclared, 0) };
    for (body, expected) in [
        (r#""Error: disk full""#, "success"),
        (r#"{"error": {"code": "X", "message": "no"}}"#, "success"),
        (r#"{"success": false, "error": "no"}"#, "correctable rejected"),
    ] {
        let reply = ToolReply { status: 200, retry_after_ms: None, body: json(body), job: None };
        assert_eq!(outcome(&classify_reply(&reply, context)), expected, "{body}");
    }
}

#[test]
fn a_retryable_server_error_proves_that_nothing_happened_unless_the_call_is_unsafe() {
    let body = r#"{"success": false, "error": {"code": "BUSY", "message": "no", "retryable": true}}"#;
    for (class, expected) in [
        (SideEffect::Read, "transient rejected"),
        (SideEffect::Undeclared, "transient rejected"),
        (SideEffect::Idempotent, "transient rejected"),
        (SideEffect::Keyed, "transient rejected"),
        (SideEffect::Unsafe, "transient unknown"),
    ] {
        for status in [408, 500, 503] {
            assert_eq!(outcome(&classified_for(class, status, json(body))), expected, "{class:?} {status}");
        }
    }
}

#[test]
fn a_message_is_about_a_type_unless_another_service_answered_unreadably() {
    for (status, message, expected) in [
        (400, "cannot unmarshal string into Go struct field ReplyRequest.count of type int", true),
        (400, "cannot unmarshal string into Go struct field Req.response_format of type int", true),
        (400, "cannot unmarshal string into Go struct field Upstream.count of type int", true),
        (400, "invalid type for field 'reply': expected string", true),
        (400, "type mismatch for parameter response", true),
        (400, "expected string for backend_id", true),
        (400, "cannot unmarshal response from upstream", false),
        (400, "decode response: json: cannot unmarshal string into Go value of type float64", false),
        (400, "the backend sent no JSON: cannot unmarshal number", false),
        (400, "failed to deserialize the upstream reply", false),
        (400, "invalid value for lat", true),
        (422, "Invalid value 'north'", true),
        (500, "invalid value for lat", false),
        (429, "invalid value for lat", false),
        (400, "amount must be a number", true),
        (500, "amount must be a number", false),
        (400, "amount must be positive", false),
        (403, "expected string", false),
    ] {
        let verdict = classified(status, json(&Value::from(message).to_string()));
        let (Verdict::Permanent(fault) | Verdict::Transient(fault) | Verdict::Correctable(fault)) = verdict else {
            panic!("{message} is an error")
        };
        assert_eq!(fault.is_type_error(), expected, "{status} {message}");
    }
}
