//! Facts in sentences: a table of phrases, and the facts that each of them states.

mod list;
mod pattern;
mod table;
mod token;

use std::sync::LazyLock;

use reknit_protocol::{Number, RetryAfter, Value};
use reknit_salvage::{Comparison, LengthUnit};

use super::fact::is_version_field;
use super::{Fact, FactKind, Field};
use pattern::{Captures, Pattern};
use table::{Meaning, PHRASES};
use token::tokenize;

/// The most facts of one text; a text with more phrases repeats itself.
const MAX_FACTS: usize = 32;

static TABLE: LazyLock<Vec<(Pattern, Meaning)>> =
    LazyLock::new(|| PHRASES.iter().map(|(text, meaning)| (Pattern::parse(text), *meaning)).collect());

/// The facts that a text states. Those that name no field are about `context`, the field that the text belongs to.
pub(crate) fn facts_in(text: &str, context: Option<&Field>) -> Vec<Fact> {
    let tokens = tokenize(text);
    let mut matched = vec![false; tokens.len()];
    let mut found: Vec<(usize, Fact)> = Vec::new();
    // In the order of the table, so that a longer phrase is found before a shorter one inside it.
    for (pattern, meaning) in TABLE.iter() {
        for start in 0..tokens.len() {
            let Some((captures, range)) = pattern.match_at(&tokens, start) else { continue };
            // Only the words of the phrase are marked, not the field name before them: two phrases may share one name.
            let Some(words) = matched.get_mut(start..range.end.max(start)) else { continue };
            if words.iter().any(|is_matched| *is_matched) {
                continue;
            }
            words.fill(true);
            found.extend(meaning.facts(captures).into_iter().map(|fact| (start, fact)));
            if found.len() >= MAX_FACTS {
                break;
            }
        }
    }
    found.sort_by_key(|(start, _)| *start);
    let mut last: Option<Field> = None;
    let facts = found.into_iter().map(|(_, fact)| {
        // `amount must be a number, at most 5`: a phrase without a field is about the field before it.
        let field = fact.field.or_else(|| context.cloned()).or_else(|| last.clone());
        last.clone_from(&field);
        Fact { field, ..fact }
    });
    facts.take(MAX_FACTS).collect()
}

impl Meaning {
    fn facts(self, mut captures: Captures) -> Vec<Fact> {
        let field = match captures.field.take() {
            None => {
                let named: Vec<Field> = captures.names.iter().filter_map(|name| Field::parse(name)).collect();
                if !named.is_empty() {
                    let kinds = self.kinds(Captures::default());
                    return named.iter().flat_map(|field| facts_about(Some(field), kinds.clone())).collect();
                }
                None
            }
            Some(field) if self == Self::GoType => Some(field.without_first()),
            // A tool that states the current price does not ask for it; one that states the current version does.
            Some(field)
                if self == Self::Current && !field.segments().last().is_some_and(|name| is_version_field(name)) =>
            {
                return Vec::new();
            }
            field => field,
        };
        facts_about(field.as_ref(), self.kinds(captures))
    }

    fn kinds(self, captures: Captures) -> Vec<FactKind> {
        let Captures { names, value, got, list, number, other, expected, unit, rest, .. } = captures;
        let bound = |side, limit: Option<Number>| limit.map(|limit| FactKind::Bound { side, limit });
        let some = |kind: Option<FactKind>| kind.into_iter().collect();
        match self {
            Self::Missing => vec![FactKind::Missing],
            Self::Empty => vec![FactKind::Empty],
            Self::Unknown => vec![FactKind::UnknownField { known: names }],
            Self::WrongType | Self::GoType => some(expected.map(|expected| FactKind::WrongType { expected, got })),
            Self::AllowedIfMany if list.len() < 2 => Vec::new(),
            Self::Allowed | Self::AllowedIfMany => vec![FactKind::AllowedValues { values: list, got }],
            Self::Bound(side) => some(bound(side, number)),
            Self::BoundZero(side) => some(bound(side, Some(Number::default()))),
            Self::Between => {
                [bound(Comparison::AtLeast, number), bound(Comparison::AtMost, other)].into_iter().flatten().collect()
            }
            Self::Length(sides) => {
                let unit = unit.unwrap_or(LengthUnit::Characters);
                let Some(limit) = number.as_ref().and_then(Number::as_u64) else { return Vec::new() };
                sides.iter().map(|side| FactKind::Length { side: *side, limit, unit }).collect()
            }
            Self::Format => vec![FactKind::Format { format: rest, example: None }],
            Self::Example => vec![FactKind::Format { format: None, example: value }],
            Self::Expected | Self::Current => some(value.map(|value| FactKind::ExpectedValue { value, got })),
            Self::NotFound => vec![FactKind::NotFound { value: got }],
            Self::Suggestion => list.into_iter().map(|value| FactKind::Suggestion { value }).collect(),
            Self::Tag => some(value.as_ref().and_then(Value::as_str).map(fact_of_go_tag)),
            Self::Wait => some(rest.as_deref().and_then(wait_ms).map(|ms| FactKind::RetryAfter { ms })),
            Self::Invalid => vec![FactKind::Invalid],
        }
    }
}

fn facts_about(field: Option<&Field>, kinds: Vec<FactKind>) -> Vec<Fact> {
    kinds.into_iter().map(|kind| Fact::new(field.cloned(), kind)).collect()
}

/// A bare number that would be a longer wait is a point in time, which cannot be turned into a wait without a clock.
const LONGEST_WAIT_MS: u64 = 1_000_000_000_000;

/// The duration at the start of a text: `30 seconds`, `6m0s or so`.
fn wait_ms(text: &str) -> Option<u64> {
    // A word with a colon belongs to a time of day, which is no duration.
    let words: Vec<&str> = text.split(' ').take(4).take_while(|word| !word.contains(':')).collect();
    let mut starts = (1..=words.len()).rev().filter_map(|length| words.get(..length));
    let wait = starts.find_map(|start| RetryAfter::from_text(&start.join(" "), "", 0));
    wait.map(|wait| wait.ms).filter(|ms| *ms < LONGEST_WAIT_MS)
}

/// The fact that a tag of Go's validator package states: `failed on the 'required' tag`. Most errors show a tag without its limit.
fn fact_of_go_tag(tag: &str) -> FactKind {
    let (name, parameter) = tag.split_once('=').unwrap_or((tag, ""));
    let bound = |side| Number::parse(parameter).map_or(FactKind::Invalid, |limit| FactKind::Bound { side, limit });
    match name {
        "required" => FactKind::Missing,
        "gt" => bound(Comparison::MoreThan),
        "gte" | "min" => bound(Comparison::AtLeast),
        "lt" => bound(Comparison::LessThan),
        "lte" | "max" => bound(Comparison::AtMost),
        "datetime" | "email" | "url" | "uuid" => FactKind::Format { format: Some(name.to_owned()), example: None },
        _ => FactKind::Invalid,
    }
}
