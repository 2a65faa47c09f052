//! What an import reports: parts of a document that are broken, not supported, or without effect.

use std::collections::HashSet;
use std::fmt;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// An operation is left out.
    OperationDropped,
    /// A part is broken or unknown, and is left out.
    Problem,
    /// A part has no effect here, or is read in a way that its author should know.
    Note,
}

/// One thing that an import found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// How much it matters.
    pub kind: FindingKind,
    /// The file, empty for the document itself, and the JSON pointer inside it: `common.yaml#/definitions/Pet`.
    pub pointer: String,
    /// The reason.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = if self.kind == FindingKind::OperationDropped { "the operation is left out: " } else { "" };
        write!(out, "{}: {effect}{}", self.pointer, self.message)
    }
}

/// The findings of an import, in the order in which they were made. Operations share parts, such as the parameters of a path, so
/// the same one is often made again; it is kept once.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    seen: HashSet<Finding>,
}

impl Findings {
    pub(crate) fn dropped(&mut self, pointer: String, message: impl Into<String>) {
        self.push(FindingKind::OperationDropped, pointer, message.into());
    }

    pub(crate) fn problem(&mut self, pointer: String, message: impl Into<String>) {
        self.push(FindingKind::Problem, pointer, message.into());
    }

    pub(crate) fn note(&mut self, pointer: String, message: impl Into<String>) {
        self.push(FindingKind::Note, pointer, message.into());
    }

    /// Reports the keys that objects of a file have twice.
    pub(crate) fn duplicate_keys(&mut self, file: &str, keys: Vec<(String, String)>) {
        for (pointer, key) in keys {
            self.problem(format!("{file}{pointer}"), format!("the key `{key}` exists twice; the last one counts"));
        }
    }

    fn push(&mut self, kind: FindingKind, pointer: String, message: String) {
        let finding = Finding { kind, pointer, message };
        if self.seen.insert(finding.clone()) {
            self.list.push(finding);
        }
    }

    pub(crate) fn finish(self) -> Vec<Finding> {
        self.list
    }
}

/// A key as a segment of a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
