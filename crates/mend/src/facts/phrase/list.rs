//! Lists inside sentences: `a, b or c`, `['a', 'b']`, `"a" | "b"`.

use reknit_protocol::Value;

use super::token::{Kind, Token};

/// More than any error lists with a purpose.
const MAX_ITEMS: usize = 200;

/// What may stand between two items.
const BETWEEN: [char; 3] = [',', '|', '/'];
/// What may stand before the first.
const BEFORE: [char; 5] = [':', '[', '(', '{', '='];
/// Words that lead up to a list.
const LEADING: [&str; 11] =
    ["the", "following", "values", "allowed", "options", "choices", "these", "are", "either", "enum", "value"];
/// Words that are no item, so that a list ends before them.
const AFTER: [&str; 16] = [
    "but", "got", "not", "received", "found", "instead", "for", "at", "in", "was", "were", "you", "is", "are",
    "please", "given",
];

/// Names of fields, each a single word or quoted.
pub(super) fn names(tokens: &[Token<'_>], at: usize) -> (Vec<String>, usize) {
    let (items, end) = items(tokens, at, false);
    (items.iter().filter_map(|item| item.value.as_str().map(str::to_owned)).collect(), end)
}

/// Values, quoted or not. Where some are quoted, only those are meant.
pub(super) fn values(tokens: &[Token<'_>], at: usize) -> (Vec<Value>, usize) {
    let (items, end) = items(tokens, at, true);
    let quoted = items.iter().any(|item| item.quoted);
    (items.into_iter().filter(|item| item.quoted || !quoted).map(|item| item.value).collect(), end)
}

/// Values that are all quoted.
pub(super) fn quoted(tokens: &[Token<'_>], at: usize) -> (Vec<Value>, usize) {
    let (items, end) = items(tokens, at, false);
    let quoted = items.iter().all(|item| item.quoted);
    (items.into_iter().filter(|_| quoted).map(|item| item.value).collect(), end)
}

struct Item {
    value: Value,
    quoted: bool,
}

fn items(tokens: &[Token<'_>], mut at: usize, joined: bool) -> (Vec<Item>, usize) {
    let leads = |token: &Token<'_>| token.is_mark(&BEFORE) || LEADING.iter().any(|word| token.is(word));
    while tokens.get(at).is_some_and(leads) {
        at += 1;
    }
    let mut items: Vec<Item> = Vec::new();
    while items.len() < MAX_ITEMS {
        let Some((item, next)) = item(tokens, at, joined) else { break };
        items.push(item);
        at = next;
        match separator(tokens, at) {
            Some(next) => at = next,
            None => break,
        }
    }
    (items, at)
}

/// Whether a word is one that sentences are joined with, and so no value.
pub(super) fn is_joint(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && (AFTER.iter().any(|word| token.is(word)) || token.is("or") || token.is("and"))
}

fn item(tokens: &[Token<'_>], at: usize, joined: bool) -> Option<(Item, usize)> {
    let first = tokens.get(at)?;
    let is_word = |token: &Token<'_>| token.kind == Kind::Word && !is_joint(token);
    if first.kind == Kind::Word && !is_word(first) {
        return None;
    }
    let mut end = at + 1;
    // `New York, Los Angeles`: words that nothing divides are one item.
    while joined && first.kind == Kind::Word && end < at + 4 && tokens.get(end).is_some_and(is_word) {
        end += 1;
    }
    let value = if end == at + 1 {
        first.value()?
    } else {
        Value::from(tokens.get(at..end)?.iter().map(|token| token.text).collect::<Vec<_>>().join(" "))
    };
    Some((Item { value, quoted: first.kind == Kind::Quoted }, end))
}

/// What divides two items: `,`, `or`, `, and`.
fn separator(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut end = at;
    while tokens.get(end).is_some_and(|token| token.is_mark(&BETWEEN)) {
        end += 1;
    }
    if tokens.get(end).is_some_and(|token| token.is("or") || token.is("and")) {
        end += 1;
    }
    (end > at).then_some(end)
}
