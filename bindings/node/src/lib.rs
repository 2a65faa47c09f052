//! Reknit for Node: reading what models write, and fitting values to schemas. Values cross the border as JSON text, which is the
//! fastest way; `index.js` parses it.

use napi::bindgen_prelude::{Error, Result, Status};
use napi_derive::napi;
use reknit_protocol::{Object, Value};
use reknit_salvage::{
    self as salvage, Completeness, FitError, Fix, FixKind, PartialState, ReadOptions, ReadTextError, Reading,
};

/// A compiled JSON Schema.
#[napi]
pub struct NativeSchema(salvage::Schema);

#[napi]
impl NativeSchema {
    /// Compiles the text of a schema. The message of an error is JSON.
    #[napi(constructor)]
    pub fn new(schema: String) -> Result<Self> {
        let bad = |problem: &str| {
            Error::new(Status::GenericFailure, Failure::new("bad_schema", problem, Object::new()).to_string())
        };
        let source = Value::parse(&schema).map_err(|error| bad(&error.to_string()))?;
        salvage::Schema::compile(&source).map(Self).map_err(|error| bad(&error.to_string()))
    }
}

/// A reading as one text, because each further value that crosses the border costs as much as reading a short text: `c` (complete),
/// `t` (truncated) or `e` (elided) and the value as JSON; or `x` and an error as JSON.
fn outcome(reading: std::result::Result<Reading, Failure>) -> String {
    match reading {
        Ok(reading) => {
            let mark = match reading.completeness {
                Completeness::Complete => 'c',
                Completeness::Truncated => 't',
                Completeness::Elided => 'e',
            };
            format!("{mark}{}", reading.value)
        }
        Err(failure) => format!("x{failure}"),
    }
}

/// The repairs of a reading, as JSON.
fn fixes(reading: std::result::Result<Reading, Failure>) -> String {
    reading
        .map_or_else(|_| "[]".to_owned(), |reading| reading.fixes.iter().map(fix_value).collect::<Value>().to_string())
}

fn fix_value(fix: &Fix) -> Value {
    Value::Object(Object::from([
        ("path", fix.path.to_string().into()),
        ("kind", fix.kind.name().into()),
        ("description", fix.kind.description().into()),
        ("before", fix.before.as_str().into()),
        ("after", fix.after.as_str().into()),
    ]))
}

/// Fails if a reading without a schema only made a string of prose: `I cannot help with that`.
fn with_json(reading: Reading) -> std::result::Result<Reading, Failure> {
    let is_prose = |fix: &Fix| fix.path.is_root() && matches!(fix.kind, FixKind::BareText | FixKind::Emphasis);
    if reading.value.as_str().is_some() && reading.fixes.iter().any(is_prose) {
        return Err(Failure::new("empty", "there is no JSON in the text", Object::new()));
    }
    Ok(reading)
}

fn read_text(text: &str, schema: Option<&NativeSchema>) -> std::result::Result<Reading, Failure> {
    match schema {
        Some(schema) => salvage::read_as(text, &schema.0).map_err(|error| of_reading(&error)),
        None => with_json(salvage::read(text, &ReadOptions::default()).map_err(|error| of_reading(&error))?),
    }
}

/// Reads JSON from a text, and makes it fit a schema.
#[napi]
pub fn native_read(text: String, schema: Option<&NativeSchema>) -> String {
    outcome(read_text(&text, schema))
}

/// The repairs that reading this text makes. Few callers look at them, so the text is read once more.
#[napi]
pub fn native_fixes(text: String, schema: Option<&NativeSchema>) -> String {
    fixes(read_text(&text, schema))
}

fn fit_value(value: &str, schema: &NativeSchema) -> std::result::Result<Reading, Failure> {
    let value = Value::parse(value).map_err(|error| Failure::new("unreadable", &error.to_string(), Object::new()))?;
    let fitted = salvage::fit(value, &schema.0).map_err(|error| of_fitting(&error))?;
    let (value, fixes) = (fitted.value, fitted.fixes);
    Ok(Reading { value, fixes, completeness: Completeness::Complete, expressions: Vec::new() })
}

/// Makes a value fit a schema. The value is JSON text.
#[napi]
pub fn native_fit(value: String, schema: &NativeSchema) -> String {
    outcome(fit_value(&value, schema))
}

/// The repairs that fitting this value makes.
#[napi]
pub fn native_fit_fixes(value: String, schema: &NativeSchema) -> String {
    fixes(fit_value(&value, schema))
}

/// Reads a text that arrives in chunks.
#[napi]
pub struct NativeReader(Option<salvage::Reader>);

#[napi]
impl NativeReader {
    /// A reader without text.
    #[napi(constructor)]
    #[expect(clippy::new_without_default, reason = "Node calls it")]
    pub fn new() -> Self {
        Self(Some(salvage::Reader::default()))
    }

    fn open(&mut self) -> Result<&mut salvage::Reader> {
        self.0.as_mut().ok_or_else(|| Error::new(Status::GenericFailure, "the reader is finished"))
    }

    /// Adds the next chunk.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<()> {
        self.open()?.push(chunk);
        Ok(())
    }

    /// `{"value", "open", "state"}` as JSON; nothing as long as no array or object has begun.
    #[napi]
    pub fn partial(&mut self) -> Result<Option<String>> {
        let Some(partial) = self.open()?.partial() else { return Ok(None) };
        let state = match partial.state() {
            PartialState::Open => "open",
            PartialState::Ended => "ended",
            PartialState::Stopped => "stopped",
        };
        let (value, open) = (partial.value().clone(), partial.open().to_string());
        let partial = Object::from([("value", value), ("open", open.into()), ("state", state.into())]);
        Ok(Some(Value::Object(partial).to_string()))
    }

    /// Reads the whole text. The reader cannot be used afterwards.
    #[napi]
    pub fn finish(&mut self, schema: Option<&NativeSchema>) -> Result<String> {
        self.open()?;
        let Some(reader) = self.0.take() else {
            return Err(Error::new(Status::GenericFailure, "the reader is finished"));
        };
        let failed = |error| of_reading(&error);
        Ok(outcome(match schema {
            Some(schema) => reader.finish_as(&schema.0).map_err(failed),
            None => reader.finish().map_err(failed).and_then(|finished| with_json(finished.reading)),
        }))
    }
}

/// Why something cannot be read: an object with `code`, `message` and `details`. `index.js` makes a `ReadError` of it.
struct Failure(Value);

impl Failure {
    fn new(code: &str, message: &str, details: Object) -> Self {
        let members = [("code", code.into()), ("message", message.into()), ("details", Value::Object(details))];
        Self(Value::Object(Object::from(members)))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

fn of_reading(error: &ReadTextError) -> Failure {
    let mut details = Object::new();
    let code = match error {
        ReadTextError::DoesNotFit(misfit) => return of_fitting(misfit),
        ReadTextError::Ambiguous { first, second } => {
            details.insert("readings", Value::Array(vec![first.value.clone(), second.value.clone()]));
            "ambiguous"
        }
        ReadTextError::Unreadable { position, .. } => {
            details.insert("line", Value::from(position.line as u64));
            details.insert("column", Value::from(position.column as u64));
            "unreadable"
        }
        ReadTextError::Empty { .. } => "empty",
        ReadTextError::TooDeep { .. } => "too_deep",
        ReadTextError::TooLarge { .. } => "too_large",
        _ => "unreadable",
    };
    Failure::new(code, &error.to_string(), details)
}

fn of_fitting(error: &FitError) -> Failure {
    let problems = error.problems.iter().map(|problem| {
        let (path, message) = (problem.path.to_string(), problem.message.as_str());
        Value::Object(Object::from([("path", path.into()), ("message", message.into())]))
    });
    Failure::new("misfit", &error.to_string(), Object::from([("problems", problems.collect::<Value>())]))
}
