//! The texts of notices and instructions. They are part of a session's first event, so a new version of the program
//! does not change the texts of a session that has started.

use serde::{Deserialize, Serialize};

/// The texts of notices and instructions. Details of the case are appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTexts {
    /// Appended to the prompt of every agent: how a session proceeds and ends.
    pub instructions: String,
    /// Notice after an answer that is text only.
    pub text_only: String,
    /// Notice after an empty answer.
    pub empty: String,
    /// Notice after an answer that is only reasoning.
    pub reasoning_only: String,
    /// Notice after a truncated answer.
    pub truncated: String,
    /// Notice after a call with unreadable arguments; the call is appended.
    pub malformed_call: String,
    /// Notice after a call of an unknown tool; the tool is appended.
    pub unknown_tool: String,
    /// Notice after a rejected report; the reason is appended.
    pub report_rejected: String,
    /// Notice of the final turn: the turns are used up.
    pub final_max_turns: String,
    /// Notice of the final turn: the conversation is too long.
    pub final_context: String,
    /// Notice of the final turn: every attempt of the previous turn failed.
    pub final_retries: String,
    /// Notice of the final turn: the user stopped the session.
    pub final_stop: String,
    /// Notice of the final turn: the budget is nearly used up.
    pub final_budget: String,
}

impl Default for SessionTexts {
    fn default() -> Self {
        let texts = include_str!("../../prompts/session.txt");
        let part = |name: &str| {
            let start = texts.find(&format!("== {name} ==\n")).map(|at| at + name.len() + 7).unwrap_or_default();
            let rest = texts.get(start..).unwrap_or_default();
            let end = rest.find("\n== ").unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default().trim().to_owned()
        };
        Self {
            instructions: part("instructions"),
            text_only: part("text only"),
            empty: part("empty"),
            reasoning_only: part("reasoning only"),
            truncated: part("truncated"),
            malformed_call: part("malformed call"),
            unknown_tool: part("unknown tool"),
            report_rejected: part("report rejected"),
            final_max_turns: part("final turn: turns"),
            final_context: part("final turn: context"),
            final_retries: part("final turn: retries"),
            final_stop: part("final turn: stop"),
            final_budget: part("final turn: budget"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_found_and_every_notice_is_marked_as_a_system_notice() {
        let texts = SessionTexts::default();
        let by_name = serde_json::to_value(&texts).unwrap();
        for (name, text) in by_name.as_object().unwrap() {
            let start = if name == "instructions" { "" } else { "System notice: " };
            let text = text.as_str().unwrap();
            assert!(!text.is_empty() && text.starts_with(start) && !text.contains("=="), "{name}: {text:?}");
        }
        assert!(texts.instructions.contains("agent__final_report"));
        assert!(texts.text_only.starts_with("System notice: plain text responses are ignored"));
        assert!(texts.final_max_turns.contains("Maximum number of turns/steps reached"));
        assert!(texts.final_context.contains("The conversation is at the context window limit"));
    }
}
