//! What an import reports: parts of a document that are broken, not supported, or without effect.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use crate::files::{Files, Node};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    OperationDropped,
    /// A part is broken or unknown, and is left out.
    Problem,
    /// A part has no effect here, or is read in a way that its author should know.
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    pub kind: FindingKind,
    /// The file, empty for the document itself, and the JSON pointer inside it: `common.yaml#/definitions/Pet`.
    pub pointer: String,
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
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    pub(crate) files: &'a Files,
    list: RefCell<Vec<Finding>>,
    seen: RefCell<HashSet<Finding>>,
}

impl<'a> Findings<'a> {
    /// The findings in these files, which begin with the keys that their objects have twice.
    pub(crate) fn new(files: &'a Files) -> Self {
        let findings = Self { files, list: RefCell::default(), seen: RefCell::default() };
        for (place, key) in &files.duplicate_keys {
            let message = format!("the key `{key}` exists twice; the last one counts");
            findings.push(FindingKind::Problem, place.clone(), message);
        }
        findings
    }

    pub(crate) fn dropped(&self, node: &Node<'_>, message: impl Into<String>) {
        self.push(FindingKind::OperationDropped, self.files.place(node), message.into());
    }

    pub(crate) fn problem(&self, node: &Node<'_>, message: impl Into<String>) {
        self.push(FindingKind::Problem, self.files.place(node), message.into());
    }

    pub(crate) fn note(&self, node: &Node<'_>, message: impl Into<String>) {
        self.note_at(self.files.place(node), message.into());
    }

    pub(crate) fn note_at(&self, place: String, message: impl Into<String>) {
        self.push(FindingKind::Note, place, message.into());
    }

    fn push(&self, kind: FindingKind, pointer: String, message: String) {
        let finding = Finding { kind, pointer, message };
        if self.seen.borrow_mut().insert(finding.clone()) {
            self.list.borrow_mut().push(finding);
        }
    }

    pub(crate) fn finish(self) -> Vec<Finding> {
        self.list.into_inner()
    }
}
