//! What each rule changes, and what it leaves as it is.

use super::*;

const PLACE: &str = r#"{"type": "object", "required": ["lat", "lon"],
    "properties": {"lat": {"type": "number", "minimum": -90, "maximum": 90}, "lon": {"type": "number"},
                   "units": {"enum": ["metric", "imperial"], "default": "metric"}}}"#;
const MONEY: &str = r#"{"type": "object", "required": ["amount", "from", "to"],
    "properties": {"amount": {"type": "number"}, "from": {"type": "string"}, "to": {"type": "string"}, "day": {"type": "string"}}}"#;

/// Rows of parameters, a schema, an error message and the corrected parameters: `{"a": 1} | - | there is no `a` | {}`. A `-` is none.
fn check(rows: &str) {
    for row in rows.trim().lines().map(str::trim).filter(|row| !row.starts_with("//")) {
        let columns: Vec<&str> = row.split(" | ").collect();
        let [parameters, schema, message, expected] = columns[..] else { panic!("a row has four columns: {row}") };
        let schema = match schema {
            "PLACE" => PLACE,
            "MONEY" => MONEY,
            "-" => "",
            schema => schema,
        };
        let rejection = Rejection::new(parameters, schema, message);
        let expected = (expected != "-").then(|| Value::Object(object(expected)).to_string());
        assert_eq!(rejection.repaired(), expected, "case: {parameters} {message} {:?}", rejection.facts);
    }
}

#[test]
fn an_unknown_name_becomes_the_similar_missing_one() {
    check(
        r#"
        {"latitude": 1, "longitude": 2} | PLACE | lat is required | {"lat": 1, "longitude": 2}
        {"latitude": 1, "longitude": 2} | PLACE | missing fields: lat, lon | {"lat": 1, "lon": 2}
        {"latitude": 1, "lon": 2} | PLACE | unknown field `latitude`, expected one of `lat`, `lon`, `units` | {"lat": 1, "lon": 2}
        {"a": 1} | - | unknown field `a`, expected `b` | {"b": 1}
        {"latitude": 1} | - | there is no field `latitude`. Did you mean `lat`? | {"lat": 1}
        {"to_currency": "EUR", "from": "USD", "amount": 1} | MONEY | to is required; unknown field `to_currency` | {"to": "EUR", "from": "USD", "amount": 1}
        {"Amount": 5} | - | `amount` is required | {"amount": 5}
        {"amount": 5} | - | `amount` is required | -
        // A further word may be a unit. A declared name, or one that is a value elsewhere, is not renamed.
        {"amount": 12} | - | missing field `amount_cents`. unknown field `amount` | -
        {"amount": 12} | - | unknown field `amount`, expected one of `amount_cents`, `currency` | -
        {"account": "DE1"} | - | missing field `account_type` | -
        {"to_currency": "EUR", "from": "USD", "amount": 1} | MONEY | to is required | -
        {"sort_by": "date", "date": "x"} | - | unknown field `date`. Did you mean `created_at`? | -
        {"fields": ["id", "date"], "date": "x"} | - | unknown field `date`. Did you mean `created_at`? | -
        {"day": "x"} | MONEY | unknown field `day`. Did you mean `from`? | -
        // No name is similar, two are, or the value does not fit.
        {"x": 1, "lon": 2} | PLACE | lat is required | -
        {"latitude": 1, "lati": 3, "lon": 2} | PLACE | lat is required | -
        {"latitude": "north", "lon": 2} | PLACE | lat is required | -
        {"latitude": 1} | - | unknown field `latitude` | -
        "#,
    );
}

#[test]
fn a_value_is_converted_if_nothing_is_lost() {
    check(
        r#"
        {"lat": "1.50"} | - | json: cannot unmarshal string into Go struct field R.lat of type float64 | {"lat": 1.50}
        {"n": 5} | - | n must be a string | {"n": "5"}
        {"on": "true"} | - | `on` must be a boolean, not a string | {"on": true}
        {"a": "5", "b": "6"} | - | invalid type: string "5", expected f64 at line 1 column 9 | {"a": 5, "b": "6"}
        {"a": "5", "b": "5"} | - | invalid type: string "5", expected f64 at line 1 column 9 | -
        {"to": ["EUR"]} | - | to must be a string | {"to": "EUR"}
        {"to": ["EUR", "USD"]} | - | to must be a string | -
        {"n": "many"} | - | n must be a number | -
        {"n": 1.5} | - | n must be an integer | -
        {"n": 5} | - | n must be a number | -
        {"n": 5} | - | m must be a string | -
        "#,
    );
}

#[test]
fn a_value_becomes_the_allowed_one_that_it_means() {
    check(
        r#"
        {"to": "Euro"} | - | to must be one of EUR, USD, KRW | {"to": "EUR"}
        {"to": "eur", "from": "Euro"} | - | to must be one of EUR, USD, KRW | {"to": "EUR", "from": "Euro"}
        {"units": "imperial units"} | - | `units` must be one of "metric", "imperial" | {"units": "imperial"}
        {"size": "2"} | - | size must be one of 1, 2 or 3 | {"size": 2}
        {"to": "Euro"} | - | unknown variant `Euro`, expected one of `EUR`, `USD` | {"to": "EUR"}
        {"to": "Euro"} | - | no rate for `Euro`. Supported values: EUR, USD | {"to": "EUR"}
        {"to": "Won"} | - | to must be one of EUR, USD, KRW | -
        {"to": "us"} | - | to must be one of USA, USD | -
        {"to": "EUR"} | - | to must be one of EUR, USD | -
        {"to": "Euro"} | - | currency must be one of EUR, USD | -
        // A similar number is another number.
        {"size": 1000} | - | size must be one of 100, 50 | -
        {"size": 250} | - | size must be one of 256, 512 | -
        "#,
    );
}

#[test]
fn a_suggested_value_is_taken_if_it_is_similar_to_the_one_sent() {
    check(
        r#"
        {"city": "Tokoy"} | - | City 'Tokoy' not found. Did you mean 'Tokyo'? | {"city": "Tokyo"}
        // A replaced letter makes another name.
        {"city": "Tokio"} | - | City 'Tokio' not found. Did you mean 'Tokyo'? | -
        {"user": "maria"} | - | user 'maria' not found. Did you mean 'mario'? | -
        {"city": "Tokoy"} | - | there is no place called `Tokoy`; did you mean `Tokyo`? | {"city": "Tokyo"}
        {"city": "Tokoy"} | - | City 'Tokoy' not found. Did you mean 'Tokyo' or 'Toledo'? | -
        {"city": "Paris, France"} | - | City 'Paris, France' not found. Did you mean 'London'? | -
        {"version": 5} | - | version conflict: expected version 7 but got 5 | {"version": 7}
        {"version": 5} | - | the current version is 7 | {"version": 7}
        {"version": 6} | - | expected version 7 but got 5 | -
        {"price": 400} | - | the current price is 468 | -
        // A similar code is another code.
        {"order": "ORD-1042"} | - | order `ORD-1042` not found, did you mean `ORD-1024`? | -
        "#,
    );
}

#[test]
fn dates_signs_spaces_and_coordinates_are_corrected_if_unambiguous() {
    check(
        r#"
        {"day": "31/01/2024"} | - | day must be in the format YYYY-MM-DD | {"day": "2024-01-31"}
        {"day": "Jan 31, 2024"} | - | day must be a date, e.g. 2023-12-31 | {"day": "2024-01-31"}
        {"day": "01/02/2024"} | - | day must be in the format YYYY-MM-DD | -
        {"day": "tomorrow"} | - | day must be in the format YYYY-MM-DD | -
        {"city": " Paris "} | - | city ' Paris ' not found | {"city": "Paris"}
        {"city": "Paris"} | - | city 'Paris' not found | -
        {"city": "  "} | - | city '  ' not found | -
        {"lat": 126.9, "lon": 37.5} | PLACE | `lat` must be at most 90 | {"lat": 37.5, "lon": 126.9}
        {"lat": 126.9, "lon": 137.5} | PLACE | `lat` must be at most 90 | -
        {"amount": -5} | - | amount must be positive | -
        {"amount": 0} | - | amount must be greater than 0 | -
        {"amount": 500} | - | amount must be at most 100 | -
        "#,
    );
    let mut rejection = Rejection::new(r#"{"shares": -100}"#, "", "shares must be greater than 0");
    rejection.request = "Sell 100 shares of Tesla, please.".to_owned();
    assert_eq!(rejection.repaired().as_deref(), Some(r#"{"shares":100}"#));
    rejection.request = "Sell 1000 shares of Tesla, please.".to_owned();
    assert_eq!(rejection.repaired(), None);
}

#[test]
fn a_missing_value_is_taken_from_the_only_source_that_has_one() {
    let missing = "currency is required";
    let mut rejection = Rejection::new(r#"{"amount": 1}"#, "", missing);
    assert_eq!(rejection.repaired(), None, "no source has one");

    let result = |text: &str| Value::parse(text).expect("it is JSON");
    rejection.results = vec![("a".into(), result(r#"{"data": {"currency": "USD"}}"#))];
    assert_eq!(rejection.repaired().as_deref(), Some(r#"{"amount":1,"currency":"USD"}"#));
    rejection.results.push(("b".into(), result(r#"{"currency": "KRW"}"#)));
    assert_eq!(rejection.repaired(), None, "two differ");
    rejection.results.pop();
    rejection.referenced = vec!["currency".to_owned()];
    assert_eq!(rejection.repaired(), None, "the plan takes it from a result");

    let mut rejection = Rejection::new(r#"{"amount": 1}"#, "", missing);
    rejection.request = "convert it, currency: GBP, now".to_owned();
    assert_eq!(rejection.repaired().as_deref(), Some(r#"{"amount":1,"currency":"GBP"}"#));
    rejection.request = "convert it with currency: GBP now".to_owned();
    assert_eq!(rejection.repaired(), None, "the end of the value is unclear");

    check(
        r#"
        {} | {"properties": {"currency": {"default": "USD"}}} | currency is required | {"currency": "USD"}
        {} | {"properties": {"currency": {"const": "USD"}}} | currency is required | {"currency": "USD"}
        {} | {"properties": {"currency": {"enum": ["USD"]}}} | currency is required | {"currency": "USD"}
        {} | {"properties": {"currency": {"enum": ["USD", "EUR"]}}} | currency is required | -
        "#,
    );
}

#[test]
fn an_unknown_field_is_dropped_if_its_value_fits_no_other_field() {
    check(
        r#"
        {"lat": 1, "lon": 2, "date": "today"} | PLACE | there is no field `date` | {"lat": 1, "lon": 2}
        // It may be `units` under another name.
        {"lat": 1, "lon": 2, "measures": "imperial"} | PLACE | there is no field `measures` | -
        {"lat": 1, "lon": 2, "measures": null} | PLACE | there is no field `measures` | {"lat": 1, "lon": 2}
        // The schema declares it, so the error is about something else.
        {"lat": 1, "lon": 2, "units": "metric"} | PLACE | there is no field `units` | -
        // Neither error nor schema lists the known names.
        {"x": 1} | - | there is no field `x` | -
        "#,
    );
}

#[test]
fn a_template_in_an_error_is_not_evaluated() {
    check(
        r#"
        {"to": "step secret"} | - | to must be one of '{{step-1.secret}}', 'b' | -
        {"to": "step-1.secre"} | - | to must be one of '{{step-1.secret}}', 'b' | -
        "#,
    );
}

#[test]
fn the_description_names_the_rule_and_its_fact() {
    let rejection = Rejection::new(
        r#"{"to": "Euro", "day": "31/01/2024"}"#,
        "",
        "to must be one of EUR, USD. day must be in format YYYY-MM-DD",
    );
    let repair = rejection.repair().expect("both are determined");
    insta::assert_snapshot!(repair.description, @r#"allowed: to "Euro" -> "EUR", from the allowed values (`to`: must be one of "EUR", "USD"); date: day "31/01/2024" -> "2024-01-31" (`day`: must be written as YYYY-MM-DD)"#);
}
