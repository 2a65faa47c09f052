//! Fills in a required value that is missing, from the schema, the results or the request.

use reknit_expressions::{belong_together, is_generic_name};
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Number, Object, Path, Value};

use super::spelling::{THE_SCHEMA, is_same_value};
use super::{Change, RejectedCall, only, parent_of};
use crate::facts::{Fact, FactKind};

/// The source of a value that the schema gives as default.
pub(super) const THE_DEFAULT: &str = "the default of the schema";

/// Keys under which tools wrap their data.
const WRAPPERS: [&str; 3] = ["data", "response", "result"];

/// Words that negate what follows them.
const NEGATIONS: [&str; 10] =
    ["not", "no", "never", "without", "except", "avoid", "cannot", "unless", "instead", "than"];

/// Takes the one value that schema, results and request give for a missing or empty field.
pub(super) fn fill_missing(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    if !matches!(fact.kind, FactKind::Missing | FactKind::Empty) {
        return None;
    }
    let at = call.locate(fact.field.as_ref()?)?;
    let (parent, name) = parent_of(&at)?;
    // A value that the plan takes from a result is never replaced.
    if call.referenced.contains(&name) || !is_vacant(call.value_at(&at)) {
        return None;
    }
    let is_top_level = parent.is_root();
    let candidates = [
        (only_value_in_schema(call, &at), THE_SCHEMA),
        (only_value_in_results(call, &name).filter(|_| is_top_level && is_specific(call, &name)), "a result"),
        (only_value_in_request(call, &name).filter(|_| is_top_level), "the request"),
        (call.schema_at(&at).and_then(|schema| schema.get("default")).cloned(), THE_DEFAULT),
    ];
    let candidates: Vec<(Value, &str)> =
        candidates.into_iter().filter_map(|(value, from)| Some((value?, from))).collect();
    let (first, _) = candidates.first()?;
    // If two sources differ, code cannot know which one is right.
    if candidates.iter().any(|(value, _)| !is_same_value(first, value) && !is_same_value(value, first)) {
        return None;
    }
    let (value, from) =
        candidates.into_iter().find(|(value, _)| !is_vacant(Some(value)) && call.would_fit(&at, value))?;
    Some(Change::Set { at, value, from: Some(from) })
}

/// Whether there is no value that filling in would overwrite.
fn is_vacant(value: Option<&Value>) -> bool {
    value.is_none_or(|value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty()))
}

/// Whether the name alone tells which value of the results is meant: few objects have it, and it is no half of a pair.
fn is_specific(call: &RejectedCall<'_>, name: &str) -> bool {
    let declared = call.declared_names(&Path::root()).unwrap_or_default();
    !is_generic_name(name) && !declared.iter().any(|other| belong_together(name, other))
}

/// The only value that the schema allows at a path.
fn only_value_in_schema(call: &RejectedCall<'_>, at: &Path) -> Option<Value> {
    let schema = call.schema_at(at)?;
    let single = schema.get("enum").and_then(Value::as_array).and_then(|values| only(values.iter()));
    schema.get("const").or(single).cloned()
}

/// The value under a name in the results, if all results that have one agree.
fn only_value_in_results(call: &RejectedCall<'_>, name: &str) -> Option<Value> {
    let bodies = call.results.iter().filter_map(|(_, body)| body.as_object());
    let objects = bodies
        .flat_map(|body| std::iter::once(body).chain(WRAPPERS.iter().filter_map(|key| body.get(key)?.as_object())));
    all_equal(objects.flat_map(|object| values_named(object, name)))
}

/// The value after a name in the request (`amount: 5`, `city=Paris`), if there is only one.
fn only_value_in_request(call: &RejectedCall<'_>, name: &str) -> Option<Value> {
    let values: Vec<Value> = call.request.iter().flat_map(|text| values_after(text, name)).collect();
    all_equal(values.iter())
}

fn values_named<'a>(object: &'a Object, name: &str) -> impl Iterator<Item = &'a Value> {
    let alike = || only(object.iter().filter(|(key, _)| are_alike(key, name))).map(|(_, value)| value);
    object.get(name).or_else(alike).into_iter().filter(|value| !value.is_null())
}

fn all_equal<'a>(mut values: impl Iterator<Item = &'a Value>) -> Option<Value> {
    let first = values.next()?;
    values.all(|other| other == first).then(|| first.clone())
}

/// The values that a text gives after a name: `amount: 5`, `city=Paris`. A value counts only if it is the whole phrase, since the end of `5 million`, `5 * price` or
/// `New York` is unclear, and only if no word before it negates it.
fn values_after(text: &str, name: &str) -> Vec<Value> {
    sentences(text).flat_map(|sentence| in_sentence(sentence, name)).collect()
}

/// The sentences and lines of a text. A dot inside a number or a name does not end a sentence.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split(['\n', ';']);
    lines.flat_map(|line| line.split(". ")).flat_map(|line| line.split("! ")).flat_map(|line| line.split("? "))
}

fn in_sentence(sentence: &str, name: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for (at, sign) in sentence.match_indices([':', '=']) {
        let (before, rest) =
            (sentence.get(..at).unwrap_or_default(), sentence.get(at + sign.len()..).unwrap_or_default());
        let mut words = before.split_whitespace().rev();
        let is_name = words.next().is_some_and(|key| are_alike(key.trim_start_matches(['(', '"', '`']), name));
        if is_name && !words.any(is_negation) {
            found.extend(value_in(rest));
        }
    }
    found
}

fn is_negation(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    NEGATIONS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
}

/// The phrase up to the end of the sentence, a comma with a space, or `and`, if it is one number or one word.
fn value_in(rest: &str) -> Option<Value> {
    let end = [", ", " and "].iter().filter_map(|end| Some((rest.find(end)?, end.len()))).min();
    let (phrase, next) = match end {
        Some((end, length)) => (rest.get(..end)?, rest.get(end + length..)?.trim_start()),
        None => (rest, ""),
    };
    // `5, 6 and 7`, `5 and a half`: the value goes on.
    if next.starts_with(|letter: char| letter.is_ascii_digit()) || next.starts_with("a ") || next.starts_with("half") {
        return None;
    }
    let phrase = phrase.trim().trim_end_matches(['.', '!', '?', ',', ')']);
    let word = phrase.trim_matches(['"', '\'', '`']);
    if word.is_empty() || word.contains(char::is_whitespace) {
        return None;
    }
    match Number::parse(word) {
        Ok(number) => Some(Value::Number(number)),
        Err(_) if is_like_number(word) => None,
        Err(_) => Some(Value::from(word)),
    }
}

/// Whether a word may be a number in an unclear notation: `1,234.50`, `5k`, `$5`, `100*x`. A date or a time is not.
fn is_like_number(word: &str) -> bool {
    let bare = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    bare.starts_with(|letter: char| letter.is_ascii_digit()) && !bare.contains(['-', ':', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_only_if_it_is_the_whole_phrase() {
        for (text, expected) in [
            ("amount: 5", Some("5")),
            ("Pay it, amount: 5.", Some("5")),
            ("amount: 5. Then tell me", Some("5")),
            ("amount=5.50, currency: EUR", Some("5.50")),
            ("amount: 5 and currency: EUR", Some("5")),
            ("from: USD amount: 5", Some("5")),
            ("Amount: all, please", Some("\"all\"")),
            ("amount: \"five\"", Some("\"five\"")),
            ("amount: 2024-01-31", Some("\"2024-01-31\"")),
            ("amount: 1,234.50", None),
            ("amount: 12,50", None),
            ("amount: 5 million", None),
            ("amount: 5k", None),
            ("amount: $5", None),
            ("amount: 5%", None),
            ("amount: 100 * price", None),
            ("amount: 100*price", None),
            ("amount: 5 or 6", None),
            ("amount: 5, 6 and 7", None),
            ("amount: 5 and a half", None),
            ("amount: New York", None),
            ("do not use amount: 5", None),
            ("don't send amount: 5", None),
            ("anything except amount: 5", None),
            ("amount != 5", None),
            ("amount >= 5", None),
            ("amount: ", None),
            ("my amount is 5", None),
        ] {
            let found = values_after(text, "amount").first().map(ToString::to_string);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
