//! Short number texts on the stack.

/// The size of a `String`, so that an inline text does not make a `Value` larger.
const CAPACITY: usize = 24;

/// A short ASCII text without its length, which the caller keeps.
// Aligned so that a move copies three whole words: copies of packed bytes slow down parsing.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct InlineText([u8; CAPACITY]);

impl InlineText {
    /// Copies the first `length` bytes of `source`; `None` if they are too many.
    ///
    /// Copies a fixed number of bytes if the source has them, which is faster than copying `length` bytes. The
    /// bytes after the first `length` are never read.
    #[inline]
    pub(super) fn new(source: &[u8], length: usize) -> Option<(Self, u32)> {
        let length = u32::try_from(length).ok().filter(|_| length <= CAPACITY)?;
        match source.first_chunk() {
            Some(bytes) => Some((Self(*bytes), length)),
            None => Some((Self(padded(source)), length)),
        }
    }

    pub(super) fn as_str(&self, length: u32) -> &str {
        str::from_utf8(self.0.get(..length as usize).unwrap_or_default()).unwrap_or_default()
    }
}

#[cold]
fn padded(source: &[u8]) -> [u8; CAPACITY] {
    let mut bytes = [0; CAPACITY];
    for (slot, byte) in bytes.iter_mut().zip(source) {
        *slot = *byte;
    }
    bytes
}
