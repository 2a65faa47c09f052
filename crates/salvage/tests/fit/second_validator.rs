//! A validator by other authors agrees that what was fitted is valid, and that what is valid is not changed.

use std::fs;
use std::path::Path;

use boon::{Compiler, Schemas};
use reknit_protocol::Value;
use reknit_salvage::{FixKind, Formats, Schema, fit};

use crate::support::json;

/// Whether the second validator accepts the value. It checks formats, which all generated and stored schemas state truly or not at
/// all.
pub(crate) fn second_validator_accepts(schema: &Value, value: &Value) -> bool {
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.enable_format_assertions();
    let address = "file:///schema.json";
    compiler.add_resource(address, schema.to_serde()).unwrap_or_else(|error| panic!("{schema}: {error}"));
    let index = compiler.compile(address, &mut schemas).unwrap_or_else(|error| panic!("{schema}: {error}"));
    schemas.validate(&value.to_serde(), index).is_ok()
}

/// The calls with mistakes of the benchmark.
fn calls() -> Vec<(Value, Value)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/salvage/cases/calls.jsonl");
    let lines = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parts = |line: &str| {
        let case = json(line);
        let part = |name| case.get(name).cloned().unwrap_or_else(|| panic!("{line}: `{name}` is missing"));
        (part("schema"), part("value"))
    };
    lines.lines().map(parts).collect()
}

#[test]
fn every_fitted_call_is_valid_for_a_second_validator() {
    let mut fitted_calls = 0;
    for (source, value) in calls() {
        for formats in [Formats::Ignored, Formats::Checked] {
            let schema = Schema::compile_with(&source, formats).unwrap_or_else(|error| panic!("{source}: {error}"));
            let Ok(fitted) = fit(value.clone(), &schema) else { continue };
            fitted_calls += 1;
            let is_valid = second_validator_accepts(&source, &fitted.value);
            assert!(is_valid, "{value} became {}, which is not valid under {source}", fitted.value);
        }
    }
    assert!(fitted_calls >= 60, "{fitted_calls}");
}

#[test]
fn a_call_that_both_validators_accept_is_not_changed_but_for_misspelt_keys() {
    for (source, value) in calls() {
        let schema = Schema::compile(&source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let Ok(fitted) = fit(value.clone(), &schema) else { continue };
        if second_validator_accepts(&source, &value) {
            let is_key = |kind| matches!(kind, FixKind::KeySpelling | FixKind::Envelope);
            let is_unchanged = fitted.fixes.is_empty() || fitted.fixes.iter().any(|fix| is_key(fix.kind));
            assert!(is_unchanged, "{value}: {:?}", fitted.fixes);
        }
        let again = fit(fitted.value.clone(), &schema).unwrap_or_else(|error| panic!("{}: {error}", fitted.value));
        assert_eq!((again.value, again.fixes.len()), (fitted.value, 0), "{value}");
    }
}

#[test]
fn formatted_texts_are_judged_alike() {
    for (format, text) in [
        ("date", "2026-03-05"),
        ("date", "2026-02-30"),
        ("date-time", "2026-03-05T10:30:00Z"),
        ("date-time", "2026-03-05T10:30:00"),
        ("email", "jo@example.com"),
        ("email", "jo"),
        ("ipv4", "127.0.0.1"),
        ("ipv4", "127.0.0.256"),
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
        ("uuid", "2eb8aa08"),
        ("uri", "https://example.com"),
        ("uri", "example"),
    ] {
        let source = json(&format!(r#"{{"type": "string", "format": "{format}"}}"#));
        let schema = Schema::compile_with(&source, Formats::Checked).unwrap_or_else(|error| panic!("{error}"));
        let value = Value::from(text);
        assert_eq!(schema.fits(&value), second_validator_accepts(&source, &value), "{format}: {text}");
    }
}
