//! Laws that hold for any rule and any call.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::*;
use reknit_mend::{AcceptedBy, ErrorPattern, RuleEvidence, RuleState, RuleValue};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const MESSAGES: [&str; 3] = ["`a` is wrong: 5", "no rate from x to y", "anything"];
const PATTERNS: [&str; 4] = ["`a` is wrong: *", "no rate from * to *", "*", "anything"];
const EXPRESSIONS: [&str; 8] = [
    "parameters.a",
    "parameters.b",
    "upper(parameters.c)",
    "parameters.a * 100",
    "error.details.hint",
    "request.number",
    "quote.price",
    "request.number * quote.price",
];

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..20_i64).prop_map(Value::from),
        "[a-z]{1,3}".prop_map(Value::from),
        Just(Value::from("Yen")),
        Just(Value::from("x")),
        Just(Value::Null),
    ]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::sample::subsequence(NAMES.to_vec(), 0..=2)
        .prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

fn calls() -> impl Strategy<Value = FaultyCall> {
    let parameters = proptest::collection::btree_map(proptest::sample::select(&NAMES[..]), values(), 0..4);
    let capability = proptest::sample::select(vec!["bank/convert", "bank/refund"]);
    let code = proptest::sample::select(vec!["INVALID", "OTHER"]);
    let message = proptest::sample::select(&MESSAGES[..]);
    let with_result = any::<bool>();
    (parameters, capability, code, message, names(), with_result).prop_map(
        |(parameters, capability, code, message, fields, with_result)| {
            let mut call = failed("{}", message, r#"{"hint": "H", "known": ["JPY", "EUR"]}"#);
            call.parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            call.capability = capability.to_owned();
            call.fields = fields;
            Arc::make_mut(&mut call.fault).code = code.to_owned();
            let call = call.requested("sell 7");
            if with_result { call.after("s", "stocks/quote", r#"{"price": 2}"#) } else { call }
        },
    )
}

fn rules() -> impl Strategy<Value = LearnedRule> {
    let value = proptest::sample::select(&EXPRESSIONS[..]).prop_map(|of| RuleValue { of: of.to_owned(), map: None });
    let map = Just(RuleValue { of: "parameters.a".to_owned(), map: Some(object(r#"{"Yen": "JPY", "x": "made up"}"#)) });
    let value = prop_oneof![3 => value, 1 => map];
    let change = proptest::collection::btree_map(proptest::sample::select(&NAMES[..]), value, 0..3);
    let code = proptest::sample::select(vec!["INVALID", "OTHER"]);
    let message = proptest::sample::select(&PATTERNS[..]);
    (change, names(), names(), names(), code, message).prop_map(|(change, remove, absent, fields, code, message)| {
        let change: BTreeMap<String, RuleValue> =
            change.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        LearnedRule {
            id: "r".to_owned(),
            state: RuleState::Accepted,
            accepted_by: Some(AcceptedBy::Person),
            capability: "bank/convert".to_owned(),
            error: ErrorPattern { status: Some(422), code: code.to_owned(), message: message.to_owned(), fields },
            absent,
            results: BTreeMap::from([("quote".to_owned(), "stocks/quote".to_owned())]),
            change,
            remove,
            evidence: RuleEvidence::default(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_never_applies_to_another_capability_or_another_error(rule in rules(), call in calls()) {
        if rule.apply(&call).is_some() {
            prop_assert_eq!(&rule.capability, &call.capability);
            prop_assert_eq!(&rule.error.code, &call.fault.code);
            prop_assert!(rule.error.fields.iter().all(|field| call.fields.contains(field)));
            let is_message = match rule.error.message.as_str() {
                "*" => true,
                "anything" => call.fault.message == "anything",
                "`a` is wrong: *" => call.fault.message.starts_with("`a` is wrong: "),
                _ => call.fault.message.starts_with("no rate from "),
            };
            prop_assert!(is_message, "{} {}", rule.error.message, call.fault.message);
        }
    }

    #[test]
    fn a_rule_never_applies_unless_the_call_has_and_lacks_the_parameters_that_it_says(rule in rules(), call in calls()) {
        if rule.apply(&call).is_some() {
            for name in rule.change.keys() {
                prop_assert_eq!(call.parameters.contains_key(name), !rule.absent.contains(name), "{}", name);
            }
            prop_assert!(rule.remove.iter().all(|name| call.parameters.contains_key(name)));
            prop_assert_eq!(call.results.len(), 1, "the named result is there");
        }
    }

    #[test]
    fn a_rule_never_changes_what_it_does_not_name(rule in rules(), call in calls()) {
        if let Some(fix) = rule.apply(&call) {
            for name in NAMES.iter().filter(|name| !rule.named().any(|named| named == **name)) {
                prop_assert_eq!(fix.parameters.get(name), call.parameters.get(name), "{}", name);
            }
            prop_assert!(fix.parameters.values().all(|value| *value != Value::from("made up")), "no map invents a value");
        }
    }

    #[test]
    fn a_proposed_rule_gives_the_correction_from_which_it_was_learned(call in calls(), corrected in values()) {
        let mut lesson = call.corrected("r/s", "{}");
        lesson.corrected = lesson.call.parameters.clone();
        lesson.corrected.insert("a", corrected);
        for rule in propose_rules(std::slice::from_ref(&lesson)) {
            prop_assert_eq!(rule.validate(), Ok(()));
            prop_assert_eq!(rule.apply(&lesson.call).map(|fix| fix.parameters), Some(lesson.corrected.clone()));
        }
    }
}
