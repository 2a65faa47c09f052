//! Properties that hold for any text and any JSON.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use reknit_expressions::{
    Binding, Exactness, Expression, Parameters, StepResults, Template, abridge, apply_correction, bind,
};
use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::Schema;

use crate::generators::{IDS, expression, noise, value};
use crate::support::{ids, schema};

fn results(bodies: Vec<Value>) -> BTreeMap<StepId, Value> {
    ids(&IDS).into_iter().zip(bodies).collect()
}

/// The same value with the keys of every object reversed.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(object) => {
            Value::Object(object.iter().rev().map(|(key, value)| (key.to_owned(), reversed(value))).collect())
        }
        other => other.clone(),
    }
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    schema(
        r#"{"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "number"}, "b": {"type": "string"},
    "c": {"type": ["array", "null"]}, "data": {"type": "object"}, "p": {"type": ["string", "number", "null"]}}}"#,
    )
});

fn bind_one(text: &str, sources: &dyn StepResults) -> Option<Binding> {
    let parameters = Parameters::parse(&Object::from([("p", text.into())]), &ids(&IDS)).ok()?;
    Some(bind(&parameters, sources, &ids(&IDS), Some(&*SCHEMA)))
}

fn canonical(binding: Option<&Binding>) -> (Option<String>, bool) {
    match binding {
        Some(Binding::Bound(bound)) => (Some(Value::Object(bound.parameters.clone()).canonical()), true),
        other => (None, other.is_some()),
    }
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in noise(), bodies in prop::collection::vec(value(), 0..8)) {
        let sources = results(bodies);
        if let Ok(expression) = Expression::parse(&text, &ids(&IDS)) {
            let _ = expression.evaluate(&sources);
        }
        let _ = bind_one(&text, &sources);
        let current = Object::from([("a", 1.into())]);
        let difference = Object::from([("a", text.as_str().into()), ("b", Value::Array(vec![text.as_str().into()]))]);
        let _ = apply_correction(&current, &difference, &sources, &ids(&IDS), Some(&*SCHEMA), "rung");
    }

    #[test]
    fn any_expression_over_any_json_gives_a_value_or_a_reason(text in expression(), bodies in prop::collection::vec(value(), 8)) {
        let sources = results(bodies);
        if let Ok(parsed) = Expression::parse(&text, &ids(&IDS)) && let Err(reason) = parsed.evaluate(&sources) {
            prop_assert!(!reason.to_string().is_empty());
        }
        let _ = bind_one(&format!("{{{{{text}}}}}"), &sources);
        let _ = bind_one(&format!("x {{{{{text}}}}} y"), &sources);
    }

    #[test]
    fn a_printed_expression_parses_to_the_same_expression(text in prop_oneof![expression(), noise()]) {
        let ids = ids(&IDS);
        if let Ok(parsed) = Expression::parse(&text, &ids) {
            let printed = parsed.to_string();
            let again = Expression::parse(&printed, &ids);
            prop_assert_eq!(again.as_ref(), Ok(&parsed), "{} became {}", text, printed);
            prop_assert_eq!(again.map(|again| again.to_string()), Ok(printed));
        }
    }

    #[test]
    fn binding_does_not_depend_on_the_order_of_keys(text in expression(), bodies in prop::collection::vec(value(), 8)) {
        let template = format!("{{{{{text}}}}}");
        let reordered = results(bodies.iter().map(reversed).collect());
        let first = bind_one(&template, &results(bodies));
        let second = bind_one(&template, &reordered);
        // `to_string` prints keys in their order, so it is excluded.
        if !text.contains("to_string") {
            prop_assert_eq!(canonical(first.as_ref()), canonical(second.as_ref()));
        }
    }

    #[test]
    fn a_whole_reference_keeps_the_value_digit_for_digit(body in value()) {
        let sources = BTreeMap::from([(StepId::from("s"), body.clone())]);
        let parameters = Parameters::parse(&Object::from([("p", "{{s}}".into())]), &["s".into()]).expect("valid templates");
        let Binding::Bound(bound) = bind(&parameters, &sources, &[], None) else { panic!("every parameter has a value") };
        prop_assert_eq!(bound.parameters.get("p").map(Value::to_string), Some(body.to_string()));
    }

    #[test]
    fn a_value_without_braces_is_a_literal(value in value()) {
        if !value.to_string().contains("{{") {
            prop_assert_eq!(Template::parse(&value, &ids(&IDS)), Ok(Template::Literal(value)));
        }
    }

    #[test]
    fn doubled_braces_escape_any_text(text in noise()) {
        let escaped = text.replace("{{", "{{{{");
        prop_assert_eq!(Template::parse(&escaped.into(), &ids(&IDS)), Ok(Template::Literal(text.into())));
    }

    #[test]
    fn subtraction_reverses_an_addition(a in -1_000_000_000_000_i64..1_000_000_000_000, b in "(0|[1-9][0-9]{0,8})\\.[0-9]{1,9}") {
        let text = format!("{a} + {b} - {b} == {a}");
        let value = Expression::parse(&text, &[]).expect("valid templates").evaluate(&BTreeMap::new()).expect("the expression has a value");
        prop_assert_eq!(value.value, Value::Bool(true));
    }

    #[test]
    fn an_inexact_division_is_marked(a in -1_000_000_i64..1_000_000, b in 1_i64..100_000) {
        let expression = Expression::parse(&format!("{a} / {b}"), &[]).expect("valid templates");
        let quotient = expression.evaluate(&BTreeMap::new()).expect("the expression has a value");
        let back = Expression::parse(&format!("{} * {b} == {a}", quotient.value), &[]).expect("valid templates");
        let is_exact = back.evaluate(&BTreeMap::new()).expect("the expression has a value").value == Value::Bool(true);
        prop_assert!(is_exact || quotient.exact == Exactness::Inexact, "{} / {} = {}", a, b, quotient.value);
    }

    #[test]
    fn no_digit_is_lost_for_any_provenance(whole in "[1-9][0-9]{15,29}", fraction in "[0-9]{0,3}[1-9]", is_whole in any::<bool>()) {
        let number = if is_whole { whole } else { format!("{whole}.{fraction}") };
        let sources = BTreeMap::from([(StepId::from("s"), Value::parse(&format!(r#"{{"a": {number}, "t": "{number}"}}"#)).expect("valid JSON"))]);
        let plan = Object::from([
            ("reference", "{{s.a}}".into()),
            ("from_text", "{{s.t}}".into()),
            ("sum", "{{s.a + 0}}".into()),
            ("text", "{{s.a}}!".into()),
            ("list", Value::Array(vec!["{{s.a}}".into()])),
        ]);
        let schema = schema(r#"{"required": ["a"], "properties": {"a": {"type": "number"}, "from_text": {"type": "number"}}}"#);
        let parameters = Parameters::parse(&plan, &["s".into()]).expect("valid templates");
        let Binding::Bound(bound) = bind(&parameters, &sources, &["s".into()], Some(&schema)) else { panic!("every parameter has a value") };
        let expected = format!(
            r#"{{"reference":{number},"from_text":{number},"sum":{number},"text":"{number}!","list":[{number}],"a":{number}}}"#
        );
        prop_assert_eq!(bound.parameters.to_string(), expected);
    }

    #[test]
    fn wiring_does_not_depend_on_the_order_of_steps(bodies in prop::collection::vec(value(), 8), seed in any::<prop::sample::Index>()) {
        let sources = results(bodies);
        let none = Parameters::parse(&Object::new(), &[]).expect("valid templates");
        let mut order = ids(&IDS);
        let first = bind(&none, &sources, &order, Some(&*SCHEMA));
        order.rotate_left(seed.index(IDS.len()));
        order.reverse();
        let second = bind(&none, &sources, &order, Some(&*SCHEMA));
        prop_assert_eq!(canonical(Some(&first)), canonical(Some(&second)));
    }

    #[test]
    fn an_abridged_value_is_json_within_the_limit(value in value(), limit in 5_usize..200, wanted in "[a-c]|data") {
        let abridged = abridge(&value, limit, &[&wanted]);
        let text = abridged.to_string();
        prop_assert!(text.len() <= limit, "{} bytes of {}: {}", text.len(), limit, text);
        prop_assert_eq!(Value::parse(&text), Ok(abridged.clone()));
        prop_assert_eq!(abridge(&value, limit, &[&wanted]), abridged.clone());
        if value.to_string().len() <= limit {
            prop_assert_eq!(abridged, value);
        }
    }

    #[test]
    fn a_correction_keeps_the_parameters_that_it_omits(current in value(), difference in value()) {
        let (Value::Object(current), Value::Object(difference)) = (&current, &difference) else { return Ok(()) };
        let sources = results(Vec::new());
        if let Ok(reknit_expressions::CorrectionOutcome::Changed(bound)) = apply_correction(current, difference, &sources, &ids(&IDS), None, "rung") {
            for (key, value) in current.iter().filter(|(key, _)| !difference.keys().any(|other| is_similar(other, key))) {
                prop_assert_eq!(bound.parameters.get(key), Some(value));
            }
        }
    }
}

/// The properties would hold trivially if the generator produced only invalid expressions.
#[test]
fn many_generated_expressions_are_valid() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let texts: Vec<String> = (0..100)
        .map(|_| expression().new_tree(&mut runner).expect("the strategy generates a value").current())
        .collect();
    let parsed = texts.iter().filter(|text| Expression::parse(text, &ids(&IDS)).is_ok()).count();
    assert!(parsed > 30, "{parsed} of 100");
}

fn is_similar(left: &str, right: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "").replace(char::is_whitespace, "");
    left == right || plain(left) == plain(right) || !left.is_ascii()
}
