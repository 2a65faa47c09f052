//! What each rule changes, and what it leaves as it is.

use super::*;

const PLACE: &str = r#"{"type": "object", "required": ["lat", "lon"],
    "properties": {"lat": {"type": "number", "minimum": -90, "maximum": 90}, "lon": {"type": "number"},
                   "units": {"enum": ["metric", "imperial"], "default": "metric"}}}"#;
const MONEY: &str = r#"{"type": "object", "required": ["amount", "from", "to"],
    "properties": {"amount": {"type": "number"}, "from": {"type": "string"}, "to": {"type": "string"}, "day": {"type": "string"}}}"#;

/// Parameters, schema, error message and the corrected parameters.
type Row = (&'static str, &'static str, &'static str, Option<&'static str>);

fn check(rows: &[Row]) {
    for (parameters, schema, message, expected) in rows {
        let rejection = Rejection::new(parameters, schema, message);
        let expected = expected.map(|text| Value::Object(object(text)).to_string());
        assert_eq!(rejection.repaired(), expected, "case: {parameters} {message} {:?}", rejection.facts);
    }
}

#[test]
fn an_unknown_name_becomes_the_similar_missing_one() {
    check(&[
        (r#"{"latitude": 1, "longitude": 2}"#, PLACE, "lat is required", Some(r#"{"lat": 1, "longitude": 2}"#)),
        (r#"{"latitude": 1, "longitude": 2}"#, PLACE, "missing fields: lat, lon", Some(r#"{"lat": 1, "lon": 2}"#)),
        (
            r#"{"latitude": 1, "lon": 2}"#,
            PLACE,
            "unknown field `latitude`, expected one of `lat`, `lon`, `units`",
            Some(r#"{"lat": 1, "lon": 2}"#),
        ),
        (r#"{"a": 1}"#, "", "unknown field `a`, expected `b`", Some(r#"{"b": 1}"#)),
        (r#"{"latitude": 1}"#, "", "there is no field `latitude`. Did you mean `lat`?", Some(r#"{"lat": 1}"#)),
        (
            r#"{"to_currency": "EUR", "from": "USD", "amount": 1}"#,
            MONEY,
            "to is required; unknown field `to_currency`",
            Some(r#"{"to": "EUR", "from": "USD", "amount": 1}"#),
        ),
        (r#"{"Amount": 5}"#, "", "`amount` is required", Some(r#"{"amount": 5}"#)),
        (r#"{"amount": 5}"#, "", "`amount` is required", None),
        // A further word may be a unit. A declared name, or one that is a value elsewhere, is not renamed.
        (r#"{"amount": 12}"#, "", "missing field `amount_cents`. unknown field `amount`", None),
        (r#"{"amount": 12}"#, "", "unknown field `amount`, expected one of `amount_cents`, `currency`", None),
        (r#"{"account": "DE1"}"#, "", "missing field `account_type`", None),
        (r#"{"to_currency": "EUR", "from": "USD", "amount": 1}"#, MONEY, "to is required", None),
        (r#"{"sort_by": "date", "date": "x"}"#, "", "unknown field `date`. Did you mean `created_at`?", None),
        (r#"{"fields": ["id", "date"], "date": "x"}"#, "", "unknown field `date`. Did you mean `created_at`?", None),
        (r#"{"day": "x"}"#, MONEY, "unknown field `day`. Did you mean `from`?", None),
        // No name is similar, two are, or the value does not fit.
        (r#"{"x": 1, "lon": 2}"#, PLACE, "lat is required", None),
        (r#"{"latitude": 1, "lati": 3, "lon": 2}"#, PLACE, "lat is required", None),
        (r#"{"latitude": "north", "lon": 2}"#, PLACE, "lat is required", None),
        (r#"{"latitude": 1}"#, "", "unknown field `latitude`", None),
    ]);
}

#[test]
fn a_value_is_converted_if_nothing_is_lost() {
    check(&[
        (
            r#"{"lat": "1.50"}"#,
            "",
            "json: cannot unmarshal string into Go struct field R.lat of type float64",
            Some(r#"{"lat": 1.50}"#),
        ),
        (r#"{"n": 5}"#, "", "n must be a string", Some(r#"{"n": "5"}"#)),
        (r#"{"on": "true"}"#, "", "`on` must be a boolean, not a string", Some(r#"{"on": true}"#)),
        (
            r#"{"a": "5", "b": "6"}"#,
            "",
            "invalid type: string \"5\", expected f64 at line 1 column 9",
            Some(r#"{"a": 5, "b": "6"}"#),
        ),
        (r#"{"a": "5", "b": "5"}"#, "", "invalid type: string \"5\", expected f64 at line 1 column 9", None),
        (r#"{"to": ["EUR"]}"#, "", "to must be a string", Some(r#"{"to": "EUR"}"#)),
        (r#"{"to": ["EUR", "USD"]}"#, "", "to must be a string", None),
        (r#"{"n": "many"}"#, "", "n must be a number", None),
        (r#"{"n": 1.5}"#, "", "n must be an integer", None),
        (r#"{"n": 5}"#, "", "n must be a number", None),
        (r#"{"n": 5}"#, "", "m must be a string", None),
    ]);
}

#[test]
fn a_value_becomes_the_allowed_one_that_it_means() {
    check(&[
        (r#"{"to": "Euro"}"#, "", "to must be one of EUR, USD, KRW", Some(r#"{"to": "EUR"}"#)),
        (
            r#"{"to": "eur", "from": "Euro"}"#,
            "",
            "to must be one of EUR, USD, KRW",
            Some(r#"{"to": "EUR", "from": "Euro"}"#),
        ),
        (
            r#"{"units": "imperial units"}"#,
            "",
            "`units` must be one of \"metric\", \"imperial\"",
            Some(r#"{"units": "imperial"}"#),
        ),
        (r#"{"size": "2"}"#, "", "size must be one of 1, 2 or 3", Some(r#"{"size": 2}"#)),
        (r#"{"to": "Euro"}"#, "", "unknown variant `Euro`, expected one of `EUR`, `USD`", Some(r#"{"to": "EUR"}"#)),
        (r#"{"to": "Euro"}"#, "", "no rate for `Euro`. Supported values: EUR, USD", Some(r#"{"to": "EUR"}"#)),
        (r#"{"to": "Won"}"#, "", "to must be one of EUR, USD, KRW", None),
        (r#"{"to": "us"}"#, "", "to must be one of USA, USD", None),
        (r#"{"to": "EUR"}"#, "", "to must be one of EUR, USD", None),
        (r#"{"to": "Euro"}"#, "", "currency must be one of EUR, USD", None),
        // A similar number is another number.
        (r#"{"size": 1000}"#, "", "size must be one of 100, 50", None),
        (r#"{"size": 250}"#, "", "size must be one of 256, 512", None),
    ]);
}

#[test]
fn a_suggested_value_is_taken_if_it_is_similar_to_the_one_sent() {
    check(&[
        (r#"{"city": "Tokoy"}"#, "", "City 'Tokoy' not found. Did you mean 'Tokyo'?", Some(r#"{"city": "Tokyo"}"#)),
        // A replaced letter makes another name.
        (r#"{"city": "Tokio"}"#, "", "City 'Tokio' not found. Did you mean 'Tokyo'?", None),
        (r#"{"user": "maria"}"#, "", "user 'maria' not found. Did you mean 'mario'?", None),
        (
            r#"{"city": "Tokoy"}"#,
            "",
            "there is no place called `Tokoy`; did you mean `Tokyo`?",
            Some(r#"{"city": "Tokyo"}"#),
        ),
        (r#"{"city": "Tokoy"}"#, "", "City 'Tokoy' not found. Did you mean 'Tokyo' or 'Toledo'?", None),
        (r#"{"city": "Paris, France"}"#, "", "City 'Paris, France' not found. Did you mean 'London'?", None),
        (r#"{"version": 5}"#, "", "version conflict: expected version 7 but got 5", Some(r#"{"version": 7}"#)),
        (r#"{"version": 5}"#, "", "the current version is 7", Some(r#"{"version": 7}"#)),
        (r#"{"version": 6}"#, "", "expected version 7 but got 5", None),
        (r#"{"price": 400}"#, "", "the current price is 468", None),
        // A similar code is another code.
        (r#"{"order": "ORD-1042"}"#, "", "order `ORD-1042` not found, did you mean `ORD-1024`?", None),
    ]);
}

#[test]
fn dates_signs_spaces_and_coordinates_are_corrected_if_unambiguous() {
    check(&[
        (r#"{"day": "31/01/2024"}"#, "", "day must be in the format YYYY-MM-DD", Some(r#"{"day": "2024-01-31"}"#)),
        (r#"{"day": "Jan 31, 2024"}"#, "", "day must be a date, e.g. 2023-12-31", Some(r#"{"day": "2024-01-31"}"#)),
        (r#"{"day": "01/02/2024"}"#, "", "day must be in the format YYYY-MM-DD", None),
        (r#"{"day": "tomorrow"}"#, "", "day must be in the format YYYY-MM-DD", None),
        (r#"{"city": " Paris "}"#, "", "city ' Paris ' not found", Some(r#"{"city": "Paris"}"#)),
        (r#"{"city": "Paris"}"#, "", "city 'Paris' not found", None),
        (r#"{"city": "  "}"#, "", "city '  ' not found", None),
        (r#"{"lat": 126.9, "lon": 37.5}"#, PLACE, "`lat` must be at most 90", Some(r#"{"lat": 37.5, "lon": 126.9}"#)),
        (r#"{"lat": 126.9, "lon": 137.5}"#, PLACE, "`lat` must be at most 90", None),
        (r#"{"amount": -5}"#, "", "amount must be positive", None),
        (r#"{"amount": 0}"#, "", "amount must be greater than 0", None),
        (r#"{"amount": 500}"#, "", "amount must be at most 100", None),
    ]);
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

    let dollars = Some(r#"{"currency": "USD"}"#);
    check(&[
        ("{}", r#"{"properties": {"currency": {"default": "USD"}}}"#, missing, dollars),
        ("{}", r#"{"properties": {"currency": {"const": "USD"}}}"#, missing, dollars),
        ("{}", r#"{"properties": {"currency": {"enum": ["USD"]}}}"#, missing, dollars),
        ("{}", r#"{"properties": {"currency": {"enum": ["USD", "EUR"]}}}"#, missing, None),
    ]);
}

#[test]
fn an_unknown_field_is_dropped_if_its_value_fits_no_other_field() {
    check(&[
        (
            r#"{"lat": 1, "lon": 2, "date": "today"}"#,
            PLACE,
            "there is no field `date`",
            Some(r#"{"lat": 1, "lon": 2}"#),
        ),
        // It may be `units` under another name.
        (r#"{"lat": 1, "lon": 2, "measures": "imperial"}"#, PLACE, "there is no field `measures`", None),
        (
            r#"{"lat": 1, "lon": 2, "measures": null}"#,
            PLACE,
            "there is no field `measures`",
            Some(r#"{"lat": 1, "lon": 2}"#),
        ),
        // The schema declares it, so the error is about something else.
        (r#"{"lat": 1, "lon": 2, "units": "metric"}"#, PLACE, "there is no field `units`", None),
        // Neither error nor schema lists the known names.
        (r#"{"x": 1}"#, "", "there is no field `x`", None),
    ]);
}

#[test]
fn a_template_in_an_error_is_not_evaluated() {
    let message = "to must be one of '{{step-1.secret}}', 'b'";
    check(&[(r#"{"to": "step secret"}"#, "", message, None), (r#"{"to": "step-1.secre"}"#, "", message, None)]);
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
