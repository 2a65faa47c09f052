//! Results and errors of every function.

use reknit_expressions::Function;

use crate::support::{Results, evaluate_to_text};

const CASES: &[(&str, &str)] = &[
    ("sum(s.numbers)", "6.6"),
    ("sum(1, 2, 3.50)", "6.5"),
    ("sum(s.texts)", "3"),
    ("sum(s.empty)", "0"),
    ("sum(s.mixed)", "cannot evaluate `sum(s.mixed)`: `sum` expects a number, found the string \"x\""),
    ("sum(pluck(s.items, \"price\"))", "60"),
    ("len(s.numbers)", "3"),
    ("len(s.word)", "6"),
    ("len(s.items[0])", "2"),
    ("len(5)", "cannot evaluate `len(5)`: `len` expects an array, a string or an object, found 5"),
    ("min(s.numbers)", "1.1"),
    ("min(3, \"2\")", "2"),
    ("min(s.empty)", "cannot evaluate `min(s.empty)`: `min` expects at least one item, found none"),
    ("max(s.numbers)", "3.30"),
    ("max(\"b\", \"a\")", "\"b\""),
    // Services often write prices as strings.
    ("max(\"9.50\", \"10.10\")", "10.10"),
    ("min(\"9\", \"10\", \"x\")", "\"10\""),
    ("sort_by(split(\"10,9,8.5\", \",\"))", "[\"8.5\",\"9\",\"10\"]"),
    ("sort_by(split(\"10,9,x\", \",\"))", "[\"10\",\"9\",\"x\"]"),
    ("avg(s.numbers)", "2.2"),
    ("avg(1, 2)", "1.5"),
    ("avg(1, 1, 2)", "~1.333333333333333333333333333333333"),
    ("avg(s.empty)", "cannot evaluate `avg(s.empty)`: `avg` expects at least one item, found none"),
    ("round(2.5)", "2"),
    ("round(2.345, 2)", "2.34"),
    ("round(1234, -2)", "1200"),
    (
        "round(2.5, 0.5)",
        "cannot evaluate `round(2.5, 0.5)`: `round`: the number of places must be an integer from -6144 to 6144",
    ),
    ("abs(-5.50)", "5.50"),
    ("abs(5)", "5"),
    ("abs(-0)", "0"),
    ("join(s.numbers, \", \")", "\"1.1, 2.2, 3.30\""),
    ("join(s.empty, \", \")", "\"\""),
    (
        "join(s.items, \", \")",
        "cannot evaluate `join(s.items, \", \")`: `join` expects strings, numbers or booleans, found an object",
    ),
    ("join(s.gaps, \",\")", "`s.gaps[1]` is null"),
    ("first(s.numbers)", "1.1"),
    ("last(s.numbers)", "3.30"),
    ("first(s.empty)", "cannot evaluate `first(s.empty)`: `first` expects at least one item, found none"),
    ("first(s.word)", "cannot evaluate `first(s.word)`: `first` expects an array, found the string \"Straße\""),
    ("unique(s.doubles)", "[1,\"1\",2]"),
    ("sort_by(s.unsorted)", "[2,3,10]"),
    ("sort_by(s.items, \"price\")", "[{\"id\":2,\"price\":20},{\"id\":1,\"price\":40}]"),
    ("first(sort_by(s.items, \"price\", \"desc\"))", "{\"id\":1,\"price\":40}"),
    (
        "sort_by(s.items, \"price\", \"up\")",
        "cannot evaluate `sort_by(s.items, \"price\", \"up\")`: `sort_by`: the direction must be \"asc\" or \"desc\"",
    ),
    ("sort_by(s.items, \"name\")", "cannot evaluate `sort_by(s.items, \"name\")`: item 0 has no field `name`"),
    ("sort_by(s.mixed)", "cannot evaluate `sort_by(s.mixed)`: cannot compare 1 with the string \"x\""),
    ("sort_by(s.gaps)", "`s.gaps[1]` is null"),
    ("sort_by(s.unpriced, \"price\")", "`s.unpriced[0].price` is null"),
    ("pluck(s.items, \"id\")", "[1,2]"),
    ("pluck(s.items, \"name\")", "cannot evaluate `pluck(s.items, \"name\")`: item 0 has no field `name`"),
    ("filter(s.items, item.price > 30)", "[{\"id\":1,\"price\":40}]"),
    ("filter(s.empty, item.price > 30)", "[]"),
    ("filter(s.numbers, item)", "cannot evaluate `filter(s.numbers, item)`: `filter` expects a boolean, found 1.1"),
    ("map(s.items, item.price * 2)", "[80,40]"),
    ("map(s.items, \"id\")", "[1,2]"),
    ("map(s.items, \"name\")", "cannot evaluate `map(s.items, item.name)`: item 0 has no field `name`"),
    ("any(s.items, item.price == 20)", "true"),
    ("any(s.empty, true)", "false"),
    ("any([false, true])", "true"),
    ("any(s.gaps)", "cannot evaluate `any(s.gaps)`: `any` expects an array of booleans, found 1"),
    ("all(s.items, item.price > 20)", "false"),
    ("all(s.empty, false)", "true"),
    ("all([true, null])", "`[true, null][1]` is null"),
    (
        "group_by(s.items, item.price > 30)",
        "[{\"key\":true,\"items\":[{\"id\":1,\"price\":40}]},{\"key\":false,\"items\":[{\"id\":2,\"price\":20}]}]",
    ),
    ("map(group_by(s.doubles, item), len(item.items))", "[2,1,1]"),
    (
        "group_by(s.items, item)",
        "cannot evaluate `group_by(s.items, item)`: `group_by` expects a string, a number or a boolean as key, found an object",
    ),
    ("group_by(s.unpriced, \"price\")", "`item.price` is null"),
    ("sum_by(s.items, item.price * 0.1)", "6"),
    ("sum_by(s.items, \"price\")", "60"),
    ("sum_by(s.empty, \"price\")", "0"),
    ("contains(s.word, \"raß\")", "true"),
    ("contains(s.numbers, 3.3)", "true"),
    ("contains(s.items[0], \"price\")", "true"),
    ("contains(5, 5)", "cannot evaluate `contains(5, 5)`: `in` expects an array, a string or an object, found 5"),
    ("starts_with(s.word, \"Stra\")", "true"),
    ("starts_with(s.word, 5)", "cannot evaluate `starts_with(s.word, 5)`: `starts_with` expects a string, found 5"),
    ("ends_with(s.word, \"ße\")", "true"),
    ("lower(s.word)", "\"straße\""),
    ("upper(s.word)", "\"STRASSE\""),
    ("trim(\"  a b \")", "\"a b\""),
    ("split(\"a,b,,c\", \",\")", "[\"a\",\"b\",\"\",\"c\"]"),
    ("split(\"abc\", \"\")", "cannot evaluate `split(\"abc\", \"\")`: `split`: the separator must not be empty"),
    ("replace(\"a-b-c\", \"-\", \"+\")", "\"a+b+c\""),
    (
        "replace(\"abc\", \"\", \"x\")",
        "cannot evaluate `replace(\"abc\", \"\", \"x\")`: `replace`: the pattern must not be empty",
    ),
    ("lower(5)", "cannot evaluate `lower(5)`: `lower` expects a string, found 5"),
    ("lower(s.none)", "`s.none` is null"),
    ("to_number(\" 5.50 \")", "5.50"),
    (
        "to_number(\"1,000\")",
        "cannot evaluate `to_number(\"1,000\")`: `to_number` expects a string that is a number, found the string \"1,000\"",
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
        "cannot evaluate `date_diff(\"2024-01-01\", \"2024-03-01\", \"months\")`: `date_diff`: months and years vary in length; use days",
    ),
    (
        "date_diff(\"09:00\", \"2024-01-01\", \"hours\")",
        "cannot evaluate `date_diff(\"09:00\", \"2024-01-01\", \"hours\")`: `date_diff`: one argument is a time of day and the other is a date",
    ),
    (
        "date_diff(\"2024-02-30\", \"2024-03-01\", \"days\")",
        "cannot evaluate `date_diff(\"2024-02-30\", \"2024-03-01\", \"days\")`: `date_diff` expects a date or time without a time zone, such as 2025-03-01, 14:30 or 2025-03-01T14:30, found the string \"2024-02-30\"",
    ),
    ("date_add(\"2024-01-31\", 1, \"month\")", "\"2024-02-29\""),
    ("date_add(\"2024-02-29\", -1, \"year\")", "\"2023-02-28\""),
    ("date_add(\"2024-12-31\", 1, \"day\")", "\"2025-01-01\""),
    ("date_add(\"2024-12-31T23:30\", 90, \"minutes\")", "\"2025-01-01T01:00\""),
    ("date_add(\"2024-12-31 23:30\", 30, \"seconds\")", "\"2024-12-31 23:30:30\""),
    ("date_add(\"09:15\", 1.5, \"hours\")", "\"10:45\""),
    (
        "date_add(\"23:00\", 2, \"hours\")",
        "cannot evaluate `date_add(\"23:00\", 2, \"hours\")`: `date_add`: the result is out of range: a time of day must stay within the day, and a date must move by whole days within the years 1 to 9999",
    ),
    (
        "date_add(\"2024-12-31\", 1e18, \"weeks\")",
        "cannot evaluate `date_add(\"2024-12-31\", 1e18, \"weeks\")`: `date_add`: the amount must be a whole number of seconds or months",
    ),
    (
        "date_add(\"2024-12-31\", 1, \"moon\")",
        "cannot evaluate `date_add(\"2024-12-31\", 1, \"moon\")`: `date_add`: the unit must be seconds, minutes, hours, days, weeks, months or years",
    ),
    ("if(len(s.empty) == 0, \"none\", \"some\")", "\"none\""),
];

#[test]
fn every_function_has_the_documented_result() {
    let results = Results::new(
        r#"{"s": {"numbers": [1.1, 2.2, 3.30], "texts": ["1", "2"], "mixed": [1, "x"], "empty": [], "word": "Straße", "none": null,
            "items": [{"id": 1, "price": 40}, {"id": 2, "price": 20}], "doubles": [1, "1", 1.0, 2], "unsorted": [10, 2, 3],
            "gaps": [1, null], "unpriced": [{"price": null}]}}"#,
    );
    for (text, expected) in CASES {
        assert_eq!(evaluate_to_text(text, &results), *expected, "case: {text}");
    }
}

#[test]
fn every_function_is_tested() {
    for function in Function::ALL {
        let call = format!("{function}(");
        assert!(CASES.iter().any(|(text, _)| text.contains(&call)), "{function} has no case");
    }
}
