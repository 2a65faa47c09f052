//! Quotes, and where the plain text between them ends.

use super::parser::Parser;

/// The families of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    SmartDouble,
    Single,
    SmartSingle,
}

impl Quote {
    /// The character that is most often used for the quote.
    pub(super) fn mark(self) -> char {
        match self {
            Self::Double | Self::SmartDouble => '"',
            Self::Single | Self::SmartSingle => '\'',
        }
    }

    /// Whether `end` may close a string that this quote opens.
    pub(super) fn is_ended_by(self, end: Quote) -> bool {
        match self {
            Self::Double | Self::Single => end == self,
            Self::SmartDouble => matches!(end, Self::SmartDouble | Self::Double),
            Self::SmartSingle => matches!(end, Self::SmartSingle | Self::Single),
        }
    }
}

impl Parser<'_> {
    pub(super) fn quote_here(&self) -> Option<(Quote, usize)> {
        self.quote_at(self.pos)
    }

    /// The quote at `at` and its length in bytes.
    pub(super) fn quote_at(&self, at: usize) -> Option<(Quote, usize)> {
        match self.byte(at) {
            b'"' => Some((Quote::Double, 1)),
            b'\'' => Some((Quote::Single, 1)),
            b'`' if self.slice(at, at + 3) == "```" => None,
            b'`' => Some((Quote::SmartSingle, 1)),
            0xC2 | 0xE2 => {
                let quote = self.text.get(at..)?.chars().next()?;
                match quote {
                    '“' | '”' | '„' | '‟' => Some((Quote::SmartDouble, quote.len_utf8())),
                    '‘' | '’' | '‛' | '´' => Some((Quote::SmartSingle, quote.len_utf8())),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether each byte is plain text in every string. A table, because every byte of every string is looked up.
#[expect(clippy::indexing_slicing, reason = "a constant does not compile if an index is out of range")]
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0_u8;
    loop {
        plain[byte as usize] = !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | 0xC2 | 0xE2 | 0..0x20);
        if byte == u8::MAX {
            break plain;
        }
        byte += 1;
    }
};

/// How many bytes at the start are plain text: no quote, escape or control character.
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| PLAIN.get(usize::from(*byte)).copied().unwrap_or(false);
    bytes.iter().position(|byte| !is_plain(byte)).unwrap_or(bytes.len())
}
