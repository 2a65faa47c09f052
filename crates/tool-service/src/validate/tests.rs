use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;
use crate::schema;

/// The message of the error if the value does not fit the type, otherwise `valid`.
fn verdict<T: JsonSchema>(text: &str) -> String {
    let schema = Schema::compile(&schema::for_input::<T>()).unwrap();
    match validate(&schema, &Value::parse(text).unwrap()) {
        Ok(()) => "valid".to_owned(),
        Err(error) => error.message,
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Tree {
    name: String,
    children: Option<Vec<Tree>>,
}

#[test]
fn a_recursive_type_is_checked_as_deep_as_the_value_goes() {
    assert_eq!(verdict::<Tree>(r#"{"name":"a","children":[{"name":"b","children":[]}]}"#), "valid");
    assert_eq!(verdict::<Tree>(r#"{"name":"a","children":[{"children":null}]}"#), "`children[0].name` is required");
    assert_eq!(verdict::<Tree>(r#"{"name":"a","children":[{"nme":"b"}]}"#), "`children[0].name` is required");
    assert_eq!(verdict::<Tree>(r#"{"name":"a","children":[5]}"#), "`children[0]` must be an object, not a number");
    for depth in [1, 20] {
        let nested = |leaf: &str| r#"{"name":"a","children":["#.repeat(depth) + leaf + &"]}".repeat(depth);
        for (leaf, expected) in [
            ("{}", ".name` is required"),
            (r#"{"name":5}"#, ".name` must be a string, not a number"),
            (r#"{"name":"a","nme":5}"#, ".nme`"),
            (r#"{"name":"a","children":"b"}"#, ".children` must be an array of object or null, not a string"),
        ] {
            let message = verdict::<Tree>(&nested(leaf));
            assert!(message.ends_with(expected), "depth {depth}, leaf {leaf}: {message}");
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
#[serde(rename_all = "snake_case")]
enum Shape {
    Circle { radius: u32 },
    Square { side: u32 },
    Dot,
}

#[test]
fn the_only_alternative_of_the_right_type_determines_the_message() {
    assert_eq!(verdict::<Shape>(r#"{"circle":{"radius":2.0}}"#), "valid");
    assert_eq!(verdict::<Shape>(r#""dot""#), "valid");
    assert_eq!(verdict::<Shape>("7"), "`parameters` must be \"dot\" or an object or an object, not a number");
    assert_eq!(verdict::<Option<Tree>>(r#"{"children":null}"#), "`name` is required");
    assert_eq!(
        verdict::<Shape>(r#"{"cube":5}"#),
        "`parameters` fits none of its alternatives: \"dot\" or an object or an object"
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
#[serde(untagged)]
enum Nest {
    One { inner: Box<Nest> },
    Other { inner: Box<Nest> },
    End { end: bool },
}

#[test]
fn nested_alternatives_do_not_multiply_the_work() {
    let text = r#"{"inner":"#.repeat(60) + r#"{"end":"no"}"# + &"}".repeat(60);
    assert!(verdict::<Nest>(&text).starts_with("`parameters` is not valid: "));
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Containers {
    named: std::collections::BTreeMap<String, u32>,
    anything: serde_json::Value,
    pair: (u32, String),
}

#[test]
fn the_members_of_maps_and_tuples_are_checked() {
    assert_eq!(
        verdict::<Containers>(r#"{"named":{"x":1,"y":"2"},"anything":[null],"pair":[1,"b"]}"#),
        "`named.y` must be an integer, not a string"
    );
    assert_eq!(
        verdict::<Containers>(r#"{"named":{},"anything":{"a":1},"pair":["a","b"]}"#),
        "`pair[0]` must be an integer, not a string"
    );
    assert_eq!(
        verdict::<Containers>(r#"{"named":{},"anything":1,"pair":[1]}"#),
        "`pair` must be at least 2 items long",
    );
    assert_eq!(
        verdict::<Containers>(r#"{"named":{"x":1.5},"anything":1,"pair":[1,"b"]}"#),
        "`named.x` must be an integer, not a number with a fraction",
    );
}

#[derive(Debug, Clone, serde::Serialize, JsonSchema)]
struct AllTypes {
    text: String,
    number: f64,
    whole: i64,
    flag: Option<bool>,
    list: Vec<Option<u32>>,
    map: std::collections::BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Constrained {
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    currency: Option<String>,
    tags: Option<std::collections::BTreeSet<String>>,
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    amount: Option<f64>,
    level: Option<Level>,
}

/// A type whose schema lists its values in alternatives, because each has a description.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    /// Close to zero.
    Low,
    /// Far from zero.
    High,
}

#[test]
fn every_constraint_of_the_schema_is_checked() {
    for (text, expected) in [
        (r#"{"currency":"euro"}"#, "`currency` must match the pattern `^[A-Z]{3}$`"),
        (r#"{"tags":["a","a"]}"#, "`tags` is not valid: "),
        (r#"{"amount":0}"#, "`amount` must be greater than 0"),
        (r#"{"level":"lwo"}"#, r#"`level` must be one of "low", "high""#),
        (r#"{"level":5}"#, r#"`level` must be one of "low", "high""#),
    ] {
        let message = verdict::<Constrained>(text);
        assert!(message.starts_with(expected), "parameters: {text}: {message}");
    }
}

proptest! {
    #[test]
    fn a_serialized_value_fits_the_schema_of_its_type(
        text in ".*",
        number in proptest::num::f64::NORMAL,
        whole: i64,
        flag: Option<bool>,
        list: Vec<Option<u32>>,
        map in proptest::collection::btree_map(".*", proptest::collection::vec(".*", 0..3), 0..4),
    ) {
        let written = serde_json::to_string(&AllTypes { text, number, whole, flag, list, map }).unwrap();
        prop_assert_eq!(verdict::<AllTypes>(&written), "valid");
    }

    #[test]
    fn a_missing_field_and_an_unknown_field_are_rejected(name in "[a-z]{1,8}") {
        prop_assert_eq!(verdict::<Tree>("{}"), "`name` is required");
        let unknown = format!(r#"{{"name":"a","x{name}":1}}"#);
        prop_assert_eq!(verdict::<Tree>(&unknown), format!("there is no field `x{name}`"));
    }
}
