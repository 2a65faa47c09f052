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
        repair_by_rules(RejectedCall {
            parameters: self.parameters.clone(),
            schema: self.schema.as_ref(),
            facts: &self.facts,
            message: &self.message,
            referenced: self.referenced.clone(),
            allowed_changes: self.allowed_changes,
            request: [&self.request, ""],
            results: self.results.iter().map(|(id, value)| (id, value)).collect(),
        })
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
    for (parameters, schema, message, read, changing) in [
        (r#"{"currency": "usd"}"#, open, "currency must be one of EUR, USD", Some("USD"), Some("USD")),
        (r#"{"currency": "Euro"}"#, open, "currency must be one of EUR, USD", Some("EUR"), None),
        // The name differs by a unit.
        (r#"{"amount_cents": 5000}"#, closed, "missing field `amount`", None, None),
        (
            r#"{"Amount": 5}"#,
            closed,
            "unknown field `Amount`, expected `amount`",
            Some(r#""amount":5"#),
            Some(r#""amount":5"#),
        ),
        (
            r#"{"amount": 5, "dry_run": true}"#,
            closed,
            "unknown field `dry_run`, expected `amount`",
            Some(r#"{"amount":5}"#),
            None,
        ),
    ] {
        for (allowed_changes, expected) in [(AllowedChanges::Any, read), (AllowedChanges::SpellingOnly, changing)] {
            let rejection = Rejection { allowed_changes, ..Rejection::new(parameters, schema, message) };
            let found = rejection.repaired();
            let holds = match expected {
                None => found.is_none(),
                Some(part) => found.as_deref().is_some_and(|text| text.contains(part)),
            };
            assert!(holds, "{allowed_changes:?}: {parameters}, {message}: {found:?}");
        }
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
        assert!(started.elapsed().as_secs() < 20, "{row}: {:?}", started.elapsed());
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
