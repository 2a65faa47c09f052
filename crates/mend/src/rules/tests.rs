mod laws;
mod table;

use super::*;
use crate::facts::{Field, MAX_FACTS, Says, facts_in};
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
        // What is left out is asked for again in another unit.
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
fn a_call_that_changes_something_takes_no_default_and_keeps_its_joints() {
    let schema = |inner: &str| format!(r#"{{"type": "object", "properties": {{"currency": {inner}}}}}"#);
    for (parameters, schema, message, expected) in [
        ("{}", schema(r#"{"default": "USD"}"#), "currency is required", None),
        ("{}", schema(r#"{"const": "USD"}"#), "currency is required", Some(r#"{"currency":"USD"}"#)),
        ("{}", schema(r#"{"enum": ["USD"]}"#), "currency is required", Some(r#"{"currency":"USD"}"#)),
        (r#"{"to": "maria-b"}"#, String::new(), "to must be one of 'mariab', 'bob'", None),
        (r#"{"to": "Maria B"}"#, String::new(), "to must be one of 'maria_b', 'bob'", Some(r#"{"to":"maria_b"}"#)),
        (r#"{"to": " BOB "}"#, String::new(), "to must be one of 'maria_b', 'bob'", Some(r#"{"to":"bob"}"#)),
    ] {
        let world = World { caution: Caution::OnlySpelling, ..World::new(parameters, &schema, message) };
        assert_eq!(world.amended().as_deref(), expected, "{parameters}, {message}");
    }
}

#[test]
fn nothing_is_filled_in_where_those_who_know_differ() {
    let schema = r#"{"properties": {"currency": {"default": "USD"}}}"#;
    let mut world = World::new(r#"{"amount":100}"#, schema, "currency is required");
    world.request = "Pay amount: 100, currency: EUR".to_owned();
    assert_eq!(world.amended(), None);
    world.request = "Pay amount: 100, currency: usd".to_owned();
    assert_eq!(world.amended().as_deref(), Some(r#"{"amount":100,"currency":"usd"}"#));
}

#[test]
fn many_rows_cost_no_more_than_their_number() {
    let schema = r#"{"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "other": {"type": "string"}}}}}}"#;
    for row in [r#"{"other": "x"}"#, r#"{"nmae": "x"}"#] {
        let rows = vec![row; 2_000].join(",");
        let mut world = World::new(&format!(r#"{{"rows": [{rows}]}}"#), schema, "");
        let problems = world.schema.as_ref().expect("it is there").problems(&Value::Object(world.parameters.clone()));
        assert!(problems.len() > MAX_FACTS);
        world.facts = facts_of_problems(&problems);
        let begun = std::time::Instant::now();
        world.amend();
        // The cube of two thousand rows would take an hour.
        assert!(begun.elapsed().as_secs() < 20, "{row}: {:?}", begun.elapsed());
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
