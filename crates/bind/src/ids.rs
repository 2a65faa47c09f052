//! The ids of a plan, and where one of them begins in a text.

use std::collections::HashMap;

use reknit_protocol::{Number, StepId};

use reknit_protocol::spelling::nearest;

/// The most ids that a wrong one is compared with.
const MOST_COMPARED: usize = 1_000;

/// The ids that texts may refer to, prepared once for many texts.
///
/// Finding the id that a text begins with takes no longer with many of them.
#[derive(Debug)]
pub struct Ids<'p> {
    all: &'p [StepId],
    by_text: HashMap<&'p str, &'p StepId>,
    /// How many bytes the longest has.
    longest: usize,
}

impl<'p> Ids<'p> {
    /// Prepares the ids of a plan.
    pub fn new(all: &'p [StepId]) -> Self {
        let by_text = all.iter().rev().map(|id| (id.as_str(), id)).collect();
        Self { all, by_text, longest: all.iter().map(|id| id.as_str().len()).max().unwrap_or_default() }
    }

    /// The longest id that a text begins with, without quotes.
    pub(crate) fn at_start_of(&self, text: &str) -> Option<&'p StepId> {
        let reach = text.floor_char_boundary(self.longest);
        let letters = text.get(..reach)?.char_indices().take_while(|(_, letter)| is_id_letter(*letter));
        let ends: Vec<usize> = letters.map(|(at, letter)| at + letter.len_utf8()).collect();
        ends.into_iter().rev().find_map(|end| {
            let (name, rest) = text.split_at_checked(end).filter(|(_, rest)| ends_name(rest))?;
            let id = self.exactly(name).filter(|_| is_plain(name))?;
            (!is_number(name) || goes_inside(rest)).then_some(id)
        })
    }

    /// The id with exactly this text.
    pub(crate) fn exactly(&self, text: &str) -> Option<&'p StepId> {
        self.by_text.get(text).copied()
    }

    pub(crate) fn nearest(&self, name: &str) -> Option<StepId> {
        nearest(name, self.some()).cloned()
    }

    /// As many as a person looks through: who gets thousands of names wrong among thousands must not wait for the hints.
    pub(crate) fn some(&self) -> &'p [StepId] {
        self.all.get(..MOST_COMPARED).unwrap_or(self.all)
    }
}

/// The letters of names: keys behind a point, functions, ids.
pub(crate) fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The letters of ids that can stand without quotes.
fn is_id_letter(letter: char) -> bool {
    is_name_letter(letter) || matches!(letter, '-' | '.')
}

/// How many bytes the name at the start of a text has. A hyphen belongs to it where another letter follows.
pub(crate) fn name_len(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let joins = letter == '-' && at > 0 && letters.peek().is_some_and(|(_, next)| is_name_letter(*next));
        if !is_name_letter(letter) && !joins {
            return at;
        }
    }
    text.len()
}

/// Whether a name that stood before `rest` is over.
fn ends_name(rest: &str) -> bool {
    let mut letters = rest.chars();
    match letters.next() {
        Some('-') => !letters.next().is_some_and(is_name_letter),
        Some(letter) => !is_name_letter(letter),
        None => true,
    }
}

/// Whether a field or an item follows, which no number has.
fn goes_inside(rest: &str) -> bool {
    let field = rest.strip_prefix('.').is_some_and(|name| name.starts_with(|letter: char| letter.is_alphabetic()));
    field || rest.starts_with('[')
}

/// Whether an id can stand without quotes: letters, digits, `_`, and `-` or `.` between them, and no literal.
fn is_plain(id: &str) -> bool {
    id.starts_with(is_name_letter)
        && id.ends_with(is_name_letter)
        && id.chars().all(is_id_letter)
        && !matches!(id.get(..name_len(id)), Some("true" | "false" | "null"))
}

fn is_number(id: &str) -> bool {
    Number::parse(id).is_ok()
}
