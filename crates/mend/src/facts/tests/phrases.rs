//! Facts in sentences.

use super::facts_in;

/// Rows of a sentence and the facts that it states: `sentence => fact | fact`.
fn check(rows: &[&str]) {
    for row in rows {
        let (text, expected) = row.split_once(" =>").expect("a row has an arrow");
        let facts: Vec<String> = facts_in(text, None).iter().map(ToString::to_string).collect();
        assert_eq!(facts.join(" | "), expected.trim(), "case: {text}");
    }
}

#[test]
fn every_phrase_for_type_errors_is_matched() {
    check(&[
        "json: cannot unmarshal string into Go struct field WeatherRequest.lat of type float64 => `lat`: must be of type number",
        "json: cannot unmarshal string into Go struct field .lat of type float64 => `lat`: must be of type number",
        "json: cannot unmarshal number 1.5 into Go struct field Order.lines.count of type int64 => `lines.count`: must be of type integer",
        "cannot unmarshal string into Go value of type float64 => must be of type number",
        "cannot unmarshal number into Go struct field R.name of type string => `name`: must be of type string",
        "cannot unmarshal bool into Go struct field R.n of type int => `n`: must be of type integer",
        "json: cannot unmarshal => is wrong",
        "type mismatch => is wrong",
        "invalid type => is wrong",
        "expected number => must be of type number",
        "expected string => must be of type string",
        "expected boolean => must be of type boolean",
        "expected integer => must be of type integer",
        "expected float => must be of type number",
        "invalid value => is wrong",
    ]);
}

#[test]
fn every_phrase_for_rejected_values_is_matched() {
    check(&[
        "amount must be greater than 0 => `amount`: must be more than 0",
        "Amount must be greater than 0 => `Amount`: must be more than 0",
        "amount must be less than 100 => `amount`: must be less than 100",
        "amount must be positive => `amount`: must be more than 0",
        "amount must be non-negative => `amount`: must be at least 0",
        "amount must be at least 5 => `amount`: must be at least 5",
        "amount must be at most 5 => `amount`: must be at most 5",
        "city is required => `city`: is required",
        "Location is required => `Location`: is required",
        "missing required field: city => `city`: is required",
        "missing required parameters: city, country => `city`: is required | `country`: is required",
        "city cannot be empty => `city`: must not be empty",
        "amount cannot be zero => `amount`: is wrong",
        "city cannot be null => `city`: is required",
        "amount cannot be negative => `amount`: must be at least 0",
        "invalid format => is wrong",
        "out of range => is wrong",
        "invalid_request => is wrong",
        "bad request => is wrong",
        "validation failed => is wrong",
        "constraint violation => is wrong",
        "currency not found => `currency`: names nothing that is known",
        r#"Location 'Flower Mound, TX' not found in weather database => `Location`: nothing is known as "Flower Mound, TX""#,
        r#"City 'XYZ123' not found => `City`: nothing is known as "XYZ123""#,
    ]);
}

#[test]
fn field_names_are_parsed_from_sentences() {
    check(&[
        "missing field `amount` at line 1 column 20 => `amount`: is required",
        "unknown field `a`, expected `b` => `a`: is not known; known are b",
        "unknown field `a`, expected `b` or `c` at line 1 => `a`: is not known; known are b, c",
        "unknown field `a`, expected one of `b`, `c`, `d` => `a`: is not known; known are b, c, d",
        r#"json: unknown field "latitude" => `latitude`: is not known"#,
        r#"Unknown name "maxresults": Cannot find field. => `maxresults`: is not known"#,
        "Missing required param: amount. => `amount`: is required",
        "Required request parameter 'accountId' for method parameter type String is not present => `accountId`: is required",
        r#""note" is not allowed => `note`: is not known"#,
        r#""note" is not allowed to be empty => `note`: must not be empty"#,
        "order type 'limit' is not allowed outside trading hours =>",
        r#"'date' is not a valid field to sort by. Did you mean 'created_at'? => nothing is known as "date" | "created_at" may be meant"#,
        r#"Pod "x" is invalid: spec.restartPolicy: Unsupported value: "always": supported values: "Always", "Never" => `spec.restartPolicy`: is wrong | `spec.restartPolicy`: must be one of "Always", "Never""#,
        r#"unknown variant `Euro`, expected one of `EUR`, `USD` => must be one of "EUR", "USD""#,
        r#"invalid type: string "5", expected f64 at line 1 column 12 => must be of type number"#,
        r#"Failed to deserialize the JSON body into the target type: amount: invalid type: string "5", expected f64 => `amount`: must be of type number"#,
        "The amount field is required. => `amount`: is required",
        "shipping address is required => `shipping address`: is required",
        "there is no field `latitude` => `latitude`: is not known",
        "'amount' is a required property => `amount`: is required",
        "Additional properties are not allowed ('x', 'y' were unexpected) => `x`: is not known | `y`: is not known",
        "must have required property 'amount' => `amount`: is required",
        "convert() got an unexpected keyword argument 'sum' => `sum`: is not known",
        "Key: 'Request.Amount' Error:Field validation for 'Amount' failed on the 'required' tag => `Amount`: is required",
        r#"there is no field `latitude`. Did you mean `lat`? => `latitude`: is not known | `latitude`: "lat" may be meant"#,
    ]);
}

#[test]
fn values_and_limits_are_parsed_from_sentences() {
    check(&[
        r#"`units` must be one of "metric", "imperial" => `units`: must be one of "metric", "imperial""#,
        r#"units must be one of: metric, imperial => `units`: must be one of "metric", "imperial""#,
        r#"city must be one of: New York, San Juan Capistrano or Paris => `city`: must be one of "New York", "San Juan Capistrano", "Paris""#,
        "size must be one of 1, 2 or 3 => `size`: must be one of 1, 2, 3",
        r#"'x' is not one of ['a', 'b'] => must be one of "a", "b""#,
        r#"Invalid enum value. Expected 'a' | 'b', received 'c' => must be one of "a", "b""#,
        r#"Supported values: USD, EUR and KRW. => must be one of "USD", "EUR", "KRW""#,
        "`lat` must be a number, not a string => `lat`: must be of type number",
        "lat must be between -90 and 90 => `lat`: must be at least -90 | `lat`: must be at most 90",
        "must be >= 1 => must be at least 1",
        "Input should be greater than or equal to 3 => must be at least 3",
        "-5 is less than the minimum of 0 => must be at least 0",
        "name must be at least 3 characters => `name`: must have at least 3 characters",
        "Ensure this field has no more than 10 characters. => must have at most 10 characters",
        "is too short (minimum is 8 characters) => must have at least 8 characters",
        "expected version 7 but got 5 => `version`: must be 7",
        "expected string but got number => must be of type string",
        "date must be in format YYYY-MM-DD => `date`: must be written as YYYY-MM-DD",
        r#"date must be in the format YYYY-MM-DD, e.g. 2024-01-31 => `date`: must be written as YYYY-MM-DD | `date`: must be written like "2024-01-31""#,
        "time data '31/01/2024' does not match format '%Y-%m-%d' => must be written as %Y-%m-%d",
        "rate limited, try again in 6m0s => try again after 360000 ms",
        "please wait 30 seconds => try again after 30000 ms",
        // A point in time, and no wait of fifty years.
        "Retry after 1794000000 =>",
        r#"1 validation error detected: Value 'T3.micro' at 'instanceType' failed to satisfy constraint: Member must satisfy enum value set: [t3.micro, t3.small] => `instanceType`: must be one of "t3.micro", "t3.small""#,
        "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1 => `limit`: must be at least 1",
        r#"Cannot deserialize value of type `com.x.Side` from String "buy": not one of the values accepted for Enum class: [BUY, SELL] => must be one of "BUY", "SELL""#,
    ]);
}

#[test]
fn a_text_without_a_phrase_states_no_facts() {
    for text in ["", "internal error", "something went wrong", "the moon is full", "???", "{{step-1.price}}", "must be"]
    {
        assert_eq!(facts_in(text, None), [], "case: {text}");
    }
}
