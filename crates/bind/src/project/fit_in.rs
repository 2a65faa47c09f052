//! Making a value fit into so many bytes.

use reknit_protocol::{Number, Object, Value};

use super::Wanted;
use super::size::{letter_size, quoted_size, size_within};

/// What stands where there is no room for anything.
const NOTHING: &str = "…";

/// The least that any value takes: [`NOTHING`] in quotes.
const LEAST: usize = NOTHING.len() + 2;

/// The brackets around a list or an object.
const BRACKETS: usize = 2;

/// Room for the words that say how much was left out.
const REMARK: usize = 32;

/// A text is shortened only if so much of it can be shown; otherwise its length is all that is said.
const BEGINNING: usize = 16;

pub(super) struct Projection<'a> {
    wanted: &'a Wanted,
}

/// A key and its value, with the room they need.
struct Entry<'v> {
    key: &'v str,
    value: &'v Value,
    /// What the key takes, with its colon and a comma.
    key_size: usize,
    weight: usize,
    /// What the value takes, beyond the least. One that does not fit in any case takes more than there is.
    need: usize,
    /// What it is given, beyond the least.
    granted: usize,
}

impl<'a> Projection<'a> {
    pub(super) fn new(wanted: &'a Wanted) -> Self {
        Self { wanted }
    }

    pub(super) fn value(&self, value: &Value, limit: usize) -> Value {
        let limit = limit.max(LEAST);
        if size_within(value, limit).is_some() {
            return value.clone();
        }
        match value {
            Value::String(text) => beginning(text, limit).unwrap_or_else(|| remark(value, limit)),
            Value::Array(items) => self.items(items, limit).unwrap_or_else(|| remark(value, limit)),
            Value::Object(object) => {
                let entries: Vec<(&str, &Value)> = object.iter().collect();
                let shown = self.entries(&entries, limit);
                if shown.is_empty() { remark(value, limit) } else { Value::Object(shown) }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => remark(value, limit),
        }
    }

    /// As many items as there is room for, at least the first one, and how many more there are.
    fn items(&self, items: &[Value], limit: usize) -> Option<Value> {
        let mut left = limit.checked_sub(BRACKETS + 1 + REMARK).filter(|left| *left >= LEAST)?;
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

    /// As many keys as there is room for, those that are wanted first, each with as much of its value as its share.
    pub(super) fn entries(&self, all: &[(&str, &Value)], limit: usize) -> Object {
        let mut entries = self.chosen(all, limit);
        let left_out = all.len() - entries.len();
        let keys: usize = entries.iter().map(|entry| entry.key_size + LEAST).sum();
        let remark = if left_out == 0 { 0 } else { REMARK };
        share_out(&mut entries, limit.saturating_sub(BRACKETS + keys + remark));
        let mut object = Object::with_capacity(entries.len() + 1);
        for entry in &entries {
            object.insert(entry.key, self.value(entry.value, LEAST + entry.granted));
        }
        if left_out > 0 && !entries.is_empty() && !object.contains_key(NOTHING) {
            object.insert(NOTHING, format!("{left_out} more keys"));
        }
        object
    }

    /// The entries whose keys are shown, in their order.
    fn chosen<'v>(&self, all: &[(&'v str, &'v Value)], limit: usize) -> Vec<Entry<'v>> {
        let room = limit.saturating_sub(BRACKETS + REMARK);
        let mut ranked: Vec<(usize, Entry<'v>)> = Vec::new();
        for (at, (key, value)) in all.iter().enumerate() {
            let Some(key_size) = quoted_size(key, room).map(|size| size + 2) else { continue };
            let need = size_within(value, limit).map_or(limit, |size| size.saturating_sub(LEAST));
            let weight = self.wanted.weight(key, value);
            ranked.push((at, Entry { key, value, key_size, weight, need, granted: 0 }));
        }
        ranked.sort_by_key(|(at, entry)| (std::cmp::Reverse(entry.weight), *at));
        let mut left = if ranked.len() == all.len() && fits(&ranked, limit) { usize::MAX } else { room };
        ranked.retain(|(_, entry)| match left.checked_sub(entry.key_size + LEAST) {
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

/// Whether every key has its place, if only the least of each value is shown.
fn fits(ranked: &[(usize, Entry<'_>)], limit: usize) -> bool {
    let keys: usize = ranked.iter().map(|(_, entry)| entry.key_size + LEAST).sum();
    keys + BRACKETS <= limit
}

/// Gives each value what it needs, as far as its share goes. What small ones leave over, the larger ones get.
fn share_out(entries: &mut [Entry<'_>], room: usize) {
    let mut order: Vec<&mut Entry<'_>> = entries.iter_mut().collect();
    // By need for each unit of weight; compared crosswise, so that nothing is lost in dividing.
    order.sort_by(|a, b| (a.need * b.weight).cmp(&(b.need * a.weight)));
    let mut weights: usize = order.iter().map(|entry| entry.weight).sum();
    let mut left = room;
    for entry in order {
        entry.granted = entry.need.min(left * entry.weight / weights.max(1));
        left -= entry.granted;
        weights -= entry.weight;
    }
}

/// The beginning of a text, and how long it is.
fn beginning(text: &str, limit: usize) -> Option<Value> {
    let room = limit.checked_sub(REMARK + 2).filter(|room| *room >= BEGINNING)?;
    let mut used = 0;
    let fitting = text.char_indices().find(|(_, letter)| {
        used += letter_size(*letter);
        used > room
    });
    let shown = fitting.map_or(text, |(end, _)| text.get(..end).unwrap_or_default());
    Some(format!("{shown}… ({} letters in all)", text.chars().count()).into())
}

/// What kind of value it is and how large, or as much of that as there is room for.
fn remark(value: &Value, limit: usize) -> Value {
    let words = match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => format!("a number of {} digits", digits(number)),
        Value::String(text) => format!("a text of {} letters", text.chars().count()),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(object) => format!("an object of {}", object.len()),
    };
    if quoted_size(&words, limit).is_some() { words.into() } else { NOTHING.into() }
}

fn digits(number: &Number) -> usize {
    number.to_string().bytes().filter(u8::is_ascii_digit).count()
}
