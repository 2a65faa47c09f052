//! A tool server whose replies follow rules, and that records its calls.

mod call;
mod routes;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit_protocol::{Capability, CapabilityName, SideEffect, Value};

pub use call::{CallMatcher, RecordedCall};

use crate::Reply;
use crate::rules::{Active, Rule, Rules};
use crate::server::{Log, Server};
use routes::ToolState;

/// The definition of a tool whose replies follow rules. [`start`](ScriptedTool::start) serves it on loopback.
///
/// The first active rule that matches a call gives the reply. A call that no rule matches is answered with 500.
#[derive(Debug)]
pub struct ScriptedTool {
    name: String,
    capabilities: Vec<AnnouncedCapability>,
    rules: Vec<Rule<(CapabilityName, CallMatcher)>>,
    call_file: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct AnnouncedCapability {
    pub(crate) capability: Capability,
    /// The full schema, if it is not derived from the field hints.
    pub(crate) schema: Option<Value>,
}

impl ScriptedTool {
    /// A tool without capabilities.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), capabilities: Vec::new(), rules: Vec::new(), call_file: None }
    }

    /// Adds a capability that announces only its name and its side effect.
    #[must_use]
    pub fn capability(self, name: impl Into<CapabilityName>, effect: SideEffect) -> Self {
        let mut capability = Capability::new(name);
        capability.effect = effect;
        self.announce(capability)
    }

    /// Adds a capability with a complete announcement.
    #[must_use]
    pub fn announce(mut self, capability: Capability) -> Self {
        self.capabilities.push(AnnouncedCapability { capability, schema: None });
        self
    }

    /// Sets the full schema of the capability that was added last. Without it the schema is derived from the field hints.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        if let Some(last) = self.capabilities.last_mut() {
            last.schema = Some(schema);
        }
        self
    }

    /// Gives this reply to every matching call.
    #[must_use]
    pub fn on(self, capability: impl Into<CapabilityName>, matcher: CallMatcher, reply: Reply) -> Self {
        self.add(capability.into(), matcher, Active::Always, reply)
    }

    /// Gives this reply to the first matching call and leaves later ones to the following rules.
    #[must_use]
    pub fn once(self, capability: impl Into<CapabilityName>, matcher: CallMatcher, reply: Reply) -> Self {
        self.times(1, capability, matcher, reply)
    }

    /// Gives this reply to the first `times` matching calls and leaves later ones to the following rules.
    #[must_use]
    pub fn times(self, times: u32, capability: impl Into<CapabilityName>, matcher: CallMatcher, reply: Reply) -> Self {
        self.add(capability.into(), matcher, Active::Times(times), reply)
    }

    fn add(mut self, capability: CapabilityName, matcher: CallMatcher, active: Active, reply: Reply) -> Self {
        self.rules.push(Rule { matcher: (capability, matcher), active, reply });
        self
    }

    /// Appends each call as a line of JSON to a file before it is answered. A call that cannot be written is answered with
    /// 500.
    #[must_use]
    pub fn record_to(mut self, path: impl AsRef<Path>) -> Self {
        self.call_file = Some(path.as_ref().to_owned());
        self
    }

    /// Serves the tool on a free port of 127.0.0.1.
    pub async fn start(self) -> io::Result<RunningTool> {
        let state = Arc::new(ToolState {
            name: self.name,
            capabilities: self.capabilities,
            rules: Rules::new(self.rules),
            log: Log::new(),
            call_file: self.call_file,
        });
        Ok(RunningTool { server: Server::start(routes::router(Arc::clone(&state))).await?, state })
    }
}

/// A scripted tool that accepts calls. Dropping it closes its port and its connections.
#[derive(Debug)]
pub struct RunningTool {
    server: Server,
    state: Arc<ToolState>,
}

impl RunningTool {
    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// The URL of the tool: `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// All calls in the order of their arrival.
    pub fn calls(&self) -> Vec<RecordedCall> {
        self.state.log.all()
    }

    /// The calls of one capability.
    pub fn calls_of(&self, capability: &str) -> Vec<RecordedCall> {
        self.calls().into_iter().filter(|call| call.capability.as_str() == capability).collect()
    }

    /// The number of calls so far.
    pub fn call_count(&self) -> usize {
        self.calls().len()
    }

    /// Waits until there have been `count` calls. It has no timeout of its own.
    pub async fn wait_for_calls(&self, count: usize) {
        self.state.log.wait_for(count).await;
    }
}
