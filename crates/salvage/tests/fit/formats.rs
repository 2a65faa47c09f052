//! What `format` means: nothing, a guide for fitting, or a condition.

use reknit_protocol::Value;
use reknit_salvage::{FitProblemKind, FixKind, Formats, Schema, fit};

use crate::support::json;

fn schema(property: &str, formats: Formats) -> Schema {
    let source = format!(r#"{{"type": "object", "properties": {{"x": {property}}}}}"#);
    Schema::compile_with(&json(&source), formats).expect("a schema")
}

fn object(text: &str) -> Value {
    Value::from([("x", Value::from(text))])
}

#[test]
fn a_text_without_its_format_fits_unless_formats_are_checked() {
    for (format, good, bad) in [
        ("date", "2026-03-05", "2026-03-05T10:30:00Z"),
        ("date-time", "2026-03-05T10:30:00Z", "2026-03-05T10:30:00"),
        ("time", "10:30:00Z", "25:00:00Z"),
        ("duration", "P3D", "3 days"),
        ("email", "jo@example.com", "jo at example.com"),
        ("hostname", "example.com", "-example-.com"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://example.com/a", "example"),
        ("uri-reference", "/a?b=c", "\\\\server\\a"),
        ("iri", "https://example.com/ä", "ä"),
        ("uri-template", "https://example.com/{id}", "https://example.com/{id"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"),
        ("json-pointer", "/a/0", "a/0"),
        ("relative-json-pointer", "1/a", "/a"),
        ("regex", "^a+$", "^(a+$"),
    ] {
        let property = format!(r#"{{"type": "string", "format": "{format}"}}"#);
        let checked = schema(&property, Formats::Checked);
        assert!(checked.fits(&object(good)), "{format}: {good}");
        assert_eq!(fit(object(good), &checked).expect("it fits").fixes, [], "{format}: {good}");
        let problems = checked.problems(&object(bad));
        let kinds: Vec<_> = problems.iter().map(|problem| problem.kind.clone()).collect();
        assert_eq!(kinds, [FitProblemKind::Format { format: format.to_owned() }], "{format}: {bad}");
        assert_eq!(checked.format_problems(&object(bad)).len(), 1, "{format}: {bad}");
        assert!(fit(object(bad), &checked).is_err(), "{format}: {bad}");
        for formats in [Formats::Ignored, Formats::Guide] {
            let lenient = schema(&property, formats);
            let fitted = fit(object(bad), &lenient).expect("formats do not count");
            assert_eq!((fitted.value, fitted.fixes.len()), (object(bad), 0), "{format}: {bad}");
            let listed = lenient.format_problems(&object(bad)).len();
            assert_eq!(listed, usize::from(formats == Formats::Guide), "{format}: {bad}");
        }
    }
}

#[test]
fn an_unambiguous_date_is_written_as_the_format_asks_for() {
    for (format, text, expected) in [
        ("date", "March 5, 2026", "2026-03-05"),
        ("date", "25/12/2026", "2026-12-25"),
        ("date", "20260305", "2026-03-05"),
        ("date-time", "5 Mar 2026 10:30 UTC", "2026-03-05T10:30:00Z"),
    ] {
        let property = format!(r#"{{"type": "string", "format": "{format}"}}"#);
        for formats in [Formats::Guide, Formats::Checked] {
            let fitted = fit(object(text), &schema(&property, formats)).expect("it can be fitted");
            assert_eq!(fitted.value, object(expected), "{formats:?}: {text}");
            let fixes: Vec<_> = fitted.fixes.iter().map(|fix| (fix.kind, fix.path.to_string())).collect();
            assert_eq!(fixes, [(FixKind::DateSpelling, "$.x".to_owned())], "{formats:?}: {text}");
        }
        let ignored = fit(object(text), &schema(&property, Formats::Ignored)).expect("it fits");
        assert_eq!((ignored.value, ignored.fixes.len()), (object(text), 0));
    }
}

#[test]
fn a_text_that_names_no_day_or_two_is_no_date() {
    for format in ["date", "date-time"] {
        let date = format!(r#"{{"type": "string", "format": "{format}"}}"#);
        let nullable = format!(r#"{{"anyOf": [{date}, {{"type": "null"}}]}}"#);
        let bounded = format!(r#"{{"type": "string", "format": "{format}", "minLength": 1}}"#);
        for text in ["2026-02-30", "next Friday", "03/04/2026", "tomorrow", "soon"] {
            for property in [&date, &nullable, &bounded] {
                let guide = schema(property, Formats::Guide);
                let misfit = fit(object(text), &guide).expect_err("no date");
                assert!(!misfit.problems.is_empty() && !guide.fits(&object(text)), "{property}: {text}");
                let ignored = schema(property, Formats::Ignored);
                assert!(ignored.fits(&object(text)), "{property}: {text}");
            }
        }
        let empty = fit(object(""), &schema(&nullable, Formats::Guide)).expect("null fits");
        assert_eq!(empty.value.to_string(), r#"{"x":null}"#);
        let problems = schema(&date, Formats::Guide).problems(&object("next Friday"));
        let kinds: Vec<_> = problems.into_iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [FitProblemKind::Format { format: format.to_owned() }]);
    }
}

#[test]
fn a_missing_offset_and_a_time_that_is_not_asked_for_are_left() {
    for (format, text) in
        [("date", "2026-03-05T10:30:00Z"), ("date-time", "2026-03-05 10:30:00"), ("date-time", "2026-03-05")]
    {
        let property = format!(r#"{{"type": "string", "format": "{format}"}}"#);
        assert!(fit(object(text), &schema(&property, Formats::Checked)).is_err(), "{text}");
        let guided = fit(object(text), &schema(&property, Formats::Guide)).expect("it fits");
        assert_eq!((guided.value, guided.fixes.len()), (object(text), 0), "{text}");
    }
    let number = Value::from([("x", Value::from(20_260_305))]);
    let integer = schema(r#"{"type": "integer", "format": "date"}"#, Formats::Guide);
    assert_eq!(fit(number.clone(), &integer).expect("it fits").value, number);
}

#[test]
fn dates_inside_lists_unions_and_wrapped_values_are_written_too() {
    let date = r#"{"type": "string", "format": "date"}"#;
    for (property, value, expected) in [
        (format!(r#"{{"anyOf": [{date}, {{"type": "null"}}]}}"#), r#"{"x": "5 Mar 2026"}"#, r#"{"x":"2026-03-05"}"#),
        (format!(r#"{{"type": "array", "items": {date}}}"#), r#"{"x": ["5 Mar 2026"]}"#, r#"{"x":["2026-03-05"]}"#),
        (format!(r#"{{"type": "array", "items": {date}}}"#), r#"{"x": "5 Mar 2026"}"#, r#"{"x":["2026-03-05"]}"#),
        (
            format!(r#"{{"additionalProperties": {date}}}"#),
            r#"{"x": {"a": "5 Mar 2026"}}"#,
            r#"{"x":{"a":"2026-03-05"}}"#,
        ),
    ] {
        for formats in [Formats::Guide, Formats::Checked] {
            let fitted = fit(json(value), &schema(&property, formats)).expect("it can be fitted");
            assert_eq!(fitted.value.to_string(), expected, "{formats:?}: {property}");
        }
    }
}

#[test]
fn a_guided_date_keeps_to_the_other_keywords() {
    let property = r#"{"type": "string", "format": "date", "pattern": "/"}"#;
    let fitted = fit(object("2026/03/05"), &schema(property, Formats::Guide)).expect("it fits");
    assert_eq!(fitted.value, object("2026/03/05"));
}
