//! Damage that models do to values and that fitting can undo.

use proptest::prelude::*;
use reknit_protocol::{Number, Object, Value};

use super::model::{Extra, Model};

/// A list of random decisions.
#[derive(Debug, Clone)]
pub(crate) struct Dice(Vec<u8>);

impl Arbitrary for Dice {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        proptest::collection::vec(any::<u8>(), 32).prop_map(Dice).boxed()
    }
}

impl Dice {
    /// A number below `sides`; 0 when the list is used up.
    pub(crate) fn roll(&mut self, sides: u8) -> u8 {
        self.0.pop().unwrap_or_default() % sides
    }
}

/// The value with some of its keys in another spelling.
pub(crate) fn misspelt(model: &Model, value: &Value, dice: &mut Dice) -> Value {
    walk(model, value, dice, Damage::Keys, Surroundings::Other)
}

/// The value with damage of every kind.
pub(crate) fn damaged(model: &Model, value: &Value, dice: &mut Dice) -> Value {
    walk(model, value, dice, Damage::All, Surroundings::Other)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Damage {
    Keys,
    All,
}

/// Where a value is. An array in an array must stay one, because `[1, 2]` could mean `[[1, 2]]` or `[[1], [2]]`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surroundings {
    Array,
    Other,
}

fn walk(model: &Model, value: &Value, dice: &mut Dice, damage: Damage, surroundings: Surroundings) -> Value {
    let value = match (model, value) {
        (Model::Nullable(_), Value::Null) => return Value::Null,
        (Model::Nullable(model), value) => return walk(model, value, dice, damage, surroundings),
        (Model::Object(properties, extra), Value::Object(object)) => {
            let mut result = Object::new();
            for (key, value) in object {
                let declared = properties.iter().find(|property| property.name == key);
                let Some(property) = declared else {
                    result.insert(key, value.clone());
                    continue;
                };
                let key = if matches!(extra, Extra::Unspecified | Extra::Closed) {
                    misspell(key, dice)
                } else {
                    key.to_owned()
                };
                result.insert(key, walk(&property.model, value, dice, damage, Surroundings::Other));
            }
            if damage == Damage::All {
                for property in properties.iter().filter(|property| !property.required) {
                    let refuses_null = !matches!(property.model, Model::Nullable(_) | Model::Null);
                    if refuses_null && !object.contains_key(property.name) && dice.roll(3) == 0 {
                        result.insert(property.name, Value::Null);
                    }
                }
            }
            Value::Object(result)
        }
        (Model::Array(model), Value::Array(items)) => {
            items.iter().map(|item| walk(model, item, dice, damage, Surroundings::Array)).collect()
        }
        _ => value.clone(),
    };
    if damage == Damage::Keys { value } else { damage_one(model, value, dice, surroundings) }
}

/// Another spelling of a key.
fn misspell(key: &str, dice: &mut Dice) -> String {
    match dice.roll(4) {
        0 => key.to_uppercase(),
        1 => key.replace(['_', '-', ' '], ""),
        2 => key.replace(['_', '-'], " "),
        _ => key.to_owned(),
    }
}

/// Damages one value, or returns it unchanged.
fn damage_one(model: &Model, value: Value, dice: &mut Dice, surroundings: Surroundings) -> Value {
    if dice.roll(2) == 0 {
        return value;
    }
    match (model, &value) {
        (Model::Integer, Value::Number(number)) => integer_text(number, dice).into(),
        (Model::Number | Model::Numbers(_), Value::Number(number)) => {
            let text = number.to_string();
            // `15.500` may be 15500.
            let is_clear = text.split_once('.').is_none_or(|(_, digits)| digits.len() != 3 || !digits.ends_with('0'));
            if is_clear { text.into() } else { value }
        }
        (Model::Boolean, Value::Bool(truth)) => boolean_text(*truth, dice),
        (Model::String, Value::String(text)) => Number::parse(text).map_or(value, Value::Number),
        (Model::Enum(_), Value::String(text)) => match dice.roll(3) {
            0 => text.to_uppercase().into(),
            1 => format!("**{text}**").into(),
            _ => text.replace([' ', '_', '-'], "").into(),
        },
        (Model::Array(_), Value::Array(items)) => match items.as_slice() {
            [only] if surroundings == Surroundings::Other && can_stand_alone(only) && dice.roll(2) == 0 => only.clone(),
            _ => value.to_string().into(),
        },
        (Model::Object(..), Value::Object(_)) => value.to_string().into(),
        _ => value,
    }
}

/// Whether the only item of an array can be recognised without the array.
fn can_stand_alone(item: &Value) -> bool {
    match item {
        Value::Null | Value::Array(_) => false,
        Value::String(text) => {
            let means_nothing =
                ["", "null", "none", "nil", "undefined", "n/a", "na"].contains(&&*text.trim().to_lowercase());
            let is_list = text.contains([',', ';', '|', '\n'])
                || (text.trim().contains(' ') && text.chars().all(|c| c.is_ascii_digit() || " .-".contains(c)));
            !means_nothing && !is_list && !text.starts_with(['[', '"', '\''])
        }
        _ => true,
    }
}

fn integer_text(number: &Number, dice: &mut Dice) -> String {
    let text = number.to_string();
    match dice.roll(4) {
        0 => format!("{text}.0"),
        1 => format!("**{text}**"),
        2 => with_separators(&text),
        _ => format!(" {text} "),
    }
}

fn with_separators(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let mut groups: Vec<String> =
        digits.as_bytes().rchunks(3).map(|group| String::from_utf8_lossy(group).into_owned()).collect();
    groups.reverse();
    format!("{sign}{}", groups.join(","))
}

fn boolean_text(truth: bool, dice: &mut Dice) -> Value {
    match (truth, dice.roll(4)) {
        (true, 0) => 1.into(),
        (false, 0) => 0.into(),
        (true, 1) => "True".into(),
        (false, 1) => "False".into(),
        (true, 2) => "yes".into(),
        (false, 2) => "no".into(),
        (truth, _) => truth.to_string().into(),
    }
}
