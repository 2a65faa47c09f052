//! What sentences say: a table of phrases, and the facts that each of them states.

mod list;
mod pattern;
mod table;
mod tag;
mod token;

use std::sync::LazyLock;

use reknit_protocol::{Number, RetryAfter, Value};
use reknit_salvage::{Bound, Unit};

use super::fact::is_stamp;
use super::{Fact, Field, Says};
use pattern::{Filled, Pattern};
use table::{Meaning, PHRASES};
use token::tokens;

/// What one sentence is good for; a text with more phrases repeats itself.
const MAX_FACTS: usize = 32;

static TABLE: LazyLock<Vec<(Pattern, Meaning)>> =
    LazyLock::new(|| PHRASES.iter().map(|(text, meaning)| (Pattern::read(text), *meaning)).collect());

/// The facts that a text states. What names no field is about `context`, the field that the text stands beside.
pub(super) fn facts_in(text: &str, context: Option<&Field>) -> Vec<Fact> {
    let tokens = tokens(text);
    let mut taken = vec![false; tokens.len()];
    let mut found: Vec<(usize, Fact)> = Vec::new();
    // Phrases in the order of the table, so that a longer one is seen before the short one inside it.
    for (pattern, meaning) in TABLE.iter() {
        for place in 0..tokens.len() {
            let Some((filled, range)) = pattern.at(&tokens, place) else { continue };
            // The words count, not the name before them: two phrases may speak of one name.
            let Some(words) = taken.get_mut(place..range.end.max(place)) else { continue };
            if words.iter().any(|taken| *taken) {
                continue;
            }
            words.fill(true);
            found.extend(meaning.facts(filled).into_iter().map(|fact| (place, fact)));
            if found.len() >= MAX_FACTS {
                break;
            }
        }
    }
    found.sort_by_key(|(place, _)| *place);
    let mut last: Option<Field> = None;
    let facts = found.into_iter().map(|(_, fact)| {
        // `amount must be a number, at most 5`: what names no field goes on about the one before.
        let field = fact.field.or_else(|| context.cloned()).or_else(|| last.clone());
        last.clone_from(&field);
        Fact { field, ..fact }
    });
    facts.take(MAX_FACTS).collect()
}

impl Meaning {
    fn facts(self, mut filled: Filled) -> Vec<Fact> {
        let field = match filled.field.take() {
            None => {
                let named = filled.names.iter().filter_map(|name| Field::parse(name));
                let fields: Vec<Option<Field>> = named.map(Some).collect();
                if !fields.is_empty() {
                    let says = self.says(Filled::default());
                    return fields.into_iter().flat_map(|field| says_of(field.as_ref(), says.clone())).collect();
                }
                None
            }
            Some(field) if self == Self::GoType => Some(field.without_first()),
            // The current price is no advice to offer it; the current version is.
            Some(field) if self == Self::Current && !field.steps().last().is_some_and(|name| is_stamp(name)) => {
                return Vec::new();
            }
            field => field,
        };
        says_of(field.as_ref(), self.says(filled))
    }

    fn says(self, filled: Filled) -> Vec<Says> {
        let Filled { names, value, got, list, number, other, expected, unit, form, .. } = filled;
        let bound = |side, limit: Option<Number>| limit.map(|limit| Says::Bound { side, limit });
        let some = |says: Option<Says>| says.into_iter().collect();
        match self {
            Self::Missing => vec![Says::Missing],
            Self::Empty => vec![Says::Empty],
            Self::Unknown => vec![Says::Unknown { known: names }],
            Self::WrongType | Self::GoType => some(expected.map(|expected| Says::WrongType { expected, got })),
            Self::AllowedIfMany if list.len() < 2 => Vec::new(),
            Self::Allowed | Self::AllowedIfMany => vec![Says::Allowed { values: list, got }],
            Self::AtLeast => some(bound(Bound::AtLeast, number)),
            Self::MoreThan => some(bound(Bound::MoreThan, number)),
            Self::AtMost => some(bound(Bound::AtMost, number)),
            Self::LessThan => some(bound(Bound::LessThan, number)),
            Self::Between => {
                [bound(Bound::AtLeast, number), bound(Bound::AtMost, other)].into_iter().flatten().collect()
            }
            Self::Positive => some(bound(Bound::MoreThan, Some(Number::default()))),
            Self::NotNegative => some(bound(Bound::AtLeast, Some(Number::default()))),
            Self::Negative => some(bound(Bound::LessThan, Some(Number::default()))),
            Self::Longer | Self::Shorter | Self::Exactly => length(self, number.as_ref(), unit),
            Self::Format => vec![Says::Format { form, example: None }],
            Self::Example => vec![Says::Format { form: None, example: value }],
            Self::Expected | Self::Current => some(value.map(|value| Says::Expected { value, got })),
            Self::NotFound => vec![Says::NotFound { value: got }],
            Self::Meant => list.into_iter().map(|value| Says::Meant { value }).collect(),
            Self::Tag => some(value.as_ref().and_then(Value::as_str).map(tag::meaning)),
            Self::Wait => some(form.as_deref().and_then(wait).map(|ms| Says::RetryAfter { ms })),
            Self::Invalid => vec![Says::Invalid],
        }
    }
}

fn says_of(field: Option<&Field>, says: Vec<Says>) -> Vec<Fact> {
    says.into_iter().map(|says| Fact::new(field.cloned(), says)).collect()
}

fn length(meaning: Meaning, number: Option<&Number>, unit: Option<Unit>) -> Vec<Says> {
    let Some(limit) = number.and_then(Number::as_u64) else { return Vec::new() };
    let unit = unit.unwrap_or(Unit::Characters);
    let says = |side| Says::Length { side, limit, unit };
    match meaning {
        Meaning::Longer => vec![says(Bound::AtLeast)],
        Meaning::Shorter => vec![says(Bound::AtMost)],
        _ => vec![says(Bound::AtLeast), says(Bound::AtMost)],
    }
}

/// A bare number that would be a longer wait is a moment, and a sentence has no clock to hold it against.
const LONGEST_WAIT_MS: u64 = 1_000_000_000_000;

/// The time at the beginning of some words: `30 seconds`, `6m0s or so`.
fn wait(form: &str) -> Option<u64> {
    // A moment is none: a sentence has no clock.
    let words: Vec<&str> = form.split(' ').take(4).take_while(|word| !word.contains(':')).collect();
    let mut starts = (1..=words.len()).rev().filter_map(|length| words.get(..length));
    let asked = starts.find_map(|start| RetryAfter::from_text(&start.join(" "), "", 0));
    asked.map(|asked| asked.ms).filter(|ms| *ms < LONGEST_WAIT_MS)
}
