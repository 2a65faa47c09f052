mod laws;
mod table;

use super::*;
use crate::mend::facts::{Field, Says, facts_in};
use reknit_protocol::StepId;
use reknit_salvage::Schema;

fn object(text: &str) -> Object {
    Value::parse(text).expect("it is JSON").as_object().expect("it is an object").clone()
}

/// A world in which a call was refused.
#[derive(Debug)]
struct World {
    schema: Option<Schema>,
    facts: Vec<Fact>,
    message: String,
    parameters: Object,
    results: Vec<(StepId, Value)>,
    caution: Caution,
    request: String,
    referenced: Vec<String>,
}

impl World {
    fn new(parameters: &str, schema: &str, message: &str) -> Self {
        let schema = (!schema.is_empty())
            .then(|| Schema::compile(&Value::parse(schema).expect("it is JSON")).expect("it is a schema"));
        Self {
            schema,
            facts: facts_in(message, None),
            message: message.to_owned(),
            parameters: object(parameters),
            results: Vec::new(),
            caution: Caution::Usual,
            request: String::new(),
            referenced: Vec::new(),
        }
    }

    fn amend(&self) -> Option<Amendment> {
        amend(Case {
            parameters: self.parameters.clone(),
            schema: self.schema.as_ref(),
            facts: &self.facts,
            message: &self.message,
            referenced: self.referenced.clone(),
            caution: self.caution,
            request: [&self.request, ""],
            results: self.results.iter().map(|(id, value)| (id, value)).collect(),
        })
    }

    fn amended(&self) -> Option<String> {
        self.amend().map(|amendment| Value::Object(amendment.parameters).to_string())
    }
}

#[test]
fn a_call_that_changes_something_is_only_spelt_otherwise() {
    let open =
        r#"{"type": "object", "properties": {"amount": {"type": "number"}, "currency": {"enum": ["EUR", "USD"]}}}"#;
    let closed = r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
        "properties": {"amount": {"type": "number"}}}"#;
    for (parameters, schema, message, read, changing) in [
        (r#"{"currency": "usd"}"#, open, "currency must be one of EUR, USD", Some("USD"), Some("USD")),
        (r#"{"currency": "Euro"}"#, open, "currency must be one of EUR, USD", Some("EUR"), None),
        (r#"{"amount_cents": 5000}"#, closed, "missing field `amount`", Some(r#""amount":5000"#), None),
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
        for (caution, expected) in [(Caution::Usual, read), (Caution::OnlySpelling, changing)] {
            let world = World { caution, ..World::new(parameters, schema, message) };
            let found = world.amended();
            let holds = match expected {
                None => found.is_none(),
                Some(part) => found.as_deref().is_some_and(|text| text.contains(part)),
            };
            assert!(holds, "{caution:?}: {parameters}, {message}: {found:?}");
        }
    }
}

#[test]
fn what_is_near_a_number_or_a_code_is_another_one() {
    let schema = r#"{"type": "object", "properties": {"size": {"type": "integer"}, "order": {"type": "string"}}}"#;
    for (parameters, message) in [
        (r#"{"size": 1000}"#, "size must be one of 100, 50"),
        (r#"{"size": 250}"#, "size must be one of 256, 512"),
        (r#"{"order": "ORD-1042"}"#, "order `ORD-1042` not found, did you mean `ORD-1024`?"),
    ] {
        assert_eq!(World::new(parameters, schema, message).amended(), None, "{parameters}: {message}");
    }
}

#[test]
fn what_the_plan_takes_from_a_result_is_not_replaced_by_what_is_near() {
    let schema = r#"{"type": "object", "properties": {"currency": {"type": "string"}}}"#;
    let mut world = World::new(r#"{"currency": "Euro"}"#, schema, "currency must be one of EUR, USD");
    assert_eq!(world.amended().as_deref(), Some(r#"{"currency":"EUR"}"#));
    world.referenced = vec!["currency".to_owned()];
    assert_eq!(world.amended(), None);
}
