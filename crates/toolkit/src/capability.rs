//! A handler with everything that is said about it.

use std::fmt;
use std::sync::Arc;

use reknit_protocol::{Capability as Announcement, CapabilityName, Effect, Value};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::Handler;
use crate::handler::{DynHandler, Typed};
use crate::schema;

/// A handler together with its name, what it does to the world and what it says about itself.
///
/// The effect decides what callers may send twice. Declaring `keyed` is a promise that the service keeps: a second call
/// under the same key gets the first one's answer and never reaches the handler.
#[derive(Clone)]
pub struct Capability {
    announcement: Announcement,
    schema: Arc<Value>,
    handler: Arc<dyn DynHandler>,
}

impl Capability {
    /// A capability that `handler` answers, with the schema of its arguments.
    ///
    /// Fields that the arguments do not declare are refused, at every level, unless the type says otherwise.
    pub fn new<Args, H>(name: impl Into<CapabilityName>, effect: Effect, handler: H) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        H: Handler<Args>,
    {
        let schema = Arc::new(schema::of_input::<Args>());
        let mut announcement = Announcement::new(name);
        announcement.effect = effect;
        announcement.input_summary = schema::summary(&schema);
        // Both are the defaults of the protocol; not every caller knows them.
        announcement.endpoint = Some(announcement.default_endpoint());
        announcement.schema_endpoint = Some(announcement.schema_path());
        let handler = Arc::new(Typed::<H, Args>::new(handler, Arc::clone(&schema)));
        Self { announcement, schema, handler }
    }

    /// Says what it does, in words that a planner reads.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.announcement.description = description.into();
        self
    }

    /// Says which fields an answer has, so that a plan can refer to them before the first call.
    #[must_use]
    pub fn answers_with<Output: JsonSchema>(mut self) -> Self {
        self.announcement.output_summary = schema::summary(&schema::of_output::<Output>());
        self
    }

    /// Keeps it out of the sight of planners; it can be called all the same.
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.announcement.internal = true;
        self
    }

    /// What the service announces about it.
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// The full JSON Schema of its arguments.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    pub(crate) fn name(&self) -> &CapabilityName {
        &self.announcement.name
    }

    pub(crate) fn handler(&self) -> Arc<dyn DynHandler> {
        Arc::clone(&self.handler)
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Capability").field("announcement", &self.announcement).finish_non_exhaustive()
    }
}
