//! The step ids of a plan, and how to find one at the start of a text.

use std::collections::HashMap;

use reknit_protocol::spelling::nearest;
use reknit_protocol::{Number, StepId};

/// How many ids a misspelled one is compared with. A plan with thousands of misspelled ids must not wait for the hints.
const MAX_COMPARED: usize = 1_000;

/// The step ids that templates may refer to, indexed once for many templates.
///
/// The time to find the id at the start of a text does not depend on the number of ids.
#[derive(Debug)]
pub struct StepIds<'p> {
    all: &'p [StepId],
    by_name: HashMap<&'p str, &'p StepId>,
    max_len: usize,
}

impl<'p> StepIds<'p> {
    pub fn new(all: &'p [StepId]) -> Self {
        let by_name = all.iter().rev().map(|id| (id.as_str(), id)).collect();
        Self { all, by_name, max_len: all.iter().map(|id| id.as_str().len()).max().unwrap_or_default() }
    }

    /// The longest unquoted id at the start of a text.
    pub(crate) fn longest_prefix_of(&self, text: &str) -> Option<&'p StepId> {
        let end = text.floor_char_boundary(self.max_len);
        let id_chars = text.get(..end)?.char_indices().take_while(|(_, character)| is_id_char(*character));
        let ends: Vec<usize> = id_chars.map(|(at, character)| at + character.len_utf8()).collect();
        ends.into_iter().rev().find_map(|end| {
            let (name, rest) = text.split_at_checked(end).filter(|(_, rest)| ends_name(rest))?;
            let id = self.get(name).filter(|_| is_unquoted(name))?;
            (!is_number(name) || starts_path(rest)).then_some(id)
        })
    }

    pub(crate) fn get(&self, text: &str) -> Option<&'p StepId> {
        self.by_name.get(text).copied()
    }

    /// The id that is spelled most like `name`, if one is close.
    pub(crate) fn nearest(&self, name: &str) -> Option<StepId> {
        nearest(name, self.suggestions()).cloned()
    }

    /// The ids that a message may suggest.
    pub(crate) fn suggestions(&self) -> &'p [StepId] {
        self.all.get(..MAX_COMPARED).unwrap_or(self.all)
    }
}

/// The characters of names: keys, functions and ids.
pub(crate) fn is_name_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The characters of ids that need no quotes.
fn is_id_char(character: char) -> bool {
    is_name_char(character) || matches!(character, '-' | '.')
}

/// The length in bytes of the name at the start of a text. A hyphen is part of a name if a name character follows.
pub(crate) fn name_len(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let is_inner_hyphen =
            character == '-' && at > 0 && characters.peek().is_some_and(|(_, next)| is_name_char(*next));
        if !is_name_char(character) && !is_inner_hyphen {
            return at;
        }
    }
    text.len()
}

fn ends_name(rest: &str) -> bool {
    let mut characters = rest.chars();
    match characters.next() {
        Some('-') => !characters.next().is_some_and(is_name_char),
        Some(character) => !is_name_char(character),
        None => true,
    }
}

/// Whether `rest` begins with a path, which cannot follow a number.
fn starts_path(rest: &str) -> bool {
    let is_key = rest.strip_prefix('.').is_some_and(|name| name.starts_with(char::is_alphabetic));
    is_key || rest.starts_with('[')
}

/// Whether an id needs no quotes: letters, digits, `_`, and `-` or `.` between them, and neither a
/// literal nor `not`.
fn is_unquoted(id: &str) -> bool {
    id.starts_with(is_name_char)
        && id.ends_with(is_name_char)
        && id.chars().all(is_id_char)
        && !matches!(id.get(..name_len(id)), Some("true" | "false" | "null" | "not"))
}

fn is_number(id: &str) -> bool {
    Number::parse(id).is_ok()
}
