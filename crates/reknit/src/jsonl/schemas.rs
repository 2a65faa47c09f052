//! Compiled schemas, kept because lines often repeat them.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_protocol::Value;
use reknit_salvage::{Schema, SchemaError};

/// How many schemas are kept. The tools of one agent fit in here.
const ENTRIES: usize = 64;

/// How many bytes the texts of the kept schemas have together, so that memory stays bounded.
const BYTES: usize = 4 << 20;

/// The schema for lines that bring none, and those that lines brought.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    default: Option<Arc<Schema>>,
    kept: HashMap<String, Kept>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Kept {
    schema: Arc<Schema>,
    last_used: u64,
}

impl Schemas {
    pub(super) fn new(default: Option<Schema>) -> Self {
        Self { default: default.map(Arc::new), ..Self::default() }
    }

    /// The schema for a line that brought this one, or none.
    pub(super) fn get(&mut self, schema: Option<&Value>) -> Result<Option<Arc<Schema>>, SchemaError> {
        let Some(schema) = schema else { return Ok(self.default.clone()) };
        self.clock += 1;
        let text = schema.to_string();
        if let Some(kept) = self.kept.get_mut(&text) {
            kept.last_used = self.clock;
            return Ok(Some(Arc::clone(&kept.schema)));
        }
        let compiled = Arc::new(Schema::compile(schema)?);
        self.keep(text, Arc::clone(&compiled));
        Ok(Some(compiled))
    }

    fn keep(&mut self, text: String, schema: Arc<Schema>) {
        if text.len() > BYTES {
            return;
        }
        self.bytes += text.len();
        self.kept.insert(text, Kept { schema, last_used: self.clock });
        while self.kept.len() > ENTRIES || self.bytes > BYTES {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.last_used).map(|(text, _)| text.clone());
            let Some(oldest) = oldest else { break };
            self.kept.remove(&oldest);
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
    fn a_schema_that_comes_again_is_not_compiled_again() {
        let mut schemas = Schemas::default();
        let first = schemas.get(Some(&schema(1, 0))).unwrap().unwrap();
        let again = schemas.get(Some(&schema(1, 0))).unwrap().unwrap();
        let other = schemas.get(Some(&schema(2, 0))).unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn the_least_used_schemas_make_room() {
        let mut schemas = Schemas::default();
        let first = schemas.get(Some(&schema(0, 0))).unwrap().unwrap();
        for index in 1..200 {
            schemas.get(Some(&schema(index, 0))).unwrap();
            let again = schemas.get(Some(&schema(0, 0))).unwrap().unwrap();
            assert!(Arc::ptr_eq(&first, &again), "the one in use was dropped at {index}");
        }
        assert_eq!(schemas.kept.len(), ENTRIES);
        assert_eq!(schemas.bytes, schemas.kept.keys().map(String::len).sum::<usize>());
    }

    #[test]
    fn large_schemas_do_not_pile_up() {
        let mut schemas = Schemas::default();
        for index in 0..10 {
            schemas.get(Some(&schema(index, BYTES / 3))).unwrap();
        }
        assert_eq!(schemas.kept.len(), 2);
        schemas.get(Some(&schema(11, BYTES))).unwrap();
        assert_eq!(schemas.kept.len(), 2);
    }

    #[test]
    fn a_line_without_a_schema_gets_the_default() {
        assert!(Schemas::default().get(None).unwrap().is_none());
        let default = Schema::compile(&schema(1, 0)).unwrap();
        assert!(Schemas::new(Some(default)).get(None).unwrap().is_some());
    }
}
