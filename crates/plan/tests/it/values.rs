//! Values that the check finds before anything runs.

use reknit_plan::{PlanAuthor, ProblemScope, check_tolerantly, read_plan};

use crate::support::{catalogue, last_call, plan_with};

#[test]
fn a_list_inside_a_text_is_found() {
    insta::assert_snapshot!(last_call("send_sms", r#"{"message": "Names: {{a.tags}}"}"#), @r#"`last.message`: `a.tags` is an array, which cannot be inserted into a text (write `{{join(a.tags, ", ")}}`, or refer to one item: `{{a.tags[0]}}`)"#);
    insta::assert_snapshot!(last_call("send_sms", r#"{"message": "At {{a.exchange}}"}"#), @"`last.message`: `a.exchange` is an object, which cannot be inserted into a text (refer to one of its fields: `{{a.exchange.FIELD}}`)");
    assert_eq!(last_call("send_sms", r#"{"message": "{{join(a.tags, \", \")}}"}"#), r#"{"message":"car, ev"}"#);
}

#[test]
fn a_comma_separated_text_is_not_one_item_of_a_list() {
    insta::assert_snapshot!(last_call("convert", r#"{"amount": 1, "codes": "USD, EUR"}"#), @r#"`last.codes`: expected an array, found the string "USD, EUR": write ["USD","EUR"], or ["USD, EUR"] for one item"#);
    assert_eq!(last_call("convert", r#"{"amount": 1, "codes": "USD"}"#), r#"{"amount":1,"codes":["USD"]}"#);
}

#[test]
fn a_field_with_a_space_in_its_name_is_read() {
    for written in ["{{a.Exchange Rate}}", "${a.Exchange Rate}", "{{a[\\\"Exchange Rate\\\"]}}"] {
        assert_eq!(last_call("convert", &format!(r#"{{"amount": "{written}"}}"#)), r#"{"amount":1380.5}"#, "{written}");
    }
}

#[test]
fn a_literal_that_does_not_fit_concerns_only_its_step() {
    let plan = plan_with("convert", r#"{"amount": "a lot"}"#);
    let (plan, _) = read_plan(&plan, "").expect("a plan");
    let tolerable = check_tolerantly(&plan, &catalogue(), PlanAuthor::Model, |_| true).expect("the plan can run");
    assert_eq!((tolerable.kept.len(), tolerable.dropped.len(), tolerable.checked.steps.len()), (1, 0, 4));
    assert_eq!(tolerable.kept[0].scope(), ProblemScope::Step("last".into()));
}

#[test]
fn a_step_with_an_unknown_tool_is_left_out_if_no_other_step_needs_it() {
    let leaf = plan_with("fly", "{}");
    let (plan, _) = read_plan(&leaf, "").expect("a plan");
    let tolerable = check_tolerantly(&plan, &catalogue(), PlanAuthor::Model, |_| true).expect("the plan can run");
    assert_eq!(tolerable.checked.steps.len(), 3);
    assert_eq!(tolerable.dropped[0].1.scope(), ProblemScope::UnknownTool("last".into()));
    let needed = plan_with("convert", r#"{"amount": "{{a.price}}"}"#).replace("get_quote", "fly");
    let (plan, _) = read_plan(&needed, "").expect("a plan");
    assert!(check_tolerantly(&plan, &catalogue(), PlanAuthor::Model, |_| true).is_err(), "`last` needs `a`");
}

#[test]
fn a_reference_without_braces_is_never_tolerated() {
    let (plan, _) = read_plan(&plan_with("send_sms", r#"{"message": "see a.price"}"#), "").expect("a plan");
    assert!(check_tolerantly(&plan, &catalogue(), PlanAuthor::Model, |_| true).is_err());
}
