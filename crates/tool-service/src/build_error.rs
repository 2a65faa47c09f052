//! Why capabilities cannot be used.

use reknit_protocol::CapabilityName;
use reknit_salvage::SchemaError;

/// Why a service cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two capabilities have the same name.
    #[error("there are two capabilities called `{name}`")]
    DuplicateName {
        /// The name.
        name: CapabilityName,
    },
    /// A name cannot be part of a URL path without escaping.
    #[error("`{name}` is not a capability name: use letters, digits, `_`, `-` and `.`")]
    InvalidName {
        /// The name.
        name: CapabilityName,
    },
    /// Only a service that is served by itself can register itself.
    #[error("a service inside another server cannot register itself, for it does not know its address")]
    RegisteredRouter,
    /// The type of a handler's arguments has a JSON Schema that is not valid.
    #[error("the schema of the capability `{name}` is not valid")]
    InvalidSchema {
        /// The name.
        name: CapabilityName,
        /// What is wrong with the schema.
        source: SchemaError,
    },
}
