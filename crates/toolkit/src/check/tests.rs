use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;
use crate::schema;

/// The message about a value that should fit a type; `fits` if it does, with the value as it is read.
fn said<T: JsonSchema>(text: &str) -> String {
    let mut value = Value::parse(text).unwrap();
    match check_within(10_000, &schema::of_input::<T>(), &mut value) {
        None => format!("fits: {value}"),
        Some(error) => error.message,
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Tree {
    name: String,
    children: Option<Vec<Tree>>,
}

#[test]
fn a_type_that_contains_itself_is_checked_as_deep_as_the_value_goes() {
    assert_eq!(
        said::<Tree>(r#"{"name":"a","children":[{"name":"b","children":[]}]}"#),
        r#"fits: {"name":"a","children":[{"name":"b","children":[]}]}"#
    );
    assert_eq!(said::<Tree>(r#"{"name":"a","children":[{"children":null}]}"#), "`children[0].name` is required");
    assert_eq!(said::<Tree>(r#"{"name":"a","children":[{"nme":"b"}]}"#), "`children[0].name` is required");
    assert_eq!(said::<Tree>(r#"{"name":"a","children":[5]}"#), "`children[0]` must be an object, not a number",);
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
#[serde(rename_all = "snake_case")]
enum Shape {
    Circle { radius: u32 },
    Square { side: u32 },
    Dot,
}

#[test]
fn of_several_alternatives_the_one_that_is_meant_says_what_is_wrong() {
    assert_eq!(said::<Shape>(r#"{"circle":{"radius":2.0}}"#), r#"fits: {"circle":{"radius":2}}"#);
    assert_eq!(said::<Shape>(r#""dot""#), r#"fits: "dot""#);
    assert_eq!(said::<Shape>("7"), "`parameters` must be \"dot\" or an object or an object, not a number",);
    assert_eq!(said::<Option<Tree>>(r#"{"children":null}"#), "`name` is required");
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
#[serde(untagged)]
enum Nest {
    One { inner: Box<Nest> },
    Other { inner: Box<Nest> },
    End { end: bool },
}

#[test]
fn a_value_that_can_be_read_in_too_many_ways_is_given_up() {
    let text = r#"{"inner":"#.repeat(60) + r#"{"end":"no"}"# + &"}".repeat(60);
    let message = said::<Nest>(&text);
    assert!(message.ends_with("can be read in too many ways"), "{message}");
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Open {
    named: std::collections::BTreeMap<String, u32>,
    anything: serde_json::Value,
    pair: (u32, String),
}

#[test]
fn maps_take_any_key_and_check_its_value() {
    assert_eq!(
        said::<Open>(r#"{"named":{"x":1,"y":"2"},"anything":[null],"pair":[1,"b"]}"#),
        "`named.y` must be an integer, not a string"
    );
    assert_eq!(
        said::<Open>(r#"{"named":{},"anything":{"a":1},"pair":["a","b"]}"#),
        "`pair[0]` must be an integer, not a string"
    );
    assert_eq!(said::<Open>(r#"{"named":{},"anything":1,"pair":[1]}"#), "`pair` must be at least 2 items long",);
    assert_eq!(
        said::<Open>(r#"{"named":{"x":1.5},"anything":1,"pair":[1,"b"]}"#),
        "`named.x` must be an integer, not a number with a fraction",
    );
}

#[derive(Debug, Clone, serde::Serialize, JsonSchema)]
struct Written {
    text: String,
    number: f64,
    whole: i64,
    flag: Option<bool>,
    list: Vec<Option<u32>>,
    map: std::collections::BTreeMap<String, Vec<String>>,
}

proptest! {
    #[test]
    fn what_a_type_writes_fits_its_schema_and_stays_as_it_is(
        text in ".*",
        number in proptest::num::f64::NORMAL,
        whole: i64,
        flag: Option<bool>,
        list: Vec<Option<u32>>,
        map in proptest::collection::btree_map(".*", proptest::collection::vec(".*", 0..3), 0..4),
    ) {
        let written = serde_json::to_string(&Written { text, number, whole, flag, list, map }).unwrap();
        prop_assert_eq!(said::<Written>(&written), format!("fits: {}", Value::parse(&written).unwrap()));
    }

    #[test]
    fn a_field_that_is_left_out_is_missed_and_one_that_is_made_up_is_refused(name in "[a-z]{1,8}") {
        prop_assert_eq!(said::<Tree>("{}"), "`name` is required");
        let made_up = format!(r#"{{"name":"a","x{name}":1}}"#);
        prop_assert_eq!(said::<Tree>(&made_up), format!("there is no field `x{name}`"));
    }
}
