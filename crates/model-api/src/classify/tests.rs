use super::*;

fn evidence(code: &str, status: u16, kind: &str, message: &str) -> FailureEvidence {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    FailureEvidence {
        code: some(code),
        status: Some(status).filter(|status| *status > 0),
        kind: some(kind),
        message: message.into(),
    }
}

#[test]
fn the_code_takes_precedence_over_the_status() {
    for (code, status, expected) in [
        ("insufficient_quota", 429, ErrorClass::QuotaExceeded),
        ("rate_limit_exceeded", 413, ErrorClass::RateLimit),
        ("context_length_exceeded", 400, ErrorClass::ContextLength),
        ("content_policy_violation", 400, ErrorClass::ContentFilter),
        ("content_filter", 400, ErrorClass::ContentFilter),
        ("invalid_api_key", 400, ErrorClass::AuthError),
        ("model_not_found", 403, ErrorClass::ModelError),
        ("RESOURCE_EXHAUSTED", 429, ErrorClass::RateLimit),
        ("UNAUTHENTICATED", 400, ErrorClass::AuthError),
        ("Too-Many Requests", 0, ErrorClass::RateLimit),
        ("DEADLINE_EXCEEDED", 500, ErrorClass::Timeout),
    ] {
        assert_eq!(classify(&evidence(code, status, "", "")), expected, "{code} {status}");
    }
}

#[test]
fn a_numeric_code_counts_as_an_http_status() {
    for (code, status, expected) in [
        ("429", 200, ErrorClass::RateLimit),
        ("502", 0, ErrorClass::NetworkError),
        ("401", 400, ErrorClass::AuthError),
        ("0", 402, ErrorClass::QuotaExceeded),
        ("20015", 400, ErrorClass::ModelError),
    ] {
        assert_eq!(classify(&evidence(code, status, "", "")), expected, "{code} {status}");
    }
}

#[test]
fn the_status_takes_precedence_over_type_and_message() {
    let statuses: &[(ErrorClass, &[u16])] = &[
        (ErrorClass::InvalidResponse, &[307]),
        (ErrorClass::ModelError, &[400, 404, 418, 422]),
        (ErrorClass::AuthError, &[401, 403]),
        (ErrorClass::QuotaExceeded, &[402]),
        (ErrorClass::Timeout, &[408, 504, 522, 524]),
        (ErrorClass::NetworkError, &[409, 425, 500, 502, 503, 520, 521, 523, 525, 526, 527]),
        (ErrorClass::ContextLength, &[413]),
        (ErrorClass::RateLimit, &[429, 498, 529]),
    ];
    for (expected, status) in statuses.iter().flat_map(|(class, all)| all.iter().map(|status| (*class, *status))) {
        assert_eq!(classify(&evidence("", status, "", "")), expected, "{status}");
        if status != 400 && status != 418 && status != 422 {
            let contradicted = evidence("", status, "invalid_request_error", "invalid api key");
            assert_eq!(classify(&contradicted), expected, "{status} with a contradicting type and message");
        }
    }
}

#[test]
fn the_error_type_and_not_the_message_tells_an_exceeded_quota_from_a_rate_limit() {
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    assert_eq!(classify(&evidence("", 429, "insufficient_quota", quota)), ErrorClass::QuotaExceeded);
    assert_eq!(classify(&evidence("", 429, "requests", quota)), ErrorClass::RateLimit);
    assert_eq!(classify(&evidence("", 500, "overloaded_error", "")), ErrorClass::RateLimit);
}

#[test]
fn type_then_message_decide_where_the_status_does_not() {
    for (kind, message, expected) in [
        ("exceed_context_size_error", "", ErrorClass::ContextLength),
        ("invalid_request_error", "This model's maximum context length is 8192 tokens.", ErrorClass::ContextLength),
        ("", "the request exceeds the available context size, try increasing it", ErrorClass::ContextLength),
        ("", "Your request was rejected as a result of our safety system.", ErrorClass::ContentFilter),
        ("", "triggering Azure OpenAI's content management policy", ErrorClass::ContentFilter),
        ("", "Incorrect API key provided: sk-a***z.", ErrorClass::AuthError),
        ("", "Rate-limit exceeded", ErrorClass::RateLimit),
        ("", "Timeout", ErrorClass::Timeout),
        ("authentication_error", "prompt is too long", ErrorClass::AuthError),
        ("", "", ErrorClass::ModelError),
        ("", "'response_format' of type 'json_schema' is not supported", ErrorClass::ModelError),
    ] {
        assert_eq!(classify(&evidence("", 400, kind, message)), expected, "{kind} {message}");
        assert_eq!(classify(&evidence("", 0, kind, message)), expected, "without a status: {kind} {message}");
    }
}

#[test]
fn phrases_that_an_error_message_quotes_do_not_make_it_fatal() {
    for message in [
        "could not read your text `invalid api key`",
        "error 401 in line 3 of your schema",
        "unknown field `quota`: insufficient quota of tests",
        "model `timeout-predictor` does not accept images",
        "unauthorizedly is no word",
    ] {
        assert_eq!(classify(&evidence("", 400, "", message)), ErrorClass::ModelError, "{message}");
    }
}

#[test]
fn the_names_of_a_provider_take_precedence_over_the_common_ones() {
    let provider_names = [(ErrorClass::NetworkError, "overloaded"), (ErrorClass::AuthError, "other own_word")];
    for (code, kind, expected) in [
        ("overloaded", "", ErrorClass::NetworkError),
        ("Own-Word", "", ErrorClass::AuthError),
        ("", "own_word", ErrorClass::AuthError),
        ("insufficient_quota", "own_word", ErrorClass::QuotaExceeded),
    ] {
        assert_eq!(
            classify_with_provider_names(&evidence(code, 400, kind, ""), &provider_names),
            expected,
            "{code} {kind}"
        );
    }
}

#[test]
fn a_server_error_that_names_a_missing_flag_or_input_is_a_model_error() {
    for (kind, message, expected) in [
        ("server_error", "tools param requires --jinja flag", ErrorClass::ModelError),
        ("", "\"auto\" tool choice requires --enable-auto-tool-choice to be set", ErrorClass::ModelError),
        (
            "server_error",
            "this server was started without --embeddings; start it with `--embeddings`",
            ErrorClass::ModelError,
        ),
        (
            "server_error",
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            ErrorClass::ModelError,
        ),
        ("server_error", "slot 3 crashed -- try again", ErrorClass::NetworkError),
        ("server_error", "the worker died", ErrorClass::NetworkError),
    ] {
        assert_eq!(classify(&evidence("500", 500, kind, message)), expected, "{message}");
    }
    assert_eq!(classify(&evidence("", 503, "", "Loading model")), ErrorClass::NetworkError);
}
