//! What kinds of models take, and by which names.

/// What a model takes besides messages and tools.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// The field for the longest answer.
    pub(crate) max_tokens: &'static str,
    /// Whether a temperature, and texts to end at, may be sent. Models that always think refuse both.
    pub(crate) sampling: bool,
    /// Whether `reasoning_effort` may be sent. Models that never think refuse it.
    pub(crate) effort: bool,
    /// Whether the model wants its own reasoning back while it calls tools.
    pub(crate) recalls_reasoning: bool,
}

const PLAIN: Family = Family { max_tokens: "max_tokens", sampling: true, effort: false, recalls_reasoning: false };
const THINKING: Family =
    Family { max_tokens: "max_completion_tokens", sampling: false, effort: true, recalls_reasoning: false };
/// Open models that think, on servers that take the usual fields.
const OPEN_THINKING: Family = Family { effort: true, ..PLAIN };
/// Models that are lost without what they thought before the call.
const RECALLING: Family = Family { recalls_reasoning: true, ..PLAIN };

/// The beginnings of model names, the more special ones first. Any other model is plain.
const FAMILIES: &[(&str, &Family)] = &[
    ("gpt-5-chat", &Family { max_tokens: "max_completion_tokens", ..PLAIN }),
    ("gpt-5", &THINKING),
    ("gpt-oss", &OPEN_THINKING),
    ("o1", &THINKING),
    ("o3", &THINKING),
    ("o4", &THINKING),
    ("grok-3-mini", &OPEN_THINKING),
    ("deepseek-reasoner", &RECALLING),
    ("kimi-k2-thinking", &RECALLING),
];

/// What this model takes.
pub(crate) fn family(model: &str) -> &'static Family {
    // Routers put the maker before the name: `openai/gpt-5-mini`.
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let known = FAMILIES.iter().find(|(beginning, _)| {
        // `o1` and `o1-mini`, but not `o1000`.
        name.strip_prefix(beginning).is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric()))
    });
    known.map_or(&PLAIN, |(_, family)| family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_the_beginning_of_its_name() {
        for (model, expected) in [
            ("gpt-4.1-mini", &PLAIN),
            ("gpt-5", &THINKING),
            ("gpt-5.1", &THINKING),
            ("gpt-5-mini-2025-08-07", &THINKING),
            ("openai/gpt-5-mini", &THINKING),
            ("GPT-5", &THINKING),
            ("o3", &THINKING),
            ("o4-mini", &THINKING),
            ("o1000", &PLAIN),
            ("openai/gpt-oss-20b", &OPEN_THINKING),
            ("gpt-oss:20b", &OPEN_THINKING),
            ("llama-3.3-70b-versatile", &PLAIN),
            ("deepseek-reasoner", &RECALLING),
            ("", &PLAIN),
        ] {
            assert_eq!(family(model), expected, "{model}");
        }
        assert_eq!(family("gpt-5-chat-latest").max_tokens, "max_completion_tokens");
        assert!(family("gpt-5-chat-latest").sampling);
    }
}
