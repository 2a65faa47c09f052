//! What people read when a template is wrong.

use reknit_bind::Parameters;

use crate::kit::{ids, object};

const DEFECTS: &str = r#"{
        "near": "{{setp-1.price}}",
        "far": "total: {{something.price}}",
        "hyphens": "{{step-1-2.price}}",
        "open": "é {{step-1.price",
        "empty": "{{}}",
        "tight": "{{step-1.a- 2}}",
        "tight number": "{{5-3}}",
        "date": "{{2024-01-01}}",
        "function": "{{summ(step-1.a)}}",
        "strange": "{{frobnicate(1)}}",
        "arguments": "{{round(1, 2, 3)}}",
        "none": "{{len()}}",
        "behind": "{{step-1.a step-1.b}}",
        "chain": "{{1 < 2 < 3}}",
        "index": "{{step-1[-1]}}",
        "star": "{{step-1.items[*]}}",
        "dot": "{{step-1.}}",
        "bracket": "{{step-1[0}}",
        "odd": "{{[\"odd\"].x}}",
        "list": "{{[1, 2]}}",
        "quote": "{{\"abc}}",
        "escape": "{{\"\\q\"}}",
        "zeros": "{{007}}",
        "triple": "{{{step-1.a}}}",
        "operator": "{{1 +}}",
        "parenthesis": "{{(1 + 2}}",
        "nested": {"list": [1, "x {{nope}}"]}
    }"#;

#[test]
fn every_defect_is_shown_with_its_place_and_what_would_do() {
    let error = Parameters::parse(&object(DEFECTS), &ids(&["step-1", "quote"])).expect_err("all of it is wrong");
    let text: Vec<String> = error.errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    `$.near`, character 3: there is no step `setp-1`; did you mean `step-1`?
    `$.far`, character 10: there is no step `something`; there is `step-1`, `quote`
    `$.hyphens`, character 3: there is no step `step-1-2`; did you mean `step-1`?
    `$.open`, character 3: `{{` is not closed by `}}`; to mean the braces themselves, write `{{{{`
    `$.empty`, character 3: expected a value, found the end
    `$.tight`, character 11: a minus that subtracts needs a space before it
    `$["tight number"]`, character 4: a minus that subtracts needs a space before it
    `$.date`, character 7: a minus that subtracts needs a space before it
    `$.function`, character 3: there is no function `summ`; did you mean `sum`?
    `$.strange`, character 3: there is no function `frobnicate`
    `$.arguments`, character 3: `round` takes one or two arguments, found 3
    `$.none`, character 3: `len` takes one argument, found 0
    `$.behind`, character 12: expected an operator or the end, found `s`
    `$.chain`, character 9: expected one comparison at a time, found `<`
    `$.index`, character 10: expected a position from 0, or a key in quotes, found `-`
    `$.star`, character 16: expected a position from 0, or a key in quotes, found `*`
    `$.dot`, character 10: expected the name of a field, found the end
    `$.bracket`, character 11: expected `]`, found the end
    `$.odd`, character 3: there is no step `odd`; there is `step-1`, `quote`
    `$.list`, character 4: expected the id of a step in quotes, found `1`
    `$.quote`, character 1: `{{` is not closed by `}}`; to mean the braces themselves, write `{{{{`
    `$.escape`, character 3: the text cannot be read: line 1, column 3: expected an escape (one of `"\/bfnrtu`) after the backslash, found `q`
    `$.zeros`, character 3: the number cannot be read: a number must not start with a zero that other digits follow
    `$.triple`, character 3: expected a value, found `{`
    `$.operator`, character 6: expected a value, found the end
    `$.parenthesis`, character 9: expected `)`, found the end
    `$.nested.list[1]`, character 5: there is no step `nope`; there is `step-1`, `quote`
    "#);
}

#[test]
fn many_steps_are_not_all_listed() {
    let names: Vec<String> = (0..12).map(|number| format!("a-long-name-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = Parameters::parse(&object(r#"{"x": "{{zzz}}"}"#), &ids(&names)).expect_err("there is no such step");
    insta::assert_snapshot!(error, @"`$.x`, character 3: there is no step `zzz`; there is `a-long-name-0`, `a-long-name-1`, `a-long-name-2`, `a-long-name-3`, `a-long-name-4`, `a-long-name-5`, `a-long-name-6`, `a-long-name-7` and 4 more");
}
