//! Numbers keep their digits and compare by value.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::number;
use reknit_protocol::{Number, NumberError};

#[test]
fn a_number_prints_as_it_was_written() {
    let digits = "9".repeat(400);
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "1.0",
        "1.10",
        "1e5",
        "1E+05",
        "-12.5e-07",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "100000000000000000000000000000000",
        "0.1234567890123456789012",
        "0.123456789012345678901",
        "0.12345678901234567890123",
        &digits,
    ] {
        assert_eq!(number(text).to_string(), text);
        assert_eq!(format!("{:?}", number(text)), text);
    }
}

#[test]
fn only_the_json_grammar_is_accepted() {
    for (text, error) in [
        ("", NumberError::MissingDigit),
        ("-", NumberError::MissingDigit),
        ("+1", NumberError::MissingDigit),
        (".5", NumberError::MissingDigit),
        ("1.", NumberError::MissingDigit),
        ("1.e5", NumberError::MissingDigit),
        ("1e", NumberError::MissingDigit),
        ("1e-", NumberError::MissingDigit),
        ("Infinity", NumberError::MissingDigit),
        ("-NaN", NumberError::MissingDigit),
        ("01", NumberError::LeadingZero),
        ("-00", NumberError::LeadingZero),
        ("1 ", NumberError::TrailingText),
        ("1,000", NumberError::TrailingText),
        ("0x10", NumberError::TrailingText),
        ("1_000", NumberError::TrailingText),
        ("1e1e1", NumberError::TrailingText),
        ("٣", NumberError::MissingDigit),
        ("1e1234567890123456789", NumberError::LongExponent),
        ("1e-0000000000000000001", NumberError::LongExponent),
    ] {
        assert_eq!(Number::parse(text), Err(error), "text: {text:?}");
    }
    assert_eq!(number("1e-999999999999999999").to_string(), "1e-999999999999999999");
}

#[test]
fn numbers_with_the_same_value_are_equal() {
    for equal in [
        vec!["0", "-0", "0.0", "-0.00", "0e5", "0.000e-999999999999999999"],
        vec!["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000", "100E-2"],
        vec!["-25", "-2.5e1", "-250e-1", "-25.00"],
        vec!["1e400", "10e399", "0.1e401"],
        vec!["9223372036854775808", "9223372036854775808.0", "9.223372036854775808e18"],
        vec!["0.00001", "1e-5", "1.0e-05"],
        vec!["12345678901234567890123456789012345.5", "123456789012345678901234567890123455e-1"],
    ] {
        let numbers: HashSet<_> = equal.iter().map(|text| number(text)).collect();
        assert_eq!(numbers.len(), 1, "{equal:?} are equal and have the same hash");
        let canonical: HashSet<_> = equal.iter().map(|text| number(text).canonical()).collect();
        assert_eq!(canonical.len(), 1, "{canonical:?} should be one spelling");
    }
}

#[test]
fn numbers_sort_by_value_beyond_the_precision_of_floats() {
    let sorted = [
        "-1e999999999999999999",
        "-9223372036854775809",
        "-9223372036854775808",
        "-1.5",
        "-1",
        "-0.5",
        "-1e-300",
        "0",
        "1e-999999999999999999",
        "1e-5",
        "0.1",
        "0.10000000000000000000000000000000000001",
        "0.5",
        "1",
        "9",
        "10",
        "11",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775807.5",
        "9223372036854775808",
        "1e300",
        "1.0000000000000000001e300",
    ];
    for (left, first) in sorted.iter().enumerate() {
        for (right, second) in sorted.iter().enumerate() {
            assert_eq!(number(first).cmp(&number(second)), left.cmp(&right), "{first} and {second}");
        }
    }
    assert_eq!(number("2").partial_cmp(&number("2.0")), Some(Ordering::Equal));
}

#[test]
fn the_canonical_spelling_is_plain_if_short_and_else_scientific() {
    for (text, canonical) in [
        ("-0.0", "0"),
        ("1.50e1", "15"),
        ("12.50", "12.5"),
        ("1e3", "1000"),
        ("0.0000001", "0.0000001"),
        ("0.00000001", "1e-8"),
        ("-0.0000000125", "-1.25e-8"),
        ("1e39", "1000000000000000000000000000000000000000"),
        ("1e40", "1e40"),
        ("12.5e300", "1.25e301"),
        ("1e999999999999999999", "1e999999999999999999"),
    ] {
        assert_eq!(number(text).canonical(), canonical, "text: {text}");
        assert_eq!(number(canonical), number(text), "the canonical spelling has the same value");
    }
}

#[test]
fn a_number_converts_to_an_integer_exactly_or_not_at_all() {
    for (text, signed, unsigned) in [
        ("5", Some(5), Some(5)),
        ("5.0", Some(5), Some(5)),
        ("1e3", Some(1000), Some(1000)),
        ("-0", Some(0), Some(0)),
        ("-2.50e1", Some(-25), None),
        ("0.5", None, None),
        ("1e-3", None, None),
        ("9223372036854775807", Some(i64::MAX), Some(i64::MAX as u64)),
        ("9223372036854775808", None, Some(1 << 63)),
        ("18446744073709551615.0", None, Some(u64::MAX)),
        ("18446744073709551616", None, None),
        ("-9223372036854775808.0", Some(i64::MIN), None),
        ("-9223372036854775809", None, None),
        ("1e999999999999999999", None, None),
    ] {
        assert_eq!((number(text).as_i64(), number(text).as_u64()), (signed, unsigned), "text: {text}");
    }
}

#[test]
fn a_number_with_an_integer_value_can_be_written_as_an_integer() {
    let forty = "1".repeat(40);
    let forty_one = "1".repeat(41);
    for (text, integer) in [
        ("5", Some("5")),
        ("5.0", Some("5")),
        ("-5.00", Some("-5")),
        ("1e3", Some("1000")),
        ("1.25e2", Some("125")),
        ("-0", Some("0")),
        ("0.0e9", Some("0")),
        ("123456789012345678901e1", Some("1234567890123456789010")),
        (&format!("{forty}.0"), Some(forty.as_str())),
        (&format!("{forty_one}.0"), None),
        ("1e40", None),
        ("5.5", None),
    ] {
        let written = number(text).to_integer().map(|number| number.to_string());
        assert_eq!(written.as_deref(), integer, "text: {text}");
        assert_eq!(number(text).is_integer(), !["5.5"].contains(&text), "text: {text}");
    }
}

#[test]
fn floats_convert_to_their_shortest_digits_and_numbers_to_the_nearest_float() {
    for (float, text) in [
        (0.1, "0.1"),
        (5.0, "5.0"),
        (-0.0, "-0.0"),
        (1e23, "1e23"),
        (1.5e-9, "1.5e-9"),
        (f64::MAX, "1.7976931348623157e308"),
    ] {
        let number = Number::try_from(float).expect("it is finite");
        assert_eq!(number.to_string(), text);
        assert_eq!(number.to_f64().to_bits(), float.to_bits());
    }
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Number::try_from(float), Err(NumberError::NotFinite));
    }
    for (text, float) in [
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("-1e999999999999999999", f64::NEG_INFINITY),
        ("1e-999999999999999999", 0.0),
    ] {
        assert_eq!(number(text).to_f64().to_bits(), f64::to_bits(float), "text: {text}");
    }
}

#[test]
fn a_number_and_a_value_take_32_bytes() {
    assert_eq!(size_of::<Number>(), 32);
    assert_eq!(size_of::<reknit_protocol::Value>(), 32, "the tag of `Value` fits into that of `Number`");
}
