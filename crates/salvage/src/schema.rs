//! The one compiled schema whose verdict means "fits".

mod allowed;
mod build;
mod error;
mod json;
mod member;
mod outline;
mod parts;
mod problem;
mod report;
mod room;
pub(crate) mod shape;
pub(crate) mod spelling;
mod tangle;
pub(crate) mod text;
mod types;

use std::fmt;

use jsonschema::Draft;
use reknit_protocol::{Path, Value};

pub use error::SchemaError;
pub use problem::{Bound, Problem, ProblemKind, Unit};
pub use types::Type;

use build::Builder;
use outline::Outline;
use parts::{PartId, Parts};
use report::Report;
use shape::{Shape, ShapeId, Shapes};

pub(crate) use report::message;
pub(crate) use room::with_room;

/// A schema that leads through more levels than this is worked on with a large stack, as a recursive one is.
const MANY_LEVELS: usize = 64;

/// A JSON Schema, compiled once and used often, by many threads if need be.
///
/// The draft is the one `$schema` names (4, 6, 7, 2019-09 or 2020-12), 2020-12 if it names none. References lead to
/// places inside the schema; nothing is fetched.
///
/// `format` is not asserted, whatever the draft: it says what is meant, and tools read dates, addresses and identifiers
/// more liberally than the standard spells them. A call is not held back for it.
///
/// ```
/// use reknit_protocol::Value;
/// use reknit_salvage::Schema;
///
/// let schema = Schema::compile(&Value::parse(r#"{"type": "object", "properties": {"lat": {"type": "number"}}}"#)?)?;
/// assert!(schema.fits(&Value::parse(r#"{"lat": 35.6897}"#)?));
///
/// let problems = schema.problems(&Value::parse(r#"{"lat": "north"}"#)?);
/// assert_eq!(problems[0].to_string(), r#"`$.lat`: expected a number, found the string "north""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Schema {
    source: Value,
    shapes: Shapes,
    parts: Parts,
    /// Whether a value can lead the validator so deep that the stack at hand might not do.
    is_deep: bool,
    /// Whether the schema leads back to itself: errors of unions inside unions are then collected with care.
    is_recursive: bool,
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Schema").field(&self.source).finish()
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// Fails if it is not a valid schema of its draft, or refers to something that it does not contain.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError::NotASchema { found: schema.kind().with_article() });
        }
        with_room(room::is_deep(schema), || Self::compile_here(schema))
    }

    fn compile_here(schema: &Value) -> Result<Self, SchemaError> {
        let source = schema.clone();
        let text = source.to_serde();
        let draft = Draft::default().detect(&text);
        if draft == Draft::Unknown {
            let reference = text.get("$schema").and_then(|uri| uri.as_str()).unwrap_or_default().to_owned();
            return Err(SchemaError::External { path: Path::root().key("$schema"), reference });
        }
        let outline = Outline::new(&source, draft);
        let height = outline::height(&source, &outline);
        let (shapes, pointers) = Builder::new(&outline).build(&source);
        let is_deep = height.is_none_or(|height| height > MANY_LEVELS);
        let parts = Parts::new(text, draft, pointers, is_deep).map_err(|error| SchemaError::new(&error, &source))?;
        Ok(Self { shapes, parts, is_deep, is_recursive: height.is_none(), source })
    }

    /// The text of the schema.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Whether the value fits.
    pub fn fits(&self, value: &Value) -> bool {
        with_room(self.needs_room(value), || self.parts.whole().is_valid(value))
    }

    /// What is wrong with the value; empty exactly if it fits.
    ///
    /// Where a value fits no alternative of a union and it can be told which one was meant, the problems are those of
    /// that alternative.
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        self.problems_but_for(value, &[])
    }

    /// Whether the value fits, not counting what is wrong with exactly the places that are excused.
    pub(crate) fn fits_but_for(&self, value: &Value, excused: &[Path]) -> bool {
        if excused.is_empty() { self.fits(value) } else { self.problems_but_for(value, excused).is_empty() }
    }

    /// What is wrong with the value, not counting what is wrong with exactly the places that are excused.
    pub(crate) fn problems_but_for(&self, value: &Value, excused: &[Path]) -> Vec<Problem> {
        with_room(self.needs_room(value), || self.errors_of(&[PartId::WHOLE], value, excused))
    }

    fn errors_of(&self, parts: &[PartId], value: &Value, excused: &[Path]) -> Vec<Problem> {
        let mut problems = if self.is_recursive && tangle::is_nested(value) {
            tangle::problems(self, parts, value)
        } else {
            let mut report = Report::new(value, &self.source, Path::root(), excused);
            for validator in parts.iter().filter_map(|part| self.parts.validator(*part)) {
                validator.iter_errors(value).for_each(|error| report.add(&error));
            }
            report.finish()
        };
        problems.retain(|problem| !excused.contains(&problem.path));
        problems
    }

    /// Whether work on this value might need more stack than there is.
    pub(crate) fn needs_room(&self, value: &Value) -> bool {
        self.is_deep && room::is_deep(value)
    }

    /// Whether work on values that are yet to be decoded might need more stack than there is.
    pub(crate) fn may_need_room(&self) -> bool {
        self.is_deep
    }

    pub(crate) fn shape(&self, id: ShapeId) -> &Shape {
        self.shapes.get(id)
    }

    /// The verdict of the schemas that hold at one place.
    pub(crate) fn accepts(&self, shape: &Shape, value: &Value) -> bool {
        if !shape.types.accept(value) {
            return false;
        }
        let is_container = matches!(value, Value::Array(_) | Value::Object(_));
        if shape.is_plain && !is_container {
            return true;
        }
        shape.heads.iter().all(|part| self.parts.accepts(*part, value))
    }

    /// The verdict of the schemas that hold at one place, not counting what is wrong with exactly the places that are
    /// excused.
    pub(crate) fn accepts_but_for(&self, shape: &Shape, value: &Value, excused: &[Path]) -> bool {
        if excused.is_empty() {
            return self.accepts(shape, value);
        }
        self.errors_of(&shape.heads, value, excused).is_empty()
    }

    /// Whether the value fits the alternatives that were chosen on the way to the shape.
    pub(crate) fn accepts_choice(&self, shape: &Shape, value: &Value) -> bool {
        shape.chosen.iter().all(|part| self.parts.accepts(*part, value))
    }
}
