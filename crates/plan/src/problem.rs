//! What can be wrong with a plan.

use std::fmt;

use reknit_protocol::{Object, Path, Segment, StepId, Value};

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProblem {
    /// What kind of thing, for programs.
    pub code: ProblemCode,
    /// Where.
    pub place: PlanPlace,
    /// What is wrong, in words.
    pub message: String,
    /// What to write instead, if that is known.
    pub hint: Option<String>,
}

/// A place in a plan.
///
/// It prints as people speak of it: "step `convert`", "`convert.amount`", "input `shares`".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanPlace {
    /// In which step; none if it concerns the plan as a whole.
    pub step: Option<StepId>,
    /// Where in the JSON form of the plan: `$.steps[2].metadata.parameters.amount`.
    pub path: Path,
}

/// Gives each kind of problem its word, so that no list of them can be forgotten.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The kinds of things that can be wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProblemCode {
            $($(#[$doc])* $name,)*
        }

        impl ProblemCode {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word for programs. It never changes.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

codes! {
    /// There are more steps than any plan may have.
    TooManySteps = "too_many_steps",
    /// A step has no id.
    EmptyId = "empty_id",
    /// Two steps have one id.
    DuplicateId = "duplicate_id",
    /// A step needs itself.
    SelfDependency = "self_dependency",
    /// A step needs one that is not there.
    UnknownDependency = "unknown_dependency",
    /// Steps need each other in a circle.
    Cycle = "cycle",
    /// There is no such tool.
    UnknownTool = "unknown_tool",
    /// Several tools have the capability, and the step does not say which one is meant.
    AmbiguousTool = "ambiguous_tool",
    /// The tool has no such capability.
    UnknownCapability = "unknown_capability",
    /// The capability is there, but it was not among those that the model may use.
    NotShown = "not_shown",
    /// A parameter that must be there is not, and no earlier step could give it.
    MissingParameter = "missing_parameter",
    /// A parameter that the capability does not know.
    UnknownParameter = "unknown_parameter",
    /// A value that does not fit, not even after what can be done without loss.
    BadValue = "bad_value",
    /// A reference to something that is no step, or no input.
    UnknownReference = "unknown_reference",
    /// A reference to a place that the answer of the step cannot have.
    BadPath = "bad_path",
    /// A reference to something whose type cannot fit.
    BadType = "bad_type",
    /// An input that is given and not declared.
    UnknownInput = "unknown_input",
    /// An input that has no default and is not given.
    MissingInput = "missing_input",
    /// An input of a type that nobody knows.
    UnknownType = "unknown_type",
    /// A step that is called as the inputs of the plan are.
    ReservedId = "reserved_id",
    /// A template or an expression that cannot be read.
    BadExpression = "bad_expression",
}

impl PlanProblem {
    pub(super) fn new(code: ProblemCode, place: PlanPlace, message: impl Into<String>) -> Self {
        Self { code, place, message: message.into(), hint: None }
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The JSON form: `code`, `step`, `path`, `message`, `hint`.
    pub fn to_value(&self) -> Value {
        let mut object = Object::from([("code", Value::from(self.code.as_str()))]);
        if let Some(step) = &self.place.step {
            object.insert("step", step.as_str());
        }
        object.insert("path", self.place.path.to_string());
        object.insert("message", self.message.as_str());
        if let Some(hint) = &self.hint {
            object.insert("hint", hint.as_str());
        }
        Value::Object(object)
    }
}

impl PlanPlace {
    /// The plan as a whole.
    pub(super) fn plan() -> Self {
        Self { step: None, path: Path::root() }
    }

    /// A step, by its position.
    pub(super) fn step(index: usize, id: &StepId) -> Self {
        Self { step: Some(id.clone()), path: Path::root().key("steps").index(index) }
    }

    /// An input or output, by its name.
    pub(super) fn named(list: &str, name: &str) -> Self {
        Self::plan().key(list).key(name)
    }

    /// A place below this one.
    #[must_use]
    pub(super) fn key(mut self, key: &str) -> Self {
        self.path.push_key(key);
        self
    }

    /// A position below this one.
    #[must_use]
    pub(super) fn index(mut self, index: usize) -> Self {
        self.path.push_index(index);
        self
    }

    /// A parameter of this step, or a place in it.
    #[must_use]
    pub(super) fn parameter(self, inside: &Path) -> Self {
        let Self { step, path } = self.key("metadata").key("parameters");
        Self { step, path: path.segments().iter().chain(inside.segments()).cloned().collect() }
    }

    /// Inputs, then steps, then the rest.
    pub(super) fn order(&self) -> (u8, usize) {
        match (self.position(), self.path.segments().first()) {
            (Some(index), _) => (1, index),
            (None, Some(Segment::Key(list))) if list == "inputs" => (0, 0),
            (None, _) => (2, 0),
        }
    }

    /// The position of the step.
    fn position(&self) -> Option<usize> {
        match self.path.segments() {
            [Segment::Key(list), Segment::Index(index), ..] if list == "steps" => Some(*index),
            _ => None,
        }
    }

    /// The rest of the path behind the parameters of the step; empty for any other place.
    fn behind_parameters(&self) -> &[Segment] {
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

impl fmt::Display for PlanPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(step) = &self.step else {
            return match self.path.segments() {
                [Segment::Key(list), Segment::Key(name), ..] if list == "inputs" => write!(out, "input `{name}`"),
                [Segment::Key(list), Segment::Key(name), ..] if list == "outputs" => write!(out, "output `{name}`"),
                _ => out.write_str("the plan"),
            };
        };
        match self.behind_parameters() {
            [] if step.as_str().trim().is_empty() => write!(out, "step {}", self.position().unwrap_or_default() + 1),
            [] => write!(out, "step `{step}`"),
            inside => {
                let path = inside.iter().cloned().collect::<Path>().to_string();
                write!(out, "`{step}{}`", path.strip_prefix('$').unwrap_or(&path))
            }
        }
    }
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of the plan as a whole the message speaks itself.
        if self.place.path.segments().len() > 1 {
            write!(out, "{}: ", self.place)?;
        }
        out.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(out, " ({hint})"),
            None => Ok(()),
        }
    }
}
