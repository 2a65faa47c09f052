//! What can be wrong with a plan.

use std::fmt;

use reknit_protocol::{Object, Path, Segment, StepId, Value, word_enum};

use crate::StepIndex;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    pub code: ProblemCode,
    pub location: PlanLocation,
    /// What is wrong, for people and models.
    pub message: String,
    /// What to write instead, if the check knows it.
    pub hint: Option<String>,
}

/// A location in a plan. It prints as "step `convert`", "`convert.amount`" or "input `shares`".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLocation {
    /// The step; `None` for the whole plan, an input or an output.
    pub step: Option<StepId>,
    /// The path in the JSON form of the plan: `$.steps[2].metadata.parameters.amount`.
    pub path: Path,
}

word_enum! {
    /// The kinds of problems. The words are stable.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ProblemCode {
        TooManySteps = "too_many_steps",
        EmptyId = "empty_id",
        /// Two steps have the same id.
        DuplicateId = "duplicate_id",
        SelfDependency = "self_dependency",
        /// A step depends on a step that does not exist.
        UnknownDependency = "unknown_dependency",
        Cycle = "cycle",
        UnknownTool = "unknown_tool",
        /// Several tools have the capability, and the step names none of them.
        AmbiguousTool = "ambiguous_tool",
        UnknownCapability = "unknown_capability",
        /// The capability exists but was not shown to the model that wrote the plan.
        NotShown = "not_shown",
        /// The capability must not be called now, because its definition has changed or it was added later.
        Withheld = "withheld",
        UnusableSchema = "unusable_schema",
        /// A required parameter is missing, and no earlier step could give it.
        MissingParameter = "missing_parameter",
        UnknownParameter = "unknown_parameter",
        /// A value does not fit its schema, even after conversion without loss.
        BadValue = "bad_value",
        /// A reference to something that is neither a step nor an input.
        UnknownReference = "unknown_reference",
        /// A reference to a field that the result of the step cannot have.
        BadPath = "bad_path",
        /// A reference to a value whose type cannot fit.
        BadType = "bad_type",
        /// A value was given for an input that the plan does not declare.
        UnknownInput = "unknown_input",
        /// An input has no default, and no value was given.
        MissingInput = "missing_input",
        UnknownType = "unknown_type",
        /// A step has the id that is reserved for the inputs of the plan.
        ReservedId = "reserved_id",
        /// A text looks like a reference, but is not written between `{{` and `}}`.
        UnbracedReference = "unbraced_reference",
        /// A key that says when a step runs, or what follows from its failure, has a value that it cannot have.
        BadControl = "bad_control",
        BadExpression = "bad_expression",
    }
}

impl PlanProblem {
    pub(super) fn new(code: ProblemCode, location: PlanLocation, message: impl Into<String>) -> Self {
        Self { code, location, message: message.into(), hint: None }
    }

    #[must_use]
    pub(super) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The JSON form: `code`, `step`, `path`, `message`, `hint`.
    pub fn to_value(&self) -> Value {
        let mut object = Object::from([("code", Value::from(self.code.as_str()))]);
        if let Some(step) = &self.location.step {
            object.insert("step", step.as_str());
        }
        object.insert("path", self.location.path.to_string());
        object.insert("message", self.message.as_str());
        if let Some(hint) = &self.hint {
            object.insert("hint", hint.as_str());
        }
        Value::Object(object)
    }
}

impl PlanLocation {
    pub(super) fn plan() -> Self {
        Self { step: None, path: Path::root() }
    }

    pub(super) fn step(index: StepIndex, id: &StepId) -> Self {
        Self { step: Some(id.clone()), path: Path::root().key("steps").index(index.get()) }
    }

    pub(super) fn named(list: &str, name: &str) -> Self {
        Self::plan().key(list).key(name)
    }

    #[must_use]
    pub(super) fn key(mut self, key: &str) -> Self {
        self.path.push_key(key);
        self
    }

    #[must_use]
    pub(super) fn index(mut self, index: usize) -> Self {
        self.path.push_index(index);
        self
    }

    /// A path in the parameters of this step.
    #[must_use]
    pub(super) fn parameter(self, inside: &Path) -> Self {
        self.key("metadata").key("parameters").inside(inside)
    }

    #[must_use]
    pub(super) fn inside(self, inside: &Path) -> Self {
        Self { path: self.path.segments().iter().chain(inside.segments()).cloned().collect(), step: self.step }
    }

    /// The sort key: inputs, then steps in their order, then the rest.
    pub(super) fn order(&self) -> (u8, usize) {
        match (self.step_position(), self.path.segments().first()) {
            (Some(index), _) => (1, index),
            (None, Some(Segment::Key(list))) if list == "inputs" => (0, 0),
            (None, _) => (2, 0),
        }
    }

    fn step_position(&self) -> Option<usize> {
        match self.path.segments() {
            [Segment::Key(list), Segment::Index(index), ..] if list == "steps" => Some(*index),
            _ => None,
        }
    }

    /// The path below the parameters of the step; empty for any other location.
    fn path_in_parameters(&self) -> &[Segment] {
        match self.path.segments() {
            [_, _, Segment::Key(metadata), Segment::Key(parameters), rest @ ..]
                if metadata == "metadata" && parameters == "parameters" =>
            {
                rest
            }
            _ => &[],
        }
    }
}

impl fmt::Display for PlanLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.step else {
            return match self.path.segments() {
                [Segment::Key(list), Segment::Key(name), ..] if list == "inputs" => write!(out, "input `{name}`"),
                [Segment::Key(list), Segment::Key(name), ..] if list == "outputs" => write!(out, "output `{name}`"),
                _ => out.write_str("the plan"),
            };
        };
        match self.path_in_parameters() {
            [] if step.as_str().trim().is_empty() => {
                write!(out, "step {}", self.step_position().unwrap_or_default() + 1)
            }
            [] => write!(out, "step `{step}`"),
            inside => {
                let path = inside.iter().cloned().collect::<Path>().to_string();
                write!(out, "`{step}{}`", path.strip_prefix('$').unwrap_or(&path))
            }
        }
    }
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A message about the whole plan names it itself.
        if self.location.path.segments().len() > 1 {
            write!(out, "{}: ", self.location)?;
        }
        out.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(out, " ({hint})"),
            None => Ok(()),
        }
    }
}
