//! The subschemas of a schema, each with a verdict of its own.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use jsonschema::{Draft, Registry, ValidationOptions, Validator};
use reknit_protocol::Value;

use super::json::Tree;
use super::outline::ROOT_URI;
use super::room::with_room;

/// Where the small schemas stand that only refer to a part.
const PART_URI: &str = "json-schema:///part-of-the-schema";

/// The number of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PartId(pub(super) usize);

impl PartId {
    /// The schema itself.
    pub(crate) const WHOLE: Self = Self(0);
}

/// The schema and its subschemas. Their validators are compiled when they are first needed: most never are.
pub(crate) struct Parts {
    whole: Validator<Tree>,
    text: Arc<serde_json::Value>,
    registry: OnceLock<Option<Registry<'static>>>,
    draft: Draft,
    list: Vec<Part>,
    /// Whether compiling a part might need more stack than there is.
    needs_room: bool,
}

struct Part {
    /// `None` if it stands where no schema is looked for.
    pointer: Option<String>,
    validator: OnceLock<Option<Validator<Tree>>>,
}

/// What all our validators have in common.
pub(crate) fn options<'i>(draft: Draft) -> ValidationOptions<'i, Arc<dyn jsonschema::Retrieve>, Tree> {
    jsonschema::options_for::<Tree>().with_draft(draft).offline().should_validate_formats(false)
}

impl Parts {
    /// `pointers` are places in the schema; the first is its root.
    pub(super) fn new(
        schema: serde_json::Value,
        draft: Draft,
        pointers: Vec<Option<String>>,
        needs_room: bool,
    ) -> Result<Self, jsonschema::ValidationError<'static>> {
        let whole = options(draft).build(&schema)?;
        let list = pointers.into_iter().map(|pointer| Part { pointer, validator: OnceLock::new() }).collect();
        Ok(Self { whole, text: Arc::new(schema), registry: OnceLock::new(), draft, list, needs_room })
    }

    /// The validator of the schema as a whole.
    pub(crate) fn whole(&self) -> &Validator<Tree> {
        &self.whole
    }

    /// The validator of a part; `None` if it cannot stand alone.
    pub(crate) fn validator(&self, id: PartId) -> Option<&Validator<Tree>> {
        if id == PartId::WHOLE {
            return Some(&self.whole);
        }
        let part = self.list.get(id.0)?;
        part.validator.get_or_init(|| self.compile(part.pointer.as_deref()?)).as_ref()
    }

    /// Whether the value fits the part. What has no verdict is not accepted, and so not changed either.
    pub(crate) fn accepts(&self, id: PartId, value: &Value) -> bool {
        self.validator(id).is_some_and(|validator| validator.is_valid(value))
    }

    fn compile(&self, pointer: &str) -> Option<Validator<Tree>> {
        let schema = serde_json::json!({ "$ref": format!("{ROOT_URI}#{}", percent_encoded(pointer)) });
        with_room(self.needs_room, || {
            let registry = self.registry.get_or_init(|| self.register()).as_ref()?;
            options(self.draft).with_registry(registry).with_base_uri(PART_URI).build(&schema).ok()
        })
    }

    fn register(&self) -> Option<Registry<'static>> {
        Registry::new().draft(self.draft).add(ROOT_URI, Arc::clone(&self.text)).ok()?.prepare().ok()
    }
}

/// The text as a part of a URI.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(byte.into());
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
