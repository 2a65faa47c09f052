//! Limits on time, stack and depth.

use std::time::{Duration, Instant};

use reknit_protocol::{MAX_DEPTH, Value};
use reknit_salvage::{FitProblemKind, Schema, fit};

use crate::support::{json, schema};

/// Far longer than any of these tests takes, far shorter than an exponential search.
const TIME_LIMIT: Duration = Duration::from_mins(2);

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no panic, no overflow");
}

/// `levels` pairs of brackets around `core`.
fn nested(open: &str, core: &str, close: &str, levels: usize) -> Value {
    json(&format!("{}{core}{}", open.repeat(levels), close.repeat(levels)))
}

#[test]
fn the_deepest_value_fits_into_a_small_stack() {
    on_a_small_stack(|| {
        let lists = schema(r##"{"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "integer"}]}"##);
        let fitted = fit(nested("[", "\"5\"", "]", MAX_DEPTH), &lists).expect("fits");
        assert_eq!(fitted.value, nested("[", "5", "]", MAX_DEPTH));
        assert!(fit(nested("[", "\"x\"", "]", MAX_DEPTH), &lists).is_err());

        let chain = schema(
            r##"{"type": "object", "properties": {"next_one": {"$ref": "#"}, "n": {"type": "integer"}}, "additionalProperties": false}"##,
        );
        let fitted = fit(nested(r#"{"nextOne":"#, r#"{"n":"5"}"#, "}", MAX_DEPTH - 1), &chain).expect("fits");
        assert_eq!(fitted.value, nested(r#"{"next_one":"#, r#"{"n":5}"#, "}", MAX_DEPTH - 1));
        let error =
            fit(nested(r#"{"nextOne":"#, r#"{"n":"x"}"#, "}", MAX_DEPTH - 1), &chain).expect_err("does not fit");
        assert_eq!(error.problems[0].path.segments().len(), MAX_DEPTH);
    });
}

#[test]
fn a_deep_schema_fits_into_a_small_stack() {
    on_a_small_stack(|| {
        let levels = MAX_DEPTH / 2 - 1;
        let deep = nested(r#"{"type":"array","items":"#, r#"{"type":"integer"}"#, "}", MAX_DEPTH - 1);
        let schema = Schema::compile(&deep).expect("compiles");
        let fitted = fit(nested("[", "\"5\"", "]", MAX_DEPTH - 1), &schema).expect("fits");
        assert_eq!(fitted.value, nested("[", "5", "]", MAX_DEPTH - 1));
        let objects = nested(r#"{"properties":{"a":"#, r#"{"type":"integer"}"#, "}}", levels);
        let schema = Schema::compile(&objects).expect("compiles");
        let fitted = fit(nested(r#"{"a":"#, "\"5\"", "}", levels), &schema).expect("fits");
        assert_eq!(fitted.value, nested(r#"{"a":"#, "5", "}", levels));
    });
}

#[test]
fn unions_inside_unions_do_not_explode() {
    let start = Instant::now();
    let terms = schema(
        r##"{"$ref": "#/$defs/term", "$defs": {"term": {"anyOf": [
            {"type": "object", "properties": {"op": {"enum": ["add", "plus"]}, "left": {"$ref": "#/$defs/term"}, "right": {"$ref": "#/$defs/term"}}, "required": ["op", "left"]},
            {"type": "object", "properties": {"op": {"enum": ["mul", "times"]}, "left": {"$ref": "#/$defs/term"}, "right": {"$ref": "#/$defs/term"}}, "required": ["op", "left"]},
            {"type": "object", "properties": {"op": {"enum": ["neg"]}, "left": {"$ref": "#/$defs/term"}}, "required": ["op", "left"]},
            {"type": "number"}
        ]}}}"##,
    );
    let fitted = fit(nested(r#"{"op":"mul","left":"#, "\"5\"", "}", 200), &terms).expect("fits");
    assert_eq!(fitted.value, nested(r#"{"op":"mul","left":"#, "5", "}", 200));
    let error = fit(nested(r#"{"op":"mul","left":"#, "\"apple\"", "}", 200), &terms).expect_err("does not fit");
    assert_eq!(error.problems[0].path.segments().len(), 200, "{error}");
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

#[test]
fn equal_alternatives_inside_each_other_do_not_explode() {
    let start = Instant::now();
    let twins = schema(
        r##"{"anyOf": [
            {"type": "object", "properties": {"a": {"$ref": "#"}, "x": {"type": "integer"}}},
            {"type": "object", "properties": {"a": {"$ref": "#"}, "x": {"type": "boolean"}}},
            {"type": "object", "properties": {"a": {"$ref": "#"}, "x": {"type": "null"}}}
        ]}"##,
    );
    let fitted = fit(nested(r#"{"a":"#, r#"{"x":"yes"}"#, "}", 150), &twins).expect("fits");
    assert_eq!(fitted.value, nested(r#"{"a":"#, r#"{"x":true}"#, "}", 150));
    assert!(fit(nested(r#"{"a":"#, r#"{"x":"?"}"#, "}", 150), &twins).is_err());
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

#[test]
fn many_unions_at_one_place_are_rejected_or_fitted_in_time() {
    let start = Instant::now();
    let group = r#"{"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}}}, {"properties": {"c": {"type": "integer"}}}]}"#;
    let schema = schema(&format!(r#"{{"type": "object", "allOf": [{}]}}"#, vec![group; 20].join(", ")));
    let fitted = fit(json(r#"{"a": 1, "b": "x", "c": "x"}"#), &schema).expect("fits as it is");
    assert!(fitted.fixes.is_empty());
    let result = fit(json(r#"{"a": "x", "b": "x", "c": "x"}"#), &schema);
    assert!(result.is_err());
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

#[test]
fn a_large_value_is_fitted_in_linear_time() {
    let start = Instant::now();
    let schema = schema(
        r#"{"type": "array", "items": {"type": "object", "properties": {"row_id": {"type": "integer"}, "v": {"anyOf": [{"type": "number"}, {"type": "null"}]}}}}"#,
    );
    let rows = |row: &str| json(&format!("[{}]", vec![row; 20_000].join(",")));
    let fitted = fit(rows(r#"{"rowId": "1", "v": "2.5"}"#), &schema).expect("fits");
    assert_eq!(fitted.value, rows(r#"{"row_id": 1, "v": 2.5}"#));
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

#[test]
fn a_long_list_of_enum_values_is_fitted_in_linear_time() {
    let start = Instant::now();
    let words: Vec<String> = (0..3_000).map(|number| format!("\"word_{number}\", \"{number}.5\"")).collect();
    let schema = schema(&format!(r#"{{"items": {{"enum": [{}]}}}}"#, words.join(",")));
    let items: Vec<String> = (0..3_000).map(|number| format!("\"Word {number}\", {number}.50")).collect();
    let fitted = fit(json(&format!("[{}]", items.join(","))), &schema).expect("fits");
    assert_eq!(fitted.value, json(&format!("[{}]", words.join(","))));
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

#[test]
fn an_object_with_many_similar_keys_is_fitted_in_linear_time() {
    let start = Instant::now();
    let schema = schema(r#"{"type": "object", "properties": {"a_b": {"type": "integer"}}}"#);
    let keys: Vec<String> =
        (1..20_000).map(|length| format!(r#""a{}b": 1"#, "_".repeat(length % 50) + &" ".repeat(length / 50))).collect();
    let fitted = fit(json(&format!("{{{}}}", keys.join(","))), &schema).expect("fits");
    assert!(fitted.fixes.is_empty());
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}

#[test]
fn a_deep_text_in_a_deep_value_is_given_up() {
    on_a_small_stack(|| {
        let lists = schema(r##"{"type": "array", "items": {"$ref": "#"}}"##);
        let inner = nested("[", "", "]", 400);
        let value = nested("[", &Value::from(inner.to_string()).to_string(), "]", 300);
        let error = fit(value, &lists).expect_err("deeper than anything may be");
        assert!(error.problems.iter().any(|problem| problem.kind == FitProblemKind::GaveUp), "{error}");
    });
}
