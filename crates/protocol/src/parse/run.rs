//! The inner loop of reading and writing strings: how far is the next byte that needs attention?

/// Eight copies of a byte.
const fn spread(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// How many bytes at the start are none of `"`, `\` and control characters.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let marks = special_bytes(u64::from_le_bytes(*word));
        if marks != 0 {
            return length + (marks.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + rest.iter().take_while(|byte| !is_special(**byte)).count()
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

/// Sets the top bit of each special byte, testing eight at once.
///
/// Bytes above the first special one may be marked wrongly (a borrow runs upwards), so only the lowest mark counts.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = spread(0x01);
    const TOPS: u64 = spread(0x80);
    let control = word.wrapping_sub(spread(0x20)) & !word;
    let quote = word ^ spread(b'"');
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = word ^ spread(b'\\');
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & TOPS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn eight_bytes_at_once_find_the_same_byte_as_one_at_a_time(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), 0x1e..0x24_u8], 0..40),
            plain in 0..20_usize,
        ) {
            let bytes = [vec![b'x'; plain], bytes].concat();
            let expected = bytes.iter().position(|byte| is_special(*byte)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_run(&bytes), expected);
        }
    }
}
