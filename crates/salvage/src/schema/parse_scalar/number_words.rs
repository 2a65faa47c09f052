//! English number words.

const ONES: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen";
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
const SCALES: [(&str, u64); 3] = [("billion", 1_000_000_000), ("million", 1_000_000), ("thousand", 1_000)];

/// No number in words is longer.
const MAX_BYTES: usize = 200;

/// Reads `five`, `twenty-one`, `three hundred and twelve` and `two thousand`. `None` if a word is no number, or if the words
/// do not follow each other as in one number.
pub(super) fn number_of_words(text: &str) -> Option<u64> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let mut words: &[&str] = &lower.split([' ', '-']).filter(|word| !word.is_empty()).collect::<Vec<_>>();
    if words == ["zero"] {
        return Some(0);
    }
    let mut total = 0;
    for (scale, factor) in SCALES {
        let Some(at) = words.iter().position(|word| *word == scale) else { continue };
        let (count, rest) = words.split_at(at);
        total += below_thousand(count)? * factor;
        words = rest.get(1..)?;
        // `two thousand and five`
        if let [and, more @ ..] = words
            && *and == "and"
            && !more.is_empty()
        {
            words = more;
        }
    }
    if words.is_empty() { (total > 0).then_some(total) } else { Some(total + below_thousand(words)?) }
}

fn below_thousand(words: &[&str]) -> Option<u64> {
    match words {
        [count, hundred, rest @ ..] if *hundred == "hundred" => {
            let hundreds = one(count).filter(|count| *count < 10)? * 100;
            match rest {
                [] => Some(hundreds),
                [and, rest @ ..] if *and == "and" => Some(hundreds + below_hundred(rest)?),
                rest => Some(hundreds + below_hundred(rest)?),
            }
        }
        words => below_hundred(words),
    }
}

fn below_hundred(words: &[&str]) -> Option<u64> {
    match words {
        [word] => one(word).or_else(|| ten(word)),
        [tens, ones] => Some(ten(tens)? + one(ones).filter(|ones| *ones < 10)?),
        _ => None,
    }
}

fn one(word: &str) -> Option<u64> {
    position(ONES, word).map(|index| index + 1)
}

fn ten(word: &str) -> Option<u64> {
    position(TENS, word).map(|index| (index + 2) * 10)
}

fn position(words: &str, word: &str) -> Option<u64> {
    words.split(' ').position(|other| other == word).and_then(|index| u64::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_if_they_are_one_number() {
        for (text, expected) in [
            ("zero", Some(0)),
            ("Five", Some(5)),
            ("nineteen", Some(19)),
            ("twenty-one", Some(21)),
            ("one hundred", Some(100)),
            ("three hundred and twelve", Some(312)),
            ("two thousand and five", Some(2_005)),
            ("one million two hundred thousand", Some(1_200_000)),
            ("", None),
            ("and", None),
            ("hundred", None),
            ("thousand", None),
            ("one two", None),
            ("twenty hundred", None),
            ("twenty ten", None),
            ("one thousand million", None),
            ("two thousand and", None),
            ("five apples", None),
            ("a dozen", None),
        ] {
            assert_eq!(number_of_words(text), expected, "case: {text}");
        }
    }
}
