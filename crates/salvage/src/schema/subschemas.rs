//! The subschemas of a schema, each with its own validator.

use std::sync::{Arc, OnceLock};

use jsonschema::uri::{self, EncodedBuffer};
use jsonschema::{Draft, Registry, ValidationOptions, Validator};
use reknit_protocol::Value;

use super::complexity::Complexity;
use super::formats::with_checks;
use super::nesting::with_large_stack;
use super::schema_index::{PlaceId, Places, ROOT_URI};
use super::validator_input::ValueInput;
use super::{Formats, SchemaError};

/// The base URI of the small schemas that only refer to a subschema.
const REFERRING_URI: &str = "json-schema:///part-of-the-schema";

/// Compiling a regular expression takes about as long as compiling this many subschemas.
const PATTERN_WORK: usize = 16;

/// The index of a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SubschemaId(pub(super) usize);

impl SubschemaId {
    pub(crate) const ROOT: Self = Self(0);
}

/// The schema and its subschemas. Validators of subschemas are compiled on first use, because most are never used, and so is that of
/// a plain schema.
pub(crate) struct Subschemas {
    source: Value,
    places: Places,
    root: OnceLock<Option<Validator<ValueInput>>>,
    json: OnceLock<Arc<serde_json::Value>>,
    registry: OnceLock<Option<Registry<'static>>>,
    rules: Rules,
    list: Vec<Subschema>,
    /// Whether compiling a subschema may need a large stack.
    needs_large_stack: bool,
    #[cfg(test)]
    pub(super) comparisons: std::sync::atomic::AtomicUsize,
}

struct Subschema {
    /// `None` if it is not in the index.
    place: Option<PlaceId>,
    validator: OnceLock<Option<Validator<ValueInput>>>,
}

type Rules = (Draft, Complexity, Formats);

/// The options that all validators share.
pub(crate) fn options<'i>(
    (draft, complexity, formats): Rules,
) -> ValidationOptions<'i, Arc<dyn jsonschema::Retrieve>, ValueInput> {
    let options = jsonschema::options_for::<ValueInput>().with_draft(draft).offline();
    with_checks(options.with_pattern_options(complexity.pattern_options()), formats)
}

impl Subschemas {
    /// The first of the subschemas is the root.
    pub(super) fn new(
        source: Value,
        rules: Rules,
        (places, subschemas): (Places, Vec<Option<PlaceId>>),
        needs_large_stack: bool,
    ) -> Self {
        let list = subschemas.into_iter().map(|place| Subschema { place, validator: OnceLock::new() }).collect();
        Self {
            source,
            places,
            root: OnceLock::new(),
            json: OnceLock::new(),
            registry: OnceLock::new(),
            rules,
            list,
            needs_large_stack,
            #[cfg(test)]
            comparisons: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    /// Compiles the validator of the whole schema, which fails if the schema is not valid.
    pub(super) fn compile_root(&self) -> Result<(), SchemaError> {
        let root = options(self.rules).build(self.json()).map_err(|error| SchemaError::new(&error, &self.source))?;
        self.root.get_or_init(|| Some(root));
        Ok(())
    }

    pub(crate) fn source(&self) -> &Value {
        &self.source
    }

    /// How much work it takes to compile all subschemas, where one without regular expressions counts 1.
    pub(crate) fn compile_work(&self) -> u64 {
        u64::try_from(self.list.len() + PATTERN_WORK * self.rules.1.patterns).unwrap_or(u64::MAX)
    }

    #[cfg(test)]
    pub(crate) fn has_compiled_root(&self) -> bool {
        self.root.get().is_some()
    }

    fn json(&self) -> &Arc<serde_json::Value> {
        self.json.get_or_init(|| Arc::new(self.source.to_serde()))
    }

    /// The validator of a subschema; `None` if it cannot be compiled alone.
    pub(crate) fn validator(&self, id: SubschemaId) -> Option<&Validator<ValueInput>> {
        if id == SubschemaId::ROOT {
            return self.root.get_or_init(|| options(self.rules).build(self.json()).ok()).as_ref();
        }
        let subschema = self.list.get(id.0)?;
        subschema.validator.get_or_init(|| self.compile(subschema.place?)).as_ref()
    }

    /// Whether the value fits the subschema. A subschema without a validator accepts nothing, so that fitting does not
    /// change values to fit it.
    pub(crate) fn accepts(&self, id: SubschemaId, value: &Value) -> bool {
        #[cfg(test)]
        self.comparisons.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.validator(id).is_some_and(|validator| validator.is_valid(value))
    }

    fn compile(&self, place: PlaceId) -> Option<Validator<ValueInput>> {
        let mut fragment = EncodedBuffer::new();
        fragment.encode_str::<uri::Path>(&self.places.path(&self.source, place).to_pointer());
        let schema = serde_json::json!({ "$ref": format!("{ROOT_URI}#{fragment}") });
        with_large_stack(self.needs_large_stack, || {
            let register = || {
                let registry = Registry::new().draft(self.rules.0).add(ROOT_URI, Arc::clone(self.json()));
                registry.ok()?.prepare().ok()
            };
            let registry = self.registry.get_or_init(register).as_ref()?;
            options(self.rules).with_registry(registry).with_base_uri(REFERRING_URI).build(&schema).ok()
        })
    }
}
