//! Patterns of words with placeholders, and their matches.
//!
//! ```text
//! missing|absent field? <names>      one of several words, an optional word, a placeholder
//! ```
//!
//! | placeholder | what it captures |
//! |---|---|
//! | `<field>` | the name of a field; at the front it is optional and may have several words |
//! | `<names>` | a list of field names |
//! | `<value>`, `<got>` | one value; at the front only a quoted value or a number |
//! | `<list>`, `<quoted>` | a list of values; a list of quoted values |
//! | `<number>`, `<other>` | numbers |
//! | `<type>`, `<actual>` | the name of a type, with its article and adjectives: `a valid number` |
//! | `<unit>` | the unit of a length |
//! | `<rest>` | the rest of the sentence |
//! | `<any>` | any one word; it is not captured |
//! | `<end>` | nothing: the sentence must end here |

use reknit_protocol::{Number, Value, word_enum};
use reknit_salvage::{LengthUnit, SchemaType};

use super::list;
use super::token::{Kind, Token};
use crate::facts::Field;
use crate::facts::fact::parse_type;

/// Marks that are skipped between two words.
const SKIPPED_MARKS: [char; 8] = [',', ':', '(', ')', '=', '"', '-', '\''];

/// Nouns that may come beside the name of a field.
const FIELD_NOUNS: &str = "field parameter property attribute argument value key input param option variable \
    fields parameters";

/// Words that are never part of a field name.
const STOP_WORDS: &str = "this the a an that which because when if and or but for in of to error invalid ensure \
    your its it is required body request with at failed validation response not";

/// Stop words that are also names of fields.
const PREPOSITIONS: &str = "to for in of at with";

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Words { any_of: Vec<&'static str>, optional: bool },
    Placeholder(Placeholder),
}

word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Placeholder {
        Field = "<field>",
        Names = "<names>",
        Value = "<value>",
        Got = "<got>",
        List = "<list>",
        Quoted = "<quoted>",
        Number = "<number>",
        Other = "<other>",
        Type = "<type>",
        Actual = "<actual>",
        Unit = "<unit>",
        Rest = "<rest>",
        Any = "<any>",
        End = "<end>",
    }
}

/// What the placeholders of a pattern captured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Captures {
    pub(super) field: Option<Field>,
    pub(super) names: Vec<String>,
    pub(super) value: Option<Value>,
    pub(super) got: Option<Value>,
    pub(super) list: Vec<Value>,
    pub(super) number: Option<Number>,
    pub(super) other: Option<Number>,
    pub(super) expected: Option<SchemaType>,
    pub(super) unit: Option<LengthUnit>,
    pub(super) rest: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
}

impl Pattern {
    pub(super) fn parse(text: &'static str) -> Self {
        let piece = |word: &'static str| {
            if let Some(placeholder) = Placeholder::from_word(word) {
                return Piece::Placeholder(placeholder);
            }
            let bare = word.strip_suffix('?');
            Piece::Words { any_of: bare.unwrap_or(word).split('|').collect(), optional: bare.is_some() }
        };
        Self { pieces: text.split_whitespace().map(piece).collect() }
    }

    /// Matches the pattern with its first word at `place`. Returns the captures and the range of matched tokens.
    pub(super) fn match_at(&self, tokens: &[Token<'_>], place: usize) -> Option<(Captures, std::ops::Range<usize>)> {
        let mut captures = Captures::default();
        let (front, pieces) = match self.pieces.split_first() {
            Some((Piece::Placeholder(placeholder @ (Placeholder::Field | Placeholder::Got)), rest)) => {
                (Some(*placeholder), rest)
            }
            _ => (None, self.pieces.as_slice()),
        };
        let mut at = place;
        for (index, piece) in pieces.iter().enumerate() {
            // No mark is skipped before the first word, or one phrase would match at several places.
            let start = if index == 0 { at } else { skip_marks(tokens, at) };
            match piece {
                Piece::Words { any_of, optional } => match tokens.get(start) {
                    Some(token) if any_of.iter().any(|word| token.is(word)) => at = start + 1,
                    _ if *optional => {}
                    _ => return None,
                },
                Piece::Placeholder(placeholder) => at = placeholder.capture(tokens, start, &mut captures)?,
            }
        }
        let start = match front {
            Some(Placeholder::Got) => capture_got_before(tokens, place, &mut captures)?,
            Some(_) => capture_field_before(tokens, place, &mut captures),
            None => place,
        };
        Some((captures, start..at))
    }
}

fn skip_marks(tokens: &[Token<'_>], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.is_mark(&SKIPPED_MARKS)) {
        at += 1;
    }
    at
}

impl Placeholder {
    fn capture(self, tokens: &[Token<'_>], at: usize, captures: &mut Captures) -> Option<usize> {
        if self == Self::End {
            return tokens.get(at).is_none_or(|token| token.kind == Kind::End).then_some(at);
        }
        let token = tokens.get(at)?;
        match self {
            Self::End => return None,
            Self::Field => {
                let is_name = token.kind == Kind::Quoted || (token.kind == Kind::Word && !is_stop_word(token));
                captures.field = Some(Field::parse(token.text).filter(|_| is_name)?);
            }
            Self::Names => {
                let (names, end) = list::names(tokens, at);
                captures.names = names;
                return (!captures.names.is_empty()).then_some(end);
            }
            Self::List | Self::Quoted => {
                let read = if self == Self::List { list::values } else { list::quoted };
                let (values, end) = read(tokens, at);
                captures.list = values;
                return (!captures.list.is_empty()).then_some(end);
            }
            Self::Value => captures.value = Some(token.value().filter(|_| !list::is_function_word(token))?),
            Self::Got => captures.got = Some(token.value().filter(|_| !list::is_function_word(token))?),
            Self::Number => captures.number = Some(number(token)?),
            Self::Other => captures.other = Some(number(token)?),
            Self::Type => {
                let (name, end) = type_name(tokens, at)?;
                captures.expected = Some(name);
                return Some(end);
            }
            Self::Actual => return type_name(tokens, at).map(|(_, end)| end),
            Self::Unit => captures.unit = Some(unit(token)?),
            Self::Rest => {
                let end =
                    tokens.iter().skip(at).position(|token| token.kind == Kind::End || token.is_mark(&[')', '(', ',']));
                let end = end.map_or(tokens.len(), |length| at + length);
                let words: Vec<&str> = tokens.get(at..end)?.iter().map(|token| token.text).collect();
                captures.rest = Some(words.join(" ")).filter(|rest| !rest.is_empty() && rest.len() <= 100);
                return captures.rest.is_some().then_some(end);
            }
            Self::Any => return (token.kind == Kind::Word).then_some(at + 1),
        }
        Some(at + 1)
    }
}

fn number(token: &Token<'_>) -> Option<Number> {
    Number::parse(token.text).ok().filter(|_| matches!(token.kind, Kind::Number | Kind::Quoted))
}

/// The name of a type, with the words that may come before it, and the index of the token after it.
fn type_name(tokens: &[Token<'_>], mut at: usize) -> Option<(SchemaType, usize)> {
    while tokens.get(at).is_some_and(|token| token.is_any("a an valid of type json the finite")) {
        at += 1;
    }
    let token = tokens.get(at)?;
    let name = parse_type(token.text).filter(|_| matches!(token.kind, Kind::Word | Kind::Quoted))?;
    Some((name, at + 1))
}

fn unit(token: &Token<'_>) -> Option<LengthUnit> {
    if token.is_any("characters character chars letters digits char") {
        Some(LengthUnit::Characters)
    } else {
        token.is_any("items item elements element entries values").then_some(LengthUnit::Items)
    }
}

fn is_stop_word(token: &Token<'_>) -> bool {
    token.is_any(STOP_WORDS) || token.is_any(FIELD_NOUNS)
}

/// Captures the field name before `place`, a quoted text or up to four words, if there is one. Returns where the match starts.
fn capture_field_before(tokens: &[Token<'_>], place: usize, captures: &mut Captures) -> usize {
    let before = tokens.get(..place).unwrap_or_default();
    let before = match before.split_last() {
        Some((last, rest)) if last.is_mark(&[':', '-', ')']) => rest,
        _ => before,
    };
    let before = match before.split_last() {
        Some((last, rest)) if last.is_any(FIELD_NOUNS) => rest,
        _ => before,
    };
    if let Some(last) = before.last().filter(|last| last.kind == Kind::Quoted) {
        captures.field = Field::parse(last.text);
        return before.len() - 1;
    }
    // `to must be ...`: a preposition at the start of a sentence is a field name.
    if let Some((last, rest)) = before.split_last()
        && last.is_any(PREPOSITIONS)
        && rest.last().is_none_or(|before| matches!(before.kind, Kind::End | Kind::Mark))
    {
        captures.field = Field::parse(last.text);
        return rest.len();
    }
    let run = before.iter().rev().take_while(|token| token.kind == Kind::Word && !is_stop_word(token)).count();
    let start = before.len() - run;
    let words: Vec<&str> = before.get(start..).unwrap_or_default().iter().map(|token| token.text).collect();
    captures.field = match words.as_slice() {
        [] => None,
        [word] => Field::parse(word),
        words if words.len() <= 4 => Field::from_segments([words.join(" ")]),
        _ => None,
    };
    start.min(place)
}

/// Captures the quoted text or number before `place`. A plain word is not taken: it may be the name of a field.
fn capture_got_before(tokens: &[Token<'_>], place: usize, captures: &mut Captures) -> Option<usize> {
    let last = tokens.get(place.checked_sub(1)?)?;
    captures.got = last.value().filter(|_| matches!(last.kind, Kind::Quoted | Kind::Number));
    captures.got.as_ref()?;
    // `currency 'Euro' not found`: the word before the value is the field.
    let name = place
        .checked_sub(2)
        .and_then(|at| tokens.get(at))
        .filter(|token| token.kind == Kind::Word && !is_stop_word(token));
    captures.field = name.and_then(|token| Field::parse(token.text));
    Some(place - 1 - usize::from(captures.field.is_some()))
}
