//! Fitting any value to any schema.

use reknit_salvage::Schema;

use crate::{any_value, assert_respelt_at_most, text_of};

/// What is fitted fits and stays; what fits is at most spelt anew; what cannot be made to fit is kept.
///
/// The input is a schema, a line break or NUL, and a value.
pub fn fit(data: &[u8]) {
    let text = text_of(data);
    let Some((schema, value)) = text.split_once(['\n', '\0']) else { return };
    let (Some(schema), Some(value)) = (any_value(schema), any_value(value)) else { return };
    let Ok(schema) = Schema::compile(&schema) else { return };
    let fits = schema.fits(&value);
    let problems = schema.problems(&value);
    assert_eq!(problems.is_empty(), fits, "the problems must say what the verdict says: {problems:?}");
    match reknit_salvage::fit(value.clone(), &schema) {
        Ok(fitted) => {
            assert!(schema.fits(&fitted.value), "does not fit: {} {:?}", fitted.value, fitted.fixes);
            if fitted.fixes.is_empty() {
                assert_eq!(fitted.value.to_string(), value.to_string(), "changed without a fix");
            }
            if fits {
                assert_respelt_at_most(&fitted.fixes);
            }
            let again = reknit_salvage::fit(fitted.value.clone(), &schema).expect("what was fitted fits");
            assert!(again.fixes.is_empty(), "fitted again: {} {:?}", fitted.value, again.fixes);
            assert_eq!(again.value.to_string(), fitted.value.to_string());
        }
        Err(misfit) => {
            assert!(!fits, "it fits, and is a misfit: {misfit}");
            assert!(!misfit.problems.is_empty(), "a misfit says what is wrong");
            assert_eq!(misfit.value.to_string(), value.to_string(), "a misfit keeps the value");
        }
    }
}
