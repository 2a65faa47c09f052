//! Numbers, times, amounts and addresses as a page writes them.

use maud::{Markup, html};
use reknit_engine::{Spent, StepView};
use reknit_protocol::{human_duration, percent_encoded, timestamp_text};

/// `1 step`, `2 steps`.
pub(crate) fn count(number: impl TryInto<u64>, noun: &str) -> String {
    match number.try_into() {
        Ok(1) => format!("1 {noun}"),
        Ok(number) => format!("{number} {noun}s"),
        Err(_) => format!("many {noun}s"),
    }
}

/// The capability of a step as a plan names it: `tool/capability`, without a tool for a step that computes.
pub(crate) fn capability_name(step: &StepView) -> String {
    match step.tool.as_str() {
        "" => step.capability.to_string(),
        tool => format!("{tool}/{}", step.capability),
    }
}

pub(crate) fn between(from_ms: i64, to_ms: i64) -> String {
    human_duration(u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0))
}

/// How long ago a moment is, in its largest unit.
pub(crate) fn age(at_ms: i64, now_ms: i64) -> String {
    let seconds = u64::try_from(now_ms.saturating_sub(at_ms)).unwrap_or(0) / 1_000;
    match seconds {
        0..5 => "now".to_owned(),
        5..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A moment, written as its age; a pointer sees the time itself.
pub(crate) fn ago(at_ms: i64, now_ms: i64) -> Markup {
    let time = timestamp_text(at_ms);
    html! { time datetime=(time) title=(time) { (age(at_ms, now_ms)) } }
}

/// What models cost, `–` if nothing is known.
pub(crate) fn cost(spent: &Spent) -> String {
    if spent.cost.is_zero() { "–".to_owned() } else { spent.cost.to_string() }
}

/// An amount of money with four digits after the point, `–` for nothing. The currency is that of the configured prices.
pub(crate) fn money(nanos: u64) -> String {
    match nanos {
        0 => "–".to_owned(),
        1..100_000 => "< 0.0001".to_owned(),
        _ => format!("{}.{:04}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 100_000),
    }
}

pub(crate) fn run_path(run: &str) -> String {
    format!("/runs/{}", percent_encoded(run))
}

pub(crate) fn compare_path(run: &str) -> String {
    format!("/runs/{}/compare", percent_encoded(run))
}

/// The page of a run with a step opened.
pub(crate) fn step_path(run: &str, step: &str) -> String {
    format!("/runs/{}?step={}", percent_encoded(run), percent_encoded(step))
}

pub(crate) fn result_path(run: &str, step: &str, path: &str) -> String {
    format!("{}#{}", step_path(run, step), percent_encoded(&result_id(path)))
}

/// The id of the element that shows a place in a result.
pub(crate) fn result_id(path: &str) -> String {
    format!("at-{}", path.split_whitespace().collect::<Vec<_>>().join("_"))
}

/// An address with its query; fields without a value are left out.
pub(crate) fn with_query(path: &str, fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
        .collect();
    if fields.is_empty() { path.to_owned() } else { format!("{path}?{}", fields.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_four_digits_and_a_small_one_is_not_nothing() {
        let amounts = [0, 1, 100_000, 1_234_567_890, 20_000_000_000].map(money);
        assert_eq!(amounts, ["–", "< 0.0001", "0.0001", "1.2345", "20.0000"]);
    }

    #[test]
    fn an_age_is_written_in_its_largest_unit() {
        let ages = [0, 7, 61, 7_200, 200_000].map(|seconds| age(0, seconds * 1_000));
        assert_eq!(ages, ["now", "7 s", "1 min", "2 h", "2 days"]);
        assert_eq!((count(1_usize, "step"), count(3_u32, "call")), ("1 step".to_owned(), "3 calls".to_owned()));
    }

    #[test]
    fn names_are_encoded_and_empty_fields_left_out() {
        assert_eq!(step_path("a/b", "x y&z"), "/runs/a%2Fb?step=x%20y%26z");
        assert_eq!(
            with_query("/", &[("status", "failed"), ("search", ""), ("after", "é")]),
            "/?status=failed&after=%C3%A9"
        );
        assert_eq!(with_query("/", &[("status", "")]), "/");
    }
}
