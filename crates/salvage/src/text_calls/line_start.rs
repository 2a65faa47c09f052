//! Tells, for text that is still arriving, where a call may begin.

use super::grammars::{LONGEST_TOKEN, Place, may_become_token, next_opening};

/// What a line of a text that is still arriving may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStart {
    /// Nothing that is a call.
    Text,
    Unknown,
    /// A call behind a token, or a block that holds calls alone.
    Tag,
    /// A fenced block, or the end of one.
    Fence {
        /// Whether the block may be a call, by the word after the fence.
        can_hold_call: bool,
    },
    /// JSON.
    Json,
}

/// What a fenced block may hold, by the word after the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceKind {
    /// A call as JSON.
    Data,
    /// Code, which may look like a call.
    Code,
    /// Calls and nothing else.
    Calls,
    Other,
}

impl FenceKind {
    pub(super) fn of_word(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "" | "json" | "jsonc" | "text" => Self::Data,
            "python" => Self::Code,
            "tool_call" | "tool_calls" | "tool_code" => Self::Calls,
            _ => Self::Other,
        }
    }
}

/// What a line may begin, for text that arrives in pieces. `line` has no space before it.
pub fn line_start(line: &str, is_complete: bool) -> LineStart {
    if let Some(word) = line.strip_prefix("```") {
        return match FenceKind::of_word(word) {
            _ if !is_complete => LineStart::Unknown,
            FenceKind::Calls => LineStart::Tag,
            kind => LineStart::Fence { can_hold_call: kind != FenceKind::Other },
        };
    }
    if next_opening(line, 0).is_some_and(|opening| opening.at == 0) {
        return LineStart::Tag;
    }
    if !is_complete && ("```".starts_with(line) || may_become_token(line, Place::LineStart)) {
        return LineStart::Unknown;
    }
    if line.starts_with(['{', '[']) { LineStart::Json } else { LineStart::Text }
}

/// Where a token that begins calls stands in a line, or may stand at its end when more of the line arrives.
pub fn token_in_line(line: &str, is_complete: bool) -> Option<TokenInLine> {
    let mut from = 0;
    while let Some(opening) = next_opening(line, from) {
        if opening.grammar.place != Place::LineStart {
            return Some(TokenInLine { at: opening.at, is_whole: true });
        }
        from = opening.at + opening.grammar.open.len();
    }
    let may_begin = |at: &usize| line.get(*at..).is_some_and(|tail| may_become_token(tail, Place::Anywhere));
    let mut places = line.char_indices().map(|(at, _)| at).skip_while(|at| line.len() - at > LONGEST_TOKEN);
    let at = if is_complete { None } else { places.find(may_begin) };
    at.map(|at| TokenInLine { at, is_whole: false })
}

/// A token in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenInLine {
    pub at: usize,
    /// Whether all of it is there.
    pub is_whole: bool,
}
