//! What the tests have in common.

use reknit_protocol::Value;
use reknit_salvage::{Fitted, FixKind, Misfit, Schema, fit};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn schema(text: &str) -> Schema {
    Schema::compile(&json(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Fits a value and checks what must always hold.
pub(crate) fn try_fit(under: &str, value: &str) -> Result<Fitted, Misfit> {
    let schema = schema(under);
    let original = json(value);
    let result = fit(original.clone(), &schema);
    match &result {
        Ok(fitted) => {
            assert!(schema.fits(&fitted.value), "{value} became {}, which does not fit {under}", fitted.value);
            let changed = fitted.value.to_string() != original.to_string();
            assert_eq!(changed, !fitted.fixes.is_empty(), "{value} became {}: {:?}", fitted.value, fitted.fixes);
            let again = fit(fitted.value.clone(), &schema);
            let again = again.unwrap_or_else(|misfit| panic!("{value} fits once, not twice: {misfit}"));
            assert_eq!(again.value.to_string(), fitted.value.to_string(), "{value} is not fitted at once");
        }
        Err(misfit) => {
            assert_eq!(misfit.value.to_string(), original.to_string(), "a misfit keeps the value");
            assert!(!misfit.problems.is_empty(), "a misfit says why");
        }
    }
    result
}

/// Checks each value against what it should become, and by which repairs.
pub(crate) fn becomes(under: &str, cases: &[(&str, &str, &[FixKind])]) {
    for (value, expected, kinds) in cases {
        match try_fit(under, value) {
            Ok(fitted) => {
                assert_eq!(fitted.value.to_string(), json(expected).to_string(), "case: {value}");
                let found: Vec<FixKind> = fitted.fixes.iter().map(|fix| fix.kind).collect();
                assert_eq!(found, *kinds, "case: {value}");
            }
            Err(misfit) => panic!("{value} should become {expected}: {misfit}"),
        }
    }
}

/// Checks that each value is returned as it is.
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
