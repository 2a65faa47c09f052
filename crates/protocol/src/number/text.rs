//! Number texts without an allocation.

/// The longest text kept in place: as long as a `String` is large, so that it does not make a `Value` larger.
const SHORT: usize = 24;

/// A short ASCII text kept in place; how much of it counts is kept beside it.
// Aligned so that moving one is three whole words: packed bytes stall the copies that parsing is full of.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct ShortText([u8; SHORT]);

impl ShortText {
    /// Keeps the first `length` bytes of a longer text; `None` if that is too long.
    ///
    /// Copies a fixed number of bytes where the source has them, which is cheaper than copying the right number. What
    /// stands behind the first `length` of them is never looked at.
    #[inline]
    pub(super) fn new(source: &[u8], length: usize) -> Option<(Self, u32)> {
        let length = u32::try_from(length).ok().filter(|_| length <= SHORT)?;
        match source.first_chunk() {
            Some(bytes) => Some((Self(*bytes), length)),
            None => Some((Self(padded(source)), length)),
        }
    }

    pub(super) fn as_bytes(&self, length: u32) -> &[u8] {
        self.0.get(..length as usize).unwrap_or_default()
    }

    pub(super) fn as_str(&self, length: u32) -> &str {
        str::from_utf8(self.as_bytes(length)).unwrap_or_default()
    }
}

#[cold]
fn padded(source: &[u8]) -> [u8; SHORT] {
    let mut bytes = [0; SHORT];
    for (slot, byte) in bytes.iter_mut().zip(source) {
        *slot = *byte;
    }
    bytes
}

/// The longest `i64`: a sign and 19 digits.
const LONGEST_I64: usize = 20;

/// The decimal spelling of an `i64`, on the stack.
pub(super) struct Digits {
    start: usize,
    bytes: [u8; LONGEST_I64],
}

impl Digits {
    pub(super) fn new(value: i64) -> Self {
        let mut digits = Self { start: LONGEST_I64, bytes: [b'0'; LONGEST_I64] };
        let mut rest = value.unsigned_abs();
        loop {
            // The remainder is below ten: the cast keeps it whole.
            digits.put(b'0' + (rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            digits.put(b'-');
        }
        digits
    }

    fn put(&mut self, byte: u8) {
        self.start = self.start.saturating_sub(1);
        if let Some(slot) = self.bytes.get_mut(self.start) {
            *slot = byte;
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}
