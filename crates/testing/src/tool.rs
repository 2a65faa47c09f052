//! A tool whose answers are written in advance, and that remembers what it was asked.

mod call;
mod record;
mod routes;
mod when;

use std::io;
use std::path::Path;
use std::sync::Arc;

use reknit_protocol::{Capability, CapabilityName, Effect, Value};

pub use call::Call;
pub use when::When;

use crate::Reply;
use crate::log::Log;
use crate::rules::{Rule, Rules, Uses};
use crate::server::Server;
use record::Record;
use routes::Shared;

/// A tool on loopback that speaks the protocol and answers by its rules.
///
/// Without [`start`](ScriptedTool::start) it is only a description. A call that no rule covers is answered with 500.
#[derive(Debug)]
pub struct ScriptedTool {
    name: String,
    capabilities: Vec<Offer>,
    rules: Vec<Rule<(CapabilityName, When)>>,
    record: Option<Record>,
}

/// A capability and its schema, if it has more to say than its hints.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) capability: Capability,
    pub(crate) schema: Option<Value>,
}

impl ScriptedTool {
    /// A tool without capabilities.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), capabilities: Vec::new(), rules: Vec::new(), record: None }
    }

    /// Adds a capability of which only the name and the effect are known.
    #[must_use]
    pub fn capability(self, name: impl Into<CapabilityName>, effect: Effect) -> Self {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        self.announce(capability)
    }

    /// Adds a capability with everything it says about itself.
    #[must_use]
    pub fn announce(mut self, capability: Capability) -> Self {
        self.capabilities.push(Offer { capability, schema: None });
        self
    }

    /// Sets the full schema of the capability that was added last; without one, its hints are turned into a schema.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        if let Some(offer) = self.capabilities.last_mut() {
            offer.schema = Some(schema);
        }
        self
    }

    /// Gives this reply whenever the condition holds.
    #[must_use]
    pub fn on(self, capability: impl Into<CapabilityName>, when: When, reply: Reply) -> Self {
        self.add(capability.into(), when, Uses::Always, reply)
    }

    /// Gives this reply the first time the condition holds, then leaves the call to later rules.
    #[must_use]
    pub fn once(self, capability: impl Into<CapabilityName>, when: When, reply: Reply) -> Self {
        self.times(1, capability, when, reply)
    }

    /// Gives this reply the first few times the condition holds, then leaves the call to later rules.
    #[must_use]
    pub fn times(self, times: u32, capability: impl Into<CapabilityName>, when: When, reply: Reply) -> Self {
        self.add(capability.into(), when, Uses::Times(times), reply)
    }

    fn add(mut self, capability: CapabilityName, when: When, left: Uses, reply: Reply) -> Self {
        self.rules.push(Rule { when: (capability, when), left, reply });
        self
    }

    /// Also writes each call as a line of JSON to the end of a file, before it is answered. A call that cannot be
    /// written is answered with 500.
    #[must_use]
    pub fn record_to(mut self, path: impl AsRef<Path>) -> Self {
        self.record = Some(Record::new(path.as_ref()));
        self
    }

    /// Starts it on a free port of 127.0.0.1.
    pub async fn start(self) -> io::Result<RunningTool> {
        let log = Log::default();
        let shared = Shared {
            name: self.name.clone(),
            offers: self.capabilities,
            rules: Rules::new(self.rules),
            log: log.clone(),
            record: self.record,
        };
        let server = Server::start(routes::router(Arc::new(shared))).await?;
        Ok(RunningTool { name: self.name, server, log })
    }
}

/// A scripted tool that takes calls; dropping it closes its port and its connections.
#[derive(Debug)]
pub struct RunningTool {
    name: String,
    server: Server,
    log: Log<Call>,
}

impl RunningTool {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens: `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// Every call, in the order they came.
    pub fn calls(&self) -> Vec<Call> {
        self.log.all()
    }

    /// The calls of one capability.
    pub fn calls_of(&self, capability: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.capability.as_str() == capability).collect()
    }

    /// How many calls there were in all.
    pub fn count(&self) -> usize {
        self.calls().len()
    }

    /// Waits until there were this many calls in all. Bound it with the test's own limit.
    pub async fn called(&self, count: usize) {
        self.log.reached(count).await;
    }
}
