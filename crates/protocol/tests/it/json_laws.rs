//! Properties of all values and numbers.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use crate::arbitrary::{self, number_text, two_spellings, value};
use crate::number;
use proptest::prelude::*;
use reknit_protocol::{Number, Path, Value};

/// The value times ten to the power of 60, as a sign and a fixed number of digits: an independent way to compare.
fn scaled(text: &str) -> (bool, String) {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.parse().expect("a small exponent");
    let zeros = usize::try_from(60 + exponent).expect("exponents are small") - fraction.len();
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    let padded = format!("{digits:0>200}");
    (negative && padded.contains(|digit| digit != '0'), padded)
}

fn compare_scaled(left: &str, right: &str) -> Ordering {
    let ((left_negative, left), (right_negative, right)) = (scaled(left), scaled(right));
    match (left_negative, right_negative) {
        (false, false) => left.cmp(&right),
        (true, true) => right.cmp(&left),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

proptest! {
    #[test]
    fn printed_text_parses_as_the_same_value(value in value()) {
        for text in [value.to_string(), value.to_pretty(), value.canonical()] {
            prop_assert_eq!(&Value::parse(&text).expect("printed text is JSON"), &value);
        }
    }

    #[test]
    fn printing_a_parsed_number_keeps_every_digit(text in number_text()) {
        prop_assert_eq!(number(&text).to_string(), text.clone());
        let list = format!("[{text},{text}]");
        prop_assert_eq!(Value::parse(&list).expect("it is a list of numbers").to_string(), list);
    }

    #[test]
    fn comparison_agrees_with_an_independent_method(left in number_text(), right in number_text()) {
        let expected = compare_scaled(&left, &right);
        prop_assert_eq!(number(&left).cmp(&number(&right)), expected, "{} and {}", left, right);
        prop_assert_eq!(number(&left) == number(&right), expected == Ordering::Equal);
    }

    #[test]
    fn two_spellings_of_a_number_are_equal((text, again) in two_spellings()) {
        let (left, right) = (number(&text), number(&again));
        prop_assert_eq!(compare_scaled(&text, &again), Ordering::Equal, "the strategy gives equal numbers");
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(left.cmp(&right), Ordering::Equal);
        let state = RandomState::new();
        prop_assert_eq!(state.hash_one(&left), state.hash_one(&right));
        prop_assert_eq!(left.canonical(), right.canonical());
        prop_assert_eq!(left.as_i64(), right.as_i64());
        prop_assert_eq!(left.as_u64(), right.as_u64());
        prop_assert_eq!(left.is_integer(), right.is_integer());
        prop_assert_eq!(left.to_integer().map(|n| n.to_string()), right.to_integer().map(|n| n.to_string()));
    }

    #[test]
    fn integers_compare_and_convert_like_machine_integers(left: i64, right: i64, big: u64) {
        prop_assert_eq!(Number::from(left).cmp(&Number::from(right)), left.cmp(&right));
        prop_assert_eq!(number(&format!("{left}.0")).as_i64(), Some(left));
        prop_assert_eq!(number(&big.to_string()), Number::from(big));
        prop_assert_eq!(Number::from(big).as_u64(), Some(big));
    }

    #[test]
    fn a_float_survives_the_round_trip(float in any::<f64>().prop_filter("finite", |float| float.is_finite())) {
        let number = Number::try_from(float).expect("it is finite");
        prop_assert_eq!(number.to_f64().to_bits(), float.to_bits());
    }

    #[test]
    fn canonical_texts_and_hashes_are_equal_exactly_when_values_are(left in arbitrary::small_value(), right in arbitrary::small_value()) {
        let state = RandomState::new();
        prop_assert_eq!(left == right, left.canonical() == right.canonical(), "{} and {}", left, right);
        if left == right {
            prop_assert_eq!(state.hash_one(&left), state.hash_one(&right));
        }
        let again = arbitrary::respelt(&left);
        prop_assert_eq!(&again, &left);
        prop_assert_eq!(again.canonical(), left.canonical());
        prop_assert_eq!(state.hash_one(&again), state.hash_one(&left));
    }

    #[test]
    fn every_place_in_a_value_is_found_by_its_path_and_its_pointer(value in value()) {
        arbitrary::visit(&value, &Path::root(), &mut |path, place| {
            assert_eq!(value.at(path), Some(place), "{path}");
            assert_eq!(Path::from_pointer(&path.to_pointer(), &value).as_ref(), Ok(path));
        });
    }
}
