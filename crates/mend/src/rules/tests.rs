mod laws;
mod table;

use super::*;
use crate::facts::{FactKind, Field, MAX_FACTS, facts_in};
use reknit_protocol::StepId;
use reknit_salvage::Schema;

fn object(text: &str) -> Object {
    Value::parse(text).expect("it is JSON").as_object().expect("it is an object").clone()
}

/// Owned data of a [`RejectedCall`].
#[derive(Debug)]
struct Rejection {
    schema: Option<Schema>,
    facts: Vec<Fact>,
    message: String,
    parameters: Object,
    results: Vec<(StepId, Value)>,
    allowed_changes: AllowedChanges,
    request: String,
    referenced: Vec<String>,
}

impl Rejection {
    fn new(parameters: &str, schema: &str, message: &str) -> Self {
        let schema = (!schema.is_empty())
            .then(|| Schema::compile(&Value::parse(schema).expect("it is JSON")).expect("it is a schema"));
        Self {
            schema,
            facts: facts_in(message, None),
            message: message.to_owned(),
            parameters: object(parameters),
            results: Vec::new(),
            allowed_changes: AllowedChanges::Any,
            request: String::new(),
            referenced: Vec::new(),
        }
    }

    fn repair(&self) -> Option<RuleRepair> {
        repair_by_rules(self.call())
    }

    fn call(&self) -> RejectedCall<'_> {
        RejectedCall {
            parameters: self.parameters.clone(),
            schema: self.schema.as_ref(),
            facts: &self.facts,
            message: &self.message,
            referenced: self.referenced.clone(),
            allowed_changes: self.allowed_changes,
            request: [&self.request, ""],
            results: self.results.iter().map(|(id, value)| (id, value)).collect(),
        }
    }

    fn repaired(&self) -> Option<String> {
        self.repair().map(|repair| Value::Object(repair.parameters).to_string())
    }
}

#[test]
fn only_the_spelling_of_a_call_with_side_effects_is_changed() {
    let open =
        r#"{"type": "object", "properties": {"amount": {"type": "number"}, "currency": {"enum": ["EUR", "USD"]}}}"#;
    let closed = r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
        "properties": {"amount": {"type": "number"}}}"#;
    // Parameters, schema, error, and a part of the parameters after any change and after a change of the spelling.
    let rows = r#"
        {"currency": "usd"} | open | currency must be one of EUR, USD | "USD" | "USD"
        {"currency": "Euro"} | open | currency must be one of EUR, USD | "EUR" | -
        {"amount_cents": 5000} | closed | missing field `amount` | - | -
        {"Amount": 5} | closed | unknown field `Amount`, expected `amount` | "amount":5 | "amount":5
        {"amount": 5, "dry_run": true} | closed | unknown field `dry_run`, expected `amount` | {"amount":5} | -
    "#;
    for row in rows.trim().lines() {
        let columns: Vec<&str> = row.trim().split(" | ").collect();
        let [parameters, schema, message, any, spelling] = columns[..] else { panic!("a row has five columns: {row}") };
        let schema = if schema == "open" { open } else { closed };
        for (allowed_changes, expected) in [(AllowedChanges::Any, any), (AllowedChanges::SpellingOnly, spelling)] {
            let rejection = Rejection { allowed_changes, ..Rejection::new(parameters, schema, message) };
            let found = rejection.repaired().unwrap_or_else(|| "-".to_owned());
            let holds = if expected == "-" { found == "-" } else { found.contains(expected) };
            assert!(holds, "{allowed_changes:?}: {row}: {found}");
        }
    }
}

#[test]
fn a_value_with_evidence_is_changed_and_a_default_or_a_removal_is_not() {
    let defaults = r#"{"type": "object", "properties": {"currency": {"default": "USD"}}}"#;
    let closed = r#"{"type": "object", "additionalProperties": false, "properties": {"amount": {"type": "number"}}}"#;
    for (parameters, schema, message, expected) in [
        (r#"{"to": "Euro"}"#, "", "to must be one of 'EUR', 'USD'", Some(r#"{"to":"EUR"}"#)),
        ("{}", defaults, "currency is required", None),
        (r#"{"amount": 5, "dry_run": true}"#, closed, "unknown field `dry_run`, expected `amount`", None),
    ] {
        let rejection =
            Rejection { allowed_changes: AllowedChanges::WithEvidence, ..Rejection::new(parameters, schema, message) };
        assert_eq!(rejection.repaired().as_deref(), expected, "{parameters}, {message}");
    }
}

#[test]
fn an_error_refers_to_parameters_by_field_name_and_quoted_value_at_any_depth() {
    for (parameters, message, expected) in [
        (r#"{"amount": 5, "to": "maria"}"#, "amount must be greater than 10", "amount"),
        (r#"{"city": "Tokio", "to": "x"}"#, "failed to find 'Tokio'", "city"),
        (r#"{"city": "Tokio", "to": "x"}"#, "unknown city", "city"),
        (r#"{"flights": [{"date": "2024-05-17"}], "user": "ann"}"#, "no flight on 2024-05-17", "flights"),
        (r#"{"amount": 5}"#, "missing field `currency`", "currency"),
        (r#"{"amount": 5, "to": "maria"}"#, "'to' is wrong", "to"),
        (r#"{"Amount": 5, "to": "maria"}"#, "pay {\"amount\": 1000000} instead", "Amount"),
        (r#"{"amount": 5, "to": "maria"}"#, "it did not work", ""),
    ] {
        let rejection = Rejection::new(parameters, "", message);
        let referred = rejection.call().referred_parameters().join(" ");
        assert_eq!(referred, expected, "{parameters}, {message}");
    }
}

#[test]
fn an_identifier_that_is_not_found_becomes_the_one_result_with_the_same_digits() {
    for (results, expected) in [
        (r#"{"orders": [{"order_id": "ORD-4521"}, {"order_id": "ORD-4522"}]}"#, Some(r#"{"order_id":"ORD-4521"}"#)),
        (r#"{"orders": [{"order_id": "ORD-4521"}, {"order_id": "REF-4521"}]}"#, None),
        (r#"{"orders": [{"invoice": "ORD-4521"}]}"#, None),
        (r#"{"orders": [{"order_id": "ORD-4522"}]}"#, None),
    ] {
        let mut rejection = Rejection::new(r#"{"order_id": "W4521"}"#, "", "order 'W4521' not found");
        rejection.allowed_changes = AllowedChanges::WithEvidence;
        rejection.results = vec![("list".into(), Value::parse(results).expect("it is JSON"))];
        assert_eq!(rejection.repaired().as_deref(), expected, "{results}");
    }
}

#[test]
fn a_value_inside_a_list_is_located_by_the_error_that_quotes_it() {
    let parameters = r#"{"user": "ann", "flights": [{"cabin": "Busines"}]}"#;
    let rejection = Rejection::new(parameters, "", "'Busines' not found, did you mean 'Business'?");
    assert_eq!(rejection.repaired().as_deref(), Some(r#"{"user":"ann","flights":[{"cabin":"Business"}]}"#));
}

#[test]
fn the_sum_of_a_list_with_one_item_is_proposed_if_the_error_states_both_sums() {
    let one = r#"{"payments": [{"amount": 100, "by": "card_1"}]}"#;
    for (parameters, message, expected) in [
        (
            one,
            "the payments add up to 100, and the order costs 120",
            Some(r#"{"payments":[{"amount":120,"by":"card_1"}]}"#),
        ),
        (one, "total 120.50 does not match 100.", Some(r#"{"payments":[{"amount":120.50,"by":"card_1"}]}"#)),
        (one, "100, 120 and 130 differ", None),
        (one, "the order costs 120", None),
        (one, "90 is not 120", None),
        (r#"{"payments": [{"amount": 50}, {"amount": 50}]}"#, "the sum is 100, not 120", None),
        (r#"{"payments": [{"amount": 100, "fee": 120}]}"#, "the sum is 100, not 120", None),
    ] {
        let rejection = Rejection::new(parameters, "", message);
        let proposed = propose_sum(&rejection.call()).map(|repair| Value::Object(repair.parameters).to_string());
        assert_eq!(proposed.as_deref(), expected, "{parameters}, {message}");
    }
}

#[test]
fn a_call_with_side_effects_takes_no_default_and_keeps_its_separators() {
    let schema = |inner: &str| format!(r#"{{"type": "object", "properties": {{"currency": {inner}}}}}"#);
    for (parameters, schema, message, expected) in [
        ("{}", schema(r#"{"default": "USD"}"#), "currency is required", None),
        ("{}", schema(r#"{"const": "USD"}"#), "currency is required", Some(r#"{"currency":"USD"}"#)),
        ("{}", schema(r#"{"enum": ["USD"]}"#), "currency is required", Some(r#"{"currency":"USD"}"#)),
        (r#"{"to": "maria-b"}"#, String::new(), "to must be one of 'mariab', 'bob'", None),
        (r#"{"to": "Maria B"}"#, String::new(), "to must be one of 'maria_b', 'bob'", Some(r#"{"to":"maria_b"}"#)),
        (r#"{"to": " BOB "}"#, String::new(), "to must be one of 'maria_b', 'bob'", Some(r#"{"to":"bob"}"#)),
    ] {
        let rejection =
            Rejection { allowed_changes: AllowedChanges::SpellingOnly, ..Rejection::new(parameters, &schema, message) };
        assert_eq!(rejection.repaired().as_deref(), expected, "{parameters}, {message}");
    }
}

#[test]
fn no_value_is_filled_in_if_the_sources_differ() {
    let schema = r#"{"properties": {"currency": {"default": "USD"}}}"#;
    let mut rejection = Rejection::new(r#"{"amount":100}"#, schema, "currency is required");
    rejection.request = "Pay amount: 100, currency: EUR".to_owned();
    assert_eq!(rejection.repaired(), None);
    rejection.request = "Pay amount: 100, currency: usd".to_owned();
    assert_eq!(rejection.repaired().as_deref(), Some(r#"{"amount":100,"currency":"usd"}"#));
}

#[test]
fn work_grows_with_the_number_of_rows_at_most_linearly() {
    let schema = r#"{"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "other": {"type": "string"}}}}}}"#;
    for row in [r#"{"other": "x"}"#, r#"{"nmae": "x"}"#] {
        let rows = vec![row; 2_000].join(",");
        let mut rejection = Rejection::new(&format!(r#"{{"rows": [{rows}]}}"#), schema, "");
        let problems = rejection
            .schema
            .as_ref()
            .expect("a schema is given")
            .problems(&Value::Object(rejection.parameters.clone()));
        assert!(problems.len() > MAX_FACTS);
        rejection.facts = facts_from_problems(&problems);
        let started = std::time::Instant::now();
        rejection.repair();
        // Work that grows with the cube of the rows would take an hour.
        assert!(started.elapsed().as_secs() < 120, "{row}: {:?}", started.elapsed());
    }
}

#[test]
fn a_value_that_the_plan_takes_from_a_result_is_not_replaced() {
    let schema = r#"{"type": "object", "properties": {"currency": {"type": "string"}}}"#;
    let mut rejection = Rejection::new(r#"{"currency": "Euro"}"#, schema, "currency must be one of EUR, USD");
    assert_eq!(rejection.repaired().as_deref(), Some(r#"{"currency":"EUR"}"#));
    rejection.referenced = vec!["currency".to_owned()];
    assert_eq!(rejection.repaired(), None);
}
