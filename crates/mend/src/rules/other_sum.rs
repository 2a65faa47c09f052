//! Takes the sum that an error expects for a list with one item.

use reknit_protocol::{Number, Object, Path, Value};

use super::{Change, RejectedCall, only};

/// If the error states two numbers, and exactly one of them is the sum over a field of a list with one item, the item gets the
/// other number: "the payments add up to 100, and the order costs 120".
pub(super) fn change(call: &RejectedCall<'_>) -> Option<Change> {
    let numbers = numbers_in(call.message);
    let [one, other] = numbers.as_slice() else { return None };
    let items = call.parameters.iter().filter_map(|(list, value)| {
        let item = only(value.as_array()?.iter())?.as_object()?;
        Some((list, item))
    });
    let fields = items.flat_map(|(list, item)| number_fields(list, item));
    let (at, held) = only(fields.filter(|(_, held)| *held == one || *held == other))?;
    let value = Value::Number(if held == one { other.clone() } else { one.clone() });
    call.would_fit(&at, &value).then_some(Change::Set { at, value, from: Some("the error") })
}

/// The numbers in the only item of a list, with their paths.
fn number_fields<'a>(list: &str, item: &'a Object) -> Vec<(Path, &'a Number)> {
    let mut first = Path::root().key(list);
    first.push_index(0);
    item.iter().filter_map(|(name, value)| Some((first.key(name), value.as_number()?))).collect()
}

/// The different numbers in a message, without signs of currencies.
fn numbers_in(message: &str) -> Vec<Number> {
    let mut numbers: Vec<Number> = Vec::new();
    for word in message.split(|letter: char| letter.is_whitespace() || matches!(letter, ';' | '(' | ')' | '=' | ':')) {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '-');
        if let Ok(number) = Number::parse(bare)
            && !numbers.contains(&number)
        {
            numbers.push(number);
        }
    }
    numbers
}
