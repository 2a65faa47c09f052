//! The texts of notices and instructions. They are part of a session's first event, so a new version of the program
//! does not change the texts of a session that has started.

use serde::{Deserialize, Serialize};

/// The tool with which a model gives its report.
pub const REPORT_TOOL: &str = "agent__final_report";

/// The texts of notices and instructions. Details of the case are appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTexts {
    /// Appended to the prompt of every agent: how a session proceeds and ends.
    pub instructions: String,
    /// Appended to the prompt instead of these in a conversation, in which text is an answer.
    #[serde(default)]
    pub conversation: String,
    /// With the guard on: the question for what the request needs to change.
    #[serde(default)]
    pub mandate: String,
    /// Notice after an answer that is text only.
    pub text_only: String,
    /// Notice after an answer that has a call as text; the tools are appended.
    #[serde(default)]
    pub call_in_text: String,
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
    /// Notice of the final turn: the time is nearly used up.
    pub final_time: String,
}

/// The built-in texts.
pub(crate) const BUILT_IN: &str = include_str!("../prompts/session.txt");

/// A section: its heading and its field.
type Section = (&'static str, fn(&mut SessionTexts) -> &mut String);

/// All sections of the file, in order.
const SECTIONS: [Section; 17] = [
    ("instructions", |texts| &mut texts.instructions),
    ("conversation", |texts| &mut texts.conversation),
    ("mandate", |texts| &mut texts.mandate),
    ("text only", |texts| &mut texts.text_only),
    ("call in text", |texts| &mut texts.call_in_text),
    ("empty", |texts| &mut texts.empty),
    ("reasoning only", |texts| &mut texts.reasoning_only),
    ("truncated", |texts| &mut texts.truncated),
    ("malformed call", |texts| &mut texts.malformed_call),
    ("unknown tool", |texts| &mut texts.unknown_tool),
    ("report rejected", |texts| &mut texts.report_rejected),
    ("final turn: turns", |texts| &mut texts.final_max_turns),
    ("final turn: context", |texts| &mut texts.final_context),
    ("final turn: retries", |texts| &mut texts.final_retries),
    ("final turn: stop", |texts| &mut texts.final_stop),
    ("final turn: budget", |texts| &mut texts.final_budget),
    ("final turn: time", |texts| &mut texts.final_time),
];

impl SessionTexts {
    /// The built-in texts, replaced by those of a file. The file has sections: a line `== text only ==`, then the text. A
    /// section that it leaves out keeps its built-in text. Fails with what is wrong.
    pub(crate) fn read(file: &str) -> Result<Self, String> {
        let mut texts = Self::default();
        texts.replace(file)?;
        if !texts.instructions.contains(REPORT_TOOL) {
            return Err(format!("`== instructions ==` must name `{REPORT_TOOL}`: without it no model ends a session"));
        }
        Ok(texts)
    }

    fn replace(&mut self, file: &str) -> Result<(), String> {
        let mut rest = file.trim();
        while !rest.is_empty() {
            let (heading, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let name = heading.trim().strip_prefix("== ").and_then(|name| name.strip_suffix(" =="));
            let name = name.ok_or_else(|| format!("expected a heading like `== text only ==`, found `{heading}`"))?;
            let Some((_, field)) = SECTIONS.iter().find(|(known, _)| *known == name) else {
                let known: Vec<&str> = SECTIONS.iter().map(|(known, _)| *known).collect();
                return Err(format!("there is no section `{name}`; the sections are: {}", known.join(", ")));
            };
            let end = after.find("\n== ").unwrap_or(after.len());
            let (text, next) = after.split_at_checked(end).unwrap_or((after, ""));
            if text.trim().is_empty() {
                return Err(format!("the section `{name}` is empty"));
            }
            text.trim().clone_into(field(self));
            rest = next.trim();
        }
        Ok(())
    }
}

impl Default for SessionTexts {
    fn default() -> Self {
        let empty = String::new;
        let mut texts = Self {
            instructions: empty(),
            conversation: empty(),
            mandate: empty(),
            text_only: empty(),
            call_in_text: empty(),
            empty: empty(),
            reasoning_only: empty(),
            truncated: empty(),
            malformed_call: empty(),
            unknown_tool: empty(),
            report_rejected: empty(),
            final_max_turns: empty(),
            final_context: empty(),
            final_retries: empty(),
            final_stop: empty(),
            final_budget: empty(),
            final_time: empty(),
        };
        // The built-in file is a constant; a test reads it.
        let _ = texts.replace(BUILT_IN);
        texts
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
            let start = if ["instructions", "conversation", "mandate"].contains(&name.as_str()) {
                ""
            } else {
                "System notice: "
            };
            let text = text.as_str().unwrap();
            assert!(!text.is_empty() && text.starts_with(start) && !text.contains("=="), "{name}: {text:?}");
        }
        assert!(texts.instructions.contains("agent__final_report"));
        assert!(texts.text_only.starts_with("System notice: plain text responses are ignored"));
        assert!(texts.final_max_turns.contains("Maximum number of turns/steps reached"));
        assert!(texts.final_context.contains("The conversation is at the context window limit"));
    }

    #[test]
    fn a_file_replaces_only_its_own_sections() {
        let texts = SessionTexts::read("== text only ==\nUse the tools.\n\n== empty ==\nSay\nsomething.\n").unwrap();
        assert_eq!((texts.text_only.as_str(), texts.empty.as_str()), ("Use the tools.", "Say\nsomething."));
        assert_eq!(texts.truncated, SessionTexts::default().truncated);
        for (file, problem) in [
            ("Use the tools.", "expected a heading like `== text only ==`, found `Use the tools.`"),
            (
                "== text ==\nUse the tools.",
                "there is no section `text`; the sections are: instructions, conversation, ",
            ),
            ("== text only ==\n\n== empty ==\nx", "the section `text only` is empty"),
            ("== instructions ==\nWork.", "`== instructions ==` must name `agent__final_report`"),
        ] {
            let error = SessionTexts::read(file).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
