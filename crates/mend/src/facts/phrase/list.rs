//! Lists inside sentences: `a, b or c`, `['a', 'b']`, `"a" | "b"`.

use reknit_protocol::Value;

use super::token::{Kind, Token};

const MAX_ITEMS: usize = 200;

const SEPARATORS: [char; 3] = [',', '|', '/'];
/// Marks that may come before the first item.
const LEADING_MARKS: [char; 5] = [':', '[', '(', '{', '='];
/// Words that may come before the first item.
const LEADING_WORDS: &str = "the following values allowed options choices these are either enum value";
/// Words that are never an item: a list ends before them.
const ENDING_WORDS: &str = "but got not received found instead for at in was were you is are please given or and";

/// A list of field names, each a single word or quoted. Returns the names and the index of the token after the list.
pub(super) fn names(tokens: &[Token<'_>], at: usize) -> (Vec<String>, usize) {
    let (items, end) = items(tokens, at, ItemWords::One);
    (items.iter().filter_map(|item| item.value.as_str().map(str::to_owned)).collect(), end)
}

/// A list of values. If some are quoted, only those count.
pub(super) fn values(tokens: &[Token<'_>], at: usize) -> (Vec<Value>, usize) {
    let (items, end) = items(tokens, at, ItemWords::Several);
    let quoted = items.iter().any(|item| item.quoted);
    (items.into_iter().filter(|item| item.quoted || !quoted).map(|item| item.value).collect(), end)
}

/// A list of values if all of them are quoted.
pub(super) fn quoted(tokens: &[Token<'_>], at: usize) -> (Vec<Value>, usize) {
    let (items, end) = items(tokens, at, ItemWords::One);
    let quoted = items.iter().all(|item| item.quoted);
    (items.into_iter().filter(|_| quoted).map(|item| item.value).collect(), end)
}

/// How many words an unquoted item may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemWords {
    One,
    Several,
}

struct Item {
    value: Value,
    quoted: bool,
}

fn items(tokens: &[Token<'_>], mut at: usize, words: ItemWords) -> (Vec<Item>, usize) {
    let leads = |token: &Token<'_>| token.is_mark(&LEADING_MARKS) || token.is_any(LEADING_WORDS);
    while tokens.get(at).is_some_and(leads) {
        at += 1;
    }
    let mut items: Vec<Item> = Vec::new();
    while items.len() < MAX_ITEMS {
        let Some((item, next)) = item(tokens, at, words) else { break };
        items.push(item);
        at = next;
        match separator(tokens, at) {
            Some(next) => at = next,
            None => break,
        }
    }
    (items, at)
}

/// Whether a token is a function word of a sentence, and so never a value.
pub(super) fn is_function_word(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && token.is_any(ENDING_WORDS)
}

fn item(tokens: &[Token<'_>], at: usize, words: ItemWords) -> Option<(Item, usize)> {
    let first = tokens.get(at)?;
    let is_word = |token: &Token<'_>| token.kind == Kind::Word && !is_function_word(token);
    if first.kind == Kind::Word && !is_word(first) {
        return None;
    }
    let mut end = at + 1;
    // `New York, Los Angeles`: consecutive words are one item.
    while words == ItemWords::Several
        && first.kind == Kind::Word
        && end < at + 4
        && tokens.get(end).is_some_and(is_word)
    {
        end += 1;
    }
    let value = if end == at + 1 {
        first.value()?
    } else {
        Value::from(tokens.get(at..end)?.iter().map(|token| token.text).collect::<Vec<_>>().join(" "))
    };
    Some((Item { value, quoted: first.kind == Kind::Quoted }, end))
}

/// The index of the token after a separator: `,`, `or`, `, and`.
fn separator(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut end = at;
    while tokens.get(end).is_some_and(|token| token.is_mark(&SEPARATORS)) {
        end += 1;
    }
    if tokens.get(end).is_some_and(|token| token.is_any("or and")) {
        end += 1;
    }
    (end > at).then_some(end)
}
