//! Why a text is no template or no expression.

use std::fmt;

use reknit_protocol::{Path, StepId};

use crate::expression::Function;

/// A defect in a template or an expression, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}character {}: {problem}", Prefix(.path), .position + 1)]
pub struct TemplateError {
    /// Where in the parameters the text stands; the root for a text of its own.
    pub path: Path,
    /// Where in the text: how many characters stand before the defect.
    pub position: usize,
    /// What is wrong there.
    pub problem: TemplateProblem,
}

/// What is wrong in a template or an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    /// A name that is no step of the plan.
    #[error("there is no step `{found}`{}", Hint(.nearest.as_ref(), .available))]
    UnknownStep {
        /// The name as written.
        found: String,
        /// The step whose id is spelt most like it, if one is near.
        nearest: Option<StepId>,
        /// The steps there are.
        available: Vec<StepId>,
    },
    /// A call of something that is no function.
    #[error("there is no function `{found}`{}", .nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    UnknownFunction {
        /// The name as written.
        found: String,
        /// The function whose name is spelt most like it, if one is near.
        nearest: Option<Function>,
    },
    /// A function with too few or too many arguments.
    #[error("`{function}` takes {expected}, found {found}")]
    Arguments {
        /// The function.
        function: Function,
        /// How many it takes, in words.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// The grammar wants something else here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What would do.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// `{{` without `}}`.
    #[error("`{{{{` is not closed by `}}}}`; to mean the braces themselves, write `{{{{{{{{`")]
    Unclosed,
    /// Braces in the name of a parameter or of a field.
    #[error("a name is sent as it is written: only a value can be a template")]
    Name,
    /// `a-b`: the minus could belong to a name.
    #[error("a minus that subtracts needs a space before it")]
    TightMinus,
    /// A number or a text in quotes that JSON would not read.
    #[error("{what} cannot be read: {problem}")]
    BadLiteral {
        /// "the number" or "the text".
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// More than is allowed of something.
    #[error("more than {limit} {of}")]
    TooMuch {
        /// Of what.
        of: &'static str,
        /// How much is allowed.
        limit: usize,
    },
}

/// Everything that is wrong with the templates of a step's parameters: at least one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParametersError {
    /// Each defect, in the order of the parameters.
    pub errors: Vec<TemplateError>,
}

impl std::error::Error for ParametersError {}

impl fmt::Display for ParametersError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            write!(out, "{}{error}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

struct Prefix<'a>(&'a Path);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_root() { Ok(()) } else { write!(out, "`{}`, ", self.0) }
    }
}

/// How many names a message lists.
const LISTED: usize = 8;

/// The nearest name, or else the names there are.
struct Hint<'a>(Option<&'a StepId>, &'a [StepId]);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(nearest, available) = self;
        if let Some(nearest) = nearest {
            return write!(out, "; did you mean `{nearest}`?");
        }
        for (index, id) in available.iter().take(LISTED).enumerate() {
            write!(out, "{}`{id}`", if index == 0 { "; there is " } else { ", " })?;
        }
        match available.len().checked_sub(LISTED) {
            Some(more @ 1..) => write!(out, " and {more} more"),
            _ => Ok(()),
        }
    }
}
