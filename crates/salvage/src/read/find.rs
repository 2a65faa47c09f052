//! Finding JSON in what a model said: fenced blocks, brackets in prose, what follows the reasoning.

use super::{
    cursor::is_odd_space,
    document::{Candidate, document},
    failure::Failure,
    parser::{Parser, YesNo},
};
use crate::{FixKind, fix::Fixes};
use reknit_protocol::{Path, Value};

/// How often a bracket that turned out to be prose may be tried again one bracket later.
const SECOND_LOOKS: usize = 16;

/// How many candidates are kept; a text with more than that is a log, not an answer.
const MOST: usize = 64;

/// How much of the line behind a fence may be its tag.
const TAG_LINE: usize = 256;

/// Where a model thinks aloud before it answers.
const REASONING: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reflection"];

/// What was found, and the failure of the most promising place that could not be read.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) failure: Option<Failure>,
}

/// Finds every value in `text` that stands in a fenced block or in brackets.
pub(super) fn find(text: &str) -> Found {
    let mut finder = Finder { text, found: Found::default(), second_looks: SECOND_LOOKS, fences: Fences::of(text) };
    let answer = finder.after_reasoning();
    finder.search(answer, text.len());
    if finder.found.candidates.is_empty() && answer > 0 {
        finder.search(0, answer);
        for candidate in &mut finder.found.candidates {
            candidate.fixes.push(Path::root, FixKind::Reasoning, "", "");
        }
    }
    finder.found
}

struct Finder<'t> {
    text: &'t str,
    found: Found,
    second_looks: usize,
    fences: Fences,
}

impl Finder<'_> {
    /// Where the reasoning ends: behind its last closing tag, or 0.
    fn after_reasoning(&self) -> usize {
        // To set up a search for a text takes longer than to see that its first letter is nowhere.
        if !self.text.contains('<') {
            return 0;
        }
        let closing = self.text.rmatch_indices("</").find_map(|(at, mark)| {
            let (tag, _) = self.text.get(at + mark.len()..)?.split_once('>')?;
            REASONING.contains(&tag).then_some(at + mark.len() + tag.len() + 1)
        });
        closing.unwrap_or(0)
    }

    fn search(&mut self, start: usize, end: usize) {
        let text = self.text.get(..end).unwrap_or_default();
        let mut at = start;
        let mut first_bracket = start == 0;
        while self.found.candidates.len() < MOST {
            let Some(step) = text.get(at..).and_then(|rest| rest.find(['{', '[', '`', '"'])) else { return };
            at += step;
            at = match text.as_bytes().get(at) {
                Some(b'`') if text.get(at..).is_some_and(|rest| rest.starts_with("```")) => self.fence(text, at),
                Some(b'"') => quotation_end(text, at),
                Some(b'{' | b'[') => {
                    if std::mem::take(&mut first_bracket) {
                        self.opening_scalar(text, at);
                    }
                    self.bracket(text, at)
                }
                _ => at + 1,
            };
        }
    }

    /// A number, literal or string that opens the text is a candidate too: `42 {"a": 1}` answers 42 and goes on.
    fn opening_scalar(&mut self, text: &str, at: usize) {
        let opening = text.get(..at).unwrap_or_default();
        if opening.ends_with([' ', '\t'])
            && let Ok(value) = Value::parse(opening.trim())
            && !matches!(value, Value::Array(_) | Value::Object(_))
        {
            let mut candidate = Candidate::untouched(value);
            candidate.fixes.push(Path::root, FixKind::SurroundingText, text, opening.trim());
            self.found.candidates.push(candidate);
        }
    }

    /// A fenced block. Its end is the next fence on a line of its own that leaves a readable block: a string inside
    /// may hold fences too.
    fn fence(&mut self, text: &str, at: usize) -> usize {
        let body = body_of_fence(text, at + 3);
        let mut ends = self.fences.closing(body, text.len());
        let closed = !ends.is_empty();
        if !closed {
            ends.push(text.len());
        }
        let mut failure = None;
        for end in &ends {
            let block = text.get(body..*end).unwrap_or_default().trim();
            match document(block, YesNo::Boolean) {
                Ok(Some(candidate)) if candidate.bare => {}
                Ok(Some(mut candidate)) => {
                    if closed
                        && candidate.completeness == crate::Completeness::Truncated
                        && ends.len() > 1
                        && Some(end) != ends.last()
                    {
                        continue;
                    }
                    candidate.fixes.push(Path::root, FixKind::Fence, self.text, block);
                    self.found.candidates.push(candidate);
                    return (*end + 3).min(text.len());
                }
                Ok(None) => {}
                Err(error) => failure = failure.or(Some(error.shifted(body))),
            }
        }
        self.found.failure = self.found.failure.take().or(failure);
        ends.first().map_or(text.len(), |end| (*end + 3).min(text.len()))
    }

    /// An object or array in prose.
    fn bracket(&mut self, text: &str, at: usize) -> usize {
        if text.get(at + 1..).is_some_and(|inside| inside.starts_with("```")) {
            return at + 1;
        }
        let mut parser = Parser::new(text, at, YesNo::Word);
        let outcome = parser.value();
        let end = parser.pos;
        match outcome {
            Ok(Some(value)) => {
                let stands_out = stands_out(text, at, end);
                if !(stands_out || is_answer(text, at, &value, &parser)) || is_glued(text, end) {
                    return end.max(at + 1);
                }
                let mut candidate = Candidate::from_parser(parser, value, false);
                let around =
                    |fixes: &mut Fixes, kind| fixes.push(Path::root, kind, text, text.get(at..end).unwrap_or_default());
                around(&mut candidate.fixes, FixKind::SurroundingText);
                if !stands_out {
                    around(&mut candidate.fixes, FixKind::Mention);
                }
                self.found.candidates.push(candidate);
                end
            }
            Ok(None) => end.max(at + 1),
            Err(failure) => {
                let looks_like_json = looks_like_json(text, at);
                if self.found.failure.is_none() && looks_like_json {
                    self.found.failure = Some(*failure);
                }
                match balanced_end(text, at) {
                    Some(end) => end,
                    None if looks_like_json || self.second_looks == 0 => text.len(),
                    None => {
                        self.second_looks -= 1;
                        at + 1
                    }
                }
            }
        }
    }
}

/// Whether a word goes on right behind the brackets: `{"a": 2}foo`.
fn is_glued(text: &str, end: usize) -> bool {
    text.get(end..).and_then(|rest| rest.chars().next()).is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Whether brackets that do not stand out hold an answer and are not just a mention: `foo []`, `[see below]`.
fn is_answer(text: &str, at: usize, value: &Value, parser: &Parser<'_>) -> bool {
    let (empty, words) = match value {
        Value::Array(items) => (items.is_empty(), items.iter().all(|item| matches!(item, Value::String(_)))),
        Value::Object(object) => (object.is_empty(), false),
        _ => (true, false),
    };
    let bare_words = words && parser.fixes.has(FixKind::BareText);
    let after_value = text.get(..at).is_some_and(|before| before.trim_end().ends_with(['}', ']']));
    after_value || !(empty || bare_words)
}

/// Whether what stands from `at` to `end` is set off as an answer: led up to by a colon, an equals sign or a tag, or
/// alone on its lines.
fn stands_out(text: &str, at: usize, end: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let on_line = before.trim_end_matches(|c: char| c == ' ' || c == '\t' || c == '*' || is_odd_space(c));
    let after = text.get(end..).unwrap_or_default().trim_start_matches([' ', '\t', '*']);
    let alone =
        (on_line.is_empty() || on_line.ends_with('\n')) && (after.is_empty() || after.starts_with(['\n', '\r']));
    alone || on_line.trim_end().ends_with([':', '=', '>', '：'])
}

/// Whether the bracket at `at` opens something that means to be JSON, so that a part of it is never the answer.
fn looks_like_json(text: &str, at: usize) -> bool {
    let inside = text.get(at + 1..).unwrap_or_default().trim_start();
    inside.is_empty()
        || inside.starts_with(['"', '{', '[', '}', ']', '\'', '“'])
        || inside.starts_with(|c: char| c.is_ascii_digit())
}

/// The position behind the bracket that closes the one at `at`, minding strings.
fn balanced_end(text: &str, at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let (mut in_string, mut escaped) = (false, false);
    for (offset, byte) in text.get(at..)?.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Behind a quotation in prose that ends on its line: brackets inside it are quoted, not meant.
fn quotation_end(text: &str, at: usize) -> usize {
    let inside = text.get(at + 1..).unwrap_or_default();
    let mut escaped = false;
    for (offset, byte) in inside.bytes().take(512).enumerate() {
        match byte {
            b'\n' => break,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1 + offset + 1,
            _ => {}
        }
    }
    at + 1
}

/// Where the body of a fence begins: behind its tag, or right behind the fence if JSON stands there.
fn body_of_fence(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let marks = rest.bytes().take_while(|byte| *byte == b'`').count();
    let rest = rest.get(marks..).unwrap_or_default();
    let line = rest.get(..rest.floor_char_boundary(TAG_LINE)).unwrap_or(rest).split('\n').next().unwrap_or_default();
    let in_tag = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.');
    let tag = line.bytes().take_while(in_tag).count();
    let behind_tag = line.get(tag..).unwrap_or_default().trim_start();
    let starts_json =
        |text: &str| text.starts_with(['{', '[', '"', '-']) || text.starts_with(|c: char| c.is_ascii_digit());
    let body = if behind_tag.is_empty() || behind_tag.starts_with(['{', '[', '"']) {
        tag
    } else if starts_json(line.trim_start()) {
        0
    } else {
        // The rest of the line belongs to the tag: `json title="x"`.
        line.len()
    };
    at + marks + body
}

/// Where fences stand, found once: a text may be full of them.
struct Fences {
    all: Vec<usize>,
    on_own_line: Vec<usize>,
}

impl Fences {
    fn of(text: &str) -> Self {
        let (mut all, mut on_own_line) = (Vec::new(), Vec::new());
        if !text.contains('`') {
            return Self { all, on_own_line };
        }
        let mut behind = 0;
        for (at, mark) in text.match_indices("```") {
            let between = text.get(behind..at).unwrap_or_default();
            let indent = between.rsplit('\n').next().unwrap_or_default();
            if (between.contains('\n') || behind == 0) && indent.trim().is_empty() {
                on_own_line.push(at);
            }
            all.push(at);
            behind = at + mark.len();
        }
        Self { all, on_own_line }
    }

    /// The first three fences from `from` on that can close a block: those on a line of their own if there are any.
    fn closing(&self, from: usize, end: usize) -> Vec<usize> {
        let after = |fences: &[usize]| -> Vec<usize> {
            let first = fences.partition_point(|at| *at < from);
            fences.iter().skip(first).take(3).copied().filter(|at| *at < end).collect()
        };
        let own = after(&self.on_own_line);
        if own.is_empty() { after(&self.all) } else { own }
    }
}
