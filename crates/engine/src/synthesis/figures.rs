//! The numbers in a text, and whether others explain them. A model that puts results into words may get a number wrong,
//! and a planner may overlook one; both are said.

use reknit_protocol::Number;

/// Digits that are still counted in one machine number.
const DIGITS: usize = 30;

/// A number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Figure {
    /// As it is written: `651,501.51`.
    pub(crate) written: String,
    mantissa: i128,
    scale: u32,
}

/// The numbers of a text, as people write them. Digits in a word (`step-1`, `H2O`) and the numbers of a list are none.
pub(crate) fn figures(text: &str) -> Vec<Figure> {
    let letters: Vec<char> = text.chars().collect();
    let at = |index: usize| letters.get(index).copied().unwrap_or(' ');
    let mut found = Vec::new();
    let mut index = 0;
    while index < letters.len() {
        if !at(index).is_ascii_digit() {
            index += 1;
            continue;
        }
        let start = index;
        while continues(&at, index) {
            index += 1;
        }
        let in_word = is_inside_word(&at, start) || at(index).is_alphabetic() && at(index) != '°';
        let is_item = at(index) == '.' && at(index + 1) == ' ' && starts_line(&letters, start);
        if !in_word && !is_item {
            found.extend(Figure::read(letters.get(start..index).unwrap_or_default().iter().collect()));
        }
    }
    found
}

fn continues(at: &impl Fn(usize) -> char, index: usize) -> bool {
    let group = (1..=3).all(|ahead| at(index + ahead).is_ascii_digit()) && !at(index + 4).is_ascii_digit();
    match at(index) {
        '.' => at(index + 1).is_ascii_digit(),
        ',' => group,
        letter => letter.is_ascii_digit(),
    }
}

fn is_inside_word(at: &impl Fn(usize) -> char, start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).map_or(' ', at);
    before(1).is_alphanumeric() || before(1) == '_' || before(1) == '-' && before(2).is_alphanumeric()
}

fn starts_line(letters: &[char], start: usize) -> bool {
    letters
        .get(..start)
        .unwrap_or_default()
        .iter()
        .rev()
        .take_while(|letter| **letter != '\n')
        .all(|letter| *letter == ' ')
}

impl Figure {
    fn read(written: String) -> Option<Self> {
        let plain = written.replace(',', "");
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        if fraction.contains('.') || whole.len() + fraction.len() > DIGITS {
            return None;
        }
        let mantissa = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { mantissa, scale: u32::try_from(fraction.len()).ok()?, written })
    }

    /// Whether this can be the other number, as it is or rounded.
    pub(crate) fn is_from(&self, other: &Self) -> bool {
        if other.scale >= self.scale {
            let unit = 10_i128.pow(other.scale - self.scale);
            let cut = other.mantissa / unit;
            let up = cut + i128::from(other.mantissa % unit * 2 >= unit);
            if self.mantissa == cut || self.mantissa == up {
                return true;
            }
        }
        // 65,150,000 for 65150150.625: rounded to where its zeros begin.
        let zeros = self.zeros();
        // 100 is no rounding of 126.978: at least three digits must be left.
        let zeros = if self.mantissa / 10_i128.pow(zeros) < 100 { 0 } else { zeros };
        let is_rounded = self.scale == 0 && zeros > 0 && other.rounded(zeros) == Some(self.mantissa);
        is_rounded || self.trimmed() == other.trimmed()
    }

    /// As a whole number with zeros at its end; nothing if nothing else is left of it.
    fn rounded(&self, zeros: u32) -> Option<i128> {
        // More digits than a machine number has are more than any figure has.
        let unit = 10_i128.checked_pow(self.scale.checked_add(zeros)?)?;
        let half_up = self.mantissa.checked_add(unit / 2)? / unit;
        half_up.checked_mul(10_i128.checked_pow(zeros)?).filter(|rounded| *rounded > 0)
    }

    fn zeros(&self) -> u32 {
        let mut rest = self.mantissa;
        let mut zeros = 0;
        while rest != 0 && rest % 10 == 0 && zeros < 12 {
            rest /= 10;
            zeros += 1;
        }
        zeros
    }

    /// Without zeros at the end of the fraction: 1.50 is 1.5.
    fn trimmed(&self) -> (i128, u32) {
        let (mut mantissa, mut scale) = (self.mantissa, self.scale);
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        (mantissa, scale)
    }

    /// Whether it counts things rather than measures them: a model may count what it lists.
    pub(crate) fn counts_up_to(&self, count: usize) -> bool {
        self.scale == 0 && u128::try_from(self.mantissa).is_ok_and(|value| value <= count as u128)
    }
}

/// The numbers of a text, to calculate with.
pub(crate) fn numbers(text: &str) -> Vec<Number> {
    figures(text).iter().filter_map(|figure| Number::parse(&figure.written.replace(',', "")).ok()).collect()
}

/// The numbers in `text` that none of the other texts has, each once.
pub(crate) fn unused<'a>(text: &str, by: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let known: Vec<Figure> = by.into_iter().flat_map(figures).collect();
    let mut left: Vec<String> = Vec::new();
    for figure in figures(text) {
        if !known.iter().any(|other| figure.trimmed() == other.trimmed()) && !left.contains(&figure.written) {
            left.push(figure.written);
        }
    }
    left
}

/// The numbers in `text` that none of the other texts explains, each once.
pub(crate) fn unexplained<'a>(text: &str, by: impl IntoIterator<Item = &'a str>, counted: usize) -> Vec<String> {
    let known: Vec<Figure> = by.into_iter().flat_map(figures).collect();
    let mut doubtful: Vec<String> = Vec::new();
    for figure in figures(text) {
        let explained = figure.counts_up_to(counted) || known.iter().any(|other| figure.is_from(other));
        if !explained && !doubtful.contains(&figure.written) {
            doubtful.push(figure.written);
        }
    }
    doubtful
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_found_as_people_write_them() {
        for (text, expected) in [
            ("651,501.51 won, 14.5°C and 48%.", &["651,501.51", "14.5", "48"][..]),
            ("1. first\n2. second of step-1, H2O and model_3", &[]),
            ("It is 2,50 and 1,2345 and 10.", &["2", "50", "1", "2345", "10"]),
            ("$468.29, 2026-11-15, 09:30", &["468.29", "2026", "09", "30"]),
            ("", &[]),
        ] {
            let found: Vec<String> = figures(text).into_iter().map(|figure| figure.written).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_number_is_used_only_as_it_is() {
        assert_eq!(unused("sell 100 shares at 1.50 or 469", ["126.978", "1.5", "468.6"]), ["100", "469"]);
    }

    #[test]
    fn a_number_is_explained_by_one_it_is_a_rounding_of() {
        for (said, known, expected) in [
            ("468.29", "468.285", true),
            ("468.28", "468.285", true),
            ("468", "468.285", true),
            ("468.30", "468.285", false),
            ("65,150,000", "65150150.625", true),
            ("65,150,151", "65150150.625", true),
            ("65,160,000", "65150150.625", false),
            ("100", "126.978", false),
            ("400", "468.285", false),
            ("1.5", "1.50", true),
            ("1.50", "1.5", true),
            ("46828.5", "468.285", false),
            ("100", "0.4", false),
            ("0", "0", true),
            ("12,300,000,000,000", "0.3333333333333333333333333333", false),
        ] {
            assert_eq!(unexplained(said, [known], 0).is_empty(), expected, "{said} from {known}");
        }
    }
    proptest! {
        #[test]
        fn any_number_explains_itself_and_what_it_is_cut_to(
            whole in "[1-9][0-9]{0,14}(,[0-9]{3}){0,5}0{0,14}", fraction in "[0-9]{1,29}", other in "[0-9]{1,30}", kept in 1_usize..29,
        ) {
            let said = format!("{whole}.{fraction}");
            prop_assert!(unexplained(&said, [said.as_str()], 0).is_empty());
            let cut = format!("{whole}.{}", fraction.get(..kept).unwrap_or(&fraction));
            if figures(&said).iter().map(|figure| figure.written.clone()).collect::<Vec<_>>() == [said.clone()] {
                prop_assert!(unexplained(&cut, [said.as_str()], 0).is_empty(), "{cut} of {said}");
            }
            // Whatever the two are, it is said and nothing breaks.
            unexplained(&whole, [format!("0.{fraction}").as_str(), other.as_str()], 0);
            unexplained(&other, [said.as_str(), format!("0.{other}").as_str()], 0);
        }
    }
}
