//! The parameters that an error refers to.

use reknit_protocol::{Path, Segment, Value};

use super::RejectedCall;
use super::nested_values::values_within;
use crate::facts::{Fact, FactKind};
use crate::{is_word_part, neighbours};

/// Shorter names and values are too common in prose to count without quotes: `to`, `id`, `5`.
const MIN_LETTERS: usize = 3;

impl RejectedCall<'_> {
    /// The names of the parameters that the error refers to: by field, by name, or by a value that it quotes.
    pub fn referred_parameters(&self) -> Vec<String> {
        let mut names: Vec<String> = self.referred_paths().iter().filter_map(top_level).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The places in the parameters that the error refers to.
    pub fn referred_paths(&self) -> Vec<Path> {
        let by_fact = self.facts.iter().filter_map(|fact| self.named_by(fact));
        // An error may write the name of a parameter in another case: "Amount must be positive".
        let lowercase = self.message.to_lowercase();
        let by_name = self.parameters.keys().filter(|name| mentions(&lowercase, &name.to_lowercase()));
        let by_name = by_name.map(|name| Path::root().key(name));
        let values = values_within(&self.parameters);
        let is_shown = |value: &Value| {
            let is_mentioned = match value {
                Value::String(text) => mentions(self.message, text),
                Value::Number(number) => mentions(self.message, &number.to_string()),
                _ => false,
            };
            is_mentioned || self.facts.iter().any(|fact| fact.shown_value() == Some(value))
        };
        let by_value = values.iter().filter(|(_, value)| is_shown(value)).map(|(at, _)| at.clone());
        let by_dots = values.iter().map(|(at, _)| at).filter(|at| is_written(self.message, at)).cloned();
        let facts: Vec<Path> = by_fact.chain(by_dots).collect();
        // The name of a parameter that a more exact place begins with says nothing of its own.
        let is_exact = |place: &Path| {
            let begins = |fact: &Path| fact != place && fact.segments().starts_with(place.segments());
            !facts.iter().any(begins)
        };
        facts.iter().cloned().chain(by_name.chain(by_value).filter(is_exact)).collect()
    }

    /// The parameter that a fact is about. One that is neither sent nor declared counts only if the error asks for it.
    fn named_by(&self, fact: &Fact) -> Option<Path> {
        let at = self.locate(fact.field.as_ref()?)?;
        let is_known = self.value_at(&at).is_some() || self.schema_at(&at).is_some();
        (is_known || matches!(fact.kind, FactKind::Missing)).then_some(at)
    }
}

/// Whether a message has the place of a value inside a parameter, with dots: `payment.to.iban`, `items[0].price`.
fn is_written(message: &str, at: &Path) -> bool {
    let is_inside = at.segments().len() > 1;
    is_inside && at.to_string().strip_prefix("$.").is_some_and(|dotted| mentions(message, dotted))
}

/// The name of the parameter that has the value at a path.
fn top_level(at: &Path) -> Option<String> {
    match at.segments().first()? {
        Segment::Key(name) => Some(name.clone()),
        Segment::Index(_) => None,
    }
}

/// Whether a message contains a text as a whole word; a short one only in quotes.
fn mentions(message: &str, text: &str) -> bool {
    let is_quote = |letter: char| matches!(letter, '`' | '\'' | '"' | '“' | '”' | '‘' | '’');
    !text.is_empty()
        && neighbours(message, text).any(|beside| {
            let is_quoted = beside.into_iter().all(|letter| letter.is_some_and(is_quote));
            is_quoted || !beside.into_iter().any(is_word_part) && text.chars().count() >= MIN_LETTERS
        })
}
