//! JSON plan files with comments and extra commas.

use reknit_plan::read_plan_file;

#[test]
fn a_json_file_with_comments_and_extra_commas_is_read_as_json() {
    let text = r#"// my plan
    {
      "steps": [
        {"id": "a", "tool": "get_quote", "with": {"symbol": "TSLA", "count": 5 // five
        }},
        {"id": "b", "tool": "convert", /* later */ "with": {"amount": "{{a.price}}",},},
      ],
    }"#;
    let (plan, fixes) = read_plan_file(text).expect("a plan");
    let count = plan.steps[0].parameters().and_then(|parameters| parameters.get("count")).map(ToString::to_string);
    assert_eq!(count.as_deref(), Some("5"), "the comment is no part of the number");
    assert_eq!(plan.steps.len(), 2);
    assert!(!fixes.is_empty(), "the repairs are recorded");
}

#[test]
fn a_protocol_plan_with_comments_is_read_as_json() {
    let text = r#"{"steps": [ // one step
      {"step_id": "a", "agent_name": "t", "metadata": {"capability": "c", "parameters": {"n": 5 // five
      }}},]}"#;
    let (plan, fixes) = read_plan_file(text).expect("a plan");
    let number = plan.steps[0].parameters().and_then(|parameters| parameters.get("n")).map(ToString::to_string);
    assert_eq!((number.as_deref(), fixes.is_empty()), (Some("5"), false));
}

#[test]
fn yaml_in_braces_is_still_yaml() {
    let (plan, fixes) =
        read_plan_file("{steps: [{id: a, tool: t/c, with: {url: https://a.de/x, n: 5}}]}").expect("a plan");
    let url = plan.steps[0].parameters().and_then(|parameters| parameters.get("url")).map(ToString::to_string);
    assert_eq!((url.as_deref(), fixes.len()), (Some(r#""https://a.de/x""#), 0));
}
