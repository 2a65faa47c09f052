//! The words of notices and instructions. They travel in a session's first event, so that an update of the program does
//! not change what a session that began is told.

use serde::{Deserialize, Serialize};

/// The words of notices and instructions. What is particular to a case is put behind them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Behind the prompt of every agent: how a session goes and ends.
    pub instructions: String,
    /// To an answer in words alone.
    pub text_only: String,
    /// To an answer without anything.
    pub empty: String,
    /// To an answer that is only reasoning.
    pub reasoning_only: String,
    /// To an answer that was cut.
    pub truncated: String,
    /// To a call whose parameters cannot be read; which one is put behind.
    pub malformed_call: String,
    /// To a call of a tool that there is not; which one is put behind.
    pub unknown_tool: String,
    /// To a report that cannot be taken; why not is put behind.
    pub report_rejected: String,
    /// The last turn, because the turns are used up.
    pub final_max_turns: String,
    /// The last turn, because the conversation is too long.
    pub final_context: String,
    /// The last turn, because no attempt of the turn before brought anything.
    pub final_retries: String,
    /// The last turn, because somebody wants it to end.
    pub final_stop: String,
    /// The last turn, because little is left to spend.
    pub final_budget: String,
}

impl Default for Words {
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
    fn every_text_is_there_and_every_notice_says_what_it_is() {
        let words = Words::default();
        let notices = [
            &words.text_only,
            &words.empty,
            &words.reasoning_only,
            &words.truncated,
            &words.malformed_call,
            &words.unknown_tool,
            &words.report_rejected,
            &words.final_max_turns,
            &words.final_context,
            &words.final_retries,
            &words.final_stop,
            &words.final_budget,
        ];
        assert!(words.instructions.contains("agent__final_report") && !words.instructions.contains("=="));
        for text in notices {
            assert!(text.starts_with("System notice: "), "{text:?}");
            assert!(!text.contains("=="), "{text:?}");
        }
        assert!(words.text_only.starts_with("System notice: plain text responses are ignored"));
        assert!(words.final_max_turns.contains("Maximum number of turns/steps reached"));
        assert!(words.final_context.contains("The conversation is at the context window limit"));
    }
}
