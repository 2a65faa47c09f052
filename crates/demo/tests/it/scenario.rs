//! The replies of the scripted model.

use reknit_demo::{Demo, scenario};
use reknit_protocol::{Plan, Value};
use reknit_salvage::{Completeness, FixKind, ReadOptions, read};

use crate::support::client;

/// The reply of the model to a purpose and a user message.
async fn reply(demo: &Demo, purpose: &str, user: &str) -> String {
    let system = format!("purpose: {purpose}\nYou are careful.");
    let messages = serde_json::json!([{"role": "system", "content": system}, {"role": "user", "content": user}]);
    let request = client().post(demo.model_base_url() + "/chat/completions");
    let response = request.json(&serde_json::json!({"model": "m", "messages": messages})).send().await.unwrap();
    let body: serde_json::Value = response.json().await.unwrap();
    body["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
}

#[tokio::test]
async fn each_purpose_gets_its_reply() {
    let demo = Demo::start().await.unwrap();
    for (purpose, user, expected) in [
        ("plan_generation", scenario::REQUEST, scenario::PLAN),
        ("error_analysis", "capability: convert_currency\namount must be greater than 0", scenario::AMOUNT_FEEDBACK),
        ("semantic_retry", "capability: convert_currency\nsources: ...", scenario::AMOUNT_CONTEXT),
        ("error_analysis", "capability: get_stock_quote\nno share is traded as `HANOK`", scenario::SYMBOL_FEEDBACK),
        ("semantic_retry", "capability: get_stock_quote", scenario::SYMBOL_CONTEXT),
    ] {
        assert_eq!(reply(&demo, purpose, user).await, expected, "{purpose}");
    }
    insta::assert_snapshot!(reply(&demo, "synthesis", "results: ...").await, @"100 Tesla shares bring 46,828.5 US dollars, which is 65,150,150.625 won. In Seoul it is clear, at 14.5 °C. No price was found for a share of Hanok Tours, which does not seem to be listed.");
    assert_eq!(demo.model.unmatched(), []);
    demo.shutdown().await.unwrap();
}

#[test]
fn the_plan_has_defects_that_salvage_repairs() {
    assert!(Value::parse(scenario::PLAN).is_err());
    let reading = read(scenario::PLAN, &ReadOptions::default()).unwrap();
    assert_eq!(reading.completeness, Completeness::Complete);
    assert!(reading.fixes.iter().any(|fix| fix.kind == FixKind::ExtraComma), "{:?}", reading.fixes);
    let plan = Plan::from_value(&reading.value).unwrap();
    assert_eq!(plan.original_request, scenario::REQUEST);
    let steps: Vec<String> = plan
        .steps
        .iter()
        .map(|step| {
            let (capability, parameters) = (step.capability().unwrap(), step.parameters().unwrap());
            format!("{} {} {capability} {parameters} after {:?}", step.step_id, step.tool, step.depends_on)
        })
        .collect();
    insta::assert_snapshot!(steps.join("\n"), @r#"
    step-1 stock-tool get_stock_quote {"symbol":"TSLA"} after []
    step-2 geocoding-tool geocode {"location":"Seoul"} after []
    step-3 weather-tool get_weather {"lat":"{{step-2.lat}}","lon":"{{step-2.lon}}"} after ["step-2"]
    step-4 currency-tool convert_currency {"from":"USD","to":"KRW","amount":0} after ["step-1"]
    step-5 stock-tool get_stock_quote {"symbol":"HANOK"} after []
    "#);
}

#[test]
fn no_reply_but_the_answer_contains_a_computed_number() {
    let replies = [
        scenario::PLAN,
        scenario::AMOUNT_FEEDBACK,
        scenario::AMOUNT_CONTEXT,
        scenario::SYMBOL_FEEDBACK,
        scenario::SYMBOL_CONTEXT,
    ];
    for text in replies {
        for computed in ["468", "46828", "65150150", "1391"] {
            assert!(!text.contains(computed), "{computed} in {text}");
        }
    }
}

#[test]
fn every_repair_is_json_of_the_expected_shape() {
    for (text, retry, explanation) in [
        (scenario::AMOUNT_FEEDBACK, false, "reason"),
        (scenario::SYMBOL_FEEDBACK, false, "reason"),
        (scenario::AMOUNT_CONTEXT, true, "analysis"),
        (scenario::SYMBOL_CONTEXT, false, "analysis"),
    ] {
        let value = Value::parse(text).unwrap();
        assert_eq!(value.get("should_retry"), Some(&Value::Bool(retry)), "{text}");
        assert!(value.get(explanation).unwrap().as_str().is_some_and(|reason| !reason.is_empty()), "{text}");
    }
    let context = Value::parse(scenario::AMOUNT_CONTEXT).unwrap();
    let amount = context.get("corrected_parameters").unwrap().get("amount");
    assert_eq!(amount, Some(&Value::from("{{100 * step-1.current_price}}")));
}
