//! The output limit that a provider states when it refuses a request because `max_tokens` is too large.

/// The names under which providers speak of the limit, without separators.
const NAMES: [&str; 5] = ["maxtokens", "maxcompletiontokens", "maxoutputtokens", "maximumtokens", "completiontokens"];

/// A context window is stated within this many characters after its name.
const MAX_CHARACTERS_BEFORE_WINDOW: usize = 40;

/// No model has a smaller context window; a smaller number is about something else.
const MIN_WINDOW: u64 = 256;

/// The largest output limit that the message allows, if it refuses `requested` tokens and states a smaller limit.
///
/// ```
/// use reknit_model_api::stated_output_limit;
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

/// The context window that a provider states when it refuses a question: the number after the words.
///
/// ```
/// use reknit_model_api::stated_window;
///
/// let message = "This model's maximum context length is 4096 tokens. However, you requested 4402 tokens.";
/// assert_eq!(stated_window(message), Some(4_096));
/// ```
pub fn stated_window(message: &str) -> Option<u64> {
    let message = message.to_ascii_lowercase();
    let after = ["context length", "context window", "context size"]
        .iter()
        .filter_map(|name| message.split_once(name).map(|(_, after)| after));
    let is_near = |after: &str| {
        after.chars().position(|letter| letter.is_ascii_digit()).is_some_and(|at| at < MAX_CHARACTERS_BEFORE_WINDOW)
    };
    let mut windows = after.filter(|after| is_near(after)).filter_map(|after| whole_numbers(after).next());
    windows.next().map(u64::from).filter(|window| *window >= MIN_WINDOW)
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

    #[test]
    fn the_context_window_is_found_after_its_name() {
        for (message, expected) in [
            (
                "This model's maximum context length is 4096 tokens. However, you requested 4402 tokens (306 in the \
                 messages, 4096 in the completion).",
                Some(4_096),
            ),
            ("Requested tokens (9,001) exceed context window of 8,192", Some(8_192)),
            ("the request exceeds the available context size (2048 tokens), try increasing it", Some(2_048)),
            ("prompt is too long: 210000 tokens > 200000 maximum", None),
            ("`max_tokens` must be at most `2048`, which is less than the `context_window` of this model", None),
            ("the context length of the conversation has grown too much; remove some of the 4000 messages", None),
        ] {
            assert_eq!(stated_window(message), expected, "{message}");
        }
    }
}
