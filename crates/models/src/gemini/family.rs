//! Reasoning settings by model family.

use reknit_model_api::Effort;
use reknit_protocol::Object;

use crate::model_info::base_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingSetting {
    Never,
    Budget {
        /// The smallest budget; 0 turns reasoning off.
        min_tokens: u32,
    },
    Level,
}

/// Prefixes of model names, more specific ones first. Any other model is treated as a newer one.
const FAMILIES: &[(&str, ThinkingSetting)] = &[
    ("gemini-1", ThinkingSetting::Never),
    ("gemini-2.0", ThinkingSetting::Never),
    ("gemini-2.5-pro", ThinkingSetting::Budget { min_tokens: 128 }),
    ("gemini-2.5-flash-lite", ThinkingSetting::Budget { min_tokens: 0 }),
    ("gemini-2.5", ThinkingSetting::Budget { min_tokens: 0 }),
    ("gemma", ThinkingSetting::Never),
];

/// The `thinkingConfig` for this effort; none if the model does not support it.
pub(super) fn thinking_config(model: &str, effort: Effort) -> Option<Object> {
    match setting(model) {
        ThinkingSetting::Never => None,
        ThinkingSetting::Budget { min_tokens } => {
            let tokens: u32 = match effort {
                Effort::None => 0,
                Effort::Minimal => 512,
                Effort::Low => 1024,
                Effort::Medium => 8192,
                Effort::High => 24_576,
            };
            budget_config(tokens, min_tokens)
        }
        ThinkingSetting::Level => {
            let level = match effort {
                // These models always reason.
                Effort::None => return None,
                other => other.as_str(),
            };
            Some(Object::from([("thinkingLevel", level.into()), ("includeThoughts", true.into())]))
        }
    }
}

/// The `thinkingConfig` for a budget in tokens; none if the model does not support it.
pub(super) fn thinking_budget(model: &str, tokens: u32) -> Option<Object> {
    let min_tokens = match setting(model) {
        ThinkingSetting::Never => return None,
        ThinkingSetting::Budget { min_tokens } => min_tokens,
        // These models always reason, and take a budget as well.
        ThinkingSetting::Level => 1,
    };
    budget_config(tokens, min_tokens)
}

fn budget_config(tokens: u32, min_tokens: u32) -> Option<Object> {
    let thoughts = ("includeThoughts", (tokens > 0).into());
    (tokens >= min_tokens).then(|| Object::from([("thinkingBudget", tokens.into()), thoughts]))
}

fn setting(model: &str) -> ThinkingSetting {
    let name = base_name(model);
    let family = FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix));
    family.map_or(ThinkingSetting::Level, |(_, setting)| *setting)
}

/// Whether the model reasons by default without streaming its reasoning.
pub(crate) fn reasons_silently(model: &str) -> bool {
    let name = base_name(model);
    name.starts_with("gemini") && !name.contains("lite") && thinking_config(model, Effort::High).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_its_own_reasoning_setting() {
        for (model, effort, expected) in [
            ("gemini-2.0-flash", Effort::High, None),
            ("gemini-2.5-flash", Effort::Low, Some(r#"{"thinkingBudget":1024,"includeThoughts":true}"#)),
            ("gemini-2.5-flash", Effort::None, Some(r#"{"thinkingBudget":0,"includeThoughts":false}"#)),
            ("gemini-2.5-pro", Effort::None, None),
            ("models/gemini-3-flash-preview", Effort::Low, Some(r#"{"thinkingLevel":"low","includeThoughts":true}"#)),
            ("gemini-3-flash-preview", Effort::None, None),
        ] {
            assert_eq!(thinking_config(model, effort).map(|object| object.to_string()).as_deref(), expected, "{model}");
        }
    }
}
