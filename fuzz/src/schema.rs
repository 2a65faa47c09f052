//! The work that a schema can cause.

use reknit_protocol::Value;
use reknit_salvage::Schema;

use crate::text_of;

/// The largest schema and value for which the property is promised, in bytes.
const MAX_BYTES: usize = 10_000;

/// A schema of at most 10 kB is refused, or compiled and used with any value of at most 10 kB within a second. The limit here,
/// in hundredths of a second of processor time, is longer, because builds for fuzzing and tests are slow, but far shorter than
/// exponential work.
const MAX_TICKS: u64 = 2_000;

/// Compiling, validating and fitting end in time. The input is a schema, a line break or NUL, and a value.
pub fn schema(data: &[u8]) {
    let text = text_of(data);
    let Some((schema, value)) = text.split_once(['\n', '\0']) else { return };
    if schema.len() > MAX_BYTES || value.len() > MAX_BYTES {
        return;
    }
    let (Ok(schema), Ok(value)) = (Value::parse(schema), Value::parse(value)) else { return };
    let start = processor_ticks();
    if let Ok(schema) = Schema::compile(&schema) {
        let fits = schema.fits(&value);
        let problems = schema.problems(&value);
        assert_eq!(problems.is_empty(), fits, "`problems` and `fits` disagree: {problems:?}");
        let fitted = reknit_salvage::fit(value, &schema);
        assert!(fitted.is_ok() || !fits, "a value that fits is a misfit");
    }
    let ticks = processor_ticks() - start;
    assert!(ticks < MAX_TICKS, "took {ticks} hundredths of a second");
}

/// The processor time of this process in hundredths of a second. A busy machine does not make it longer, as it does the time of
/// the clock.
fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}
