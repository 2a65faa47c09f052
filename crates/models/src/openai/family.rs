//! What kinds of models take, and by which names.

use reknit_dialogue::Effort;

/// What a model takes besides messages and tools.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The field for the longest answer.
    pub(crate) max_tokens: &'static str,
    /// Whether a temperature, and texts to end at, may be sent. Models that always think refuse both.
    pub(crate) sampling: bool,
    /// The words of `reasoning_effort` that it takes, from little to much. Models that never think take none.
    pub(crate) efforts: &'static [Effort],
    /// Whether the model wants its own reasoning back while it calls tools.
    pub(crate) recalls_reasoning: bool,
}

const PLAIN: Family = Family { max_tokens: "max_tokens", sampling: true, efforts: &[], recalls_reasoning: false };
const THINKING: Family = Family {
    max_tokens: "max_completion_tokens",
    sampling: false,
    efforts: &[Effort::Low, Effort::Medium, Effort::High],
    recalls_reasoning: false,
};
const FIRST_OF_FIVE: Family =
    Family { efforts: &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High], ..THINKING };
const NEWEST: Family = Family { efforts: &[Effort::None, Effort::Low, Effort::Medium, Effort::High], ..THINKING };
/// Open models that think, on servers that take the usual fields.
const OPEN_THINKING: Family = Family { efforts: THINKING.efforts, ..PLAIN };
/// The same, but they can do without.
const GROK: Family = Family { efforts: NEWEST.efforts, ..PLAIN };
/// Models that are lost without what they thought before the call.
const RECALLING: Family = Family { recalls_reasoning: true, ..PLAIN };

/// The beginnings of model names, the more special ones first. Any other model is plain, unless its number is higher than
/// these.
const FAMILIES: &[(&str, &Family)] = &[
    ("gpt-5-chat", &Family { max_tokens: "max_completion_tokens", ..PLAIN }),
    ("gpt-5-mini", &FIRST_OF_FIVE),
    ("gpt-5-nano", &FIRST_OF_FIVE),
    ("gpt-5.", &NEWEST),
    ("gpt-5", &FIRST_OF_FIVE),
    ("gpt-oss", &OPEN_THINKING),
    ("o1", &THINKING),
    ("o3", &THINKING),
    ("o4", &THINKING),
    ("grok-3-mini", &OPEN_THINKING),
    ("grok-4.3", &GROK),
    ("deepseek-v4", &RECALLING),
    ("deepseek-reasoner", &RECALLING),
    ("kimi-k2-thinking", &RECALLING),
];

/// What this model takes.
pub(crate) fn family(model: &str) -> &'static Family {
    // Routers put the maker before the name: `openai/gpt-5-mini`.
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let known = FAMILIES.iter().find(|(beginning, _)| {
        // `o1` and `o1-mini`, but not `o1000`.
        name.strip_prefix(beginning)
            .is_some_and(|rest| beginning.ends_with('.') || !rest.starts_with(|letter: char| letter.is_alphanumeric()))
    });
    let unknown = if is_newer(&name) { &NEWEST } else { &PLAIN };
    known.map_or(unknown, |(_, family)| family)
}

/// Whether it is of a generation after the fifth: `gpt-6-luna`.
fn is_newer(name: &str) -> bool {
    let rest = name.strip_prefix("gpt-").unwrap_or_default();
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    digits.parse::<u32>().is_ok_and(|generation| generation > 5)
}

impl Family {
    /// The word for so much thinking, or for the next more that the model knows; none if it knows none.
    pub(crate) fn effort(&self, wish: Effort) -> Option<&'static str> {
        self.efforts.iter().find(|effort| **effort >= wish).or(self.efforts.last()).map(|effort| effort.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_the_beginning_of_its_name() {
        for (model, expected) in [
            ("gpt-4.1-mini", &PLAIN),
            ("gpt-5", &FIRST_OF_FIVE),
            ("gpt-5.1", &NEWEST),
            ("gpt-5.6-luna", &NEWEST),
            ("gpt-6-sol", &NEWEST),
            ("gpt-10", &NEWEST),
            ("gpt-4", &PLAIN),
            ("gpt-j", &PLAIN),
            ("gpt-5-mini-2025-08-07", &FIRST_OF_FIVE),
            ("openai/gpt-5-mini", &FIRST_OF_FIVE),
            ("GPT-5", &FIRST_OF_FIVE),
            ("o3", &THINKING),
            ("o4-mini", &THINKING),
            ("o1000", &PLAIN),
            ("openai/gpt-oss-20b", &OPEN_THINKING),
            ("gpt-oss:20b", &OPEN_THINKING),
            ("llama-3.3-70b-versatile", &PLAIN),
            ("deepseek-reasoner", &RECALLING),
            ("deepseek-v4-flash", &RECALLING),
            ("grok-4.3", &GROK),
            ("", &PLAIN),
        ] {
            assert_eq!(family(model), expected, "{model}");
        }
        assert_eq!(family("gpt-5-chat-latest").max_tokens, "max_completion_tokens");
        assert!(family("gpt-5-chat-latest").sampling);
    }

    #[test]
    fn as_much_thinking_is_asked_for_as_the_model_has_a_word_for() {
        for (model, wish, word) in [
            ("gpt-5", Effort::Minimal, Some("minimal")),
            ("gpt-5", Effort::None, Some("minimal")),
            ("gpt-5.6-luna", Effort::Minimal, Some("low")),
            ("gpt-5.6-luna", Effort::None, Some("none")),
            ("o3", Effort::None, Some("low")),
            ("o3", Effort::High, Some("high")),
            ("gpt-4.1", Effort::High, None),
        ] {
            assert_eq!(family(model).effort(wish), word, "{model} {wish:?}");
        }
    }
}
