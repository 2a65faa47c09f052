//! SHA-256, for digests that are the same on every platform.
//!
//! With the feature `sha2` it uses the instructions of the processor. Without it, it is plain code, which needs no other package
//! and is several times slower.

#[cfg(any(test, not(feature = "sha2")))]
mod portable;

use std::fmt::Write as _;

#[cfg(feature = "sha2")]
type State = sha2::Sha256;
#[cfg(not(feature = "sha2"))]
type State = portable::PortableSha256;

/// Computes a SHA-256 digest.
///
/// ```
/// use reknit_protocol::{Sha256, hex};
///
/// let digest = Sha256::digest("abc");
/// assert_eq!(hex(&digest), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sha256(State);

impl Sha256 {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn digest(bytes: impl AsRef<[u8]>) -> [u8; 32] {
        let mut digest = Self::new();
        digest.update(bytes);
        digest.finish()
    }

    #[cfg(feature = "sha2")]
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        sha2::Digest::update(&mut self.0, bytes);
    }

    #[cfg(not(feature = "sha2"))]
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.update(bytes.as_ref());
    }

    #[cfg(feature = "sha2")]
    pub fn finish(self) -> [u8; 32] {
        sha2::Digest::finalize(self.0).into()
    }

    #[cfg(not(feature = "sha2"))]
    pub fn finish(self) -> [u8; 32] {
        self.0.finish()
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn portable(parts: &[&[u8]]) -> String {
        let mut digest = portable::PortableSha256::default();
        for part in parts {
            digest.update(part);
        }
        hex(&digest.finish())
    }

    /// The examples of the standard, FIPS 180-4, and one for each way in which the end may fall into a block.
    #[test]
    fn digests_are_those_of_the_standard() {
        let million = vec![b'a'; 1_000_000];
        for (bytes, expected) in [
            (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ] {
            assert_eq!(portable(&[bytes]), expected);
            assert_eq!(hex(&Sha256::digest(bytes)), expected);
        }
    }

    proptest! {
        #[test]
        fn both_implementations_agree_however_the_bytes_are_split(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            at in 0_usize..300,
        ) {
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            let mut digest = Sha256::new();
            digest.update(first);
            digest.update(second);
            prop_assert_eq!(portable(&[first, second]), hex(&digest.finish()));
            prop_assert_eq!(portable(&[first, second]), portable(&[&bytes]));
        }
    }
}
