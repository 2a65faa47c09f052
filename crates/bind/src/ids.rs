//! The ids of a plan, and where one of them begins in a text.

use reknit_protocol::{Number, StepId};

use reknit_protocol::spelling::nearest;

/// The ids a text may refer to, the longest first.
#[derive(Debug)]
pub(crate) struct Ids<'p> {
    all: &'p [StepId],
    longest_first: Vec<&'p StepId>,
}

impl<'p> Ids<'p> {
    pub(crate) fn new(all: &'p [StepId]) -> Self {
        let mut longest_first: Vec<&StepId> = all.iter().filter(|id| is_plain(id.as_str())).collect();
        longest_first.sort_by_key(|id| std::cmp::Reverse(id.as_str().len()));
        Self { all, longest_first }
    }

    /// The id that a text begins with, without quotes.
    pub(crate) fn at_start_of(&self, text: &str) -> Option<&'p StepId> {
        self.longest_first.iter().copied().find(|id| {
            let rest = text.strip_prefix(id.as_str());
            rest.is_some_and(|rest| ends_name(rest) && (!is_number(id.as_str()) || goes_inside(rest)))
        })
    }

    /// The id with exactly this text.
    pub(crate) fn exactly(&self, text: &str) -> Option<&'p StepId> {
        self.all.iter().find(|id| id.as_str() == text)
    }

    pub(crate) fn nearest(&self, name: &str) -> Option<StepId> {
        nearest(name, self.all).cloned()
    }

    pub(crate) fn all(&self) -> &'p [StepId] {
        self.all
    }
}

/// The letters of names: keys behind a point, functions, ids.
pub(crate) fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
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
    let inner = |letter: char| is_name_letter(letter) || matches!(letter, '-' | '.');
    id.starts_with(is_name_letter)
        && id.ends_with(is_name_letter)
        && id.chars().all(inner)
        && !matches!(id.get(..name_len(id)), Some("true" | "false" | "null"))
}

fn is_number(id: &str) -> bool {
    Number::parse(id).is_ok()
}
