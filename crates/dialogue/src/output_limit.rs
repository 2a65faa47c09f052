//! The output limit that a provider states when it refuses a request because `max_tokens` is too large.

/// The names under which providers speak of the limit, without separators.
const NAMES: [&str; 5] = ["maxtokens", "maxcompletiontokens", "maxoutputtokens", "maximumtokens", "completiontokens"];

/// The largest output limit that the message allows, if it refuses `requested` tokens and states a smaller limit.
///
/// ```
/// use reknit_dialogue::stated_output_limit;
///
/// let message = "max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens";
/// assert_eq!(stated_output_limit(message, 20_000), Some(8_192));
/// ```
pub fn stated_output_limit(message: &str, requested: u32) -> Option<u32> {
    let letters: String =
        message.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect();
    if !NAMES.iter().any(|name| letters.contains(name)) {
        return None;
    }
    // 1 is the lower end of a range.
    whole_numbers(message).filter(|limit| (2..requested).contains(limit)).max()
}

/// The whole numbers of a text. `(exclusive)` after a number means the one before it.
fn whole_numbers(text: &str) -> impl Iterator<Item = u32> {
    let starts = text.char_indices().filter(|(at, letter)| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        letter.is_ascii_digit() && !before.is_some_and(|before| before.is_alphanumeric() || "._-,".contains(before))
    });
    starts.filter_map(|(start, _)| {
        let tail = text.get(start..)?;
        let end = tail.find(|letter: char| !letter.is_ascii_digit() && letter != ',').unwrap_or(tail.len());
        let (digits, rest) = tail.split_at_checked(end)?;
        let number: u32 = digits.trim_end_matches(',').replace(',', "").parse().ok()?;
        let is_name = rest.starts_with(|letter: char| letter.is_alphabetic() || letter == '-' && rest.len() > 1);
        let is_exclusive = rest.trim_start().starts_with("(exclusive)");
        (!is_name).then(|| if is_exclusive { number.saturating_sub(1) } else { number })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_found_in_the_words_of_each_provider() {
        for (message, expected) in [
            (
                "max_tokens is too large: 200. This model supports at most 150 completion tokens, whereas you provided 200.",
                Some(150),
            ),
            (
                "max_tokens: 200 > 128, which is the maximum allowed number of output tokens for model-3-5-2024",
                Some(128),
            ),
            ("`max_tokens` must be less than or equal to `192`, the maximum value for `max_tokens`", Some(192)),
            (
                "a maxOutputTokens value of 200 but the supported range is from 1 (inclusive) to 129 (exclusive).",
                Some(128),
            ),
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 128]", Some(128)),
            ("Range of max_tokens should be [1, 128]", Some(128)),
            ("The maximum tokens you requested exceeds the model limit of 128.", Some(128)),
            ("max_tokens must be positive", None),
            ("max_tokens is too large: 200", None),
            ("the model gpt-4o-100 does not exist", None),
        ] {
            assert_eq!(stated_output_limit(message, 200), expected, "{message}");
        }
        assert_eq!(stated_output_limit("max_tokens must be at most 8,192", 20_000), Some(8_192));
    }
}
