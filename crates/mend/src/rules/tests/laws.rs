//! Properties that hold for any call and any error.

use proptest::prelude::*;
use reknit_protocol::spelling::folded;

use super::*;

const NAMES: [&str; 6] = ["lat", "latitude", "to", "amount", "note", "units"];

fn value() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        Value::from("Euro"),
        Value::from("12"),
        Value::from(" x "),
        Value::from("31/01/2024"),
        Value::from(-5),
        Value::from(120),
        Value::from(true),
        Value::Null,
        Value::from(""),
        Value::from("imperil"),
    ])
}

fn kind() -> impl Strategy<Value = FactKind> {
    let list = || vec![Value::from("EUR"), Value::from("USD"), Value::from("imperial")];
    prop::sample::select(vec![
        FactKind::Missing,
        FactKind::Empty,
        FactKind::Invalid,
        FactKind::UnknownField { known: vec![] },
        FactKind::UnknownField { known: vec!["lat".to_owned(), "to".to_owned()] },
        FactKind::WrongType { expected: reknit_salvage::SchemaType::Number, got: None },
        FactKind::WrongType { expected: reknit_salvage::SchemaType::String, got: None },
        FactKind::AllowedValues { values: list(), got: None },
        FactKind::Bound { side: reknit_salvage::Comparison::AtMost, limit: 90.into() },
        FactKind::Bound { side: reknit_salvage::Comparison::MoreThan, limit: 0.into() },
        FactKind::Format { format: Some("YYYY-MM-DD".to_owned()), example: None },
        FactKind::ExpectedValue { value: 7.into(), got: None },
        FactKind::NotFound { value: None },
        FactKind::Suggestion { value: Value::from("lat") },
        FactKind::Suggestion { value: Value::from("EUR") },
    ])
}

fn rejection() -> impl Strategy<Value = Rejection> {
    let parameters = prop::collection::vec((prop::sample::select(NAMES.to_vec()), value()), 0..5);
    let facts = prop::collection::vec((prop::sample::select(NAMES.to_vec()), kind()), 0..4);
    (parameters, facts, any::<bool>()).prop_map(|(parameters, facts, with_schema)| {
        let schema = r#"{"required": ["lat"], "properties": {"lat": {"type": "number"}, "to": {"type": "string"},
            "amount": {"type": "number", "default": 3}, "units": {"enum": ["metric", "imperial"]}}}"#;
        let mut rejection = Rejection::new("{}", if with_schema { schema } else { "" }, "");
        rejection.parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        rejection.facts = facts.into_iter().map(|(name, kind)| Fact { field: Field::parse(name), kind }).collect();
        rejection.results = vec![("a".into(), Value::Object(object(r#"{"to": "KRW", "note": "from a"}"#)))];
        rejection.request = "sell 5 of them, amount: 8".to_owned();
        rejection
    })
}

/// All values that a rule may use, as one folded text: a converted value has the same text as the original.
fn known_values(rejection: &Rejection) -> String {
    let facts: Vec<String> = rejection.facts.iter().map(ToString::to_string).collect();
    let schema = rejection.schema.as_ref().map(|schema| schema.source().to_string()).unwrap_or_default();
    let results: Vec<String> = rejection.results.iter().map(|(_, value)| value.to_string()).collect();
    folded(&format!(
        "{} {schema} {} {} {}",
        Value::Object(rejection.parameters.clone()),
        facts.join(" "),
        results.join(" "),
        rejection.request
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_changes_only_the_field_of_its_fact(rejection in rejection()) {
        let Some(repair) = rejection.repair() else { return Ok(()) };
        let named = |name: &str| rejection.facts.iter().any(|fact| {
            let field = fact.field.as_ref().map(ToString::to_string).unwrap_or_default();
            // A rename changes two names: the one it moves from and the one it moves to.
            let is_renamed = matches!(&fact.kind, FactKind::Suggestion { value } if value.as_str() == Some(name))
                || matches!(&fact.kind, FactKind::UnknownField { known } if known.iter().any(|known| known == name))
                || (matches!(fact.kind, FactKind::UnknownField { .. }) && name == "lat")
                || (fact.kind == FactKind::Missing && rejection.schema.is_some() && !["lat", "to", "amount", "units"].contains(&name));
            field == name || is_renamed
        });
        let names: Vec<&str> = rejection.parameters.keys().chain(repair.parameters.keys()).collect();
        for name in names {
            if rejection.parameters.get(name) != repair.parameters.get(name) {
                prop_assert!(named(name), "{name} changed: {} in {:?}", repair.description, rejection);
            }
        }
    }

    #[test]
    fn a_rule_never_invents_a_value(rejection in rejection()) {
        let Some(repair) = rejection.repair() else { return Ok(()) };
        let known = known_values(&rejection);
        for (name, value) in &repair.parameters {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let is_date = text == "2024-01-31" && known.contains("31/01/2024");
            prop_assert!(known.contains(&folded(&text)) || is_date, "{name} is {value} in {:?}", rejection);
        }
    }
}
