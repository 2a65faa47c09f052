//! Where a value stands in the original.

use reknit_protocol::{Path, Segment};

/// The way from the root of the original value.
#[derive(Debug)]
pub(super) enum Trail<'t> {
    Root,
    /// Inside a text that was decoded, where the original has no paths.
    Decoded(&'t Trail<'t>),
    Key(&'t Trail<'t>, &'t str),
    Index(&'t Trail<'t>, usize),
}

impl Trail<'_> {
    pub(super) fn path(&self) -> Path {
        let mut segments = Vec::new();
        let mut place = self;
        loop {
            place = match place {
                Self::Root => break,
                Self::Decoded(up) => up,
                Self::Key(up, key) => {
                    segments.push(Segment::Key((*key).to_owned()));
                    up
                }
                Self::Index(up, index) => {
                    segments.push(Segment::Index(*index));
                    up
                }
            };
        }
        segments.into_iter().rev().collect()
    }

    /// Whether the value stands in the original, not in a text that was decoded.
    pub(super) fn is_original(&self) -> bool {
        let mut place = self;
        loop {
            place = match place {
                Self::Root => return true,
                Self::Decoded(_) => return false,
                Self::Key(up, _) | Self::Index(up, _) => up,
            };
        }
    }
}
