//! What holds for any call and any error.

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

fn says() -> impl Strategy<Value = Says> {
    let list = || vec![Value::from("EUR"), Value::from("USD"), Value::from("imperial")];
    prop::sample::select(vec![
        Says::Missing,
        Says::Empty,
        Says::Invalid,
        Says::Unknown { known: vec![] },
        Says::Unknown { known: vec!["lat".to_owned(), "to".to_owned()] },
        Says::WrongType { expected: crate::facts::TypeName::Number, got: None },
        Says::WrongType { expected: crate::facts::TypeName::String, got: None },
        Says::Allowed { values: list(), got: None },
        Says::Bound { side: reknit_salvage::Bound::AtMost, limit: 90.into() },
        Says::Bound { side: reknit_salvage::Bound::MoreThan, limit: 0.into() },
        Says::Format { form: Some("YYYY-MM-DD".to_owned()), example: None },
        Says::Expected { value: 7.into(), got: None },
        Says::NotFound { value: None },
        Says::Meant { value: Value::from("lat") },
        Says::Meant { value: Value::from("EUR") },
    ])
}

fn world() -> impl Strategy<Value = World> {
    let parameters = prop::collection::vec((prop::sample::select(NAMES.to_vec()), value()), 0..5);
    let facts = prop::collection::vec((prop::sample::select(NAMES.to_vec()), says()), 0..4);
    (parameters, facts, any::<bool>()).prop_map(|(parameters, facts, with_schema)| {
        let schema = r#"{"required": ["lat"], "properties": {"lat": {"type": "number"}, "to": {"type": "string"},
            "amount": {"type": "number", "default": 3}, "units": {"enum": ["metric", "imperial"]}}}"#;
        let mut world = World::new("{}", if with_schema { schema } else { "" }, "");
        world.parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        world.facts = facts.into_iter().map(|(name, says)| Fact { field: Field::parse(name), says }).collect();
        world.results = vec![("a".into(), Value::Object(object(r#"{"to": "KRW", "note": "from a"}"#)))];
        world.request = "sell 5 of them, amount: 8".to_owned();
        world
    })
}

/// Everything that anybody holds, as folded texts: a value that was only converted has the same text.
fn held(world: &World) -> String {
    let facts: Vec<String> = world.facts.iter().map(ToString::to_string).collect();
    let schema = world.schema.as_ref().map(|schema| schema.source().to_string()).unwrap_or_default();
    let results: Vec<String> = world.results.iter().map(|(_, value)| value.to_string()).collect();
    folded(&format!(
        "{} {schema} {} {} {}",
        Value::Object(world.parameters.clone()),
        facts.join(" "),
        results.join(" "),
        world.request
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_touches_only_what_its_fact_names(world in world()) {
        let Some(amendment) = world.amend() else { return Ok(()) };
        let named = |name: &str| world.facts.iter().any(|fact| {
            let field = fact.field.as_ref().map(ToString::to_string).unwrap_or_default();
            // What is moved names two: the one it leaves and the one it comes to.
            let moved = matches!(&fact.says, Says::Meant { value } if value.as_str() == Some(name))
                || matches!(&fact.says, Says::Unknown { known } if known.iter().any(|known| known == name))
                || (matches!(fact.says, Says::Unknown { .. }) && name == "lat")
                || (fact.says == Says::Missing && world.schema.is_some() && !["lat", "to", "amount", "units"].contains(&name));
            field == name || moved
        });
        let names: Vec<&str> = world.parameters.keys().chain(amendment.parameters.keys()).collect();
        for name in names {
            if world.parameters.get(name) != amendment.parameters.get(name) {
                prop_assert!(named(name), "{name} changed: {} in {:?}", amendment.words, world);
            }
        }
    }

    #[test]
    fn a_rule_never_makes_up_a_value(world in world()) {
        let Some(amendment) = world.amend() else { return Ok(()) };
        let held = held(&world);
        for (name, value) in &amendment.parameters {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let is_date = text == "2024-01-31" && held.contains("31/01/2024");
            prop_assert!(held.contains(&folded(&text)) || is_date, "{name} is {value} in {:?}", world);
        }
    }
}
