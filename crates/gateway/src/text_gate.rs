//! Decides which text of a stream can be passed on at once, and which may turn out to be a tool call.

use reknit_salvage::{LineStart, line_start, reasoning_end, token_in_line, without_reasoning};

/// Holds text back that may be a tool call: from the beginning of its line, or from the token in a line that begins calls.
#[derive(Debug)]
pub(crate) struct TextGate {
    mode: GateMode,
    text: String,
    /// Up to here the text was passed on.
    passed: usize,
    /// The beginning of the first line that is not decided.
    line: usize,
    fence: Option<Fence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateMode {
    /// Nothing: the request has no tools.
    Nothing,
    Calls,
    /// Everything, because the text is data that must be complete before it can be checked.
    Everything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// Its content is not known yet.
    Undecided { start: usize },
    /// It is no call.
    Passed,
}

impl TextGate {
    pub(crate) fn new(mode: GateMode) -> Self {
        Self { mode, text: String::new(), passed: 0, line: 0, fence: None }
    }

    /// Adds a piece of text, and returns what can be passed on now.
    pub(crate) fn push(&mut self, piece: &str) -> &str {
        self.text.push_str(piece);
        let end = match self.mode {
            GateMode::Nothing => self.text.len(),
            GateMode::Everything => self.passed,
            GateMode::Calls => self.decided().max(self.passed),
        };
        let from = std::mem::replace(&mut self.passed, end);
        self.text.get(from..end).unwrap_or_default()
    }

    /// Whether all text passes at once.
    pub(crate) fn is_open(&self) -> bool {
        self.mode == GateMode::Nothing
    }

    pub(crate) fn holds(&self) -> bool {
        self.passed < self.text.len()
    }

    /// Up to where the text is no call.
    fn decided(&mut self) -> usize {
        loop {
            let (line, is_complete) = self.next_line();
            let next = self.line + line.len();
            let start = line_start(line.trim_start(), is_complete);
            if line.is_empty() {
                return self.held_from();
            }
            match (self.fence, start) {
                (_, LineStart::Unknown) => return self.held_from(),
                (Some(Fence::Undecided { .. }), LineStart::Json) | (_, LineStart::Tag) => return self.hold(self.line),
                (None, LineStart::Json) if self.is_first_text() => return self.hold(self.line),
                (Some(_), LineStart::Fence { .. }) => self.fence = None,
                (None, LineStart::Fence { can_hold_call: true }) => {
                    self.fence = Some(Fence::Undecided { start: self.line });
                }
                (None, LineStart::Fence { can_hold_call: false }) => self.fence = Some(Fence::Passed),
                // The block may begin with empty lines.
                (Some(Fence::Undecided { .. }), _) if !line.trim().is_empty() => self.fence = Some(Fence::Passed),
                _ => {}
            }
            let from = self.line.max(self.passed);
            match token_in_line(self.text.get(from..next).unwrap_or_default(), is_complete) {
                Some(token) if token.is_whole => return self.hold(from + token.at),
                Some(token) => return self.held_from_place(from + token.at),
                None => {}
            }
            if !is_complete {
                let is_undecided = matches!(self.fence, Some(Fence::Undecided { .. }));
                return if is_undecided { self.held_from() } else { self.text.len() };
            }
            self.line = next;
        }
    }

    /// The first line that is not decided, and whether all of it is there. The end of reasoning ends a line as well.
    fn next_line(&self) -> (&str, bool) {
        const LONGEST_END_OF_REASONING: usize = 24;
        let rest = self.text.get(self.line..).unwrap_or_default();
        let (line, is_complete) = match rest.find('\n') {
            Some(end) => (rest.get(..=end).unwrap_or_default(), true),
            None => (rest, false),
        };
        let searched = self.passed.saturating_sub(self.line + LONGEST_END_OF_REASONING);
        let from = line.floor_char_boundary(searched);
        match line.get(from..).and_then(reasoning_end) {
            Some(end) => (line.get(..from + end).unwrap_or_default(), true),
            None => (line, is_complete),
        }
    }

    /// Whether there is no text before the line but reasoning.
    fn is_first_text(&self) -> bool {
        without_reasoning(self.text.get(..self.line).unwrap_or_default()).is_empty()
    }

    fn held_from(&self) -> usize {
        self.held_from_place(self.line)
    }

    /// From where text is held if a call may begin at the place: a block that is not decided is held as a whole.
    fn held_from_place(&self, place: usize) -> usize {
        match self.fence {
            Some(Fence::Undecided { start }) => start,
            Some(Fence::Passed) | None => place,
        }
    }

    fn hold(&mut self, place: usize) -> usize {
        self.mode = GateMode::Everything;
        self.held_from_place(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is passed on when the text arrives letter by letter, and what is held at its end.
    fn gate(text: &str) -> (String, String) {
        let mut gate = TextGate::new(GateMode::Calls);
        let passed: String = text.chars().map(|letter| gate.push(&letter.to_string()).to_owned()).collect();
        (passed.clone(), text.strip_prefix(passed.as_str()).unwrap_or("something else was passed on").to_owned())
    }

    #[test]
    fn text_that_cannot_be_a_call_is_passed_on_at_once() {
        for text in [
            "It is 21 degrees.",
            "See <b>this</b>, {really}.",
            "First\n```rust\nfn main() {}\n```\nthen the rest",
            "```json\nnot json\n```\nafter it",
            "a `code` word\nand `more`",
            "<p>html</p>\n",
            "Text first\n{\"a\": 1}",
        ] {
            assert_eq!(gate(text), (text.to_owned(), String::new()));
        }
    }

    #[test]
    fn text_is_held_from_the_line_on_that_may_begin_a_call() {
        for (passed, held) in [
            ("", r#"{"name": "weather"}"#),
            ("", r#"[{"name": "weather"}]"#),
            ("Let me look.\n", "<tool_call>{}</tool_call>"),
            ("Let me look.\n", "```json\n{\"name\": 1}\n```\nmore"),
            ("<think>hm</think>\n", "{\"name\": 1}"),
            ("<think>hm</think>", "{\"name\": 1}"),
            ("I look. ", "<tool_call>get_time</tool_call>"),
            ("Straße ", "<｜tool▁calls"),
            ("See <b>this</b> and <i>", "<"),
            ("Let me look.", "[TOOL_CALLS]weather{}"),
            ("", "Action: weather"),
            ("", "```tool_code\nweather()\n```"),
            ("a\n", "<tool"),
            ("", "```\n<tool_call>{}</tool_call>\n```"),
            ("```xml\n<a/>\n", "<tool_call>{}</tool_call>\n```"),
            ("a\n", "``"),
        ] {
            assert_eq!(gate(&format!("{passed}{held}")), (passed.to_owned(), held.to_owned()));
        }
    }
}
