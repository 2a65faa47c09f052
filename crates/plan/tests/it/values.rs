//! Values that the check finds before anything runs.

use crate::support::last_call;

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
