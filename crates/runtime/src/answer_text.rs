//! The text of an answer while a model writes it, collected from the pieces that a [`PieceWatcher`](crate::PieceWatcher) sees.

use reknit_engine::{AskModel, REPORT_TOOL};
use reknit_model_api::{Delta, Purpose};
use reknit_protocol::EffectId;
use reknit_salvage::Reader;

/// The names of the argument that is the text of a report.
const CONTENT: [&str; 2] = ["report_content", "content"];

/// Collects the text that a model writes for the user: the answer of a run, or the report of a session. What nested agents and
/// plans write is not part of it.
#[derive(Debug, Default)]
pub struct AnswerText {
    text: String,
    /// The question that the text answers.
    asked: Option<EffectId>,
    report: Option<ReportCall>,
    has_agent_text: bool,
}

/// The call of the report tool.
#[derive(Debug)]
struct ReportCall {
    /// The index of the call in the answer.
    index: usize,
    arguments: Reader,
}

/// What a piece changes about the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextChange<'a> {
    /// Nothing.
    Same,
    /// More text follows.
    More(&'a str),
    /// The text so far counts for nothing, and this is the new one.
    Restarted(&'a str),
}

impl AnswerText {
    /// Also collects what an agent says while it works. Such text is the answer only in a conversation.
    #[must_use]
    pub fn with_agent_text(self) -> Self {
        Self { has_agent_text: true, ..self }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Drops the text: its answer is complete, or failed.
    pub fn clear(&mut self) {
        *self = Self { has_agent_text: self.has_agent_text, ..Self::default() };
    }

    pub fn add(&mut self, ask: &AskModel, delta: Delta<'_>) -> TextChange<'_> {
        if !ask.id.scope().is_empty() {
            return TextChange::Same;
        }
        let is_turn = ask.purpose == Purpose::AgentTurn;
        let is_answer = matches!(ask.purpose, Purpose::Synthesis | Purpose::SynthesisStreaming);
        match delta {
            Delta::Text(text) if is_answer || is_turn && self.has_agent_text => {
                if self.begin(&ask.id) || self.report.is_some() {
                    self.report = None;
                    return self.restart(text.to_owned());
                }
                let before = self.text.len();
                self.text.push_str(text);
                TextChange::More(self.text.get(before..).unwrap_or_default())
            }
            Delta::ToolCall { index, name, arguments } if is_turn => self.add_report(&ask.id, index, name, arguments),
            Delta::Text(_) | Delta::Reasoning(_) | Delta::ToolCall { .. } => TextChange::Same,
        }
    }

    fn add_report(&mut self, id: &EffectId, index: usize, name: Option<&str>, arguments: &str) -> TextChange<'_> {
        let is_new = name == Some(REPORT_TOOL);
        if is_new {
            self.report = Some(ReportCall { index, arguments: Reader::default() });
        }
        let Some(report) = self.report.as_mut().filter(|report| report.index == index) else { return TextChange::Same };
        report.arguments.push(arguments);
        let partial = report.arguments.partial();
        let content = partial.as_ref().and_then(|partial| {
            let object = partial.value().as_object()?;
            CONTENT.iter().find_map(|name| object.get(name)?.as_str())
        });
        let Some(content) = content.map(str::to_owned).filter(|content| !content.is_empty()) else {
            return TextChange::Same;
        };
        let is_other = self.begin(id) || is_new;
        match content.strip_prefix(self.text.as_str()) {
            Some("") => TextChange::Same,
            Some(more) if !is_other => {
                let before = self.text.len();
                self.text.push_str(more);
                TextChange::More(self.text.get(before..).unwrap_or_default())
            }
            _ => self.restart(content),
        }
    }

    /// Whether the pieces belong to another question than those before.
    fn begin(&mut self, id: &EffectId) -> bool {
        let is_other = self.asked.as_ref() != Some(id);
        if is_other {
            self.asked = Some(id.clone());
        }
        is_other
    }

    fn restart(&mut self, text: String) -> TextChange<'_> {
        let is_first = self.text.is_empty();
        self.text = text;
        if is_first { TextChange::More(&self.text) } else { TextChange::Restarted(&self.text) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use reknit_engine::OpenBreakerPolicy;
    use reknit_model_api::ModelRequest;

    use super::*;

    fn ask(id: &str, purpose: Purpose) -> AskModel {
        let request = Arc::new(ModelRequest::new(Vec::new(), 10));
        let breaker = OpenBreakerPolicy::Respect;
        AskModel { id: id.parse().unwrap(), target: "a".into(), purpose, request, breaker }
    }

    fn call<'a>(name: Option<&'a str>, arguments: &'a str) -> Delta<'a> {
        Delta::ToolCall { index: 0, name, arguments }
    }

    #[test]
    fn the_text_of_an_answer_grows_and_starts_over_with_another_attempt() {
        let mut answer = AnswerText::default();
        let first = ask("answer/ask/1", Purpose::Synthesis);
        assert_eq!(answer.add(&first, Delta::Text("It is ")), TextChange::More("It is "));
        assert_eq!(answer.add(&first, Delta::Reasoning("hm")), TextChange::Same);
        assert_eq!(answer.add(&first, Delta::Text("clear")), TextChange::More("clear"));
        let second = ask("answer/ask/2", Purpose::Synthesis);
        assert_eq!(answer.add(&second, Delta::Text("In Seoul")), TextChange::Restarted("In Seoul"));
        assert_eq!(answer.text(), "In Seoul");
    }

    #[test]
    fn a_report_is_read_from_the_pieces_of_its_call() {
        let mut answer = AnswerText::default();
        let turn = ask("turn-1/ask/1", Purpose::AgentTurn);
        assert_eq!(answer.add(&turn, Delta::Text("I report.")), TextChange::Same);
        assert_eq!(answer.add(&turn, call(Some(REPORT_TOOL), "{\"report_")), TextChange::Same);
        assert_eq!(answer.add(&turn, call(None, "content\": \"Sent\\")), TextChange::More("Sent"));
        assert_eq!(answer.add(&turn, call(None, "nto")), TextChange::More("\nto"));
        assert_eq!(answer.add(&turn, call(None, " Seoul\", \"status\": \"par")), TextChange::More(" Seoul"));
        assert_eq!(answer.add(&turn, call(None, "tial\"}")), TextChange::Same);
        assert_eq!(answer.text(), "Sent\nto Seoul");
    }

    #[test]
    fn what_an_agent_says_is_text_only_if_that_is_wanted() {
        let mut answer = AnswerText::default().with_agent_text();
        let turn = ask("turn-1/ask/1", Purpose::AgentTurn);
        assert_eq!(answer.add(&turn, Delta::Text("I look it up.")), TextChange::More("I look it up."));
        let arguments = "{\"report_content\": \"Sent.\"}";
        assert_eq!(answer.add(&turn, call(Some(REPORT_TOOL), arguments)), TextChange::Restarted("Sent."));
        let nested = ask("turn-1/call-1/turn-1/ask/1", Purpose::AgentTurn);
        assert_eq!(answer.add(&nested, Delta::Text("nested")), TextChange::Same);
    }
}
