//! Exact multiplication of decimals.

use reknit_protocol::{Decimal, Exactness, Number};

/// Enough for any amount of money.
const MAX_DIGITS: usize = 24;

/// The exact product; `None` if a factor has more than [`MAX_DIGITS`] digits.
pub(crate) fn exact_product(left: &Number, right: &Number) -> Option<Number> {
    let (product, exactness) = decimal(left)?.checked_mul(decimal(right)?).ok()?;
    product.to_number().ok().filter(|_| exactness == Exactness::Exact)
}

fn decimal(number: &Number) -> Option<Decimal> {
    // The canonical text has an exponent only if the number is far outside the accepted range.
    let text = number.canonical();
    let is_accepted = text.len() <= MAX_DIGITS && !text.contains('e');
    Decimal::from_number(number).ok().map(|(decimal, _)| decimal).filter(|_| is_accepted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn a_product_keeps_every_digit() {
        for (left, right, expected) in [
            ("46828.5", "1391.25", "65150150.625"),
            ("3", "19.99", "59.97"),
            ("0.1", "0.2", "0.02"),
            ("4.68285e4", "2", "93657"),
            ("-1.5", "2", "-3"),
            ("1000", "0.001", "1"),
            ("0", "7.5", "0"),
            ("0.000001", "0.00071878", "7.1878e-10"),
        ] {
            assert_eq!(exact_product(&number(left), &number(right)).unwrap().to_string(), expected, "{left} * {right}");
        }
    }

    #[test]
    fn a_number_with_too_many_digits_is_refused() {
        for long in ["1e300", "1234567890123456789012345", "1e-30"] {
            assert_eq!(exact_product(&number(long), &number("2")), None, "{long}");
        }
    }

    proptest! {
        #[test]
        fn hundredths_multiply_like_integers(left in -1_000_000_i64..1_000_000, right in -1_000_000_i64..1_000_000) {
            let hundredths = |value: i64| number(&format!("{value}e-2"));
            let expected = number(&format!("{}e-4", left * right));
            prop_assert_eq!(exact_product(&hundredths(left), &hundredths(right)), Some(expected));
        }
    }
}
