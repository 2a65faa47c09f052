//! Patterns of words with holes, and where they match.
//!
//! ```text
//! missing|absent field? <names>      a word, one of several words, a word that may be left out, a hole
//! ```
//!
//! | hole | what goes in |
//! |---|---|
//! | `<field>` | the name of a field; at the front it may be left out, and a name of several words is taken whole |
//! | `<names>` | names of fields, as a list |
//! | `<value>`, `<got>` | one value; at the front only a quoted one or a number |
//! | `<list>`, `<quoted>` | values, as a list; values that are all quoted |
//! | `<number>`, `<other>` | numbers |
//! | `<type>`, `<actual>` | words for types, with what stands before them: `a valid number` |
//! | `<unit>` | what is counted |
//! | `<form>` | the rest of the sentence |
//! | `<any>` | one word that does not matter |
//! | `<end>` | nothing: the sentence must end there |

use reknit_protocol::{Number, Value};
use reknit_salvage::Unit;

use super::list;
use super::token::{Kind, Token};
use crate::facts::{Field, TypeName};

/// Marks that may stand between any two words.
const SKIPPED: [char; 8] = [',', ':', '(', ')', '=', '"', '-', '\''];

/// Words that say what a name is the name of.
const NOUNS: [&str; 13] = [
    "field",
    "parameter",
    "property",
    "attribute",
    "argument",
    "value",
    "key",
    "input",
    "param",
    "option",
    "variable",
    "fields",
    "parameters",
];

/// Words that are never part of a name.
const STOPS: [&str; 32] = [
    "this",
    "the",
    "a",
    "an",
    "that",
    "which",
    "because",
    "when",
    "if",
    "and",
    "or",
    "but",
    "for",
    "in",
    "of",
    "to",
    "error",
    "invalid",
    "ensure",
    "your",
    "its",
    "it",
    "is",
    "required",
    "body",
    "request",
    "with",
    "at",
    "failed",
    "validation",
    "response",
    "not",
];

/// Those of them that are names of fields as well.
const PREPOSITIONS: [&str; 6] = ["to", "for", "in", "of", "at", "with"];

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Words { any_of: Vec<&'static str>, optional: bool },
    Hole(Hole),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    Field,
    Names,
    Value,
    Got,
    List,
    Quoted,
    Number,
    Other,
    Type,
    Actual,
    Unit,
    Form,
    Any,
    End,
}

const HOLES: [(&str, Hole); 14] = [
    ("<quoted>", Hole::Quoted),
    ("<field>", Hole::Field),
    ("<names>", Hole::Names),
    ("<value>", Hole::Value),
    ("<got>", Hole::Got),
    ("<list>", Hole::List),
    ("<number>", Hole::Number),
    ("<other>", Hole::Other),
    ("<type>", Hole::Type),
    ("<actual>", Hole::Actual),
    ("<unit>", Hole::Unit),
    ("<form>", Hole::Form),
    ("<any>", Hole::Any),
    ("<end>", Hole::End),
];

/// What the holes of a pattern were filled with.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Filled {
    pub(super) field: Option<Field>,
    pub(super) names: Vec<String>,
    pub(super) value: Option<Value>,
    pub(super) got: Option<Value>,
    pub(super) list: Vec<Value>,
    pub(super) number: Option<Number>,
    pub(super) other: Option<Number>,
    pub(super) expected: Option<TypeName>,
    pub(super) unit: Option<Unit>,
    pub(super) form: Option<String>,
}

/// A pattern, read once.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
}

impl Pattern {
    pub(super) fn read(text: &'static str) -> Self {
        let piece = |word: &'static str| {
            if let Some((_, hole)) = HOLES.iter().find(|(name, _)| *name == word) {
                return Piece::Hole(*hole);
            }
            let bare = word.strip_suffix('?');
            Piece::Words { any_of: bare.unwrap_or(word).split('|').collect(), optional: bare.is_some() }
        };
        Self { pieces: text.split_whitespace().map(piece).collect() }
    }

    /// Matches with its first word at a place; gives what fills the holes and the range of tokens it took.
    pub(super) fn at(&self, tokens: &[Token<'_>], place: usize) -> Option<(Filled, std::ops::Range<usize>)> {
        let mut filled = Filled::default();
        let (front, pieces) = match self.pieces.split_first() {
            Some((Piece::Hole(hole @ (Hole::Field | Hole::Got)), rest)) => (Some(*hole), rest),
            _ => (None, self.pieces.as_slice()),
        };
        let mut at = place;
        for (index, piece) in pieces.iter().enumerate() {
            // The first word must stand just there, or one phrase would be found at several places.
            let start = if index == 0 { at } else { skip(tokens, at) };
            match piece {
                Piece::Words { any_of, optional } => match tokens.get(start) {
                    Some(token) if any_of.iter().any(|word| token.is(word)) => at = start + 1,
                    _ if *optional => {}
                    _ => return None,
                },
                Piece::Hole(hole) => at = hole.fill(tokens, start, &mut filled)?,
            }
        }
        let start = match front {
            Some(Hole::Got) => got_before(tokens, place, &mut filled)?,
            Some(_) => field_before(tokens, place, &mut filled),
            None => place,
        };
        Some((filled, start..at))
    }
}

fn skip(tokens: &[Token<'_>], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.is_mark(&SKIPPED)) {
        at += 1;
    }
    at
}

impl Hole {
    fn fill(self, tokens: &[Token<'_>], at: usize, filled: &mut Filled) -> Option<usize> {
        if self == Self::End {
            return tokens.get(at).is_none_or(|token| token.kind == Kind::End).then_some(at);
        }
        let token = tokens.get(at)?;
        match self {
            Self::End => return None,
            Self::Field => {
                let is_name = token.kind == Kind::Quoted || (token.kind == Kind::Word && !is_stop(token));
                filled.field = Some(Field::parse(token.text).filter(|_| is_name)?);
            }
            Self::Names => {
                let (names, end) = list::names(tokens, at);
                filled.names = names;
                return (!filled.names.is_empty()).then_some(end);
            }
            Self::List | Self::Quoted => {
                let read = if self == Self::List { list::values } else { list::quoted };
                let (values, end) = read(tokens, at);
                filled.list = values;
                return (!filled.list.is_empty()).then_some(end);
            }
            Self::Value => filled.value = Some(token.value().filter(|_| !list::is_joint(token))?),
            Self::Got => filled.got = Some(token.value().filter(|_| !list::is_joint(token))?),
            Self::Number => filled.number = Some(number(token)?),
            Self::Other => filled.other = Some(number(token)?),
            Self::Type => {
                let (name, end) = type_name(tokens, at)?;
                filled.expected = Some(name);
                return Some(end);
            }
            Self::Actual => return type_name(tokens, at).map(|(_, end)| end),
            Self::Unit => filled.unit = Some(unit(token)?),
            Self::Form => {
                let end =
                    tokens.iter().skip(at).position(|token| token.kind == Kind::End || token.is_mark(&[')', '(', ',']));
                let end = end.map_or(tokens.len(), |length| at + length);
                let words: Vec<&str> = tokens.get(at..end)?.iter().map(|token| token.text).collect();
                filled.form = Some(words.join(" ")).filter(|form| !form.is_empty() && form.len() <= 100);
                return filled.form.is_some().then_some(end);
            }
            Self::Any => return (token.kind == Kind::Word).then_some(at + 1),
        }
        Some(at + 1)
    }
}

fn number(token: &Token<'_>) -> Option<Number> {
    Number::parse(token.text).ok().filter(|_| matches!(token.kind, Kind::Number | Kind::Quoted))
}

/// A type with the words that lead up to it.
fn type_name(tokens: &[Token<'_>], mut at: usize) -> Option<(TypeName, usize)> {
    const BEFORE: [&str; 8] = ["a", "an", "valid", "of", "type", "json", "the", "finite"];
    while tokens.get(at).is_some_and(|token| BEFORE.iter().any(|word| token.is(word))) {
        at += 1;
    }
    let token = tokens.get(at)?;
    let name = TypeName::of(token.text).filter(|_| matches!(token.kind, Kind::Word | Kind::Quoted))?;
    Some((name, at + 1))
}

fn unit(token: &Token<'_>) -> Option<Unit> {
    let is = |words: &[&str]| words.iter().any(|word| token.is(word));
    if is(&["characters", "character", "chars", "letters", "digits", "char"]) {
        Some(Unit::Characters)
    } else if is(&["items", "item", "elements", "element", "entries", "values"]) {
        Some(Unit::Items)
    } else {
        None
    }
}

fn is_stop(token: &Token<'_>) -> bool {
    STOPS.iter().chain(&NOUNS).any(|word| token.is(word))
}

/// The name that leads up to a place: one quoted, or up to four plain words. None is fine: then the context says it.
fn field_before(tokens: &[Token<'_>], place: usize, filled: &mut Filled) -> usize {
    let before = tokens.get(..place).unwrap_or_default();
    let before = match before.split_last() {
        Some((last, rest)) if last.is_mark(&[':', '-', ')']) => rest,
        _ => before,
    };
    let before = match before.split_last() {
        Some((last, rest)) if NOUNS.iter().any(|noun| last.is(noun)) => rest,
        _ => before,
    };
    if let Some(last) = before.last().filter(|last| last.kind == Kind::Quoted) {
        filled.field = Field::parse(last.text);
        return before.len() - 1;
    }
    // `to must be ...`: what a sentence begins with is a name, even if it is such a word elsewhere.
    if let Some((last, rest)) = before.split_last()
        && PREPOSITIONS.iter().any(|word| last.is(word))
        && rest.last().is_none_or(|before| matches!(before.kind, Kind::End | Kind::Mark))
    {
        filled.field = Field::parse(last.text);
        return rest.len();
    }
    let run = before.iter().rev().take_while(|token| token.kind == Kind::Word && !is_stop(token)).count();
    let start = before.len() - run;
    let words: Vec<&str> = before.get(start..).unwrap_or_default().iter().map(|token| token.text).collect();
    filled.field = match words.as_slice() {
        [] => None,
        [word] => Field::parse(word),
        words if words.len() <= 4 => Field::from_steps([words.join(" ")]),
        _ => None,
    };
    start.min(place)
}

/// The value just before a place. A plain word is not one: nobody can tell it from the name of a field.
fn got_before(tokens: &[Token<'_>], place: usize, filled: &mut Filled) -> Option<usize> {
    let last = tokens.get(place.checked_sub(1)?)?;
    filled.got = last.value().filter(|_| matches!(last.kind, Kind::Quoted | Kind::Number));
    filled.got.as_ref()?;
    // `currency 'Euro' not found`: the word before says what it is.
    let name =
        place.checked_sub(2).and_then(|at| tokens.get(at)).filter(|token| token.kind == Kind::Word && !is_stop(token));
    filled.field = name.and_then(|token| Field::parse(token.text));
    Some(place - 1 - usize::from(filled.field.is_some()))
}
