//! Numbers, booleans, strings and allowed values.

use reknit_salvage::FixKind::{
    BooleanFromWord, Emphasis, EnumLabel, EnumSpelling, EnumTypo, ListOfOne, NumberInString, NumberNotation,
    NumberSpelling, NumberToString,
};

use crate::support::{becomes, refused, stays};

const NUMBER: &str = r#"{"type": "number"}"#;
const INTEGER: &str = r#"{"type": "integer"}"#;
const BOOLEAN: &str = r#"{"type": "boolean"}"#;
const STRING: &str = r#"{"type": "string"}"#;

#[test]
fn a_string_is_converted_to_a_number_with_all_its_digits() {
    for (text, number) in [
        ("35.6897", "35.6897"),
        ("-7", "-7"),
        (" 12 ", "12"),
        ("0.10", "0.10"),
        ("1e3", "1e3"),
        ("1E-2", "1E-2"),
        ("+5", "5"),
        ("-0", "-0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ("1,200", "1200"),
        ("1,234,567.89", "1234567.89"),
        ("-12,000", "-12000"),
        ("+1,000", "1000"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("5.", "5"),
        ("007", "7"),
        ("-007.50", "-7.50"),
        ("000", "0"),
        ("**5**", "5"),
        ("*5*", "5"),
        ("`5`", "5"),
        ("'5'", "5"),
    ] {
        becomes(NUMBER, &[(&format!("{text:?}"), number, &[NumberInString])]);
    }
}

#[test]
fn one_comma_before_three_digits_is_clear_only_for_an_integer() {
    for (text, number) in [("1,234", "1234"), ("999,999", "999999"), ("-87,344", "-87344")] {
        let text = format!("{text:?}");
        becomes(INTEGER, &[(&text, number, &[NumberInString])]);
        refused(NUMBER, &[&text]);
    }
}

#[test]
fn a_string_that_is_not_a_number_is_refused() {
    let texts = [
        "",
        " ",
        "abc",
        "NaN",
        "Inf",
        "Infinity",
        "-Infinity",
        "0x",
        "12 apples",
        "$5",
        "5%",
        "1_00",
        ".",
        "5..",
        "-",
        "0012345678",
        "1.2.3",
        "--5",
        "+-5",
        "-+5",
        "1e",
        "2024-01-05",
        "12:30",
        "555-1234",
        "+1 555 123 4567",
        "+15551234567",
        "12,34",
        "1,2345",
        "1234,567",
        ",123",
        "1,",
        "0,123",
        "1,234.",
        "1,234.5.6",
        "1,234,56",
        "1,234e5",
        "15.500",
        "true",
        "**",
        "a few",
        "1/2",
        "3 * 4",
    ];
    for text in texts {
        refused(NUMBER, &[&format!("{text:?}")]);
        refused(INTEGER, &[&format!("{text:?}")]);
    }
    refused(NUMBER, &["null", "true", "[1, 2]", "{}"]);
}

#[test]
fn an_integer_is_converted_from_any_spelling_and_never_rounded() {
    becomes(
        INTEGER,
        &[
            (r#""5""#, "5", &[NumberInString]),
            (r#""5.0""#, "5", &[NumberInString]),
            (r#""5.00""#, "5", &[NumberInString]),
            (r#""1e3""#, "1000", &[NumberInString]),
            (r#""1,000.0""#, "1000", &[NumberInString]),
            (r#""5.""#, "5", &[NumberInString]),
            (r#""007""#, "7", &[NumberInString]),
            (r#""+5""#, "5", &[NumberInString]),
            (r#""12345678901234567890123""#, "12345678901234567890123", &[NumberInString]),
        ],
    );
    stays(INTEGER, &["5", "5.0", "1e3", "-0"]);
    refused(INTEGER, &[r#""5.000""#, r#""5.5""#, "5.5", r#""1e-1""#, r#""1e999""#, r#""0.99999999999999999999999""#]);
}

#[test]
fn a_number_in_another_notation_is_read_if_there_is_one_way() {
    for (text, number) in [
        ("1 234", "1234"),
        ("1'234", "1234"),
        ("1.234,56", "1234.56"),
        ("１２", "12"),
        ("−5", "-5"),
        ("five", "5"),
        ("5n", "5"),
    ] {
        becomes(NUMBER, &[(&format!("{text:?}"), number, &[NumberNotation])]);
    }
    stays(STRING, &[r#""five""#, r#""1 234""#]);
}

#[test]
fn a_string_schema_keeps_any_spelling_of_a_number() {
    stays(STRING, &[r#"".5""#, r#""5.""#, r#""007""#, r#""+5""#]);
    stays(r#"{"type": ["string", "integer"]}"#, &[r#""007""#]);
}

#[test]
fn draft_4_gets_integers_without_a_fraction() {
    let schema = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}"#;
    becomes(schema, &[("5.0", "5", &[NumberSpelling]), (r#""5.0""#, "5", &[NumberInString])]);
}

#[test]
fn a_number_in_a_string_outside_the_range_is_refused() {
    let schema = r#"{"type": "integer", "minimum": 1, "maximum": 10}"#;
    becomes(schema, &[(r#""10""#, "10", &[NumberInString])]);
    refused(schema, &[r#""11""#, r#""0""#, "0"]);
}

#[test]
fn limits_are_compared_digit_by_digit() {
    let schema = r#"{"type": "integer", "maximum": 9007199254740992}"#;
    stays(schema, &["9007199254740992"]);
    refused(schema, &["9007199254740993", r#""9007199254740993""#]);
}

#[test]
fn words_and_zero_and_one_become_booleans_under_a_boolean_schema() {
    for word in ["true", "TRUE", "True", "yes", "Yes", "on", "y", "Y", "t", "1", " yes ", "**true**", "'True'"] {
        becomes(BOOLEAN, &[(&format!("{word:?}"), "true", &[BooleanFromWord])]);
    }
    for word in ["false", "False", "no", "NO", "off", "n", "f", "0"] {
        becomes(BOOLEAN, &[(&format!("{word:?}"), "false", &[BooleanFromWord])]);
    }
    becomes(BOOLEAN, &[("1", "true", &[BooleanFromWord]), ("0", "false", &[BooleanFromWord])]);
    refused(BOOLEAN, &[r#""maybe""#, r#""""#, r#""2""#, "2", "-1", "0.5", "null", "[2]", r#""yes please""#]);
}

#[test]
fn words_stay_strings_under_any_other_schema() {
    stays(STRING, &[r#""yes""#, r#""true""#, r#""1""#, r#""null""#, r#""[1]""#, r#""**bold**""#, r#""""#]);
    stays("{}", &[r#""yes""#, r#""5""#, r#""[1]""#, "1"]);
    refused(NUMBER, &[r#""yes""#, "true"]);
}

#[test]
fn a_number_becomes_a_string_as_it_was_written() {
    becomes(
        STRING,
        &[
            ("0.10", r#""0.10""#, &[NumberToString]),
            ("94107", r#""94107""#, &[NumberToString]),
            ("1e3", r#""1e3""#, &[NumberToString]),
            ("12345678901234567890123", r#""12345678901234567890123""#, &[NumberToString]),
        ],
    );
    refused(STRING, &["true", "null", "{}", r#"["a", "b"]"#, r#"{"name": "Paris"}"#]);
}

#[test]
fn an_allowed_value_is_recognised_in_another_spelling() {
    let cities = r#"{"type": "string", "enum": ["New York", "san_francisco", "Tokyo", "BERLIN-MITTE", "Hauptstraße"]}"#;
    for (text, city) in [
        ("new york", "New York"),
        ("NewYork", "New York"),
        ("new_york", "New York"),
        ("San Francisco", "san_francisco"),
        ("SAN-FRANCISCO", "san_francisco"),
        ("**Tokyo**", "Tokyo"),
        ("`tokyo`", "Tokyo"),
        (" Tokyo ", "Tokyo"),
        ("berlin mitte", "BERLIN-MITTE"),
        ("HAUPTSTRASSE", "Hauptstraße"),
    ] {
        becomes(cities, &[(&format!("{text:?}"), &format!("{city:?}"), &[EnumSpelling])]);
    }
    stays(cities, &[r#""Tokyo""#]);
    refused(cities, &[r#""Osaka""#, r#""""#, r#""-""#, r#""New York City""#, "5", "null"]);
}

#[test]
fn an_allowed_value_is_recognised_by_its_label_and_with_one_typo() {
    let labelled = r#"{"oneOf": [{"const": "km", "title": "Kilometre"}, {"const": "mi", "title": "Mile"}]}"#;
    becomes(labelled, &[(r#""kilometre""#, r#""km""#, &[EnumLabel])]);
    let named = r#"{"enum": [1, 2, 3], "enumNames": ["low", "high", "high"]}"#;
    becomes(named, &[(r#""Low""#, "1", &[EnumLabel])]);
    refused(named, &[r#""high""#]);
    let states = r#"{"enum": ["pending", "delivered", "deliverd by hand"]}"#;
    becomes(states, &[(r#""pendng""#, r#""pending""#, &[EnumTypo]), (r#"["pending"]"#, r#""pending""#, &[ListOfOne])]);
    refused(states, &[r#""pend""#, r#""sending""#, r#""undelivered""#]);
}

#[test]
fn a_spelling_of_two_allowed_values_is_refused() {
    let schema = r#"{"enum": ["a-b", "a_b", "LOW", "low"]}"#;
    refused(schema, &[r#""A B""#, r#""Low""#, r#""ab""#]);
    stays(schema, &[r#""a-b""#, r#""LOW""#]);
    becomes(schema, &[(r#""**low**""#, r#""low""#, &[EnumSpelling])]);
    refused(r#"{"enum": ["-", "_", "+"]}"#, &[r#""--""#, r#""""#]);
}

#[test]
fn numbers_and_strings_are_converted_to_enum_values() {
    becomes(r#"{"enum": [1, 2, 3]}"#, &[(r#""2""#, "2", &[NumberInString]), (r#""2.0""#, "2", &[NumberInString])]);
    becomes(r#"{"enum": ["1", "2"]}"#, &[("1", r#""1""#, &[NumberToString]), ("2.0", r#""2""#, &[NumberToString])]);
    becomes(r#"{"enum": [true, false]}"#, &[(r#""yes""#, "true", &[BooleanFromWord])]);
    becomes(r#"{"type": "string", "enum": ["5", "10"]}"#, &[("10", r#""10""#, &[NumberToString])]);
    becomes(r#"{"enum": [1, 2, 3]}"#, &[(r#""one""#, "1", &[NumberNotation])]);
    refused(r#"{"enum": [1, 2, 3]}"#, &[r#""4""#, "4", r#""four""#]);
    refused(r#"{"enum": ["true", "false"]}"#, &["true"]);
}

#[test]
fn a_const_is_fitted_like_an_enum_of_one() {
    becomes(r#"{"const": "Metric"}"#, &[(r#""metric""#, r#""Metric""#, &[EnumSpelling])]);
    becomes(r#"{"const": 2}"#, &[(r#""2""#, "2", &[NumberInString])]);
    stays(r#"{"const": 2}"#, &["2", "2.0"]);
    stays(r#"{"const": 123456789012345678901234567890}"#, &["123456789012345678901234567890"]);
    refused(r#"{"const": "Metric"}"#, &[r#""imperial""#]);
}

#[test]
fn emphasis_is_dropped_if_a_string_fits_only_without_it() {
    let code = r#"{"type": "string", "pattern": "^[A-Z]{3}$"}"#;
    becomes(code, &[(r#""**EUR**""#, r#""EUR""#, &[Emphasis])]);
    refused(code, &[r#""**Euro**""#, r#""euro""#]);
    stays(STRING, &[r#""**EUR**""#]);
}
