//! Results of steps. A driver may keep large ones outside of memory; reading such a result loads it again.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use reknit_plan::StepIndex;
use reknit_protocol::{ReplyBody, ToolResponse, Value, exact};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Results up to this size stay in memory: a handle on a stored result is not much smaller.
const MAX_BYTES_IN_MEMORY: usize = 4_096;

/// Loads results from the events of a run.
pub trait ResultSource: Send + Sync + fmt::Debug {
    /// The result that the event at this position brought ([`result_of`]). `None` if the event cannot be read: then the
    /// source keeps the error, and its owner must discard the machine, which has gone on without the value.
    fn load(&self, event: u64) -> Option<Value>;
}

/// The result in the reply of a tool.
pub fn result_of(body: &ReplyBody) -> Value {
    body.to_value()
}

/// The data of a tool's response, without its envelope.
pub(crate) fn response_data(value: &Value) -> Value {
    if !ToolResponse::is_envelope(value) {
        return value.clone();
    }
    let response = ToolResponse::from_value(value).ok();
    response.as_ref().and_then(ToolResponse::data).unwrap_or(value).clone()
}

/// The result of a step. Clones share the value.
#[derive(Clone)]
pub struct ResultHandle {
    value: OnceLock<Arc<Value>>,
    /// The position of the event that brought the result.
    event: u64,
    stored: Option<Stored>,
}

#[derive(Clone)]
struct Stored {
    source: Arc<dyn ResultSource>,
    step: StepIndex,
    loaded: LoadedResults,
}

impl ResultHandle {
    pub(crate) fn new(value: Value, event: u64) -> Self {
        Self { value: OnceLock::from(Arc::new(value)), event, stored: None }
    }

    /// Whether it is known which event brought the result, so that it can be loaded from there. A restored one does not know it.
    pub(crate) fn has_event(&self) -> bool {
        self.event > 0
    }

    /// The value; `None` if it cannot be loaded.
    pub fn try_load(&self) -> Option<Arc<Value>> {
        match (self.value.get(), &self.stored) {
            (Some(value), _) => Some(Arc::clone(value)),
            (None, Some(stored)) => stored.source.load(self.event).map(Arc::new),
            (None, None) => None,
        }
    }

    /// The value; null if it cannot be loaded, which its source reports.
    pub(crate) fn load(&self) -> Arc<Value> {
        self.try_load().unwrap_or_default()
    }

    /// The same as a reference. A value that had to be loaded stays in memory until the results are released again.
    pub(crate) fn get(&self) -> &Value {
        self.value.get_or_init(|| {
            if let Some(stored) = &self.stored {
                stored.loaded.add(stored.step);
            }
            self.load()
        })
    }

    /// Drops a large value from memory. From now on it is loaded from `source`.
    pub(crate) fn release(&mut self, source: &Arc<dyn ResultSource>, step: StepIndex, loaded: &LoadedResults) {
        if self.stored.is_some() || self.value.get().is_some_and(|value| memory_size(value) > MAX_BYTES_IN_MEMORY) {
            self.stored = Some(Stored { source: Arc::clone(source), step, loaded: loaded.clone() });
            self.value = OnceLock::new();
        }
    }
}

/// The steps whose stored results were loaded and are in memory now.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedResults(Arc<Mutex<Vec<StepIndex>>>);

impl LoadedResults {
    fn add(&self, step: StepIndex) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step);
    }

    pub(crate) fn take(&self) -> Vec<StepIndex> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// About how much memory the body of a reply takes.
pub fn memory_size_of(body: &ReplyBody) -> usize {
    match body {
        ReplyBody::Json(value) | ReplyBody::Repaired { value, .. } => memory_size(value),
        ReplyBody::Text(text) => text.len(),
        ReplyBody::Empty => 0,
    }
}

/// About how much memory a value takes. The parser limits its depth.
fn memory_size(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(memory_size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + memory_size(value)).sum(),
    };
    inner + size_of::<Value>()
}

impl From<Value> for ResultHandle {
    fn from(value: Value) -> Self {
        Self::new(value, 0)
    }
}

/// Compares the values.
impl PartialEq for ResultHandle {
    fn eq(&self, other: &Self) -> bool {
        self.try_load() == other.try_load()
    }
}

/// Prints the value as JSON.
impl fmt::Display for ResultHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_load() {
            Some(value) => value.fmt(out),
            None => out.write_str("(not readable)"),
        }
    }
}

/// Does not load the value.
impl fmt::Debug for ResultHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.get() {
            Some(value) => fmt::Debug::fmt(value, out),
            None => write!(out, "(result of event {})", self.event),
        }
    }
}

impl Serialize for ResultHandle {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let value = self.try_load().ok_or_else(|| serde::ser::Error::custom("a result cannot be loaded"))?;
        exact::serialize(value.as_ref(), out)
    }
}

impl<'de> Deserialize<'de> for ResultHandle {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        exact::deserialize::<Value, D>(input).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Counting(Mutex<Vec<u64>>);

    impl ResultSource for Counting {
        fn load(&self, event: u64) -> Option<Value> {
            self.0.lock().unwrap().push(event);
            Some(Value::from("x".repeat(5_000)))
        }
    }

    #[test]
    fn a_released_result_is_loaded_when_it_is_read_and_a_small_one_is_never_released() {
        let counting = Arc::new(Counting(Mutex::default()));
        let source: Arc<dyn ResultSource> = Arc::clone(&counting) as _;
        let (step, loaded) = (StepIndex::new(3), LoadedResults::default());
        let mut small = ResultHandle::new(Value::from("small"), 1);
        small.release(&source, step, &loaded);
        assert_eq!(*small.get(), Value::from("small"));
        let large = Value::from("x".repeat(5_000));
        let mut handle = ResultHandle::new(large.clone(), 7);
        handle.release(&source, step, &loaded);
        assert_eq!((counting.0.lock().unwrap().len(), loaded.take().len()), (0, 0));
        assert_eq!(*handle.load(), large);
        assert_eq!((handle.get(), handle.get()), (&large, &large));
        assert_eq!(*counting.0.lock().unwrap(), [7, 7], "`load` keeps nothing, `get` keeps the value");
        assert_eq!(loaded.take(), [step]);
        handle.release(&source, step, &loaded);
        assert_eq!(format!("{handle:?}"), "(result of event 7)");
    }
}
