//! The search for the next byte of a string that needs an escape, for the parser and the printer.

const fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The number of bytes before the first `"`, `\` or control character.
pub(crate) fn plain_prefix_len(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let marks = mark_special_bytes(u64::from_le_bytes(*word));
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

/// Tests eight bytes at once and sets the top bit of each special one.
///
/// A borrow may mark bytes above the first special one wrongly, so only the lowest mark counts.
fn mark_special_bytes(word: u64) -> u64 {
    const ONES: u64 = repeated(0x01);
    const TOP_BITS: u64 = repeated(0x80);
    let control = word.wrapping_sub(repeated(0x20)) & !word;
    let quote = word ^ repeated(b'"');
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = word ^ repeated(b'\\');
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & TOP_BITS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn testing_eight_bytes_at_once_finds_the_same_byte_as_testing_each(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), 0x1e..0x24_u8], 0..40),
            plain in 0..20_usize,
        ) {
            let bytes = [vec![b'x'; plain], bytes].concat();
            let expected = bytes.iter().position(|byte| is_special(*byte)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_prefix_len(&bytes), expected);
        }
    }
}
