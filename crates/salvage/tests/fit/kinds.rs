//! Damaged calls by kind: what is read, what is refused, and that nothing is read wrongly.
//!
//! The cases are in `tests/cases/kinds.jsonl`: `expect` is the one clear reading; `refuse` and `ambiguous` have none; `unchanged`
//! fits as it is and could only be changed by a guess.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reknit_protocol::{Object, Value};
use reknit_salvage::{Completeness, Formats, Schema, fit, read_as};

use crate::support::json;

const CASES: &str = include_str!("../cases/kinds.jsonl");

/// How many cases of each group are read right at least.
const FLOORS: [(&str, usize); 7] =
    [("booleans", 23), ("enums", 31), ("envelopes", 52), ("keys", 38), ("lists", 41), ("numbers", 70), ("texts", 40)];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    Refused,
    /// Fits as it is, although it is damaged.
    Left,
    Wrong,
    /// A value was picked although there are several readings.
    Picked,
}

fn schemas() -> BTreeMap<String, Schema> {
    let first = json(CASES.lines().next().expect("a line with the schemas"));
    let schemas = first.get("schemas").and_then(Value::as_object).expect("schemas").iter();
    let compile = |source: &Value| Schema::compile_with(source, Formats::Guide).expect("a schema");
    schemas.map(|(name, source)| (name.to_owned(), compile(source))).collect()
}

/// The value that the case is read as; the same through the door for values and the one for texts.
fn read_case(case: &Object, schema: &Schema) -> Option<Value> {
    let read = |text: &str| {
        let reading = read_as(text, schema).ok().filter(|reading| reading.completeness == Completeness::Complete)?;
        Some(reading.value)
    };
    let Some(value) = case.get("value") else { return read(case.get("text")?.as_str()?) };
    let fitted = fit(value.clone(), schema).ok().map(|fitted| fitted.value);
    assert_eq!(read(&value.to_string()), fitted, "the doors for texts and values disagree: {value}");
    fitted
}

fn outcome(case: &Object, schema: &Schema) -> Outcome {
    let read = read_case(case, schema);
    let expected = case.get("expect").or_else(|| case.get("value").filter(|_| case.contains_key("unchanged")));
    match (read, expected) {
        (None, Some(_)) if case.contains_key("expect") => Outcome::Refused,
        (None, _) => Outcome::Right,
        (Some(value), Some(expected)) if value == *expected => Outcome::Right,
        (Some(_), None) if case.contains_key("ambiguous") => Outcome::Picked,
        (Some(value), Some(_)) if Some(&value) == case.get("value") => Outcome::Left,
        (Some(_), _) => Outcome::Wrong,
    }
}

#[test]
fn every_kind_of_damage_is_read_right_or_refused() {
    let schemas = schemas();
    let mut groups: BTreeMap<String, BTreeMap<Outcome, usize>> = BTreeMap::new();
    let mut report = String::new();
    for line in CASES.lines().skip(1) {
        let case = json(line);
        let case = case.as_object().expect("an object");
        let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
        let outcome = outcome(case, &schemas[text("schema")]);
        *groups.entry(text("group").to_owned()).or_default().entry(outcome).or_default() += 1;
        if outcome != Outcome::Right {
            writeln!(report, "{outcome:?}: {line}").expect("a string");
        }
    }
    println!("{report}");
    for (group, counts) in &groups {
        println!("{group}: {counts:?}");
    }
    let count = |group: &str, outcome| groups.get(group).and_then(|counts| counts.get(&outcome)).copied().unwrap_or(0);
    for group in groups.keys() {
        assert_eq!(count(group, Outcome::Wrong), 0, "{group}: wrong readings\n{report}");
        assert_eq!(count(group, Outcome::Picked), 0, "{group}: picked one of several readings\n{report}");
    }
    for (group, floor) in FLOORS {
        let right = count(group, Outcome::Right);
        assert!(right >= floor, "{group}: {right} of at least {floor} are right\n{report}");
    }
}
