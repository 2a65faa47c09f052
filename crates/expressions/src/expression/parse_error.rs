//! Errors in templates and expressions.

use reknit_protocol::{Path, StepId};

use crate::expression::Function;
use crate::unbound::{joined, quoted_list};

/// An error in a template or an expression, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}character {}: {problem}", location_prefix(.path), .position + 1)]
pub struct TemplateParseError {
    /// The location of the template in the parameters; the root for a template outside of parameters.
    pub path: Path,
    /// The number of characters before the error.
    pub position: usize,
    pub problem: TemplateProblem,
}

/// A problem in a template or an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateProblem {
    /// A reference to a step that the plan does not have.
    #[error("there is no step `{found}`{}", step_hint(.nearest.as_ref(), .available))]
    UnknownStep {
        found: String,
        /// The step whose id is spelled most like it, if one is close.
        nearest: Option<StepId>,
        available: Vec<StepId>,
    },
    /// A name in an expression over the items of a list that is neither a step nor an item.
    #[error("there is no step or item `{found}`; a field of the item is `{item}.{found}`")]
    UnknownName { found: String, item: String },
    /// `a ?? b and c`, which people read in two ways.
    #[error("`??` beside `and`, `or` or `not` needs parentheses: `(a ?? b) and c`")]
    CoalesceWithLogic,
    #[error("there is no function `{found}`{}", .nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    UnknownFunction {
        found: String,
        /// The function whose name is spelled most like it, if one is close.
        nearest: Option<Function>,
    },
    #[error("`{function}` takes {expected}, found {found}")]
    ArgumentCount {
        function: Function,
        /// The number of arguments it takes, in words.
        expected: &'static str,
        /// The number of arguments in the call.
        found: usize,
    },
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What the grammar allows here.
        expected: &'static str,
        /// The character, or the end of the expression.
        found: String,
    },
    #[error("a field name with spaces is written in brackets: `{suggestion}`")]
    SpaceInKey {
        /// The reference as it must be written.
        suggestion: String,
    },
    /// `{{` without `}}`.
    #[error("unclosed `{{{{`: add `}}}}`, or write `{{{{{{{{` for literal braces")]
    UnclosedPlaceholder,
    /// A template in the name of a parameter or a field.
    #[error("templates are allowed in values only, not in names")]
    TemplateInName,
    /// `a-b`: the minus could be part of a name.
    #[error("subtraction needs a space before `-`")]
    MinusWithoutSpace,
    #[error("invalid {kind}: {problem}")]
    InvalidLiteral {
        /// "number" or "string".
        kind: &'static str,
        problem: String,
    },
    #[error("exceeds the limit of {limit} {unit}")]
    LimitExceeded {
        /// What is limited: "bytes".
        unit: &'static str,
        limit: usize,
    },
}

/// The errors in the templates of a step's parameters, at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.errors))]
pub struct ParametersError {
    pub errors: Vec<TemplateParseError>,
}

fn location_prefix(path: &Path) -> String {
    if path.is_root() { String::new() } else { format!("`{path}`, ") }
}

const MAX_LISTED: usize = 8;

/// Suggests the nearest step, or else lists the steps.
fn step_hint(nearest: Option<&StepId>, available: &[StepId]) -> String {
    match (nearest, available.split_at_checked(MAX_LISTED)) {
        (Some(nearest), _) => format!("; did you mean `{nearest}`?"),
        (None, _) if available.is_empty() => String::new(),
        (None, Some((listed, more @ [_, ..]))) => {
            format!("; the steps are {} and {} more", quoted_list(listed), more.len())
        }
        (None, _) => format!("; the steps are {}", quoted_list(available)),
    }
}
