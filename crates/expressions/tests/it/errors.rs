//! Messages for errors in templates.

use reknit_expressions::Parameters;

use crate::support::{ids, object};

const TEMPLATES: &str = r#"{
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
        "list": "{{[1, 2}}",
        "near list": "{{[\"qoute\"]}}",
        "field": "{{filter(step-1.orders, status == 1)}}",
        "named field": "{{filter(step-1.orders, order => total > 5)}}",
        "item outside": "{{item.price}}",
        "reserved": "{{map(step-1.orders, true => 1)}}",
        "mixed": "{{step-1.a ?? false and step-1.b}}",
        "mixed not": "{{not step-1.a ?? false}}",
        "late not": "{{true == not false}}",
        "half": "{{1 not 2}}",
        "quote": "{{\"abc}}",
        "escape": "{{\"\\q\"}}",
        "zeros": "{{007}}",
        "triple": "{{{step-1.a}}}",
        "operator": "{{1 +}}",
        "parenthesis": "{{(1 + 2}}",
        "nested": {"list": [1, "x {{nope}}"]}
    }"#;

#[test]
fn every_error_has_its_position_and_a_suggestion() {
    let error = Parameters::parse(&object(TEMPLATES), &ids(&["step-1", "quote"])).expect_err("every template is wrong");
    let text: Vec<String> = error.errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    `$.near`, character 3: there is no step `setp-1`; did you mean `step-1`?
    `$.far`, character 10: there is no step `something`; the steps are `step-1`, `quote`
    `$.hyphens`, character 3: there is no step `step-1-2`; did you mean `step-1`?
    `$.open`, character 3: unclosed `{{`: add `}}`, or write `{{{{` for literal braces
    `$.empty`, character 3: expected a value, found the end of the expression
    `$.tight`, character 11: subtraction needs a space before `-`
    `$["tight number"]`, character 4: subtraction needs a space before `-`
    `$.date`, character 7: subtraction needs a space before `-`
    `$.function`, character 3: there is no function `summ`; did you mean `sum`?
    `$.strange`, character 3: there is no function `frobnicate`
    `$.arguments`, character 3: `round` takes one or two arguments, found 3
    `$.none`, character 3: `len` takes one argument, found 0
    `$.behind`, character 12: expected an operator or the end of the expression, found `s`
    `$.chain`, character 9: expected a single comparison (comparisons cannot be chained), found `<`
    `$.index`, character 10: expected an index from 0 or a quoted key, found `-`
    `$.star`, character 16: expected an index from 0 or a quoted key, found `*`
    `$.dot`, character 10: expected a field name, found the end of the expression
    `$.bracket`, character 11: expected `]`, found the end of the expression
    `$.odd`, character 3: there is no step `odd`; the steps are `step-1`, `quote`
    `$.list`, character 8: expected `,` or `]`, found the end of the expression
    `$["near list"]`, character 3: there is no step `qoute`; did you mean `quote`?
    `$.field`, character 25: there is no step or item `status`; a field of the item is `item.status`
    `$["named field"]`, character 34: there is no step or item `total`; a field of the item is `order.total`
    `$["item outside"]`, character 3: there is no step `item`; the steps are `step-1`, `quote`
    `$.reserved`, character 22: expected a name for the item, which begins with a letter, found `t`
    `$.mixed`, character 21: `??` beside `and`, `or` or `not` needs parentheses: `(a ?? b) and c`
    `$["mixed not"]`, character 3: `??` beside `and`, `or` or `not` needs parentheses: `(a ?? b) and c`
    `$["late not"]`, character 11: expected a value (`not` stands in parentheses here), found `n`
    `$.half`, character 5: expected an operator or the end of the expression, found `n`
    `$.quote`, character 1: unclosed `{{`: add `}}`, or write `{{{{` for literal braces
    `$.escape`, character 3: invalid string: line 1, column 3: expected an escape (one of `"\/bfnrtu`) after the backslash, found `q`
    `$.zeros`, character 3: invalid number: a number must not have leading zeros
    `$.triple`, character 3: expected a value, found `{`
    `$.operator`, character 6: expected a value, found the end of the expression
    `$.parenthesis`, character 9: expected `)`, found the end of the expression
    `$.nested.list[1]`, character 5: there is no step `nope`; the steps are `step-1`, `quote`
    "#);
}

#[test]
fn a_long_list_of_steps_is_truncated() {
    let names: Vec<String> = (0..12).map(|number| format!("a-long-name-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = Parameters::parse(&object(r#"{"x": "{{zzz}}"}"#), &ids(&names)).expect_err("the step does not exist");
    insta::assert_snapshot!(error, @"`$.x`, character 3: there is no step `zzz`; the steps are `a-long-name-0`, `a-long-name-1`, `a-long-name-2`, `a-long-name-3`, `a-long-name-4`, `a-long-name-5`, `a-long-name-6`, `a-long-name-7` and 4 more");
}
