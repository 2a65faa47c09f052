//! Finds the blocks of a text that hold calls: those behind a token of the table, and fenced ones.

use std::ops::Range;

use super::code::python_calls;
use super::grammars::{Grammar, Opening, Place, next_opening};
use super::json::{document_length, json_calls};
use super::line_start::FenceKind;
use super::{Block, Body, TextCall, TextCallForm, calls_in_block, with_form};

/// How many ends of one block are tried: a text inside of a call may contain the token that ends it.
const MAX_ENDS: usize = 16;

/// How many bytes are read in search of calls, besides four times the text: a hostile text has many tokens and no calls. Then the rest of it
/// is text.
const MAX_BYTES_READ: usize = 64 * 1024;

/// The blocks behind a token whose calls are accepted.
pub(super) fn token_blocks<'a>(
    text: &'a str,
    hidden: &[Range<usize>],
    is_accepted: &dyn Fn(&[TextCall]) -> bool,
) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    let mut from = 0;
    let mut budget = MAX_BYTES_READ + 4 * text.len();
    while let Some(opening) = next_opening(text, from).filter(|_| budget > 0) {
        let hiding = hidden.iter().find(|range| range.contains(&opening.at));
        if let Some(range) = hiding {
            from = range.end;
            continue;
        }
        let Some(block) = read_block(text, opening, &mut budget) else {
            from = opening.at + opening.grammar.open.len();
            continue;
        };
        from = block.range.end;
        let line = line_before(text, opening.at, hidden, &blocks);
        let form = form_in_line(opening.grammar.place, line, text.get(block.range.end..).unwrap_or_default());
        if let Some(form) = form
            && is_accepted(&block.calls)
        {
            blocks.push(Block { calls: with_form(block.calls, form), ..block });
        }
    }
    blocks
}

/// The calls behind an opening token. The first end is taken behind which nothing of them is missing.
fn read_block<'a>(text: &'a str, opening: Opening, budget: &mut usize) -> Option<Block<'a>> {
    let Grammar { open, keeps_tokens, notations, .. } = opening.grammar;
    let behind = opening.at + open.len();
    let start = if *keeps_tokens { opening.at } else { behind };
    ends(text, behind, opening.grammar).find_map(|end| {
        let body = text.get(start..if *keeps_tokens { end.end } else { end.start })?;
        let is_closed = end.start < end.end;
        *budget = budget.checked_sub(body.len()).unwrap_or_default();
        let read = Body { text: body.trim(), is_closed };
        let calls = notations.iter().find_map(|notation| notation(&read))?;
        Some(Block { range: opening.at..end.end, body, calls })
    })
}

/// Where a block may end: at the tokens that end it, at the next one that begins such a block, at the end of the text, and where its JSON ends.
fn ends<'a>(text: &'a str, from: usize, grammar: &'a Grammar) -> impl Iterator<Item = Range<usize>> + 'a {
    let tail = text.get(from..).unwrap_or_default();
    let tokens = grammar.ends.iter().map(|token| (*token, token.len())).chain([(grammar.open, 0)]);
    let places = tokens.flat_map(move |(token, length)| {
        tail.match_indices(token).take(MAX_ENDS).map(move |(at, _)| from + at..from + at + length)
    });
    let mut places: Vec<Range<usize>> = places.collect();
    places.sort_by_key(|range| range.start);
    places.truncate(MAX_ENDS);
    let json_end = json_end(text, if grammar.keeps_tokens { from - 1 } else { from });
    let open_ends = std::iter::once(text.len()).chain(json_end).map(|end| end..end);
    places.into_iter().chain(open_ends)
}

/// Where the first JSON document behind a place ends, if it begins on the same line.
fn json_end(text: &str, from: usize) -> Option<usize> {
    let tail = text.get(from..)?;
    let start = tail.find(['{', '['])?;
    let is_near = !tail.get(..start)?.trim_start().contains('\n');
    is_near.then(|| Some(from + start + document_length(tail.get(start..)?)?))?
}

/// What stands before a place on its line, behind earlier blocks and reasoning.
fn line_before<'a>(text: &'a str, at: usize, hidden: &[Range<usize>], blocks: &[Block<'_>]) -> &'a str {
    let ends = hidden.iter().map(|range| range.end).chain(blocks.iter().map(|block| block.range.end));
    let from = ends.filter(|end| *end <= at).max().unwrap_or(0);
    let line = text.get(from..at).unwrap_or_default();
    line.rsplit('\n').next().unwrap_or_default()
}

/// How calls are written whose token may stand in a line; none if they are part of a sentence.
fn form_in_line(place: Place, before: &str, after: &str) -> Option<TextCallForm> {
    let is_first = is_markup(before);
    let line = after.lines().next().unwrap_or_default().trim();
    let is_last = is_markup(line) || next_opening(line, 0).is_some_and(|opening| opening.at == 0);
    match (place, is_first, is_last) {
        (Place::LineStart, false, _) | (Place::Line | Place::LineStart, _, false) => None,
        (Place::Line, false, true) | (Place::Anywhere, _, false) => Some(TextCallForm::TagInLine),
        (_, true, true) | (Place::Anywhere, false, true) => Some(TextCallForm::Tag),
    }
}

/// Whether a part of a line is nothing but tags.
fn is_markup(text: &str) -> bool {
    let mut rest = text.trim();
    while let Some((_, after)) = rest.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        rest = after.trim_start();
    }
    rest.is_empty()
}

pub(super) fn fenced_blocks<'a>(text: &'a str, hidden: &[Range<usize>]) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, usize, FenceKind)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let start = hidden.iter().find(|range| range.contains(&at)).map_or(at, |range| range.end);
        at = end;
        let Some(word) = text.get(start..end).and_then(|line| line.trim().strip_prefix("```")) else { continue };
        open = match open {
            None => Some((start, end, FenceKind::of_word(word))),
            Some((from, body_start, kind)) => {
                let body = text.get(body_start..start).unwrap_or_default();
                blocks.push(Block { range: from..end, body, calls: calls_in_fence(body, kind) });
                None
            }
        };
    }
    blocks
}

fn calls_in_fence(text: &str, kind: FenceKind) -> Vec<TextCall> {
    let body = Body { text: text.trim(), is_closed: true };
    match kind {
        FenceKind::Other => Vec::new(),
        FenceKind::Data => calls_in_block(text, TextCallForm::Fence),
        FenceKind::Code => match json_calls(&body) {
            Some(calls) => with_form(calls, TextCallForm::Fence),
            None => with_form(python_calls(&body).unwrap_or_default(), TextCallForm::FunctionCall),
        },
        FenceKind::Calls => match python_calls(&body) {
            Some(calls) => with_form(calls, TextCallForm::Fence),
            None => calls_in_block(text, TextCallForm::Fence),
        },
    }
}
