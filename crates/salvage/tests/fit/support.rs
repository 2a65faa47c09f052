//! Functions that the tests share.

use reknit_protocol::Value;
use reknit_salvage::{FitError, FittedValue, FixKind, Schema, fit};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn schema(text: &str) -> Schema {
    Schema::compile(&json(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Fits a value and checks the invariants of fitting.
pub(crate) fn try_fit(under: &str, value: &str) -> Result<FittedValue, FitError> {
    let schema = schema(under);
    let original = json(value);
    let result = fit(original.clone(), &schema);
    match &result {
        Ok(fitted) => {
            assert!(schema.fits(&fitted.value), "{value} became {}, which does not fit {under}", fitted.value);
            let changed = fitted.value.to_string() != original.to_string();
            assert_eq!(changed, !fitted.fixes.is_empty(), "{value} became {}: {:?}", fitted.value, fitted.fixes);
            let again = fit(fitted.value.clone(), &schema);
            let again = again.unwrap_or_else(|error| panic!("{value} fits once, not twice: {error}"));
            assert_eq!(again.value.to_string(), fitted.value.to_string(), "{value} changes when it is fitted again");
        }
        Err(error) => {
            assert_eq!(error.value.to_string(), original.to_string(), "the error keeps the value");
            assert!(!error.problems.is_empty(), "the error lists problems");
        }
    }
    result
}

/// Checks the result and the repairs of each value.
pub(crate) fn becomes(under: &str, cases: &[(&str, &str, &[FixKind])]) {
    for (value, expected, kinds) in cases {
        match try_fit(under, value) {
            Ok(fitted) => {
                assert_eq!(fitted.value.to_string(), json(expected).to_string(), "case: {value}");
                let found: Vec<FixKind> = fitted.fixes.iter().map(|fix| fix.kind).collect();
                assert_eq!(found, *kinds, "case: {value}");
            }
            Err(error) => panic!("{value} should become {expected}: {error}"),
        }
    }
}

/// Checks that each value is returned unchanged.
pub(crate) fn stays(under: &str, values: &[&str]) {
    for value in values {
        becomes(under, &[(value, value, &[])]);
    }
}

/// Checks that no value can be made to fit.
pub(crate) fn refused(under: &str, values: &[&str]) {
    for value in values {
        if let Ok(fitted) = try_fit(under, value) {
            panic!("{value} should not fit {under}, but became {}", fitted.value);
        }
    }
}
