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
    /// Compiles the text of a schema.
    #[napi(constructor)]
    pub fn new(schema: String) -> Result<Self> {
        let source = Value::parse(&schema).map_err(|error| fail("bad_schema", &error.to_string(), Object::new()))?;
        let compiled = salvage::Schema::compile(&source);
        compiled.map(Self).map_err(|error| fail("bad_schema", &error.to_string(), Object::new()))
    }
}

/// What was read: the value as JSON text, and the rest only if somebody asks for it.
#[napi]
pub struct NativeReading(Reading);

#[napi]
impl NativeReading {
    /// The value, as JSON.
    #[napi(getter)]
    pub fn value(&self) -> String {
        self.0.value.to_string()
    }

    /// The repairs, as JSON.
    #[napi(getter)]
    pub fn fixes(&self) -> String {
        self.0.fixes.iter().map(fix_value).collect::<Value>().to_string()
    }

    /// `complete`, `truncated` or `elided`.
    #[napi(getter)]
    pub fn completeness(&self) -> &'static str {
        match self.0.completeness {
            Completeness::Complete => "complete",
            Completeness::Truncated => "truncated",
            Completeness::Elided => "elided",
        }
    }
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
fn with_json(reading: Reading) -> Result<NativeReading> {
    let is_prose = |fix: &Fix| fix.path.is_root() && matches!(fix.kind, FixKind::BareText | FixKind::Emphasis);
    if reading.value.as_str().is_some() && reading.fixes.iter().any(is_prose) {
        return Err(fail("empty", "there is no JSON in the text", Object::new()));
    }
    Ok(NativeReading(reading))
}

/// Reads JSON from a text, and makes it fit a schema.
#[napi]
pub fn native_read(text: String, schema: Option<&NativeSchema>) -> Result<NativeReading> {
    let failed = |error| of_reading(&error);
    match schema {
        Some(schema) => salvage::read_as(&text, &schema.0).map(NativeReading).map_err(failed),
        None => with_json(salvage::read(&text, &ReadOptions::default()).map_err(failed)?),
    }
}

/// Makes a value fit a schema. The value is JSON text.
#[napi]
pub fn native_fit(value: String, schema: &NativeSchema) -> Result<NativeReading> {
    let value = Value::parse(&value).map_err(|error| Error::new(Status::InvalidArg, error.to_string()))?;
    let fitted = salvage::fit(value, &schema.0).map_err(|error| of_fitting(&error))?;
    let (value, fixes) = (fitted.value, fitted.fixes);
    Ok(NativeReading(Reading { value, fixes, completeness: Completeness::Complete, expressions: Vec::new() }))
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
    pub fn finish(&mut self, schema: Option<&NativeSchema>) -> Result<NativeReading> {
        self.open()?;
        let Some(reader) = self.0.take() else {
            return Err(Error::new(Status::GenericFailure, "the reader is finished"));
        };
        let failed = |error| of_reading(&error);
        match schema {
            Some(schema) => reader.finish_as(&schema.0).map(NativeReading).map_err(failed),
            None => with_json(reader.finish().map_err(failed)?.reading),
        }
    }
}

/// An error whose message is JSON; `index.js` makes a `ReadError` of it.
fn fail(code: &str, message: &str, details: Object) -> Error {
    let error = Object::from([("code", code.into()), ("message", message.into()), ("details", Value::Object(details))]);
    Error::new(Status::GenericFailure, Value::Object(error).to_string())
}

fn of_reading(error: &ReadTextError) -> Error {
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
    fail(code, &error.to_string(), details)
}

fn of_fitting(error: &FitError) -> Error {
    let problems = error.problems.iter().map(|problem| {
        let (path, message) = (problem.path.to_string(), problem.message.as_str());
        Value::Object(Object::from([("path", path.into()), ("message", message.into())]))
    });
    fail("misfit", &error.to_string(), Object::from([("problems", problems.collect::<Value>())]))
}
