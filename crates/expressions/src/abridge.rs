//! Shortens values for prompts and messages.

use std::collections::HashSet;

use reknit_protocol::spelling::folded;
use reknit_protocol::{Number, Object, StepId, Value};

use crate::{StepResult, StepResults};

/// Shortens a value to at most `limit` bytes of JSON.
///
/// A value that fits is unchanged. Otherwise long strings and arrays are cut, with a note on how long they are, and nested
/// values are replaced with their type. Fields that resemble the `wanted` names get the most space. The result is
/// deterministic. A limit below 5 counts as 5, the size of the shortest placeholder.
///
/// ```
/// use reknit_expressions::abridge;
/// use reknit_protocol::Value;
///
/// let log = r#"["a line", "another line", "one more line", "yet another line", "a line", "the last line"]"#;
/// let body = Value::parse(&format!(r#"{{"id": 7, "log": {log}, "price": 468.285}}"#))?;
/// assert_eq!(abridge(&body, 200, &[]), body);
/// assert_eq!(
///     abridge(&body, 100, &["price"]).to_string(),
///     r#"{"id":7,"log":["a line","another line","… 4 more items"],"price":468.285}"#
/// );
/// # Ok::<(), reknit_protocol::ParseError>(())
/// ```
pub fn abridge(value: &Value, limit: usize, wanted: &[&str]) -> Value {
    Abridger::new(wanted).value(value, limit)
}

/// The results of `steps` by step id, shortened together to at most `limit` bytes of JSON, for a model that locates the
/// `wanted` parameters in them.
///
/// Steps without a result are omitted. If there is not enough space for all, the first ones in `steps` are kept.
pub fn abridge_results(results: &dyn StepResults, steps: &[StepId], limit: usize, wanted: &[&str]) -> Object {
    let mut bodies: Vec<(&str, &Value)> = Vec::new();
    let mut seen: HashSet<&StepId> = HashSet::new();
    for step in steps.iter().filter(|step| seen.insert(step)) {
        if let StepResult::Ready(body) = results.result_of(step) {
            bodies.push((step.as_str(), body));
        }
    }
    Abridger::new(wanted).entries(&bodies, limit)
}

/// Replaces a value for which there is no space.
const ELLIPSIS: &str = "…";

/// The smallest size of a value: [`ELLIPSIS`] in quotes.
const MIN_SIZE: usize = ELLIPSIS.len() + 2;

const BRACKETS: usize = 2;

/// The size reserved for a note on how much was omitted.
const NOTE: usize = 32;

/// A string is cut only if this many bytes of it remain; otherwise it is replaced with its length.
const MIN_PREFIX: usize = 16;

struct Abridger {
    /// The names that get more space, each folded and split into words.
    wanted: Vec<(String, Vec<String>)>,
}

struct Entry<'v> {
    key: &'v str,
    value: &'v Value,
    key_size: usize,
    weight: usize,
    /// The size of the value beyond [`MIN_SIZE`]; the whole limit if the value does not fit.
    need: usize,
    /// The space granted to the value beyond [`MIN_SIZE`].
    granted: usize,
}

impl Abridger {
    fn new(wanted: &[&str]) -> Self {
        Self { wanted: wanted.iter().map(|name| (folded(name), words(name))).collect() }
    }

    fn value(&self, value: &Value, limit: usize) -> Value {
        let limit = limit.max(MIN_SIZE);
        if size_within(value, limit).is_some() {
            return value.clone();
        }
        match value {
            Value::String(text) => cut_string(text, limit).unwrap_or_else(|| summary(value, limit)),
            Value::Array(items) => self.items(items, limit).unwrap_or_else(|| summary(value, limit)),
            Value::Object(object) => {
                let entries: Vec<(&str, &Value)> = object.iter().collect();
                let shown = self.entries(&entries, limit);
                if shown.is_empty() { summary(value, limit) } else { Value::Object(shown) }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => summary(value, limit),
        }
    }

    /// Keeps as many items as fit, at least the first one, and notes how many were omitted.
    fn items(&self, items: &[Value], limit: usize) -> Option<Value> {
        let mut left = limit.checked_sub(BRACKETS + 1 + NOTE).filter(|left| *left >= MIN_SIZE)?;
        let mut shown = Vec::new();
        for item in items {
            let Some(size) = size_within(item, left) else { break };
            left = left.saturating_sub(size + 1);
            shown.push(item.clone());
        }
        if shown.is_empty() {
            shown.push(self.value(items.first()?, left));
        }
        match items.len() - shown.len() {
            0 => {}
            1 => shown.push("… 1 more item".into()),
            more => shown.push(format!("… {more} more items").into()),
        }
        Some(Value::Array(shown))
    }

    /// Keeps as many keys as fit, wanted ones first, and shares the remaining space among their values.
    fn entries(&self, all: &[(&str, &Value)], limit: usize) -> Object {
        let mut entries = self.select(all, limit);
        let omitted = all.len() - entries.len();
        let keys: usize = entries.iter().map(|entry| entry.key_size + MIN_SIZE).sum();
        let note = if omitted == 0 { 0 } else { NOTE };
        distribute(&mut entries, limit.saturating_sub(BRACKETS + keys + note));
        let mut object = Object::with_capacity(entries.len() + 1);
        for entry in &entries {
            object.insert(entry.key, self.value(entry.value, MIN_SIZE + entry.granted));
        }
        if omitted > 0 && !entries.is_empty() && !object.contains_key(ELLIPSIS) {
            object.insert(ELLIPSIS, format!("{omitted} more keys"));
        }
        object
    }

    fn select<'v>(&self, all: &[(&'v str, &'v Value)], limit: usize) -> Vec<Entry<'v>> {
        let room = limit.saturating_sub(BRACKETS + NOTE);
        let mut ranked: Vec<(usize, Entry<'v>)> = Vec::new();
        for (at, (key, value)) in all.iter().enumerate() {
            let Some(key_size) = quoted_size(key, room).map(|size| size + 2) else { continue };
            let need = size_within(value, limit).map_or(limit, |size| size.saturating_sub(MIN_SIZE));
            let weight = self.weight(key, value);
            ranked.push((at, Entry { key, value, key_size, weight, need, granted: 0 }));
        }
        ranked.sort_by_key(|(at, entry)| (std::cmp::Reverse(entry.weight), *at));
        let keys: usize = ranked.iter().map(|(_, entry)| entry.key_size + MIN_SIZE).sum();
        let is_all_shown = ranked.len() == all.len() && keys + BRACKETS <= limit;
        let mut left = if is_all_shown { usize::MAX } else { room };
        ranked.retain(|(_, entry)| match left.checked_sub(entry.key_size + MIN_SIZE) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        ranked.sort_by_key(|(at, _)| *at);
        ranked.into_iter().map(|(_, entry)| entry).collect()
    }
}

/// Distributes the space by weight. Space that small values do not need goes to larger ones.
fn distribute(entries: &mut [Entry<'_>], room: usize) {
    let mut order: Vec<&mut Entry<'_>> = entries.iter_mut().collect();
    // Orders by need per weight. Cross-multiplication avoids rounding.
    order.sort_by(|a, b| (a.need * b.weight).cmp(&(b.need * a.weight)));
    let mut weights: usize = order.iter().map(|entry| entry.weight).sum();
    let mut left = room;
    for entry in order {
        entry.granted = entry.need.min(left * entry.weight / weights.max(1));
        left -= entry.granted;
        weights -= entry.weight;
    }
}

fn cut_string(text: &str, limit: usize) -> Option<Value> {
    let room = limit.checked_sub(NOTE + 2).filter(|room| *room >= MIN_PREFIX)?;
    let mut used = 0;
    let first_cut = text.char_indices().find(|(_, character)| {
        used += char_size(*character);
        used > room
    });
    let shown = first_cut.map_or(text, |(end, _)| text.get(..end).unwrap_or_default());
    Some(format!("{shown}… ({} letters in all)", text.chars().count()).into())
}

/// The type and size of a value, or an ellipsis if that does not fit.
fn summary(value: &Value, limit: usize) -> Value {
    let words = match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => format!("a number of {} digits", digits(number)),
        Value::String(text) => format!("a text of {} letters", text.chars().count()),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(object) => format!("an object of {}", object.len()),
    };
    if quoted_size(&words, limit).is_some() { words.into() } else { ELLIPSIS.into() }
}

fn digits(number: &Number) -> usize {
    number.to_string().bytes().filter(u8::is_ascii_digit).count()
}

/// The size of a value as JSON if it is at most `limit`. Stops as soon as the limit is exceeded.
fn size_within(value: &Value, limit: usize) -> Option<usize> {
    let mut left = limit;
    spend(value, &mut left)?;
    Some(limit - left)
}

fn spend(value: &Value, left: &mut usize) -> Option<()> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => take(left, value.to_string().len()),
        Value::String(text) => take(left, quoted_size(text, *left)?),
        Value::Array(items) => {
            take(left, punctuation(items.len()))?;
            items.iter().try_for_each(|item| spend(item, left))
        }
        Value::Object(object) => {
            take(left, punctuation(object.len()))?;
            object.iter().try_for_each(|(key, value)| {
                take(left, quoted_size(key, *left)? + 1)?;
                spend(value, left)
            })
        }
    }
}

fn take(left: &mut usize, bytes: usize) -> Option<()> {
    *left = left.checked_sub(bytes)?;
    Some(())
}

fn punctuation(parts: usize) -> usize {
    2 + parts.saturating_sub(1)
}

/// The size of a string with quotes and escapes if it is at most `limit`.
fn quoted_size(text: &str, limit: usize) -> Option<usize> {
    if text.len() + 2 > limit {
        return None;
    }
    let size = 2 + text.chars().map(char_size).sum::<usize>();
    (size <= limit).then_some(size)
}

/// The size of a character inside a JSON string.
fn char_size(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        control if u32::from(control) < 0x20 => 6,
        other => other.len_utf8(),
    }
}

/// Shorter words are too common to indicate a match.
const MIN_WORD: usize = 3;

const MAX_LEVELS: usize = 3;

impl Abridger {
    /// The weight of an entry when space is distributed; 1 for an entry without wanted names.
    fn weight(&self, key: &str, value: &Value) -> usize {
        if self.wanted.is_empty() {
            1
        } else if self.matches(key) {
            8
        } else if self.contains_match(value, MAX_LEVELS) {
            4
        } else {
            1
        }
    }

    /// Whether a key equals a wanted name except for spelling, or shares a word with one.
    fn matches(&self, key: &str) -> bool {
        let own = words(key);
        let name = folded(key);
        self.wanted.iter().any(|(wanted, words)| *wanted == name || words.iter().any(|word| own.contains(word)))
    }

    fn contains_match(&self, value: &Value, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        match value {
            Value::Object(object) => {
                object.iter().any(|(key, value)| self.matches(key) || self.contains_match(value, levels))
            }
            Value::Array(items) => items.first().is_some_and(|item| self.contains_match(item, levels)),
            _ => false,
        }
    }
}

/// The words of a name in lower case. `unitPrice`, `unit_price` and `unit price` have the same two words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if let Some(word) = words.last_mut()
            && character.is_alphanumeric()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| word.chars().count() >= MIN_WORD);
    words
}
