//! A cache of compiled schemas, since lines often repeat them.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_protocol::Value;
use reknit_salvage::{Schema, SchemaError};

const MAX_ENTRIES: usize = 64;

const MAX_BYTES: usize = 4 << 20;

/// The default schema, and a cache of the schemas in lines.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    default: Option<Arc<Schema>>,
    cached: HashMap<String, CachedSchema>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct CachedSchema {
    schema: Arc<Schema>,
    last_used: u64,
}

impl Schemas {
    pub(super) fn new(default: Option<Schema>) -> Self {
        Self { default: default.map(Arc::new), ..Self::default() }
    }

    /// The compiled schema of a line, or the default if the line has none.
    pub(super) fn get(&mut self, schema: Option<&Value>) -> Result<Option<Arc<Schema>>, SchemaError> {
        let Some(schema) = schema else { return Ok(self.default.clone()) };
        self.clock += 1;
        let text = schema.to_string();
        if let Some(cached) = self.cached.get_mut(&text) {
            cached.last_used = self.clock;
            return Ok(Some(Arc::clone(&cached.schema)));
        }
        let compiled = Arc::new(Schema::compile(schema)?);
        self.insert(text, Arc::clone(&compiled));
        Ok(Some(compiled))
    }

    fn insert(&mut self, text: String, schema: Arc<Schema>) {
        if text.len() > MAX_BYTES {
            return;
        }
        self.bytes += text.len();
        self.cached.insert(text, CachedSchema { schema, last_used: self.clock });
        while self.cached.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let oldest = self.cached.iter().min_by_key(|(_, cached)| cached.last_used).map(|(text, _)| text.clone());
            let Some(oldest) = oldest else { break };
            self.cached.remove(&oldest);
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(index: usize, padding: usize) -> Value {
        Value::parse(&format!(r#"{{"title": "{index}{}"}}"#, "x".repeat(padding))).unwrap()
    }

    #[test]
    fn a_repeated_schema_is_compiled_once_and_the_least_recently_used_one_is_dropped() {
        let mut schemas = Schemas::default();
        let first = schemas.get(Some(&schema(0, 0))).unwrap().unwrap();
        for index in 1..200 {
            schemas.get(Some(&schema(index, 0))).unwrap();
            let again = schemas.get(Some(&schema(0, 0))).unwrap().unwrap();
            assert!(Arc::ptr_eq(&first, &again), "the one in use was dropped at {index}");
        }
        assert_eq!(schemas.cached.len(), MAX_ENTRIES);
        assert_eq!(schemas.bytes, schemas.cached.keys().map(String::len).sum::<usize>());
    }

    #[test]
    fn the_cache_limits_the_bytes_of_schemas() {
        let mut schemas = Schemas::default();
        for index in 0..10 {
            schemas.get(Some(&schema(index, MAX_BYTES / 3))).unwrap();
        }
        assert_eq!(schemas.cached.len(), 2);
        schemas.get(Some(&schema(11, MAX_BYTES))).unwrap();
        assert_eq!(schemas.cached.len(), 2);
    }

    #[test]
    fn a_line_without_a_schema_gets_the_default() {
        assert!(Schemas::default().get(None).unwrap().is_none());
        let default = Schema::compile(&schema(1, 0)).unwrap();
        assert!(Schemas::new(Some(default)).get(None).unwrap().is_some());
    }
}
