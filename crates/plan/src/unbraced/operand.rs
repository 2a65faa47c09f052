//! Reads `a.items[0].id`, `steps.a.output.price` and other spellings of a reference at the start of a text.

use reknit_protocol::Path;

use super::is_listed;
use super::source_names::{NameMatch, Source, SourceNames, is_name_char, name_len};

/// Words that other languages put before the id of a step: `steps.quote.outputs.price`.
const CONTAINERS: &str = "steps step results result outputs output nodes node tasks task vars variables context \
    ctx state data responses response workflow plan env memory needs jobs";

/// A reference in some spelling.
#[derive(Debug)]
pub(super) struct Operand {
    pub(super) source: Source,
    pub(super) matched: NameMatch,
    /// Whether a word such as `steps` stands before the id.
    pub(super) has_container: bool,
    pub(super) path: Path,
    /// Whether it has a part that references do not have: `[*]`, `[-1]`, a method call.
    pub(super) is_unsupported: bool,
    /// Its length in bytes.
    pub(super) len: usize,
}

impl Operand {
    /// Reads the reference at the start of a text.
    pub(super) fn read(text: &str, names: &SourceNames) -> Option<Self> {
        if let Some((source, len)) = names.longest_prefix(text) {
            return Some(Self::with_path(text, source, NameMatch::Exact, len));
        }
        let word_len = name_len(text);
        let word = text.get(..word_len).filter(|word| !word.is_empty())?;
        if is_listed(CONTAINERS, word)
            && let Some(operand) = Self::in_container(text, word_len, names)
        {
            return Some(operand);
        }
        if let Some((source, matched)) = names.find(word) {
            return Some(Self::with_path(text, source, matched, word_len));
        }
        // `$order-1` may be the step `order` before a hyphen.
        let mut starts = word.match_indices('-').filter_map(|(at, _)| Some((names.exact(word.get(..at)?)?, at)));
        let (source, len) = starts.next_back()?;
        Some(Self { matched: NameMatch::Alias, ..Self::with_path(text, source, NameMatch::Exact, len) })
    }

    /// Reads `steps.a.price` or `steps["a"].price` after its first word.
    fn in_container(text: &str, at: usize, names: &SourceNames) -> Option<Self> {
        let rest = text.get(at..)?;
        let (source, matched, used) = if let Some(inside) = rest.strip_prefix('.') {
            if let Some((source, len)) = names.longest_prefix(inside) {
                (source, NameMatch::Exact, len + 1)
            } else {
                let len = name_len(inside);
                let (source, matched) = names.find(inside.get(..len)?)?;
                (source, matched, len + 1)
            }
        } else {
            let (Bracketed::Key(key), len) = bracketed(rest)? else { return None };
            let (source, matched) = names.find(&key)?;
            (source, matched, len)
        };
        Some(Self { has_container: true, ..Self::with_path(text, source, matched, at + used) })
    }

    /// Reads the path after an id of this length.
    fn with_path(text: &str, source: Source, matched: NameMatch, id_len: usize) -> Self {
        let rest = text.get(id_len..).unwrap_or_default();
        let (path, is_unsupported, len) = read_path(rest);
        Self { source, matched, has_container: false, path, is_unsupported, len: id_len + len }
    }
}

/// Reads as much of a path as there is. Says whether it has a part that references do not have.
pub(super) fn read_path(text: &str) -> (Path, bool, usize) {
    let mut path = Path::root();
    let mut is_unsupported = false;
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        // Optional chaining, as in JavaScript.
        let dotted = rest.strip_prefix("?.").map(|after| (after, 2)).or(rest.strip_prefix('.').map(|after| (after, 1)));
        if let Some((after, used)) = dotted.filter(|(after, _)| after.starts_with(is_name_char)) {
            let len = name_len(after);
            let is_call = after.get(len..).is_some_and(|next| next.starts_with('('));
            path.push_key(after.get(..len).unwrap_or_default());
            at += used + len;
            if is_call {
                is_unsupported = true;
                let call = text.get(at..).unwrap_or_default();
                at += call.find(')').map_or(1, |end| end + 1);
            }
        } else if dotted.is_some_and(|(after, _)| after.starts_with(['*', '.', '['])) {
            is_unsupported = true;
            at += 2;
        } else if let Some((part, len)) = bracketed(rest) {
            match part {
                Bracketed::Key(key) => path.push_key(key),
                Bracketed::Index(index) => path.push_index(index),
                Bracketed::Other => is_unsupported = true,
            }
            at += len;
        } else {
            return (path, is_unsupported, at);
        }
    }
}

/// What stands between `[` and `]`.
pub(super) enum Bracketed {
    Key(String),
    Index(usize),
    /// A wildcard, a slice, a negative index or a filter.
    Other,
}

/// Reads `["key"]`, `[0]` or `[*]` at the start of a text, with its length.
pub(super) fn bracketed(text: &str) -> Option<(Bracketed, usize)> {
    let inside = text.strip_prefix("?.[").or_else(|| text.strip_prefix('['))?;
    let skipped = text.len() - inside.len();
    let trimmed = inside.trim_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = trimmed.strip_prefix(quote) {
            let end = quoted.find(quote)?;
            let after = quoted.get(end + 1..)?.trim_start();
            after.starts_with(']').then_some(())?;
            return Some((Bracketed::Key(quoted.get(..end)?.to_owned()), text.len() - after.len() + 1));
        }
    }
    let end = inside.find(']').filter(|end| *end <= 40)?;
    let content = inside.get(..end)?.trim();
    let len = skipped + end + 1;
    if let Ok(index) = content.parse() {
        return Some((Bracketed::Index(index), len));
    }
    let is_selector = content.is_empty() || content.starts_with(['*', '-', ':', '?', '@']) || content.contains(':');
    is_selector.then_some((Bracketed::Other, len))
}
