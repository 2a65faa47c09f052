//! References to step results.

use std::fmt;

use reknit_protocol::{Path, Segment, StepId, Value};

use crate::step_ids::{StepIds, name_len};

/// A reference to the result of a step, or to a value inside it: `step-1.items[0].price`.
///
/// A key of digits (`.0`) is an index if the value is an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    step: StepId,
    path: Path,
    spelling: Spelling,
}

/// How the step id is printed. It depends on the other ids of the plan: if both `a` and `a.b` are ids, the field `b` of
/// `a` must be written `["a"].b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Spelling {
    Bare,
    Quoted,
}

impl Reference {
    /// A reference to a path in the result of a step. It prints as the ids of the plan require it.
    pub fn new(step: StepId, path: Path, ids: &StepIds<'_>) -> Self {
        let bare = format!("{step}{}", PathSuffix(&path));
        let spelling = if ids.longest_prefix_of(&bare) == Some(&step) { Spelling::Bare } else { Spelling::Quoted };
        Self { step, path, spelling }
    }

    /// The same reference, which prints with its id in quotes.
    pub(crate) fn in_quotes(self) -> Self {
        Self { spelling: Spelling::Quoted, ..self }
    }

    pub fn step(&self) -> &StepId {
        &self.step
    }

    /// The path in the result as written; the root for the whole result.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spelling {
            Spelling::Bare => write!(out, "{}{}", self.step, PathSuffix(&self.path)),
            Spelling::Quoted => write!(out, "[{}]{}", quoted(self.step.as_str()), PathSuffix(&self.path)),
        }
    }
}

/// A step and a path for messages: `step-1.data.id`.
pub(crate) fn reference_text(step: &StepId, path: &Path) -> String {
    format!("{step}{}", PathSuffix(path))
}

/// A path as it is written after a step id.
pub(crate) struct PathSuffix<'a>(pub(crate) &'a Path);

impl fmt::Display for PathSuffix<'_> {
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
