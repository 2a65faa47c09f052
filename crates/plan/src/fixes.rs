//! Corrects a plan where there is no doubt, and records each change.

mod controls;
mod emphasis;
mod names;
mod references;

use std::fmt;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Plan, StepId, Value, word_enum};

use crate::PlanAuthor;
use crate::catalogue::Catalogue;
pub use controls::place_controls;
pub use references::{DoubtfulText, ReadValues, read_values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFix {
    pub step: StepId,
    pub kind: PlanFixKind,
    /// The text as the plan had it.
    pub before: String,
    /// The text now.
    pub after: String,
}

word_enum! {
    /// What a [`PlanFix`] changed. The words are the names in messages and JSON.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PlanFixKind {
        Tool = "tool",
        Capability = "capability",
        StepId = "id",
        Parameter = "parameter",
        /// A value that was written with emphasis: `**TSLA**`.
        Value = "value",
        /// A reference that was written without its braces: `$quote.price`.
        Reference = "reference",
        /// A key such as `foreach` that was written in another place, or a computation in another form.
        Control = "control",
    }
}

impl fmt::Display for PlanFix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, kind, before, after } = self;
        match kind {
            PlanFixKind::Reference => write!(out, "step `{step}`: read `{before}` as the reference `{after}`"),
            PlanFixKind::Capability if before.is_empty() => {
                write!(out, "step `{step}`: read the tool `{after}` as the capability")
            }
            PlanFixKind::Control => write!(out, "step `{step}`: read `{before}` as `{after}`"),
            _ => write!(out, "step `{step}`: corrected the {} `{before}` to `{after}`", kind.as_str()),
        }
    }
}

impl PlanFix {
    pub(crate) fn new(step: &StepId, kind: PlanFixKind, before: &str, after: &str) -> Self {
        Self { step: step.clone(), kind, before: before.to_owned(), after: after.to_owned() }
    }

    /// Whether a step with this capability goes to another tool than the one that the plan names, and not only to another spelling
    /// of it. A plan that writes a capability in the place of a tool names no tool.
    pub fn is_other_tool(&self, capability: &str) -> bool {
        let named = self.before.trim_matches(|letter: char| !letter.is_alphanumeric());
        let named = names::undecorated(named).unwrap_or(named);
        self.kind == PlanFixKind::Tool && !are_alike(named, &self.after) && !are_alike(named, capability)
    }

    /// The JSON form: `step`, `of`, `before`, `after`.
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from([
            ("step", Value::from(self.step.as_str())),
            ("of", self.kind.as_str().into()),
            ("before", self.before.as_str().into()),
            ("after", self.after.as_str().into()),
        ]))
    }
}

/// Corrects a plan where there is no doubt. [`check`](crate::check()) reports the rest.
///
/// In any plan, names of tools and capabilities get the spelling of the catalogue. In a model's plan, Markdown emphasis
/// around names and values is removed, and references in other template languages get their braces.
pub fn correct_plan(plan: &mut Plan, catalogue: &Catalogue, author: PlanAuthor) -> Vec<PlanFix> {
    let mut fixes = Vec::new();
    if author == PlanAuthor::Model {
        fixes.extend(emphasis::remove(plan));
    }
    fixes.extend(names::correct(plan, catalogue, author));
    if author == PlanAuthor::Model {
        fixes.extend(references::add_braces(plan, catalogue, author));
    }
    fixes
}
