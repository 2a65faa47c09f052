//! Every function, with what it gives and what it refuses.

use reknit_bind::Function;

use crate::kit::{Results, shown};

const CASES: &[(&str, &str)] = &[
    ("sum(s.numbers)", "6.6"),
    ("sum(1, 2, 3.50)", "6.5"),
    ("sum(s.texts)", "3"),
    ("sum(s.empty)", "0"),
    ("sum(s.mixed)", "cannot calculate `sum(s.mixed)`: `sum` needs a number, found the string \"x\""),
    ("sum(pluck(s.items, \"price\"))", "60"),
    ("len(s.numbers)", "3"),
    ("len(s.word)", "6"),
    ("len(s.items[0])", "2"),
    ("len(5)", "cannot calculate `len(5)`: `len` needs a list, a text or an object, found 5"),
    ("min(s.numbers)", "1.1"),
    ("min(3, \"2\")", "2"),
    ("min(s.empty)", "cannot calculate `min(s.empty)`: `min` needs at least one item"),
    ("max(s.numbers)", "3.30"),
    ("max(\"b\", \"a\")", "\"b\""),
    // Prices that a service writes as texts.
    ("max(\"9.50\", \"10.10\")", "10.10"),
    ("min(\"9\", \"10\", \"x\")", "\"10\""),
    ("sort_by(split(\"10,9,8.5\", \",\"))", "[\"8.5\",\"9\",\"10\"]"),
    ("sort_by(split(\"10,9,x\", \",\"))", "[\"10\",\"9\",\"x\"]"),
    ("avg(s.numbers)", "2.2"),
    ("avg(1, 2)", "1.5"),
    ("avg(1, 1, 2)", "~1.333333333333333333333333333333333"),
    ("avg(s.empty)", "cannot calculate `avg(s.empty)`: `avg` needs at least one item"),
    ("round(2.5)", "2"),
    ("round(2.345, 2)", "2.34"),
    ("round(1234, -2)", "1200"),
    ("round(2.5, 0.5)", "cannot calculate `round(2.5, 0.5)`: `round`: the places must be a small whole number"),
    ("abs(-5.50)", "5.50"),
    ("abs(5)", "5"),
    ("abs(-0)", "0"),
    ("join(s.numbers, \", \")", "\"1.1, 2.2, 3.30\""),
    ("join(s.empty, \", \")", "\"\""),
    (
        "join(s.items, \", \")",
        "cannot calculate `join(s.items, \", \")`: `join` needs texts, numbers or booleans, found an object",
    ),
    ("first(s.numbers)", "1.1"),
    ("last(s.numbers)", "3.30"),
    ("first(s.empty)", "cannot calculate `first(s.empty)`: `first` needs at least one item"),
    ("first(s.word)", "cannot calculate `first(s.word)`: `first` needs a list, found the string \"Straße\""),
    ("unique(s.doubles)", "[1,\"1\",2]"),
    ("sort_by(s.unsorted)", "[2,3,10]"),
    ("sort_by(s.items, \"price\")", "[{\"id\":2,\"price\":20},{\"id\":1,\"price\":40}]"),
    ("first(sort_by(s.items, \"price\", \"desc\"))", "{\"id\":1,\"price\":40}"),
    (
        "sort_by(s.items, \"price\", \"up\")",
        "cannot calculate `sort_by(s.items, \"price\", \"up\")`: `sort_by`: the direction is \"asc\" or \"desc\"",
    ),
    ("sort_by(s.items, \"name\")", "cannot calculate `sort_by(s.items, \"name\")`: item 0 has no field `name`"),
    ("sort_by(s.mixed)", "cannot calculate `sort_by(s.mixed)`: cannot compare 1 with the string \"x\""),
    ("pluck(s.items, \"id\")", "[1,2]"),
    ("pluck(s.items, \"name\")", "cannot calculate `pluck(s.items, \"name\")`: item 0 has no field `name`"),
    ("lower(s.word)", "\"straße\""),
    ("upper(s.word)", "\"STRASSE\""),
    ("trim(\"  a b \")", "\"a b\""),
    ("split(\"a,b,,c\", \",\")", "[\"a\",\"b\",\"\",\"c\"]"),
    ("split(\"abc\", \"\")", "cannot calculate `split(\"abc\", \"\")`: `split`: the separator is empty"),
    ("replace(\"a-b-c\", \"-\", \"+\")", "\"a+b+c\""),
    (
        "replace(\"abc\", \"\", \"x\")",
        "cannot calculate `replace(\"abc\", \"\", \"x\")`: `replace`: what is to be replaced is empty",
    ),
    ("lower(5)", "cannot calculate `lower(5)`: `lower` needs a text, found 5"),
    ("lower(s.none)", "`s.none` is null"),
    ("to_number(\" 5.50 \")", "5.50"),
    (
        "to_number(\"1,000\")",
        "cannot calculate `to_number(\"1,000\")`: `to_number` needs the text of a number, found the string \"1,000\"",
    ),
    ("to_string(1.50)", "\"1.50\""),
    ("to_string(\"x\")", "\"x\""),
    ("to_string(s.doubles)", "\"[1,\\\"1\\\",1.0,2]\""),
    ("date_diff(\"09:00\", \"14:00\", \"hours\")", "5"),
    ("date_diff(\"09:00\", \"9:45:30\", \"minutes\")", "45.5"),
    ("date_diff(\"14:00\", \"09:00\", \"hour\")", "-5"),
    ("date_diff(\"2024-02-28\", \"2024-03-01\", \"days\")", "2"),
    ("date_diff(\"2024-12-31T23:00\", \"2025-01-01 01:30\", \"hours\")", "2.5"),
    ("date_diff(\"2024-01-01\", \"2024-01-15\", \"weeks\")", "2"),
    (
        "date_diff(\"2024-01-01\", \"2024-03-01\", \"months\")",
        "cannot calculate `date_diff(\"2024-01-01\", \"2024-03-01\", \"months\")`: `date_diff`: months and years differ in length; use days",
    ),
    (
        "date_diff(\"09:00\", \"2024-01-01\", \"hours\")",
        "cannot calculate `date_diff(\"09:00\", \"2024-01-01\", \"hours\")`: `date_diff`: a time of day and a date have no difference",
    ),
    (
        "date_diff(\"2024-02-30\", \"2024-03-01\", \"days\")",
        "cannot calculate `date_diff(\"2024-02-30\", \"2024-03-01\", \"days\")`: `date_diff` needs a date or time without a zone, such as 2025-03-01, 14:30 or 2025-03-01T14:30, found the string \"2024-02-30\"",
    ),
    ("date_add(\"2024-01-31\", 1, \"month\")", "\"2024-02-29\""),
    ("date_add(\"2024-02-29\", -1, \"year\")", "\"2023-02-28\""),
    ("date_add(\"2024-12-31\", 1, \"day\")", "\"2025-01-01\""),
    ("date_add(\"2024-12-31T23:30\", 90, \"minutes\")", "\"2025-01-01T01:00\""),
    ("date_add(\"2024-12-31 23:30\", 30, \"seconds\")", "\"2024-12-31 23:30:30\""),
    ("date_add(\"09:15\", 1.5, \"hours\")", "\"10:45\""),
    (
        "date_add(\"23:00\", 2, \"hours\")",
        "cannot calculate `date_add(\"23:00\", 2, \"hours\")`: `date_add`: the result cannot be written that way: a time of day stays within its day, a date within whole days and the years 1 to 9999",
    ),
    (
        "date_add(\"2024-12-31\", 1e18, \"weeks\")",
        "cannot calculate `date_add(\"2024-12-31\", 1e18, \"weeks\")`: `date_add`: the amount is not a whole number of seconds or months",
    ),
    (
        "date_add(\"2024-12-31\", 1, \"moon\")",
        "cannot calculate `date_add(\"2024-12-31\", 1, \"moon\")`: `date_add`: the unit is seconds, minutes, hours, days, weeks, months or years",
    ),
    ("if(len(s.empty) == 0, \"none\", \"some\")", "\"none\""),
];

#[test]
fn every_function_does_what_its_name_says() {
    let results = Results::new(
        r#"{"s": {"numbers": [1.1, 2.2, 3.30], "texts": ["1", "2"], "mixed": [1, "x"], "empty": [], "word": "Straße", "none": null,
            "items": [{"id": 1, "price": 40}, {"id": 2, "price": 20}], "doubles": [1, "1", 1.0, 2], "unsorted": [10, 2, 3]}}"#,
    );
    for (text, expected) in CASES {
        assert_eq!(shown(text, &results), *expected, "case: {text}");
    }
}

#[test]
fn every_function_has_a_case() {
    for function in Function::ALL {
        let call = format!("{function}(");
        assert!(CASES.iter().any(|(text, _)| text.contains(&call)), "{function} has no case");
    }
}
