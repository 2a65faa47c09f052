//! Compiled JSON Schemas, and what is wrong with a value that does not fit one.

mod allowed_values;
mod check_format;
mod complexity;
mod diacritics;
mod error;
mod fast_hash;
mod formats;
pub(crate) mod key_marks;
mod keywords;
mod nesting;
pub(crate) mod parse_scalar;
mod plain;
mod problem;
mod recursive_problems;
mod report;
mod schema_index;
pub(crate) mod shape;
mod shape_builder;
mod subschemas;
mod types;
mod typo;
mod unambiguous_date;
mod validator_input;

use std::fmt;

use jsonschema::Draft;
use reknit_protocol::{Path, Value};

pub use error::SchemaError;
pub use formats::Formats;
pub use problem::{Comparison, FitProblem, FitProblemKind, LengthUnit};
pub use types::SchemaType;
pub use unambiguous_date::UnambiguousDate;

use complexity::{Complexity, MAX_MATCHING, MAX_VISITS};
use report::Report;
use schema_index::SchemaIndex;
use shape::{Shape, ShapeId, Shapes};
use shape_builder::ShapeBuilder;
use subschemas::Subschemas;

use validator_input::Copies;

pub(crate) use check_format::{has_format, visit_formatted_texts};
pub(crate) use nesting::{count_values, with_large_stack};
use report::message;
pub(crate) use schema_index::address;
pub(crate) use subschemas::SubschemaId;
pub(crate) use unambiguous_date::{in_format, is_date_format};

/// A schema with more levels than this needs a large stack, like a recursive one.
const MAX_SHALLOW_LEVELS: usize = 64;

/// A compiled JSON Schema. Threads can share it.
///
/// `$schema` selects the draft (4, 6, 7, 2019-09 or 2020-12); the default is 2020-12. References must lead to places inside
/// the schema; nothing is fetched.
///
/// What `format` means is said by [`Formats`].
pub struct Schema {
    shapes: Shapes,
    subschemas: Subschemas,
    /// Whether a value can make the validator recurse so deep that the stack of the caller may be too small.
    pub(crate) is_deep: bool,
    /// Whether the schema refers to itself. The validator's errors for nested unions then grow exponentially.
    is_recursive: bool,
    complexity: Complexity,
    /// What `format` means in this schema; nothing if no place has one.
    pub(crate) formats: Formats,
    /// Whether the shapes decide which values fit, and not the validator: the schema is [`plain`].
    is_plain: bool,
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Schema").field(self.source()).finish()
    }
}

impl Schema {
    /// Compiles a schema in which `format` guides fitting: see [`Formats::Guide`].
    ///
    /// Fails if the schema is not valid in its draft, refers to something outside of itself, or is too complex: if validating
    /// even a small value could take a long time.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_with(schema, Formats::default())
    }

    /// Compiles a schema, and says what `format` means in it.
    ///
    /// ```
    /// use reknit_protocol::Value;
    /// use reknit_salvage::{Formats, Schema, fit};
    ///
    /// let source = Value::parse(r#"{"properties": {"day": {"type": "string", "format": "date"}}}"#)?;
    /// let schema = Schema::compile_with(&source, Formats::Checked)?;
    /// let fitted = fit(Value::parse(r#"{"day": "March 5, 2026"}"#)?, &schema)?;
    /// assert_eq!(fitted.value.to_string(), r#"{"day":"2026-03-05"}"#);
    ///
    /// // March or April? A guess would be wrong half of the time.
    /// let misfit = fit(Value::parse(r#"{"day": "03/04/2026"}"#)?, &schema).expect_err("an ambiguous date");
    /// assert_eq!(misfit.problems[0].to_string(), r#"`$.day`: expected a text with the format `date`, found "03/04/2026""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile_with(schema: &Value, formats: Formats) -> Result<Self, SchemaError> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError::NotASchema { found: schema.kind().with_article() });
        }
        with_large_stack(nesting::is_deep(schema), || Self::compile_on_this_stack(schema, formats))
    }

    fn compile_on_this_stack(schema: &Value, formats: Formats) -> Result<Self, SchemaError> {
        let source = schema.clone();
        let draft = draft_of(&source)?;
        let index = SchemaIndex::new(&source, draft, formats);
        let complexity = complexity::measure(&source, &index);
        let visits = complexity.visits_of_all_runs();
        if visits > MAX_VISITS {
            return Err(SchemaError::TooComplex { visits });
        }
        if complexity.matching > MAX_MATCHING {
            return Err(SchemaError::PatternsTooLarge);
        }
        let height = schema_index::height(&source, &index);
        let (shapes, list) = ShapeBuilder::new(&index, complexity).build(&source);
        let is_deep = height.is_none_or(|height| height > MAX_SHALLOW_LEVELS);
        let stated_formats = if shapes.state_formats() { formats } else { Formats::Ignored };
        let places = (index.places, list);
        let is_plain = plain::is_plain(&source, draft, formats);
        let subschemas = Subschemas::new(source, (draft, complexity, formats), places, is_deep);
        if !is_plain {
            subschemas.compile_root()?;
        }
        let is_recursive = height.is_none();
        Ok(Self { shapes, subschemas, is_deep, is_recursive, complexity, formats: stated_formats, is_plain })
    }

    /// The JSON from which the schema was compiled.
    pub fn source(&self) -> &Value {
        self.subschemas.source()
    }

    /// Whether the value fits.
    pub fn fits(&self, value: &Value) -> bool {
        if self.is_plain {
            return plain::fits(&self.shapes, self.shape(Shapes::ROOT), value);
        }
        with_large_stack(self.needs_large_stack(value), || {
            self.subschemas.validator(SubschemaId::ROOT).is_some_and(|validator| validator.is_valid(value))
        })
    }

    /// What is wrong with the value. Empty if and only if the value fits.
    ///
    /// Where a value fits no alternative of a union, but its type or tag shows which one is meant, the problems are those
    /// of that alternative.
    pub fn problems(&self, value: &Value) -> Vec<FitProblem> {
        self.problems_except_at(value, &[])
    }

    /// The texts in the value that do not have the format which the schema states, whether or not they fit without it. Empty if
    /// formats are ignored.
    ///
    /// A text that may belong to several alternatives of a union is not checked.
    pub fn format_problems(&self, value: &Value) -> Vec<FitProblem> {
        if self.formats == Formats::Ignored {
            return Vec::new();
        }
        with_large_stack(self.needs_large_stack(value), || check_format::problems(self, value))
    }

    /// Whether the value fits, ignoring problems at the `excused` paths.
    pub(crate) fn fits_except_at(&self, value: &Value, excused: &[Path]) -> bool {
        if excused.is_empty() { self.fits(value) } else { self.problems_except_at(value, excused).is_empty() }
    }

    /// What is wrong with the value, ignoring problems at the `excused` paths.
    pub(crate) fn problems_except_at(&self, value: &Value, excused: &[Path]) -> Vec<FitProblem> {
        with_large_stack(self.needs_large_stack(value), || self.collect_problems(&[SubschemaId::ROOT], value, excused))
    }

    fn collect_problems(&self, subschemas: &[SubschemaId], value: &Value, excused: &[Path]) -> Vec<FitProblem> {
        let mut problems = if recursive_problems::are_needed(self, value) {
            recursive_problems::problems(self, subschemas, value)
        } else {
            let mut report = Report::new(value, self.source(), Path::root(), excused);
            for validator in subschemas.iter().filter_map(|id| self.subschemas.validator(*id)) {
                report.add_all(validator, self.copies());
            }
            report.finish()
        };
        problems.retain(|problem| !excused.contains(&problem.path));
        problems
    }

    /// What the validator may ask of a value while it lists its errors.
    fn copies(&self) -> Copies {
        if self.complexity.backtracking == 0 { Copies::Scalars } else { Copies::Whole }
    }

    /// How much work it takes to compile the validator of a subschema, in subschemas.
    pub(crate) fn compile_work(&self) -> u64 {
        if self.is_recursive { self.subschemas.compile_work() } else { 1 }
    }

    /// How often a subschema was compared with a value.
    #[cfg(test)]
    pub(crate) fn comparisons(&self) -> usize {
        self.subschemas.comparisons.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// How many times more work than for an ordinary schema it may take to validate a value.
    pub(crate) fn work_factor(&self) -> u64 {
        // Each reference back is looked up in the list of all values around the value.
        let ordinary = match self.complexity.recursions {
            _ if !self.is_recursive => 512,
            0..=8 => 8,
            _ => 4,
        };
        1 + self.complexity.visits_of_all_runs() / ordinary
    }

    /// Whether recursing into this value may need a large stack.
    pub(crate) fn needs_large_stack(&self, value: &Value) -> bool {
        self.is_deep && nesting::is_deep(value)
    }

    pub(crate) fn shape(&self, id: ShapeId) -> &Shape {
        self.shapes.get(id)
    }

    pub(crate) fn accepts(&self, shape: &Shape, value: &Value) -> bool {
        if !shape.types.accepts(value) {
            return false;
        }
        let is_container = matches!(value, Value::Array(_) | Value::Object(_));
        if !shape.restricts_scalars && !is_container {
            // The types are those of the allowed values, so null is one of these.
            let is_listed = |text| shape.allowed.as_ref().is_none_or(|allowed| allowed.contains_text(text));
            return value.as_str().is_none_or(is_listed);
        }
        if self.is_plain {
            return plain::fits(&self.shapes, shape, value);
        }
        shape.subschemas.iter().all(|id| self.subschemas.accepts(*id, value))
    }

    /// Whether all subschemas of the shape accept the value, ignoring problems at the `excused` paths.
    pub(crate) fn accepts_except_at(&self, shape: &Shape, value: &Value, excused: &[Path]) -> bool {
        if excused.is_empty() {
            return self.accepts(shape, value);
        }
        self.collect_problems(&shape.subschemas, value, excused).is_empty()
    }

    /// Whether the alternatives that were chosen for the shape accept the value.
    pub(crate) fn accepts_chosen(&self, shape: &Shape, value: &Value) -> bool {
        shape.chosen.iter().all(|id| self.subschemas.accepts(*id, value))
    }
}

fn draft_of(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(uri) = schema.as_object().and_then(|object| object.get("$schema")?.as_str()) else {
        return Ok(Draft::default());
    };
    match Draft::default().detect(&serde_json::json!({ "$schema": uri })) {
        Draft::Unknown => Err(SchemaError::External { path: Path::root().key("$schema"), reference: uri.to_owned() }),
        draft => Ok(draft),
    }
}
