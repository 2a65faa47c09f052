//! Exact multiplication of decimals.

use reknit_protocol::Number;

/// Enough for any amount of money; with a rate of up to ten digits the product fits into 128 bits.
const MAX_DIGITS: usize = 24;

/// The exact product; `None` if a factor has more than [`MAX_DIGITS`] digits.
pub(crate) fn exact_product(left: &Number, right: &Number) -> Option<Number> {
    let (left, right) = (Decimal::from_number(left)?, Decimal::from_number(right)?);
    let digits = left.digits.checked_mul(right.digits)?;
    Decimal { digits, places: left.places + right.places }.to_number()
}

/// `digits` with the decimal point `places` from the right.
struct Decimal {
    digits: i128,
    places: usize,
}

impl Decimal {
    fn from_number(number: &Number) -> Option<Self> {
        // The canonical text has an exponent only if the number is far outside the accepted range.
        let text = number.canonical();
        if text.contains('e') || text.len() > MAX_DIGITS {
            return None;
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        Some(Self { digits: format!("{whole}{fraction}").parse().ok()?, places: fraction.len() })
    }

    fn to_number(&self) -> Option<Number> {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = self.places + 1);
        let (whole, fraction) = digits.split_at_checked(digits.len() - self.places)?;
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        Number::parse(&format!("{sign}{whole}{point}{fraction}")).ok()
    }
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
            ("0.000001", "0.00071878", "0.00000000071878"),
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
