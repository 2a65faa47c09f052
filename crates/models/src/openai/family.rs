//! Supported options by model family.

use reknit_model_api::Effort;

use crate::model_info::base_name;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModelFamily {
    pub(crate) max_tokens: &'static str,
    /// Whether a temperature and stop sequences may be sent. Models that always reason refuse both.
    pub(crate) sampling: bool,
    /// The supported values of `reasoning_effort`, ascending; empty for models that never reason.
    pub(crate) efforts: &'static [Effort],
    pub(crate) reasoning: Reasoning,
    /// Whether several calls in one answer can be allowed or forbidden.
    pub(crate) parallel_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reasoning {
    /// There is none, or it is shown once.
    Shown,
    Hidden,
    /// It must be sent back with the calls that follow it.
    SentBack,
    /// The same, and it is on unless `thinking` is disabled; the model then refuses a forced call.
    Switchable,
}

const PLAIN: ModelFamily = ModelFamily {
    max_tokens: "max_tokens",
    sampling: true,
    efforts: &[],
    reasoning: Reasoning::Shown,
    parallel_calls: true,
};
const REASONING: ModelFamily = ModelFamily {
    max_tokens: "max_completion_tokens",
    sampling: false,
    efforts: &[Effort::Low, Effort::Medium, Effort::High],
    reasoning: Reasoning::Hidden,
    ..PLAIN
};
/// The first models that reason.
const O_SERIES: ModelFamily = ModelFamily { parallel_calls: false, ..REASONING };
const GPT_5: ModelFamily =
    ModelFamily { efforts: &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High], ..REASONING };
const NEWEST: ModelFamily =
    ModelFamily { efforts: &[Effort::None, Effort::Low, Effort::Medium, Effort::High], ..REASONING };
/// Open models that reason, on servers with the usual fields.
const OPEN_REASONING: ModelFamily = ModelFamily { efforts: REASONING.efforts, ..PLAIN };
/// The same, with reasoning that can be turned off.
const GROK: ModelFamily = ModelFamily { efforts: NEWEST.efforts, ..PLAIN };
/// Models that need the reasoning before a tool call to continue after it.
const REASONING_BACK: ModelFamily = ModelFamily { reasoning: Reasoning::SentBack, ..PLAIN };
/// The same, with reasoning that is on unless the request turns it off.
const THINKING: ModelFamily = ModelFamily { reasoning: Reasoning::Switchable, ..PLAIN };
/// The same, with a temperature that the provider sets.
const KIMI: ModelFamily = ModelFamily { sampling: false, ..THINKING };

/// Prefixes of model names, more specific ones first. Any other model is plain, unless it is a newer generation of GPT.
const FAMILIES: &[(&str, &ModelFamily)] = &[
    ("gpt-5-chat", &ModelFamily { max_tokens: "max_completion_tokens", ..PLAIN }),
    ("gpt-5-mini", &GPT_5),
    ("gpt-5-nano", &GPT_5),
    ("gpt-5.", &NEWEST),
    ("gpt-5", &GPT_5),
    ("gpt-oss", &OPEN_REASONING),
    ("o1", &O_SERIES),
    ("o3", &O_SERIES),
    ("o4", &O_SERIES),
    ("grok-3-mini", &OPEN_REASONING),
    ("grok-4.3", &GROK),
    ("deepseek-v4", &THINKING),
    ("deepseek-reasoner", &REASONING_BACK),
    ("kimi-k2-thinking", &REASONING_BACK),
    ("kimi-k2.5", &KIMI),
    ("kimi-k2.6", &KIMI),
];

pub(crate) fn family(model: &str) -> &'static ModelFamily {
    let name = base_name(model);
    let known = FAMILIES.iter().find(|(prefix, _)| {
        // `o1` and `o1-mini`, but not `o1000`.
        name.strip_prefix(prefix)
            .is_some_and(|rest| prefix.ends_with('.') || !rest.starts_with(|letter: char| letter.is_alphanumeric()))
    });
    let default = if is_newer(&name) { &NEWEST } else { &PLAIN };
    known.map_or(default, |(_, family)| family)
}

/// Whether the model is of a later generation than GPT-5: `gpt-6-luna`.
fn is_newer(name: &str) -> bool {
    let rest = name.strip_prefix("gpt-").unwrap_or_default();
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    digits.parse::<u32>().is_ok_and(|generation| generation > 5)
}

impl ModelFamily {
    pub(crate) fn needs_reasoning_back(&self) -> bool {
        matches!(self.reasoning, Reasoning::SentBack | Reasoning::Switchable)
    }

    /// The supported effort that is at least the requested one, else the highest; none if the model never reasons.
    pub(crate) fn effort(&self, requested: Effort) -> Option<&'static str> {
        self.efforts.iter().find(|effort| **effort >= requested).or(self.efforts.last()).map(|effort| effort.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_recognised_by_the_prefix_of_the_model_name() {
        for (model, expected) in [
            ("gpt-4.1-mini", &PLAIN),
            ("gpt-5", &GPT_5),
            ("gpt-5.1", &NEWEST),
            ("gpt-5.6-luna", &NEWEST),
            ("gpt-6-sol", &NEWEST),
            ("gpt-10", &NEWEST),
            ("gpt-4", &PLAIN),
            ("gpt-j", &PLAIN),
            ("gpt-5-mini-2025-08-07", &GPT_5),
            ("openai/gpt-5-mini", &GPT_5),
            ("GPT-5", &GPT_5),
            ("o3", &O_SERIES),
            ("o4-mini", &O_SERIES),
            ("o1000", &PLAIN),
            ("openai/gpt-oss-20b", &OPEN_REASONING),
            ("gpt-oss:20b", &OPEN_REASONING),
            ("llama-3.3-70b-versatile", &PLAIN),
            ("deepseek-reasoner", &REASONING_BACK),
            ("deepseek-v4-flash", &THINKING),
            ("moonshotai/Kimi-K2.5", &KIMI),
            ("kimi-k2-0905-preview", &PLAIN),
            ("grok-4.3", &GROK),
            ("", &PLAIN),
        ] {
            assert_eq!(family(model), expected, "{model}");
        }
        assert_eq!(family("gpt-5-chat-latest").max_tokens, "max_completion_tokens");
        assert!(family("gpt-5-chat-latest").sampling);
    }

    #[test]
    fn an_effort_is_rounded_up_to_one_that_the_model_supports() {
        for (model, requested, expected) in [
            ("gpt-5", Effort::Minimal, Some("minimal")),
            ("gpt-5", Effort::None, Some("minimal")),
            ("gpt-5.6-luna", Effort::Minimal, Some("low")),
            ("gpt-5.6-luna", Effort::None, Some("none")),
            ("o3", Effort::None, Some("low")),
            ("o3", Effort::High, Some("high")),
            ("gpt-4.1", Effort::High, None),
        ] {
            assert_eq!(family(model).effort(requested), expected, "{model} {requested:?}");
        }
    }
}
