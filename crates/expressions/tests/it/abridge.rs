//! `abridge` and `abridge_results`.

use reknit_expressions::{abridge, abridge_results};
use reknit_protocol::Value;

use crate::support::{Results, ids, json};

fn abridged(value: &str, limit: usize, wanted: &[&str]) -> String {
    let output = abridge(&json(value), limit, wanted).to_string();
    assert!(output.len() <= limit, "{} bytes of {limit}: {output}", output.len());
    output
}

#[test]
fn a_value_within_the_limit_is_unchanged() {
    let value = r#"{"price":468.2850,"id":12345678901234567890123,"list":[1,2,{"a":null}]}"#;
    assert_eq!(abridged(value, value.len(), &[]), value);
}

#[test]
fn long_strings_and_arrays_are_cut_with_a_count() {
    let text = format!(r#"{{"id": 7, "text": "{}", "name": "Kim"}}"#, "lorem ".repeat(500));
    insta::assert_snapshot!(abridged(&text, 120, &[]), @r#"{"id":7,"text":"lorem lorem lorem lorem lorem lorem lorem lorem lore… (3000 letters in all)","name":"Kim"}"#);
    let list = format!(r#"{{"items": [{}], "total": 1000}}"#, vec![r#"{"id": 1, "name": "a"}"#; 1000].join(","));
    insta::assert_snapshot!(abridged(&list, 120, &[]), @r#"{"items":[{"id":1,"name":"a"},{"id":1,"name":"a"},{"id":1,"name":"a"},"… 997 more items"],"total":1000}"#);
    let wide = format!("[{}]", (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    insta::assert_snapshot!(abridged(&wide, 60, &[]), @r#"[0,1,2,3,4,5,6,7,8,9,10,11,"… 88 more items"]"#);
    insta::assert_snapshot!(abridged(&format!("\"{}\"", "é\\n".repeat(300)), 80, &[]), @r#""é\né\né\né\né\né\né\né\né\né\né\né… (600 letters in all)""#);
}

#[test]
fn deeply_nested_values_are_dropped_before_names_and_types() {
    let deep = r#"{"a": {"b": {"c": {"d": "a text that is quite long for what it says"}}, "n": 5}, "list": [[1, 2, 3], [4, 5, 6], [7]], "ok": true}"#;
    insta::assert_snapshot!([110, 90, 60, 40, 20, 5].map(|limit| abridged(deep, limit, &[])).join("\n"), @r#"
    {"a":{"b":{"c":{"d":"a text of 42 letters"}},"n":5},"list":[[1,2,3],[4,5,6],[7]],"ok":true}
    {"a":{"b":"an object of 1","n":5},"list":[[1,2,3],[4,5,6],[7]],"ok":true}
    {"a":"an object of 2","list":"a list of 3","ok":true}
    {"a":"…","list":"…","ok":true}
    "an object of 3"
    "…"
    "#);
    insta::assert_snapshot!(abridged(&"9".repeat(500), 40, &[]), @r#""a number of 500 digits""#);
}

#[test]
fn fields_that_resemble_wanted_names_get_more_space() {
    let padding = |name: &str| format!(r#""{name}": "{}""#, "x".repeat(400));
    let names = ["alpha", "beta", "current_price", "gamma", "delta"].map(padding).join(",");
    let body = format!("{{{names}}}");
    insta::assert_snapshot!(abridged(&body, 260, &["unitPrice"]), @r#"{"alpha":"…","beta":"…","current_price":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (400 letters in all)","gamma":"…","delta":"…"}"#);
    insta::assert_snapshot!(abridged(&body, 260, &[]), @r#"{"alpha":"a text of 400 letters","beta":"a text of 400 letters","current_price":"a text of 400 letters","gamma":"a text of 400 letters","delta":"a text of 400 letters"}"#);
    let many = (0..200).map(|n| format!(r#""key_{n}": {n}"#)).collect::<Vec<_>>().join(",");
    let body = format!(r#"{{{many}, "data": {{"lat": 35.6897, "other": 1}}}}"#);
    insta::assert_snapshot!(abridged(&body, 150, &["lat"]), @r#"{"key_0":0,"key_1":1,"key_2":2,"key_3":3,"key_4":4,"key_5":5,"key_6":6,"data":"…","…":"193 more keys"}"#);
}

#[test]
fn every_result_is_listed_under_its_step_id() {
    let results = Results::new(
        r#"{"a": {"success": true, "data": {"x": 1}}, "b": {"success": true, "data": {"y": 2}}, "c": "plain text"}"#,
    )
    .failed("d");
    let steps = ids(&["b", "a", "d", "a", "unknown", "c"]);
    assert_eq!(
        abridge_results(&results, &steps, 1_000, &[]).to_string(),
        r#"{"b":{"success":true,"data":{"y":2}},"a":{"success":true,"data":{"x":1}},"c":"plain text"}"#
    );
    assert_eq!(abridge_results(&results, &steps[..0], 1_000, &[]).to_string(), "{}");
}

#[test]
fn a_large_result_does_not_displace_the_others() {
    let large = "x".repeat(100_000);
    let results =
        Results::new(&format!(r#"{{"large": {{"text": "{large}"}}, "small": {{"rate": 1383.1, "to": "KRW"}}}}"#));
    let shown = abridge_results(&results, &ids(&["large", "small"]), 200, &["rate"]);
    assert_eq!(shown.get("small").map(Value::to_string), Some(r#"{"rate":1383.1,"to":"KRW"}"#.to_owned()));
    assert!(shown.to_string().len() <= 200);
}
