//! References in other template languages are read, or the plan is refused. They are never sent as text.

use reknit_plan::{CatalogueEntry, PlanAuthor, PlanFixKind, ProblemCode, check, correct_plan, read_plan};

use crate::support::{catalogue, json, last_call, plan_with, run, text};

/// Spellings of `{{a.price}}` that have only one meaning.
const PRICES: [&str; 37] = [
    "$a.price$",
    "${a.price}",
    "$a.price",
    "a.price",
    "<a.price>",
    "{a.price}",
    "[[a.price]]",
    "${{a.price}}",
    "${{ steps.a.outputs.price }}",
    "{{ steps.a.output.price }}",
    "{{$a.price}}",
    "{{ $.a.price }}",
    "{{{a.price}}}",
    "{{{{a.price}}}}",
    "<<a.price>>",
    "@a.price",
    "%a.price%",
    "steps.a.output.price",
    "$steps.a.price",
    "$.a.price",
    "$.steps.a.price",
    "$['a']['price']",
    "a[\"price\"]",
    "a['price']",
    "#{a.price}",
    "@{a.price}",
    "$(a.price)",
    "((a.price))",
    "<%= a.price %>",
    "{% a.price %}",
    "[a.price]",
    "#a.price",
    "{a.data.price}",
    "$a.output.price",
    "a.result.price",
    "${A.price}",
    "  $a.price ",
];

#[test]
fn a_reference_in_another_language_is_read_in_a_plan_of_a_model() {
    for spelling in PRICES {
        let plan = plan_with("convert", &format!(r#"{{"amount": {}}}"#, text(spelling)));
        let run = run(&plan, PlanAuthor::Model);
        assert_eq!(run.last_call.as_deref().unwrap_or("refused"), r#"{"amount":468.285}"#, "{spelling}: {run:?}");
        let fix = run.fixes.last().unwrap_or_else(|| panic!("{spelling} is recorded"));
        assert_eq!((fix.kind, fix.before.as_str()), (PlanFixKind::Reference, spelling.trim()), "{spelling}");
    }
}

#[test]
fn a_reference_in_another_language_is_a_problem_in_a_plan_of_a_person() {
    for spelling in PRICES {
        let plan = plan_with("convert", &format!(r#"{{"amount": {}}}"#, text(spelling)));
        let problems = run(&plan, PlanAuthor::Person).last_call.expect_err(spelling);
        let problem = problems.iter().find(|problem| problem.code == ProblemCode::UnbracedReference);
        let problem = problem.unwrap_or_else(|| panic!("{spelling}: {problems:?}"));
        let hint = problem.hint.as_deref().unwrap_or_default();
        assert!(hint.starts_with("write `{{") && hint.contains("price"), "{spelling}: {hint}");
    }
}

#[test]
fn a_reference_inside_a_text_is_read() {
    for (written, sent) in [
        ("The joke: $var3.joke$", "The joke: A horse walks into a bar."),
        ("The joke: ${var3.joke}!", "The joke: A horse walks into a bar.!"),
        ("The joke: {var3.joke}", "The joke: A horse walks into a bar."),
        ("The joke: $var3.joke.", "The joke: A horse walks into a bar.."),
        ("The joke: [[var3.joke]] and {{a.name}}", "The joke: A horse walks into a bar. and Tesla"),
        ("Hello ${{a.name}}", "Hello Tesla"),
        ("It costs {{\"$\"}}{{a.price}} today", "It costs $468.285 today"),
        ("$a.name$a.name", "TeslaTesla"),
        ("$a.name$$a.name$", "TeslaTesla"),
        ("$.a.name$.a.name", "TeslaTesla"),
        ("It costs US${{a.price}}", "It costs US$468.285"),
        ("First: {a.items[0].id}, $a.items[1].id", "First: 7, 8"),
        ("{a.exchange.name}: %a.price%", "NASDAQ: 468.285"),
    ] {
        let expected = format!(r#"{{"message":{}}}"#, text(sent));
        assert_eq!(last_call("send_sms", &format!(r#"{{"message": {}}}"#, text(written))), expected, "{written}");
    }
}

#[test]
fn a_calculation_without_braces_is_read_where_only_a_number_fits() {
    for written in ["100 * a.price", "a.price * 100", "$a.price * 100", "{a.price} * 100", "${100 * a.price}"] {
        let sent = last_call("convert", &format!(r#"{{"amount": {}}}"#, text(written)));
        assert_eq!(sent, r#"{"amount":46828.5}"#, "{written}");
    }
}

#[test]
fn an_object_that_stands_for_a_reference_is_read() {
    for written in [
        r#"{"$ref": "a.price"}"#,
        r##"{"$ref": "#/a/price"}"##,
        r##"{"$ref": "#/steps/a/data/price"}"##,
        r#"{"$ref": "$.a.price"}"#,
        r#"{"ref": "{{a.price}}"}"#,
        r#"{"step": "a", "field": "price"}"#,
        r#"{"from_step": "a", "path": "$.price"}"#,
        r#"{"type": "reference", "stepId": "a", "path": "price"}"#,
        r#"{"Fn::GetAtt": ["a", "price"]}"#,
        r#"{"var": "a.price"}"#,
    ] {
        assert_eq!(last_call("convert", &format!(r#"{{"amount": {written}}}"#)), r#"{"amount":468.285}"#, "{written}");
    }
    let step_functions = last_call("convert", r#"{"amount.$": "$.a.price"}"#);
    assert_eq!(step_functions, r#"{"amount":468.285}"#);
    assert_eq!(
        last_call("convert", r#"{"amount": 1, "options": {"step": "fast"}}"#),
        r#"{"amount":1,"options":{"step":"fast"}}"#
    );
}

/// Texts that may be references and may mean something else.
const DOUBTFUL: &[&str] = &[
    "#E1",
    "$1.price or $a",
    "The price is a.price",
    "SELECT a.price FROM a WHERE x",
    "{a.items[*].id}",
    "$a.items[-1].id",
    "a.items.length",
    "${a.name.toUpperCase()}",
    "outputs('a').price",
    "$node[\"a\"].json.price",
    "$('a').item.json.price",
    "results[0].price",
    "$steps[0].price",
    "{price}",
    "$price",
    "<price>",
    "${price}",
    "<GENERATED>-0",
    "<resource>-2",
    "$json.price",
    "{get_quote.price}",
    "get_quote.price",
    "${qoute.price}",
    "<price from a>",
    "[the output of step 1]",
    "{{a.items[*].id}}",
    "{{ $json.price }}",
    "${{a.price}}",
    "report.title",
    "$prev.output",
    "{{a.price | round(2)}}",
    "@var3",
    "{a.price|currency}",
    "a.items[*].id",
    "{result of a}",
    "It costs ${{a.price}}",
    "#report",
    "$a-1",
    "$price-1",
    "see a.price-1",
    "\"$a.name\"",
    "'{a.name}'",
    "f\"{a.name}\"",
    "=$a.name",
    "[[a.name]",
    "a->name",
    "a::name",
    "{a:name}",
    "${a:name}",
    "a.name/a.price",
    ":a.name",
    "ref:a.name",
    "$ref:a.name",
    "STEP_A.name",
    "$a_name",
    "{a_name}",
    "{0}",
    "$1",
    "{result}",
    "<result>",
    "$result",
    "result.name",
    "previous.name",
    "name of a",
    "[a].name",
    "{{ a.name }}}",
    "{name of a}",
    "\u{201c}a.name\u{201d}",
    "!GetAtt a.name",
    "<ref>a.name</ref>",
];

#[test]
fn a_text_with_more_than_one_meaning_is_a_problem_and_never_sent() {
    for written in DOUBTFUL {
        let plan = plan_with("send_sms", &format!(r#"{{"message": "x", "to": {}}}"#, text(written)))
            .replace(r#""step_id": "last","#, r#""step_id": "last", "depends_on": ["a", "report"],"#);
        let run = run(&plan, PlanAuthor::Model);
        assert!(run.last_call.is_err(), "{written} was sent: {run:?}");
    }
}

#[test]
fn a_text_that_only_resembles_a_reference_is_sent_as_it_is() {
    for written in [
        "report.csv",
        "a report",
        "Give a quote",
        "$5",
        "$TSLA",
        "100% of a",
        "a@b.com",
        "@bob",
        "#weather",
        "<b>a</b>",
        "{}",
        "{\"a\": 1}",
        "https://a.com/a.html",
        "vita.price",
        "stocks.price",
        "a.b",
        "x = {y}",
        "[a](https://x.de)",
        "var3",
        "step-9",
        "a/b",
        "a: 1",
        "e.g. a",
        "-a",
        "**/*.rs",
        "{{\"a.price\"}}",
        "{{{{a.price}}",
        "5 < a > 3",
    ] {
        let sent = last_call("send_sms", &format!(r#"{{"message": "x", "to": {}}}"#, text(written)));
        let expected = match written {
            "{{\"a.price\"}}" => "a.price",
            "{{{{a.price}}" => "{{a.price}}",
            other => other,
        };
        assert_eq!(sent, format!(r#"{{"message":"x","to":{}}}"#, text(expected)), "{written}");
    }
}

#[test]
fn a_text_that_the_schema_lists_is_sent_as_it_is() {
    let mut catalogue = catalogue();
    let phone = catalogue.tools.iter_mut().find(|tool| tool.name.as_str() == "phone").expect("the phone");
    let entry = phone.capabilities.first_mut().expect("a capability");
    let schema = r#"{"properties": {"to": {"enum": ["a.price", "b"]}, "field": {"const": "$a.price"}, "file": {}}}"#;
    *entry = CatalogueEntry::new(entry.capability.clone(), Some(json(schema))).expect("a schema");
    for (parameters, is_listed) in
        [(r#"{"to": "a.price"}"#, true), (r#"{"field": "$a.price"}"#, true), (r#"{"file": "$a.price"}"#, false)]
    {
        let (mut plan, _) = read_plan(&plan_with("send_sms", parameters), "").expect("a plan");
        let fixes = correct_plan(&mut plan, &catalogue, PlanAuthor::Model);
        assert_eq!(fixes.is_empty(), is_listed, "{parameters}: {fixes:?}");
        check(&plan, &catalogue, PlanAuthor::Model).expect("no problems");
    }
}

#[test]
fn a_dotted_name_is_doubtful_where_parameters_hold_such_names() {
    for (parameter, written) in [("field", "a.price"), ("sql", "a.price"), ("sql", "select $a.price")] {
        let call = last_call("send_sms", &format!(r#"{{"message": "x", "{parameter}": "{written}"}}"#));
        assert!(call.contains("would be sent as text"), "{parameter}: {call}");
    }
}

#[test]
fn the_message_shows_what_to_write_instead() {
    insta::assert_snapshot!(last_call("send_sms", r#"{"message": "The price is a.price", "to": "{price}", "file": "results[0].id"}"#), @r#"
    `last.message`: `a.price` would be sent as text: a reference is written between `{{` and `}}` (write `{{a.price}}`, or `{{"a.price"}}` for the text itself)
    `last.to`: `{price}` would be sent as text: a reference is written between `{{` and `}}` (write `{{a.price}}`, or `{{"{price}"}}` for the text itself)
    `last.file`: `results[0].id` would be sent as text: it looks like a reference that is not supported (write `{{step.field}}` with the id of a step, or `{{"results[0].id"}}` for the text itself)
    "#);
}

#[test]
fn the_message_quotes_the_whole_text_that_looks_like_a_reference() {
    for (written, quoted) in [
        ("See steps('a').price now", "`steps('a').price`"),
        ("See outputs(\"a\")[0] now", "`outputs(\"a\")[0]`"),
        ("File <generated>-12 now", "`<generated>-12`"),
    ] {
        let problems = last_call("send_sms", &format!(r#"{{"message": {}}}"#, text(written)));
        assert!(problems.contains(&format!("{quoted} would be sent as text")), "{written}: {problems}");
    }
}

#[test]
fn a_field_of_a_step_in_words_is_a_problem_and_never_sent_as_text() {
    for words in ["the skyId of var3", "skyId of var3", "joke from var3", "var3's joke", "the price of a"] {
        let run =
            run(&plan_with("send_sms", &format!(r#"{{"message": "x", "to": {}}}"#, text(words))), PlanAuthor::Model);
        let problems = run.last_call.expect_err(words);
        assert!(problems.iter().any(|problem| problem.to_string().contains(words)), "{words}: {problems:?}");
    }
    for words in ["Bank of America", "a letter from Ann", "the Isle of Man", "var3 of something"] {
        let run =
            run(&plan_with("send_sms", &format!(r#"{{"message": "x", "to": {}}}"#, text(words))), PlanAuthor::Model);
        assert!(run.last_call.is_ok(), "{words}: {run:?}");
    }
}
