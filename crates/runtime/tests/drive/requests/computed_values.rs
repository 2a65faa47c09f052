//! Values that follow from the request and earlier results: a model writes an expression, and the engine computes it.

use reknit_engine::Status;
use reknit_expressions::{Backing, Provenance};

use super::scene::{Scene, data, plan, rejects, step};

struct Domain {
    request: &'static str,
    source: &'static str,
    parameter: &'static str,
    expression: &'static str,
    computed: &'static str,
}

const DOMAINS: [Domain; 5] = [
    Domain {
        request: "sell 100 shares",
        source: r#"{"price": 468.29}"#,
        parameter: "amount",
        expression: "{{100 * step-1.price}}",
        computed: "46829",
    },
    Domain {
        request: "ship all items",
        source: r#"{"items": [{"wt": 2.5}, {"wt": 1.2}]}"#,
        parameter: "weight",
        expression: r#"{{sum(pluck(step-1.items, \"wt\"))}}"#,
        computed: "3.7",
    },
    Domain {
        request: "meeting 9am-2pm",
        source: r#"{"start": "09:00", "end": "14:00"}"#,
        parameter: "duration",
        expression: r#"{{date_diff(step-1.start, step-1.end, \"hours\")}}"#,
        computed: "5",
    },
    Domain {
        request: "buy 3 at $19.99",
        source: r#"{"unit_price": 19.99, "qty": 3}"#,
        parameter: "total",
        expression: "{{step-1.qty * step-1.unit_price}}",
        computed: "59.97",
    },
    Domain {
        request: "2 adults, 1 child",
        source: r#"{"adult_price": 100, "child_price": 50}"#,
        parameter: "cost",
        expression: "{{2 * step-1.adult_price + 1 * step-1.child_price}}",
        computed: "250",
    },
];

fn scene(domain: &Domain, correction: &str) -> Scene {
    let Domain { request, source, parameter, .. } = domain;
    let zero = format!(r#"{{"{parameter}": 0}}"#);
    let steps = [step("step-1", "look_up", "{}", ""), step("step-2", "act", &zero, r#""step-1""#)];
    let schema = format!(
        r#"{{"type": "object", "properties": {{"{parameter}": {{"type": "number"}}}}, "required": ["{parameter}"]}}"#
    );
    Scene::new(request, &plan(&steps))
        .capability("look_up", r#"{"type": "object", "properties": {}}"#)
        .capability("act", &schema)
        .replies("look_up", data(source))
        .replies_to("act", parameter, 0, rejects(&format!("{parameter} must be greater than 0")))
        .replies("act", data(r#"{"done": true}"#))
        .says("error_analysis", r#"{"should_retry": false, "reason": "nothing here says what it should be"}"#)
        .says("semantic_retry", correction)
}

fn corrected(parameter: &str, value: &str) -> String {
    format!(
        r#"{{"should_retry": true, "analysis": "it follows from the results", "corrected_parameters": {{"{parameter}": {value}}}}}"#
    )
}

#[tokio::test]
async fn a_rejected_zero_is_replaced_by_the_computed_value_in_every_domain() {
    for domain in &DOMAINS {
        let Domain { request, parameter, expression, computed, .. } = domain;
        let played = scene(domain, &corrected(parameter, &format!(r#""{expression}""#))).play().await;
        assert_eq!(played.answer.status, Status::Complete, "{request}: {}", played.answer.text);
        let sent = [format!(r#"{{"{parameter}":0}}"#), format!(r#"{{"{parameter}":{computed}}}"#)];
        assert_eq!(played.calls("act"), sent, "{request}");
        assert_eq!(played.calls("look_up").len(), 1, "{request}: the first call is not repeated");
        assert_eq!(played.asked(), ["plan_generation", "error_analysis", "semantic_retry"], "{request}");
    }
}

#[tokio::test]
async fn a_semantic_retry_sees_the_request_the_results_and_the_error() {
    let [finance, ..] = &DOMAINS;
    let played = scene(finance, &corrected("amount", r#""{{100 * step-1.price}}""#)).play().await;
    let question = played.question(2);
    for part in ["sell 100 shares", "468.29", "amount must be greater than 0", "step-1", r#""amount""#] {
        assert!(question.contains(part), "`{part}` is not in:\n{question}");
    }
}

#[tokio::test]
async fn a_number_from_a_model_has_the_expression_that_explains_it_as_provenance() {
    let [finance, ..] = &DOMAINS;
    let cases =
        [("46829", Backing::Explained { text: "100 * step-1.data.price".to_owned() }), ("46830", Backing::Inferred)];
    for (written, expected) in cases {
        let played = scene(finance, &corrected("amount", written)).play().await;
        assert_eq!(played.calls("act")[1], format!(r#"{{"amount":{written}}}"#));
        let steps = played.run.steps();
        let (_, origin) =
            steps[1].provenance.iter().find(|(name, _)| name == "amount").expect("the parameter has a provenance");
        assert_eq!(*origin, Provenance::Corrected { rung: "context".to_owned(), backing: expected });
    }
}
