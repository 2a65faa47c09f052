//! A reference to the result of a step, or to a place in it.

use std::fmt;

use reknit_protocol::{Path, Segment, StepId, Value};

use crate::ids::{Ids, name_len};

/// A reference to the result of a step, or to a place in it: `step-1.items[0].price`.
///
/// A key of digits behind a point (`.0`) means a position where it meets an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    step: StepId,
    path: Path,
    spelling: Spelling,
}

/// How the id is printed. It depends on the other ids of the plan: with `a` and `a.b` among them, the field `b` of `a`
/// must be written `["a"].b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Spelling {
    Bare,
    Quoted,
}

impl Reference {
    pub(crate) fn new(step: StepId, path: Path, ids: &Ids<'_>) -> Self {
        let bare = format!("{step}{}", Tail(&path));
        let spelling = if ids.at_start_of(&bare) == Some(&step) { Spelling::Bare } else { Spelling::Quoted };
        Self { step, path, spelling }
    }

    /// The step whose result is meant.
    pub fn step(&self) -> &StepId {
        &self.step
    }

    /// The place in the result, as written; the root for the whole.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for Reference {
    /// As it is written in an expression.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spelling {
            Spelling::Bare => write!(out, "{}{}", self.step, Tail(&self.path)),
            Spelling::Quoted => write!(out, "[{}]{}", quoted(self.step.as_str()), Tail(&self.path)),
        }
    }
}

/// A place in the result of a step, for messages: `step-1.data.id`.
pub(crate) fn qualified(step: &StepId, path: &Path) -> String {
    format!("{step}{}", Tail(path))
}

/// A path as it follows the id of a step.
pub(crate) struct Tail<'a>(pub(crate) &'a Path);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.segments().iter().try_for_each(|segment| match segment {
            Segment::Index(index) => write!(out, "[{index}]"),
            Segment::Key(key) if !key.is_empty() && name_len(key) == key.len() => write!(out, ".{key}"),
            Segment::Key(key) => write!(out, "[{}]", quoted(key)),
        })
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
