//! Fitting a value to a schema.

use reknit_salvage::Schema;

use crate::{assert_only_keys_respelled, read_value, text_of};

/// A fitted value fits, and fitting it again changes nothing; of a value that fits at most keys are respelled; a value that
/// cannot be fitted is returned unchanged.
///
/// The input is a schema, a line break or NUL, and a value.
pub fn fit(data: &[u8]) {
    let text = text_of(data);
    let Some((schema, value)) = text.split_once(['\n', '\0']) else { return };
    let (Some(schema), Some(value)) = (read_value(schema), read_value(value)) else { return };
    let Ok(schema) = Schema::compile(&schema) else { return };
    let fits = schema.fits(&value);
    let problems = schema.problems(&value);
    assert_eq!(problems.is_empty(), fits, "`problems` and `fits` disagree: {problems:?}");
    match reknit_salvage::fit(value.clone(), &schema) {
        Ok(fitted) => {
            assert!(schema.fits(&fitted.value), "does not fit: {} {:?}", fitted.value, fitted.fixes);
            if fitted.fixes.is_empty() {
                assert_eq!(fitted.value.to_string(), value.to_string(), "changed without a fix");
            }
            if fits {
                assert_only_keys_respelled(&fitted.fixes);
            }
            let again = reknit_salvage::fit(fitted.value.clone(), &schema).expect("a fitted value fits");
            assert!(again.fixes.is_empty(), "fitted again: {} {:?}", fitted.value, again.fixes);
            assert_eq!(again.value.to_string(), fitted.value.to_string());
        }
        Err(misfit) => {
            assert!(!fits, "a value that fits is a misfit: {misfit}");
            assert!(!misfit.problems.is_empty(), "a misfit names its problems");
            assert_eq!(misfit.value.to_string(), value.to_string(), "a misfit keeps the value");
        }
    }
}
