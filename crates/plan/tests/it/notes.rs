//! What a valid plan relies on although no tool declares it.

use reknit_plan::{PlanAuthor, plan_notes, read_plan};

use crate::support::{catalogue, plan_with};

/// The notes about a plan whose last step has these parameters.
fn notes(capability: &str, parameters: &str) -> Vec<String> {
    let plan = plan_with(capability, parameters)
        .replace(r#""step_id": "last","#, r#""step_id": "last", "depends_on": ["a"],"#);
    let (plan, _) = read_plan(&plan, "").expect("a plan");
    let notes = plan_notes(&plan, &catalogue(), PlanAuthor::Model);
    notes.iter().map(|note| format!("{} {}", note.needs_model, note.problem)).collect()
}

#[test]
fn a_field_that_the_tool_does_not_declare_is_noted() {
    assert_eq!(
        notes("send_sms", r#"{"message": "{{a.currency}}"}"#),
        [
            "false `last.message`: `a.currency` may be missing: its tool declares no field `currency` (there is `price`, \
          `name`, `tags`, `items`, `exchange`, `Exchange Rate`)"
        ]
    );
    for declared in ["{{a.price}}", "{{a.data.price}}", "{{a.success}}", "{{a.error}}", "{{report.title}}"] {
        assert_eq!(notes("send_sms", &format!(r#"{{"message": "{declared}"}}"#)), [""; 0], "{declared}");
    }
}

#[test]
fn a_required_parameter_that_no_tool_declares_is_noted() {
    assert_eq!(
        notes("convert", "{}"),
        ["true step `last`: `amount` is not given, and no tool declares it in its result: only a model can find it"]
    );
    assert_eq!(notes("convert", r#"{"amount": 1}"#), [""; 0]);
}
