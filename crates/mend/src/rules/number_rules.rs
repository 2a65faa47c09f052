//! Rules that correct a number: its sign, swapped coordinates, and the sum of a list.

use reknit_protocol::{Number, Object, Path, Value};
use reknit_salvage::Comparison;

use super::{Change, RejectedCall, only};
use crate::facts::{Fact, FactKind};

/// Removes the minus sign of a number that must not be negative, if the request has the number without it.
pub(super) fn remove_sign(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Bound { side: Comparison::AtLeast | Comparison::MoreThan, limit } = &fact.kind else { return None };
    let (at, value) = call.located_value(fact)?;
    let text = value.as_number()?.to_string();
    let positive = Number::parse(text.strip_prefix('-')?).ok()?;
    if *limit < Number::default() {
        return None;
    }
    let is_written = |text: &&str| {
        let words =
            text.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '$' | '€'));
        words
            .filter_map(|word| Number::parse(word.trim_end_matches(['.', '?', '!', ':'])).ok())
            .any(|number| number == positive)
    };
    if call.request.iter().any(is_written) {
        call.set(at, Value::Number(positive.clone()), "the request")
    } else {
        None
    }
}

/// Swaps a latitude beyond 90 degrees with a longitude within 90. No latitude is beyond 90, so there is no doubt.
pub(super) fn swap_coordinates(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Bound { limit, side: Comparison::AtLeast | Comparison::AtMost } = &fact.kind else { return None };
    let ninety = Number::from(90);
    if *limit != ninety && *limit != Number::from(-90) {
        return None;
    }
    let (one, latitude) = call.located_value(fact)?;
    let other = ["lon", "lng", "long", "longitude"].iter().find(|name| call.parameters.contains_key(name))?;
    let is_latitude = matches!(one.to_string().to_ascii_lowercase().as_str(), "$.lat" | "$.latitude");
    let other = Path::root().key(other);
    let longitude = call.value_at(&other)?.as_number()?;
    let within = |number: &Number| *number <= ninety && *number >= Number::from(-90);
    (is_latitude && !within(latitude.as_number()?) && within(longitude)).then_some(Change::Swap { one, other })
}

/// If the error states two numbers, and exactly one of them is the sum over a field of a list with one item, the item gets the
/// other number: "the payments add up to 100, and the order costs 120".
pub(super) fn other_sum(call: &RejectedCall<'_>) -> Option<Change> {
    let numbers = numbers_in(call.message);
    let [one, other] = numbers.as_slice() else { return None };
    let items = call.parameters.iter().filter_map(|(list, value)| {
        let item = only(value.as_array()?.iter())?.as_object()?;
        Some((list, item))
    });
    let fields = items.flat_map(|(list, item)| number_fields(list, item));
    let (at, held) = only(fields.filter(|(_, held)| *held == one || *held == other))?;
    let value = Value::Number(if held == one { other.clone() } else { one.clone() });
    call.set(at, value, "the error")
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
