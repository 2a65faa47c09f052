use proptest::prelude::*;

use super::*;

fn decimal(text: &str) -> Decimal {
    Decimal::from_number(&Number::parse(text).expect("a valid number")).expect("in range").0
}

fn print(result: Rounded) -> String {
    let (decimal, exact) = result.expect("the operation has a result");
    let mark = if exact == Exactness::Exact { "" } else { "~" };
    format!("{mark}{}", decimal.to_number().expect("a valid number"))
}

#[test]
fn results_are_exact_up_to_34_digits_and_rounded_half_to_even_beyond() {
    let nines = "9999999999999999999999999999999999";
    let cases = [
        ("3", '*', "19.99", "59.97"),
        ("100", '*', "468.285", "46828.5"),
        ("0.1", '+', "0.2", "0.3"),
        ("-5", '+', "5", "0"),
        ("1", '/', "3", "~0.3333333333333333333333333333333333"),
        ("2", '/', "3", "~0.6666666666666666666666666666666667"),
        ("10", '/', "4", "2.5"),
        ("7", '%', "3", "1"),
        ("-7", '%', "3", "-1"),
        ("7.5", '%', "-2", "1.5"),
        ("1e30", '%', "7", "1"),
        ("0.003", '%', "1e30", "0.003"),
        (nines, '+', "1", "10000000000000000000000000000000000"),
        (nines, '+', "0.5", "~10000000000000000000000000000000000"),
        ("9999999999999999999999999999999998", '+', "0.5", "~9999999999999999999999999999999998"),
        ("1", '+', "1e-60", "~1"),
        ("1", '-', "1e-60", "~1"),
        ("1e33", '-', "0.9", "999999999999999999999999999999999.1"),
        ("1e34", '-', "0.95", "~9999999999999999999999999999999999"),
        (nines, '*', nines, "~9.999999999999999999999999999999998e67"),
        ("1e6000", '+', "1e-6000", "~1e6000"),
    ];
    for (left, operator, right, expected) in cases {
        let (left_value, right_value) = (decimal(left), decimal(right));
        let result = match operator {
            '+' => left_value.checked_add(right_value),
            '-' => left_value.checked_sub(right_value),
            '*' => left_value.checked_mul(right_value),
            '/' => left_value.checked_div(right_value),
            _ => left_value.checked_rem(right_value),
        };
        assert_eq!(print(result), expected, "case: {left} {operator} {right}");
    }
}

#[test]
fn division_by_zero_and_overflow_are_errors() {
    assert_eq!(decimal("1").checked_div(Decimal::ZERO), Err(DecimalError::DivisionByZero));
    assert_eq!(decimal("1").checked_rem(Decimal::ZERO), Err(DecimalError::DivisionByZero));
    assert_eq!(decimal("1e6000").checked_mul(decimal("1e200")), Err(DecimalError::OutOfRange));
    assert_eq!(decimal("1e-6000").checked_div(decimal("1e200")), Err(DecimalError::OutOfRange));
    let huge = Number::parse("1e999999999999999999").expect("a valid number");
    assert_eq!(Decimal::from_number(&huge), Err(DecimalError::OutOfRange));
}

#[test]
fn rounding_to_decimal_places_is_half_to_even() {
    for (number, places, expected) in [
        ("2.5", 0, "2"),
        ("3.5", 0, "4"),
        ("-2.5", 0, "-2"),
        ("2.675", 2, "2.68"),
        ("2.665", 2, "2.66"),
        ("1234.5", -2, "1200"),
        ("1250", -2, "1200"),
        ("0.4", 0, "0"),
        ("5", 40, "5"),
        ("5", -40, "0"),
        ("9.99", 1, "10"),
    ] {
        let rounded = decimal(number).rounded(places).expect("in range");
        assert_eq!(rounded.to_number().expect("a valid number").to_string(), expected, "case: {number} to {places}");
    }
}

#[test]
fn a_number_of_more_than_34_digits_is_rounded_and_marked() {
    for (number, expected) in [
        ("12345678901234567890123456789012345", "~12345678901234567890123456789012340"),
        ("12345678901234567890123456789012355", "~12345678901234567890123456789012360"),
        ("12345678901234567890123456789012340", "12345678901234567890123456789012340"),
        ("123456789012345678901234567890123450.0001", "~123456789012345678901234567890123500"),
        ("0.00000000000000000000000000000000000000001", "1e-41"),
        ("-0.0", "0"),
    ] {
        let read = Decimal::from_number(&Number::parse(number).expect("a valid number"));
        assert_eq!(print(read), expected, "case: {number}");
    }
}

/// Decimals of up to 34 digits, with similar and with very different exponents.
fn any_decimal() -> impl Strategy<Value = Decimal> {
    let similar = ("-?[0-9]{1,34}", -40_i64..40);
    let distant = ("-?[0-9]{1,34}", -3000_i64..3000);
    prop_oneof![similar, distant].prop_map(|(digits, exponent)| {
        let negative = digits.starts_with('-');
        let coefficient: u128 = digits.trim_start_matches('-').parse().expect("34 digits fit into a u128");
        Decimal::new(negative, coefficient, exponent).expect("in range")
    })
}

fn exactly(result: Rounded) -> Option<Decimal> {
    result.ok().filter(|(_, exact)| *exact == Exactness::Exact).map(|(decimal, _)| decimal)
}

proptest! {
    #[test]
    fn subtraction_reverses_an_exact_addition(a in any_decimal(), b in any_decimal()) {
        if let Some(sum) = exactly(a.checked_add(b)) {
            prop_assert_eq!(exactly(sum.checked_sub(b)), Some(a));
        }
    }

    #[test]
    fn division_reverses_an_exact_multiplication(a in any_decimal(), b in any_decimal()) {
        if let Some(product) = exactly(a.checked_mul(b)) && b != Decimal::ZERO {
            prop_assert_eq!(exactly(product.checked_div(b)), Some(a));
        }
    }

    #[test]
    fn addition_and_multiplication_are_commutative(a in any_decimal(), b in any_decimal()) {
        prop_assert_eq!(a.checked_add(b), b.checked_add(a));
        prop_assert_eq!(a.checked_mul(b), b.checked_mul(a));
        prop_assert_eq!(a.checked_sub(b).map(|(d, e)| (d.negated(), e)), b.checked_sub(a));
    }

    #[test]
    fn every_decimal_survives_conversion_to_a_number(a in any_decimal()) {
        let number = a.to_number().expect("a valid number");
        prop_assert_eq!(Decimal::from_number(&number), Ok((a, Exactness::Exact)));
    }

    #[test]
    fn integer_results_equal_those_of_native_arithmetic(a in any::<i64>(), b in any::<i64>()) {
        let (left, right) = (decimal(&a.to_string()), decimal(&b.to_string()));
        let wide = |value: i128| exactly(Ok((decimal(&value.to_string()), Exactness::Exact)));
        let (a, b) = (i128::from(a), i128::from(b));
        prop_assert_eq!(exactly(left.checked_add(right)), wide(a + b));
        prop_assert_eq!(exactly(left.checked_sub(right)), wide(a - b));
        if (a * b).unsigned_abs() < COEFFICIENT_LIMIT {
            prop_assert_eq!(exactly(left.checked_mul(right)), wide(a * b));
        }
        if b != 0 {
            prop_assert_eq!(exactly(left.checked_rem(right)), wide(a % b));
        }
    }
}
