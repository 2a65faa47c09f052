//! References as models write them in plans, over typical results of tools.

use crate::support::{Results, bind_json, bound, ids, object, reasons, unbound};
use reknit_expressions::Parameters;

fn results() -> Results {
    Results::new(
        r#"{"step-1": {"latitude": 35.6897, "city": "Tokyo", "location": {"lat": 35.6897, "zone": "Asia/Tokyo"},
                       "tags": ["a", "b"], "count": 3},
            "step-2": {"temperature": 21.5, "ok": true}, "step-3": "plain words", "step-4": [1, 2], "step-5": ""}"#,
    )
}

#[test]
fn a_reference_is_replaced_with_the_value_or_its_text() {
    for (template, expected) in [
        ("{{step-1.response.city}}", r#""Tokyo""#),
        ("{{step-1.response.location.zone}}", r#""Asia/Tokyo""#),
        ("{{step-1.response.latitude}}", "35.6897"),
        ("{{step-1.response.tags}}", r#"["a","b"]"#),
        (
            "Weather in {{step-1.response.city}}: {{step-2.response.temperature}} degrees",
            r#""Weather in Tokyo: 21.5 degrees""#,
        ),
        ("{{step-1.city}}", r#""Tokyo""#),
        (
            "{{step-1.response}}",
            r#"{"latitude":35.6897,"city":"Tokyo","location":{"lat":35.6897,"zone":"Asia/Tokyo"},"tags":["a","b"],"count":3}"#,
        ),
        ("{{step-2.response.ok}}", "true"),
        ("{{step-3.response}}", r#""plain words""#),
        ("{{step-4.response[1]}}", "2"),
        ("{{step-5}}", r#""""#),
        ("no template", r#""no template""#),
    ] {
        let plan = format!(r#"{{"p": {}}}"#, reknit_protocol::Value::from(template));
        let bound = bound(bind_json(&plan, &results(), None));
        assert_eq!(bound.parameters.get("p").map(ToString::to_string).as_deref(), Some(expected), "case: {template}");
    }
}

#[test]
fn literals_next_to_references_are_unchanged() {
    let plan = r#"{"lat": "{{step-1.latitude}}", "note": "in {{step-1.city}}", "units": "metric", "days": 3, "on": false, "none": null}"#;
    assert_eq!(
        bound(bind_json(plan, &results(), None)).parameters.to_string(),
        r#"{"lat":35.6897,"note":"in Tokyo","units":"metric","days":3,"on":false,"none":null}"#
    );
}

#[test]
fn a_missing_field_or_step_is_reported() {
    let unbound = unbound(bind_json(r#"{"p": "{{step-1.response.country}}"}"#, &results(), None));
    assert_eq!(
        reasons(&unbound),
        "`p`: `step-1.response.country` does not exist: available fields are `latitude`, `city`, `location`, `tags`, `count`"
    );
    let error = Parameters::parse(&object(r#"{"p": "{{step-9.response.city}}"}"#), &ids(&["step-1"]));
    let error = error.expect_err("the step does not exist");
    assert_eq!(error.to_string(), "`$.p`, character 3: there is no step `step-9`; did you mean `step-1`?");
}
