//! How kinds of models are told to think.

use reknit_dialogue::Effort;
use reknit_protocol::Object;

use crate::rendered::object;

/// How a model is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It cannot.
    Never,
    /// By a number of tokens, of which this is the least.
    Budget {
        /// 0 turns it off.
        least: u32,
    },
    /// By a word.
    Level,
}

/// The beginnings of model names, the more special ones first. Any other model is taken for a newer one.
const FAMILIES: &[(&str, Thinking)] = &[
    ("gemini-1", Thinking::Never),
    ("gemini-2.0", Thinking::Never),
    ("gemini-2.5-pro", Thinking::Budget { least: 128 }),
    ("gemini-2.5-flash-lite", Thinking::Budget { least: 0 }),
    ("gemini-2.5", Thinking::Budget { least: 0 }),
    ("gemma", Thinking::Never),
];

/// What asks this model for so much thinking; nothing if it cannot be asked.
pub(super) fn thinking(model: &str, effort: Effort) -> Option<Object> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let known = FAMILIES.iter().find(|(beginning, _)| name.starts_with(beginning));
    match known.map_or(Thinking::Level, |(_, thinking)| *thinking) {
        Thinking::Never => None,
        Thinking::Budget { least } => {
            let tokens: u32 = match effort {
                Effort::None => 0,
                Effort::Minimal => 512,
                Effort::Low => 1024,
                Effort::Medium => 8192,
                Effort::High => 24_576,
            };
            let thoughts = ("includeThoughts", (tokens > 0).into());
            Some(object([("thinkingBudget", tokens.into()), thoughts])).filter(|_| tokens >= least)
        }
        Thinking::Level => {
            let word = match effort {
                // These models cannot do without.
                Effort::None => return None,
                other => other.as_str(),
            };
            Some(object([("thinkingLevel", word.into()), ("includeThoughts", true.into())]))
        }
    }
}

/// Whether it thinks without being asked to, and without a sign of it.
pub(crate) fn thinks_unseen(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    name.starts_with("gemini") && !name.contains("lite") && thinking(model, Effort::High).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_is_asked_to_think_in_its_own_way() {
        for (model, effort, expected) in [
            ("gemini-2.0-flash", Effort::High, None),
            ("gemini-2.5-flash", Effort::Low, Some(r#"{"thinkingBudget":1024,"includeThoughts":true}"#)),
            ("gemini-2.5-flash", Effort::None, Some(r#"{"thinkingBudget":0,"includeThoughts":false}"#)),
            ("gemini-2.5-pro", Effort::None, None),
            ("models/gemini-3-flash-preview", Effort::Low, Some(r#"{"thinkingLevel":"low","includeThoughts":true}"#)),
            ("gemini-3-flash-preview", Effort::None, None),
        ] {
            assert_eq!(thinking(model, effort).map(|object| object.to_string()).as_deref(), expected, "{model}");
        }
    }
}
