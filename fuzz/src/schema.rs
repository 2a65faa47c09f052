//! The work that a schema can cause.

use std::time::{Duration, Instant};

use reknit_protocol::Value;
use reknit_salvage::Schema;

use crate::text_of;

/// The largest schema and value for which the property is promised, in bytes.
const MAX_BYTES: usize = 10_000;

/// A schema of at most 10 kB is refused, or compiled and used with any value of at most 10 kB within a second. The limit here
/// is longer, because builds for fuzzing and tests are slow, but far shorter than exponential work.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Compiling, validating and fitting end in time. The input is a schema, a line break or NUL, and a value.
pub fn schema(data: &[u8]) {
    let text = text_of(data);
    let Some((schema, value)) = text.split_once(['\n', '\0']) else { return };
    if schema.len() > MAX_BYTES || value.len() > MAX_BYTES {
        return;
    }
    let (Ok(schema), Ok(value)) = (Value::parse(schema), Value::parse(value)) else { return };
    let start = Instant::now();
    if let Ok(schema) = Schema::compile(&schema) {
        let fits = schema.fits(&value);
        let problems = schema.problems(&value);
        assert_eq!(problems.is_empty(), fits, "`problems` and `fits` disagree: {problems:?}");
        let fitted = reknit_salvage::fit(value, &schema);
        assert!(fitted.is_ok() || !fits, "a value that fits is a misfit");
    }
    assert!(start.elapsed() < TIME_LIMIT, "took {:?}", start.elapsed());
}
