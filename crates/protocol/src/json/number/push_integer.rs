//! The printer for integers, two digits at a time.

/// The pairs from `00` to `99`.
const PAIRS: &str = "0001020304050607080910111213141516171819\
                     2021222324252627282930313233343536373839\
                     4041424344454647484950515253545556575859\
                     6061626364656667686970717273747576777879\
                     8081828384858687888990919293949596979899";

/// Appends an integer in decimal.
///
/// It copies slices of a text, because assembled bytes would need a UTF-8 check.
pub(super) fn push_integer(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    let mut rest = value.unsigned_abs();
    let mut pairs = [0_usize; 10];
    let mut count = 0;
    for pair in &mut pairs {
        *pair = (rest % 100) as usize;
        rest /= 100;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    let mut leading = true;
    for pair in pairs.iter().take(count).rev() {
        let skipped = usize::from(leading && *pair < 10);
        leading = false;
        out.push_str(PAIRS.get(pair * 2 + skipped..pair * 2 + 2).unwrap_or_default());
    }
}
