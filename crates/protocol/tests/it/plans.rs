//! Plans as models and workflows write them.

use crate::{arbitrary, parse};
use proptest::prelude::{Strategy, prop_assert_eq, proptest};
use reknit_protocol::{Object, Plan, PlanMode, Step, StepId, Value};

const PLAN: &str = r#"{
  "plan_id": "plan-7",
  "original_request": "I sell 100 Tesla shares. How much is that in won?",
  "mode": "autonomous",
  "confidence": 0.90,
  "steps": [
    {
      "step_id": "step-1",
      "agent_name": "stock-service",
      "namespace": "default",
      "instruction": "Get the price of TSLA",
      "depends_on": [],
      "metadata": { "capability": "stock_quote", "parameters": { "symbol": "TSLA" } }
    },
    {
      "metadata": {
        "parameters": { "amount": "{{100 * step-1.response.price}}", "fee": 1.250, "from": "USD", "to": "KRW" },
        "capability": "convert_currency",
        "note": ["kept"]
      },
      "depends_on": ["step-1"],
      "priority": 1e0,
      "instruction": "Convert to won",
      "agent_name": "currency-tool",
      "step_id": "step-2"
    }
  ],
  "created_at": "2025-11-15T04:00:00Z"
}"#;

#[test]
fn every_field_of_a_plan_is_read() {
    let plan = Plan::from_value(&parse(PLAN)).expect("it is a plan");
    assert_eq!(plan.plan_id.as_str(), "plan-7");
    assert_eq!(plan.mode, Some(PlanMode::Autonomous));
    assert_eq!(plan.created_at.as_deref(), Some("2025-11-15T04:00:00Z"));
    let [quote, convert] = plan.steps.as_slice() else { panic!("there are two steps") };
    assert_eq!(quote.capability(), Some("stock_quote"));
    assert_eq!(quote.namespace.as_deref(), Some("default"));
    assert_eq!(quote.depends_on, []);
    assert_eq!(convert.depends_on, [StepId::from("step-1")]);
    let parameters = convert.parameters().expect("it has parameters");
    assert_eq!(parameters.get("fee").map(Value::to_string).as_deref(), Some("1.250"));
    assert_eq!(convert.extra.get("priority").map(Value::to_string).as_deref(), Some("1e0"));
}

#[test]
fn a_plan_is_written_exactly_as_it_was_read() {
    let bare = r#"{"steps":[{"agent_name":"a","step_id":"s"}],"original_request":"","plan_id":""}"#;
    let nulls = r#"{"plan_id":"p","mode":null,"original_request":"r","steps":[{"step_id":"s","agent_name":"a","instruction":null,"depends_on":null,"metadata":null,"namespace":null}],"created_at":null}"#;
    let empty = r#"{"plan_id":"p","original_request":"r","mode":"guided","steps":[{"step_id":"s","agent_name":"a","instruction":"","depends_on":[],"metadata":{}}]}"#;
    let no_steps = r#"{"plan_id":"p","original_request":"r","steps":[]}"#;
    let with_inputs = r#"{"plan_id":"p","outputs":{"b":"s.x * 2","a":"inputs.n"},"original_request":"r","inputs":{"n":{"default":1.50,"unit":"EUR","type":"number"},"m":{"default":null},"k":{}},"steps":[]}"#;
    let empty_inputs = r#"{"plan_id":"p","original_request":"r","inputs":{},"steps":[],"outputs":null}"#;
    for text in [PLAN, bare, nulls, empty, no_steps, with_inputs, empty_inputs] {
        let value = parse(text);
        let plan = Plan::from_value(&value).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(plan.to_value().to_string(), value.to_string());
    }
}

#[test]
fn a_plan_built_in_code_survives_the_round_trip() {
    let step = Step::new("step-2", "currency-tool", "convert_currency", "Convert")
        .with_parameters(Object::from([("amount", Value::from(5))]))
        .after("step-1");
    let plan = Plan::new("p", "How much?", vec![step]);
    let text = r#"{"plan_id":"p","original_request":"How much?","mode":"autonomous","steps":[{"step_id":"step-2","agent_name":"currency-tool","instruction":"Convert","depends_on":["step-1"],"metadata":{"capability":"convert_currency","parameters":{"amount":5}}}]}"#;
    assert_eq!(plan.to_value().to_string(), text);
    assert_eq!(Plan::from_value(&plan.to_value()), Ok(plan));
}

#[test]
fn plans_are_equal_whether_empty_fields_are_null_or_absent() {
    let plan = |text: &str| Plan::from_value(&parse(text)).expect("it is a plan");
    let short = plan(r#"{"plan_id":"p","original_request":"r","steps":[{"step_id":"s","agent_name":"a"}]}"#);
    let long = plan(
        r#"{"steps":[{"depends_on":null,"agent_name":"a","step_id":"s","metadata":{}}],"original_request":"r","plan_id":"p","mode":null}"#,
    );
    let other = plan(r#"{"plan_id":"p","original_request":"r","steps":[{"step_id":"s","agent_name":"a","x":1}]}"#);
    assert_eq!(short, long);
    assert_ne!(short, other, "extra fields count");
}

#[test]
fn a_plan_of_the_wrong_shape_is_refused_with_its_path() {
    for (text, message) in [
        ("[]", "`$`: expected an object, found an array"),
        ("{}", "`$.plan_id`: expected a string, found nothing"),
        (r#"{"plan_id":7}"#, "`$.plan_id`: expected a string, found a number"),
        (r#"{"plan_id":"p"}"#, "`$.original_request`: expected a string, found nothing"),
        (r#"{"plan_id":"p","original_request":"r"}"#, "`$.steps`: expected an array, found nothing"),
        (r#"{"plan_id":"p","original_request":"r","steps":{}}"#, "`$.steps`: expected an array, found an object"),
        (
            r#"{"plan_id":"p","original_request":"r","steps":[],"mode":[]}"#,
            "`$.mode`: expected a string, found an array",
        ),
        (
            r#"{"plan_id":"p","original_request":"r","steps":[],"inputs":{"n":{"type":1}}}"#,
            "`$.inputs.n.type`: expected a string, found a number",
        ),
        (
            r#"{"plan_id":"p","original_request":"r","steps":[],"outputs":{"n":1}}"#,
            "`$.outputs.n`: expected a string, found a number",
        ),
    ] {
        assert_eq!(Plan::from_value(&parse(text)).expect_err(text).to_string(), message, "text: {text}");
    }
    for (step, message) in [
        (r#"{"step_id":"s"}"#, "`$.steps[1].agent_name`: expected a string, found nothing"),
        (
            r#"{"step_id":"s","agent_name":"a","depends_on":"x"}"#,
            "`$.steps[1].depends_on`: expected an array, found a string",
        ),
        (
            r#"{"step_id":"s","agent_name":"a","depends_on":["x",null]}"#,
            "`$.steps[1].depends_on[1]`: expected a string, found null",
        ),
        (
            r#"{"step_id":"s","agent_name":"a","metadata":{"capability":5}}"#,
            "`$.steps[1].metadata.capability`: expected a string, found a number",
        ),
        (
            r#"{"step_id":"s","agent_name":"a","metadata":{"parameters":[]}}"#,
            "`$.steps[1].metadata.parameters`: expected an object, found an array",
        ),
    ] {
        let text =
            format!(r#"{{"plan_id":"p","original_request":"r","steps":[{{"step_id":"s","agent_name":"a"}},{step}]}}"#);
        assert_eq!(Plan::from_value(&parse(&text)).expect_err(step).to_string(), message, "step: {step}");
    }
}

/// A step with any of its fields, in any order and form, and with extra fields.
fn any_step() -> impl Strategy<Value = Object> {
    let forms = [
        ("step_id", vec![r#""s""#]),
        ("agent_name", vec![r#""a""#]),
        ("namespace", vec!["null", r#""n""#]),
        ("instruction", vec!["null", r#""""#, r#""do it""#]),
        ("depends_on", vec!["null", "[]", r#"["x","y"]"#]),
        ("metadata", vec!["null", "{}", r#"{"capability":null,"parameters":{"a":1.00}}"#]),
    ];
    let known = forms.map(|(key, forms)| {
        let required = ["step_id", "agent_name"].contains(&key);
        (proptest::sample::select(forms), proptest::bool::ANY)
            .prop_map(move |(form, present)| (required || present).then(|| (key.to_owned(), parse(form))))
    });
    let unknown = proptest::collection::vec(("u[a-z]{1,3}", arbitrary::value()), 0..3);
    (known, unknown)
        .prop_map(|(known, unknown)| known.into_iter().flatten().chain(unknown).collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    #[test]
    fn a_step_with_any_order_and_extra_fields_is_written_as_it_was_read(object in any_step()) {
        let value = Value::Object(object);
        let step = Step::from_value(&value).expect("it is a step");
        prop_assert_eq!(step.to_value().to_string(), value.to_string());
        prop_assert_eq!(Step::from_value(&step.to_value()), Ok(step));
    }
}
