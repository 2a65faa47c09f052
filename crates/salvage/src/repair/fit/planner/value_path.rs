//! The path of a value, as a linked list on the stack.

use reknit_protocol::{Path, Segment};

/// The path from the root of the original value.
#[derive(Debug)]
pub(super) enum ValuePath<'t> {
    Root,
    /// Inside a decoded string, which has no paths of its own in the original.
    Decoded(&'t ValuePath<'t>),
    Key(&'t ValuePath<'t>, &'t str),
    Index(&'t ValuePath<'t>, usize),
}

impl ValuePath<'_> {
    pub(super) fn to_path(&self) -> Path {
        let mut segments = Vec::new();
        let mut current = self;
        loop {
            current = match current {
                Self::Root => break,
                Self::Decoded(parent) => parent,
                Self::Key(parent, key) => {
                    segments.push(Segment::Key((*key).to_owned()));
                    parent
                }
                Self::Index(parent, index) => {
                    segments.push(Segment::Index(*index));
                    parent
                }
            };
        }
        segments.into_iter().rev().collect()
    }

    /// Whether the value is in the original and not in a decoded string.
    pub(super) fn is_original(&self) -> bool {
        let mut current = self;
        loop {
            current = match current {
                Self::Root => return true,
                Self::Decoded(_) => return false,
                Self::Key(parent, _) | Self::Index(parent, _) => parent,
            };
        }
    }
}
