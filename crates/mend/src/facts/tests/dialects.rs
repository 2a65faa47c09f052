//! Facts in the error bodies of well-known frameworks.

use reknit_protocol::ErrorFields;

use super::{lines, lines_with};

/// Checks the facts of a reply, with ` | ` between them.
fn check(status: u16, body: &str, expected: &str) {
    assert_eq!(lines(status, body).join(" | "), expected, "case: {body}");
}

#[test]
fn problem_details_state_facts() {
    let body = r##"{"type": "https://shop.example/problems/validation", "title": "Your request is not valid.", "status": 422,
        "errors": [{"detail": "must be a positive integer", "pointer": "#/age"},
                   {"detail": "must be one of 'green', 'red' or 'blue'", "pointer": "#/profile/color"}]}"##;
    check(
        422,
        body,
        r#"is wrong | `age`: must be more than 0 | `profile.color`: must be one of "green", "red", "blue""#,
    );
    let body = r#"{"title": "Bad", "invalid-params": [{"name": "age", "reason": "must be at least 18"}]}"#;
    check(400, body, "`age`: must be at least 18");
}

#[test]
fn json_api_errors_state_facts_about_their_source() {
    let body = r#"{"errors": [{"status": "422", "source": {"pointer": "/data/attributes/firstName"},
        "title": "Invalid Attribute", "detail": "First name must contain at least 2 characters."},
        {"source": {"parameter": "include"}, "title": "Invalid Query Parameter", "detail": "include is not allowed"}]}"#;
    check(422, body, "`First name`: must have at least 2 characters | `include`: is not known");
}

#[test]
fn pydantic_errors_state_facts_about_their_loc() {
    let body = r#"{"detail": [
        {"type": "missing", "loc": ["body", "amount"], "msg": "Field required", "input": {}},
        {"type": "float_parsing", "loc": ["body", "lat"], "msg": "Input should be a valid number, unable to parse string as a number", "input": "north"},
        {"type": "literal_error", "loc": ["query", "units"], "msg": "Input should be 'metric' or 'imperial'", "ctx": {"expected": "'metric' or 'imperial'"}},
        {"type": "greater_than", "loc": ["body", "legs", 0, "price"], "msg": "Input should be greater than 0", "ctx": {"gt": 0}},
        {"type": "extra_forbidden", "loc": ["body", "latitude"], "msg": "Extra inputs are not permitted", "input": 1}]}"#;
    check(
        422,
        body,
        r#"`amount`: is required | `lat`: must be of type number | `units`: must be one of "metric", "imperial" | `legs[0].price`: must be more than 0 | `latitude`: is not known"#,
    );
    let older =
        r#"{"detail": [{"loc": ["body", "n"], "msg": "value is not a valid integer", "type": "type_error.integer"}]}"#;
    check(422, older, "`n`: must be of type integer");
}

#[test]
fn spring_errors_state_facts_about_their_field() {
    let body = r#"{"timestamp": "2026-01-01T00:00:00Z", "status": 400, "error": "Bad Request", "errors": [
        {"field": "amount", "rejectedValue": -5, "defaultMessage": "must be greater than 0", "code": "Positive"},
        {"field": "currency", "rejectedValue": null, "defaultMessage": "must not be blank", "code": "NotBlank"}]}"#;
    check(400, body, "is wrong | `amount`: must be more than 0 | `currency`: must not be empty");
    let body = r#"{"title": "Constraint Violation", "violations": [{"field": "count", "message": "must be less than or equal to 10"}]}"#;
    check(400, body, "is wrong | `count`: must be at most 10");
}

#[test]
fn rails_laravel_and_asp_net_errors_have_sentences_for_each_field() {
    let body = r#"{"errors": {"name": ["can't be blank", "is too short (minimum is 3 characters)"], "base": ["Validation failed"]}}"#;
    check(422, body, "`name`: must not be empty | `name`: must have at least 3 characters | is wrong");
    let body = r#"{"message": "The given data was invalid.", "errors": {"amount": ["The amount must be a number."], "to": ["The to field is required."]}}"#;
    check(422, body, "`amount`: must be of type number | `to`: is required");
    let body = r#"{"title": "One or more validation errors occurred.", "status": 400, "errors": {"Amount": ["The Amount field is required."]}}"#;
    check(400, body, "`Amount`: is required");
}

#[test]
fn django_errors_have_sentences_in_the_body_itself() {
    let body = r#"{"amount": ["A valid number is required."], "currency": ["\"Euro\" is not a valid choice."],
        "note": ["This field may not be blank."], "from": ["This field is required."], "non_field_errors": ["Bad request"]}"#;
    check(
        400,
        body,
        r#"`amount`: must be of type number | `currency`: nothing is known as "Euro" | `note`: must not be empty | `from`: is required | is wrong"#,
    );
}

#[test]
fn graphql_errors_state_facts_in_their_messages() {
    let body = r#"{"errors": [
        {"message": "Field \"latitude\" is not defined by type \"Place\". Did you mean \"lat\"?", "locations": [{"line": 1, "column": 2}]},
        {"message": "Argument \"amount\" of type \"Float!\" is required, but it was not provided.", "locations": []},
        {"message": "Value \"EURO\" does not exist in \"Currency\" enum. Did you mean the enum value \"EUR\"?", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}]}"#;
    check(
        400,
        body,
        r#"`latitude`: is not known | `latitude`: "lat" may be meant | `amount`: is required | nothing is known as "EURO" | "EUR" may be meant"#,
    );
}

#[test]
fn schema_validators_state_facts_in_params_and_codes() {
    let body = r##"{"errors": [
        {"instancePath": "", "schemaPath": "#/required", "keyword": "required", "params": {"missingProperty": "amount"}, "message": "must have required property 'amount'"},
        {"instancePath": "/units", "keyword": "enum", "params": {"allowedValues": ["metric", "imperial"]}, "message": "must be equal to one of the allowed values"},
        {"instancePath": "", "keyword": "additionalProperties", "params": {"additionalProperty": "sum"}, "message": "must NOT have additional properties"},
        {"instancePath": "/lat", "keyword": "type", "params": {"type": "number"}, "message": "must be number"}]}"##;
    check(
        400,
        body,
        r#"`amount`: is required | `units`: must be one of "metric", "imperial" | `sum`: is not known | `lat`: must be of type number"#,
    );
    let body = r#"{"error": {"issues": [
        {"code": "invalid_type", "expected": "number", "received": "string", "path": ["amount"], "message": "Expected number, received string"},
        {"code": "invalid_enum_value", "options": ["a", "b"], "received": "c", "path": ["kind"], "message": "Invalid enum value. Expected 'a' | 'b', received 'c'"},
        {"code": "invalid_type", "expected": "string", "received": "undefined", "path": ["to"], "message": "Required"}], "name": "ZodError"}}"#;
    check(400, body, r#"`amount`: must be of type number | `kind`: must be one of "a", "b" | `to`: is required"#);
}

#[test]
fn the_envelope_of_the_protocol_states_facts_in_its_details() {
    // The message and the details of an error, and the facts.
    let rows = r#"
        no; {"field": "units", "allowed": ["metric", "imperial"], "actual": "si"} => `units`: must be one of "metric", "imperial"
        there is no field `latitude`; {"field": "latitude", "did_you_mean": "lat", "fields": ["lat", "lon"], "hint": "did you mean `lat`?"} => `latitude`: is not known; known are lat, lon | `latitude`: "lat" may be meant | `latitude`: hint: did you mean `lat`? | `latitude`: is not known
        no share is traded as `Tesla`; {"symbol": "Tesla", "known_symbols": ["TSLA", "AAPL"]} => `symbol`: must be one of "TSLA", "AAPL" | nothing is known as "Tesla"
        slow; {"retry_after": "60s"} => try again after 60000 ms
        version conflict; {"current_version": 7} => `version`: must be 7
        bad; {"field": "lat", "expected": "number", "actual": "string", "example": 37.5} => `lat`: must be of type number | `lat`: must be written like 37.5
        bad; {"suggestion": "Tokyo", "field": "city"} => `city`: "Tokyo" may be meant
    "#;
    for row in rows.trim().lines() {
        let (error, expected) = row.trim().split_once(" => ").expect("a row has an arrow");
        let (message, details) = error.split_once("; ").expect("a row has a message and details");
        let error =
            format!(r#"{{"code": "X", "message": "{message}", "category": "INPUT_ERROR", "details": {details}}}"#);
        check(400, &format!(r#"{{"success": false, "error": {error}}}"#), expected);
    }
}

#[test]
fn google_and_kubernetes_errors_state_facts_in_nested_lists() {
    let body = r#"{"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT",
        "details": [{"@type": "BadRequest", "fieldViolations": [{"field": "order.quantity", "description": "must be positive"}]}]}}"#;
    check(400, body, "`order.quantity`: must be more than 0");
    let body = r#"{"kind": "Status", "message": "Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "details": {"name": "web", "causes": [{"message": "Invalid value: -1: must be greater than or equal to 0", "field": "spec.replicas"}]}}"#;
    check(422, body, "`spec.replicas`: is wrong | `spec.replicas`: must be at least 0");
}

#[test]
fn a_code_that_starts_with_the_name_of_a_type_is_no_type() {
    let body = r#"{"detail": [{"type": "decimal_max_places", "loc": ["body", "amount"], "msg": "Decimal input should have no more than 2 decimal places", "ctx": {"decimal_places": 2}}]}"#;
    assert_eq!(lines(422, body), Vec::<String>::new());
}

#[test]
fn a_message_that_was_assembled_from_the_body_states_no_facts() {
    let body =
        r#"{"errors": [{"field": "to", "message": "see below"}, {"field": "amount", "message": "is required"}]}"#;
    check(422, body, "`amount`: is required");
}

#[test]
fn a_plain_text_body_states_facts() {
    assert_eq!(
        lines(400, "json: cannot unmarshal string into Go struct field R.lat of type float64"),
        ["`lat`: must be of type number"]
    );
}

#[test]
fn a_tool_that_says_where_its_errors_name_a_parameter_states_facts_in_its_own_shape() {
    let fields = ErrorFields::new("stelle", Some("hinweis".to_owned()));
    let body = r#"{"fehler": {"liste": [{"stelle": "units", "hinweis": "must be one of 'metric', 'imperial'"},
        {"stelle": ["legs", 0, "to"], "hinweis": "is required"}, {"stelle": 7, "hinweis": "must be positive"}]}}"#;
    assert_eq!(
        lines_with(422, body, Some(&fields)),
        [r#"`units`: must be one of "metric", "imperial""#, "`legs[0].to`: is required"]
    );
    assert!(!lines(422, body).iter().any(|line| line.contains("units")));
}
