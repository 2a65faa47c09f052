//! References that are not written between `{{` and `}}`: `$a.price`, `${a.price}`, `<a.price>`, `a.price`, `#E1`.
//!
//! Models know many template languages. Sent as it is, such a text would reach the tool instead of the value. So every text
//! of a plan is searched for them: in a model's plan those with one meaning are rewritten (`correct_plan`), and all others
//! are problems of the plan (`check`). None is ever sent as text unless the plan says so: `{{"a.price"}}`.

mod context;
mod form;
mod judge;
mod mention;
mod operand;
mod plan_texts;
mod reference_object;
mod scan;
mod source_names;

use std::ops::Range;

use reknit_expressions::{Reference, StepIds};
use reknit_protocol::{Path, StepId};

use crate::announced::AnnouncedResults;
pub(crate) use context::{ParameterContext, is_free_text, is_pattern};
pub(crate) use plan_texts::PlanTexts;
use reference_object::reference_in_object;
pub(crate) use source_names::{Source, SourceNames};

/// A text that looks like a reference and is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnbracedReference {
    /// Its place in the text, in bytes.
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
    /// The reference to write instead, with braces.
    pub(crate) rewrite: Option<String>,
    /// Whether it can have another meaning.
    pub(crate) certainty: Certainty,
    /// What is wrong with it.
    pub(crate) reason: UnbracedReason,
}

/// Whether a text has only one meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// It can only be the reference.
    Certain,
    /// It may be the reference.
    Doubtful,
}

/// Why a text is no reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnbracedReason {
    /// It names a step, without the braces.
    Unbraced,
    /// It names a step, in a way that references do not support.
    Unsupported,
    /// It has the form of a reference, and no step has its name.
    UnknownStep,
}

/// Finds unbraced references in the texts of one plan.
pub(crate) struct UnbracedFinder<'a> {
    pub(crate) names: &'a SourceNames,
    ids: StepIds<'a>,
    announced: &'a AnnouncedResults,
}

impl<'a> UnbracedFinder<'a> {
    pub(crate) fn new(names: &'a SourceNames, announced: &'a AnnouncedResults) -> Self {
        Self { names, ids: StepIds::new(names.ids()), announced }
    }

    /// A reference as it must be written in this plan.
    fn reference(&self, id: &StepId, path: Path) -> Reference {
        Reference::new(id.clone(), path, &self.ids)
    }

    pub(crate) fn find(&self, text: &str, context: &ParameterContext<'_>) -> Vec<UnbracedReference> {
        if context.allows(text) {
            return Vec::new();
        }
        let mut found = scan::Scan::new(self, text, context).run();
        if found.is_empty() {
            found.extend(mention::whole_text(self, text, context));
        }
        if is_doubtful(text, &found) {
            for each in &mut found {
                each.certainty = Certainty::Doubtful;
            }
        }
        found
    }
}

impl UnbracedReference {
    /// What is wrong, for people and models.
    pub(crate) fn message(&self) -> String {
        let reason = match self.reason {
            UnbracedReason::Unbraced => "a reference is written between `{{` and `}}`",
            UnbracedReason::Unsupported => "it looks like a reference that is not supported",
            UnbracedReason::UnknownStep => "it looks like a reference, but names no step",
        };
        format!("`{}` would be sent as text: {reason}", self.text)
    }

    pub(crate) fn hint(&self) -> String {
        let literal = match self.text.strip_prefix("${{") {
            Some(price) => format!("`{{{{\"$\"}}}}{{{{{price}`"),
            None => format!("`{{{{{}}}}}`", reknit_protocol::Value::from(self.text.as_str())),
        };
        match &self.rewrite {
            Some(rewrite) => format!("write `{rewrite}`, or {literal} for the text itself"),
            None => format!("write `{{{{step.field}}}}` with the id of a step, or {literal} for the text itself"),
        }
    }
}

/// Signs that nobody writes around a value on purpose: quotes, and halves of delimiters.
const SIGNS: &str = "\"'`“”‘’=<>[]{}()|^~\\$@#%&:;";

/// Whether only quotes and signs stand around the references of a text: `"$a.name"`, `=$a.name`, `[[a.name]`. They may belong to the
/// language in which the reference was written, and then they must not be sent.
fn is_doubtful(text: &str, found: &[UnbracedReference]) -> bool {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return false };
    let before = text.get(..first.range.start).unwrap_or_default();
    let after = text.get(last.range.end..).unwrap_or_default();
    // A formatted string of Python.
    let before = before.trim();
    let before = before.strip_prefix('f').filter(|rest| rest.starts_with(['"', '\''])).unwrap_or(before);
    let mut signs = before.chars().chain(after.trim().chars()).peekable();
    signs.peek().is_some() && signs.all(|sign| SIGNS.contains(sign))
}

/// Whether a word is in a list of words with single spaces between them.
fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
