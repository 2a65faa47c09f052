//! Finding the JSON in prose: in fenced code blocks, in brackets, and after the reasoning.

use std::cell::Cell;

use reknit_protocol::{Path, Value};

use super::Completeness;
use super::cursor::is_unusual_space;
use super::document::{Candidate, parse_by_both_rules, parse_document};
use super::parser::{Parser, YesNoWords};
use super::reading::ParseFailure;
use crate::FixKind;

/// How many times the search may continue inside an unclosed bracket that turned out to be prose.
const MAX_RETRIES: usize = 16;

/// How many candidates are collected. A text with more is a log, not an answer.
const MAX_CANDIDATES: usize = 64;

/// How many bytes after a fence are searched for its tag.
const MAX_TAG_LINE: usize = 256;

/// The tags around the reasoning of a model. JSON in it is not the answer.
pub(crate) const REASONING_TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reflection"];

/// The candidates, and the first parse failure in a text that looked like JSON.
#[derive(Debug, Default)]
pub(super) struct EmbeddedJson {
    pub(super) candidates: Vec<Candidate>,
    pub(super) failure: Option<ParseFailure>,
}

/// Finds the values in the fenced blocks and brackets of `text`. The reasoning is searched only if there is no value
/// after it.
pub(super) fn find(text: &str) -> EmbeddedJson {
    let mut finder =
        Finder { text, found: EmbeddedJson::default(), retries_left: MAX_RETRIES, fences: Fences::find(text) };
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
    found: EmbeddedJson,
    retries_left: usize,
    fences: Fences,
}

impl Finder<'_> {
    /// The offset after the last closing tag of the reasoning, or 0.
    fn after_reasoning(&self) -> usize {
        // Searching for one character is faster than setting up a substring search.
        if !self.text.contains('<') {
            return 0;
        }
        let closing = self.text.rmatch_indices("</").find_map(|(at, mark)| {
            let (tag, _) = self.text.get(at + mark.len()..)?.split_once('>')?;
            REASONING_TAGS.contains(&tag).then_some(at + mark.len() + tag.len() + 1)
        });
        closing.unwrap_or(0)
    }

    fn search(&mut self, start: usize, end: usize) {
        let text = self.text.get(..end).unwrap_or_default();
        let mut at = start;
        let mut first_bracket = start == 0;
        while self.found.candidates.len() < MAX_CANDIDATES {
            let Some(step) = text.get(at..).and_then(|rest| rest.find(['{', '[', '`', '"'])) else { return };
            at += step;
            at = match text.as_bytes().get(at) {
                Some(b'`') if text.get(at..).is_some_and(|rest| rest.starts_with("```")) => self.read_fence(text, at),
                Some(b'"') => quotation_end(text, at),
                Some(b'{' | b'[') => {
                    if std::mem::take(&mut first_bracket) {
                        self.add_opening_scalar(text, at);
                    }
                    self.read_bracket(text, at)
                }
                _ => at + 1,
            };
        }
    }

    /// Adds a number, literal or string at the start of the text as a candidate: `42 {"a": 1}` may mean 42.
    fn add_opening_scalar(&mut self, text: &str, at: usize) {
        let opening = text.get(..at).unwrap_or_default();
        if opening.ends_with([' ', '\t'])
            && let Ok(value) = Value::parse(opening.trim())
            && !matches!(value, Value::Array(_) | Value::Object(_))
        {
            let mut candidate = Candidate::unrepaired(value);
            candidate.fixes.push(Path::root, FixKind::SurroundingText, text, opening.trim());
            self.found.candidates.push(candidate);
        }
    }

    /// Reads a fenced block and returns the offset after it. The block ends at the first of the next fences that leaves
    /// readable JSON, because a string in the block may contain fences, too.
    fn read_fence(&mut self, text: &str, at: usize) -> usize {
        let body = body_of_fence(text, at + 3);
        let mut ends = self.fences.closing(body, text.len());
        if ends.is_empty() {
            ends.push(text.len());
        }
        let mut failure = None;
        for end in &ends {
            let block = text.get(body..*end).unwrap_or_default().trim();
            match parse_document(block, YesNoWords::AsBoolean) {
                Ok(Some(candidate)) if candidate.is_bare_text => {}
                Ok(Some(mut candidate)) => {
                    if candidate.completeness == Completeness::Truncated && Some(end) != ends.last() {
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

    /// Reads an object or array in prose and returns the offset at which the search continues.
    fn read_bracket(&mut self, text: &str, at: usize) -> usize {
        if text.get(at + 1..).is_some_and(|inside| inside.starts_with("```")) {
            return at + 1;
        }
        let end = Cell::new(at);
        let outcome = parse_by_both_rules(text, at, YesNoWords::AsText, |parser| {
            let value = parser.read_value();
            end.set(parser.pos);
            let Some(value) = value? else { return Ok(None) };
            let is_answer = is_answer(parser.text, at, &value, parser);
            Ok(Some((Candidate::take_from_parser(parser, value, false), is_answer)))
        });
        let end = end.get();
        match outcome {
            Ok(Some((mut candidate, is_answer))) => {
                let is_set_apart = is_set_apart(text, at, end);
                if is_followed_by_closer(text, end) {
                    return text.len();
                }
                if !(is_set_apart || is_answer) || is_followed_by_word(text, end) {
                    return end.max(at + 1);
                }
                let json = text.get(at..end).unwrap_or_default();
                candidate.fixes.push(Path::root, FixKind::SurroundingText, text, json);
                if !is_set_apart {
                    candidate.fixes.push(Path::root, FixKind::Mention, text, json);
                }
                self.found.candidates.push(candidate);
                end
            }
            Ok(None) => end.max(at + 1),
            Err(failure) => {
                let looks_like_json = looks_like_json(text, at);
                if self.found.failure.is_none() && looks_like_json {
                    self.found.failure = Some(failure);
                }
                match balanced_end(text, at) {
                    Some(end) if looks_like_json && goes_on(text, end) => text.len(),
                    Some(end) => end,
                    None if looks_like_json || self.retries_left == 0 => text.len(),
                    None => {
                        self.retries_left -= 1;
                        at + 1
                    }
                }
            }
        }
    }
}

/// Whether a word follows the brackets without a space: `{"a": 2}foo`.
fn is_followed_by_word(text: &str, end: usize) -> bool {
    text.get(end..).and_then(|rest| rest.chars().next()).is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a bracket follows that closes nothing, and more behind it: what was read is a part of a damaged document.
fn is_followed_by_closer(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default().trim_start();
    rest.strip_prefix(['}', ']']).is_some_and(|rest| rest.contains(['{', '[']))
}

/// Whether brackets inside a sentence contain an answer, unlike `foo []` and `[see below]`.
fn is_answer(text: &str, at: usize, value: &Value, parser: &Parser<'_>) -> bool {
    let (empty, words) = match value {
        Value::Array(items) => (items.is_empty(), items.iter().all(|item| matches!(item, Value::String(_)))),
        Value::Object(object) => (object.is_empty(), false),
        _ => (true, false),
    };
    let bare_words = words && parser.fixes.contains(FixKind::BareText);
    let after_value = text.get(..at).is_some_and(|before| before.trim_end().ends_with(['}', ']']));
    after_value || !(empty || bare_words)
}

/// Whether the text from `at` to `end` is set apart as an answer: introduced by a colon, an equals sign or a tag, or alone
/// on its lines.
fn is_set_apart(text: &str, at: usize, end: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let on_line = before.trim_end_matches(|c: char| c == ' ' || c == '\t' || c == '*' || is_unusual_space(c));
    let after = text.get(end..).unwrap_or_default().trim_start_matches([' ', '\t', '*']);
    let alone =
        (on_line.is_empty() || on_line.ends_with('\n')) && (after.is_empty() || after.starts_with(['\n', '\r']));
    alone || on_line.trim_end().ends_with([':', '=', '>', '：'])
}

/// Whether the bracket at `at` seems to open JSON. Then no part of its content is the answer.
fn looks_like_json(text: &str, at: usize) -> bool {
    let inside = text.get(at + 1..).unwrap_or_default().trim_start();
    inside.is_empty()
        || inside.starts_with(['"', '{', '[', '}', ']', '\'', '“'])
        || inside.starts_with(|c: char| c.is_ascii_digit())
}

/// The offset after the bracket that closes the one at `at`; brackets in strings do not count.
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

/// Whether unreadable JSON goes on after its brackets, so that what follows is a part of it and not another answer.
fn goes_on(text: &str, end: usize) -> bool {
    text.get(end..).unwrap_or_default().trim_start().starts_with([',', ':', '}', ']'])
}

/// The offset after a quotation in prose that ends on its line, because brackets in a quotation are not an answer.
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

/// Where the body of a fenced block begins: after the tag, or right after the fence if JSON follows it.
fn body_of_fence(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let marks = rest.bytes().take_while(|byte| *byte == b'`').count();
    let rest = rest.get(marks..).unwrap_or_default();
    let line =
        rest.get(..rest.floor_char_boundary(MAX_TAG_LINE)).unwrap_or(rest).split('\n').next().unwrap_or_default();
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

/// The offsets of all fences, collected once because a text may be full of them.
struct Fences {
    all: Vec<usize>,
    on_own_line: Vec<usize>,
}

impl Fences {
    fn find(text: &str) -> Self {
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

    /// The first three fences from `from` on that can close a block: those on a line of their own, if there are any.
    fn closing(&self, from: usize, end: usize) -> Vec<usize> {
        let after = |fences: &[usize]| -> Vec<usize> {
            let first = fences.partition_point(|at| *at < from);
            fences.iter().skip(first).take(3).copied().filter(|at| *at < end).collect()
        };
        let own = after(&self.on_own_line);
        if own.is_empty() { after(&self.all) } else { own }
    }
}
