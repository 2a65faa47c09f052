//! Finds the numbers of a request that no step of a plan uses.
//!
//! A number is used in many forms: `10 %` as `0.1` or `0.9`, `2 hours` as `120`, `March 5` as `2026-03-05`, `3 nights` as two
//! dates, `4 cities` as four steps. Only a number that is used in none of them is listed.

use std::collections::HashSet;

use reknit_protocol::{Number, Plan, Step, Value, days_since_epoch};

use super::numbers_in_text::{TextNumber, numbers_in, texts_without};

/// Number words from 0.
const WORDS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The word for a small number.
pub(crate) fn number_word(number: &Number) -> Option<&'static str> {
    WORDS.get(number.to_string().parse::<usize>().ok()?).copied()
}

/// Whether a text is the word for a number: the same value in another type.
pub(crate) fn is_word_for(text: &Value, number: &Value) -> bool {
    let word = number.as_number().and_then(number_word);
    word.is_some_and(|word| text.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case(word)))
}

/// Units and the factors by which a number of them may be multiplied.
const UNITS: [(&[&str], &[i128]); 16] = [
    (&["hundred"], &[100]),
    (&["thousand", "k"], &[1_000]),
    (&["million", "mio", "mn"], &[1_000_000]),
    (&["billion", "bn"], &[1_000_000_000]),
    (&["dozen"], &[12]),
    (&["second", "sec", "s"], &[1_000]),
    (&["minute", "min"], &[60, 60_000]),
    (&["hour", "hr", "h"], &[60, 3_600, 3_600_000]),
    (&["day"], &[24, 1_440, 86_400]),
    (&["week"], &[7, 168, 10_080]),
    (&["month"], &[30, 31]),
    (&["year"], &[12, 52, 365, 366]),
    (
        &["km", "kilometer", "kilometre", "kg", "kilogram", "kilo", "liter", "litre", "l", "kb", "mb", "gb"],
        &[1_000, 1_024],
    ),
    (&["meter", "metre", "m", "dollar", "euro", "pound", "usd", "eur", "gbp"], &[100]),
    (&["foot", "feet", "ft"], &[12]),
    (&["tonne", "ton"], &[1_000]),
];

/// Units of time spans that a plan may state as dates.
const SPANS: [(&str, i64); 4] = [("day", 1), ("night", 1), ("week", 7), ("month", 30)];

/// What the parameters of a plan say.
struct PlanNumbers {
    numbers: Vec<TextNumber>,
    /// Days since 1970 of the dates.
    dates: Vec<i64>,
    /// The number of steps, and of items in lists.
    counts: Vec<i128>,
    words: HashSet<String>,
}

/// What the plan says about a step in values and expressions: its parameters, its list and its condition.
pub(crate) fn step_texts(step: &Step) -> impl Iterator<Item = String> {
    let parameters = step.parameters().map(ToString::to_string);
    let controls = ["foreach", "when"].into_iter().filter_map(|key| step.metadata.get(key).map(ToString::to_string));
    parameters.into_iter().chain(controls)
}

/// The numbers of a request that neither the parameters of a plan nor other texts use, without duplicates.
pub(crate) fn unused_numbers(request: &str, plan: &Plan, others: &str) -> Vec<String> {
    let used = PlanNumbers::new(plan, others);
    let numbers = numbers_in(request);
    // A learned rule refers to the only number of a request by this name.
    if numbers.len() == 1 && others.contains("request.number") {
        return Vec::new();
    }
    texts_without(numbers, |number| used.uses(number, request))
}

impl PlanNumbers {
    fn new(plan: &Plan, others: &str) -> Self {
        let text = plan.steps.iter().flat_map(step_texts).chain([others.to_owned()]).collect::<Vec<_>>().join("\n");
        let mut counts = vec![plan.steps.len() as i128];
        for step in &plan.steps {
            let list = step.metadata.get("foreach").map(|list| ("foreach", list));
            for (_, value) in step.parameters().into_iter().flatten().chain(list) {
                count_items(value, &mut counts);
            }
        }
        let tools = plan.steps.iter().filter_map(|step| step.capability());
        counts.extend(tools.clone().map(|tool| tools.clone().filter(|other| *other == tool).count() as i128));
        let words = text.to_lowercase();
        let words = words.split(|c: char| !c.is_alphabetic()).filter(|word| WORDS.contains(word)).map(str::to_owned);
        Self { numbers: all_numbers(&text), dates: dates_in(&text), counts, words: words.collect() }
    }

    fn uses(&self, number: &TextNumber, request: &str) -> bool {
        let after = request.get(number.end..).unwrap_or_default();
        let unit = unit_after(after);
        let is_any = |other: &TextNumber| self.numbers.iter().any(|used| used.equals(other));
        is_any(number)
            || self.counts.iter().any(|count| number.equals(&TextNumber::whole(*count)))
            || (0..).zip(WORDS).any(|(value, word)| self.words.contains(word) && number.is_whole(value))
            || multiples(number, &unit).iter().any(is_any)
            || is_percentage(after, &unit) && number.percentages().iter().any(is_any)
            || ["pm", "p"].contains(&unit.as_str()) && is_any(&number.plus(12))
            // A year of two digits.
            || number.is_below(100) && is_any(&number.plus(2_000))
            || self.spans(number, &unit)
    }

    /// Whether a number of days, nights, weeks or months is stated as dates.
    fn spans(&self, number: &TextNumber, unit: &str) -> bool {
        let Some((_, days)) = SPANS.iter().find(|(name, _)| unit == *name) else { return false };
        let Some(wanted) = number.as_days(*days) else { return false };
        let near = |found: i64| (found - wanted).abs() <= if *days == 30 { 3 } else { 1 };
        let mut pairs = self.dates.iter().flat_map(|one| self.dates.iter().map(move |other| (other - one).abs()));
        // One date may be so many days from today, which a plan does not state.
        self.dates.len() == 1 || pairs.any(near)
    }
}

fn count_items(value: &Value, counts: &mut Vec<i128>) {
    match value {
        Value::Array(items) => {
            counts.push(items.len() as i128);
            for item in items {
                count_items(item, counts);
            }
        }
        Value::Object(object) => {
            for (_, value) in object {
                count_items(value, counts);
            }
        }
        Value::String(text) if text.contains(',') => counts.push(text.split(',').count() as i128),
        _ => {}
    }
}

/// The word after a number, in lower case and in the singular.
fn unit_after(after: &str) -> String {
    let after = after.trim_start_matches([' ', '-', '\u{a0}']);
    let word: String = after.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    match word.strip_suffix('s') {
        Some(singular) if !singular.is_empty() => singular.to_owned(),
        _ => word,
    }
}

fn is_percentage(after: &str, unit: &str) -> bool {
    after.trim_start().starts_with('%') || unit == "percent" || unit == "per"
}

fn multiples(number: &TextNumber, unit: &str) -> Vec<TextNumber> {
    let factors = UNITS.iter().filter(|(names, _)| names.contains(&unit)).flat_map(|(_, factors)| *factors);
    factors.filter_map(|factor| number.times(*factor)).collect()
}

/// Every number of a text, those in dates, times and words too.
fn all_numbers(text: &str) -> Vec<TextNumber> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let pieces = text.split(|c: char| !is_part(c)).map(|piece| piece.trim_matches(['.', ',']));
    let mut numbers: Vec<TextNumber> = pieces.clone().flat_map(numbers_in).collect();
    let parts = pieces.flat_map(|piece| piece.split(',')).filter(|part| !part.is_empty());
    numbers.extend(parts.flat_map(numbers_in));
    numbers
}

/// The dates of a text as days since 1970: `2026-03-05`.
fn dates_in(text: &str) -> Vec<i64> {
    let pieces = text.split(|c: char| !c.is_ascii_digit() && c != '-');
    let date = |piece: &str| {
        let mut parts = piece.split('-').filter(|part| !part.is_empty()).map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        days_since_epoch(year, month, day).filter(|_| (1900..2200).contains(&year))
    };
    let mut dates: Vec<i64> = pieces.filter_map(date).collect();
    dates.sort_unstable();
    dates.dedup();
    dates
}

#[cfg(test)]
mod tests {
    use reknit_protocol::{Object, Step, Value};

    use super::*;

    fn unused(request: &str, parameters: &[&str]) -> Vec<String> {
        let steps = parameters.iter().enumerate().map(|(index, text)| {
            let Ok(Value::Object(object)) = Value::parse(text) else { panic!("{text}") };
            let object: Object = object;
            Step::new(format!("s{index}"), "t", format!("c{index}").as_str(), "").with_parameters(object)
        });
        unused_numbers(request, &Plan::new("p", request, steps.collect()), "")
    }

    #[test]
    fn a_number_in_another_form_counts_as_used() {
        for (request, parameters) in [
            ("flights on March 5, 2026", r#"{"date": "2026-03-05"}"#),
            ("flights on 5/3/26", r#"{"date": "2026-03-05"}"#),
            ("10% off", r#"{"price": "{{a.price * 0.9}}"}"#),
            ("10 percent tip", r#"{"tip": "{{a.price * 0.1}}"}"#),
            ("add 19 % tax", r#"{"price": "{{a.price * 1.19}}"}"#),
            ("in 2 hours", r#"{"minutes": 120}"#),
            ("within 5 km", r#"{"radius_m": 5000}"#),
            ("1.5 million won", r#"{"amount": 1500000}"#),
            ("a table for 2", r#"{"text": "a table for two"}"#),
            ("at 7 pm", r#"{"time": "19:00"}"#),
            ("at 09:30", r#"{"time": "9:30"}"#),
            ("a hotel for 3 nights", r#"{"from": "2026-05-01", "to": "2026-05-04"}"#),
            ("the next 2 weeks", r#"{"from": "2026-05-01", "to": "2026-05-15"}"#),
            ("in 3 days", r#"{"date": "2026-05-04"}"#),
            ("compare 3 cities", r#"{"cities": ["Rome", "Oslo", "Bern"]}"#),
            ("transfer $25", r#"{"cents": 2500, "amount": 25}"#),
            ("pay 25 dollars", r#"{"cents": 2500}"#),
        ] {
            assert!(unused(request, &[parameters]).is_empty(), "{request}: {:?}", unused(request, &[parameters]));
        }
        assert!(unused("compare 3 cities", &["{}", "{}", "{}"]).is_empty());
    }

    #[test]
    fn a_number_that_no_step_uses_is_listed() {
        for (request, parameters, expected) in [
            ("sell 100 shares", r#"{"amount": "{{a.price}}"}"#, "100"),
            ("10% off", r#"{"price": "{{a.price}}"}"#, "10"),
            ("in 2 hours", r#"{"minutes": 90}"#, "2"),
            ("a hotel for 3 nights", r#"{"from": "2026-05-01", "to": "2026-05-14"}"#, "3"),
            ("at 7 pm", r#"{"time": "18:00"}"#, "7"),
            ("buy at 469 dollars", r#"{"limit": 468.6}"#, "469"),
        ] {
            assert_eq!(unused(request, &[parameters]), [expected], "{request}");
        }
    }
}
