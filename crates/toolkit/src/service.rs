//! Capabilities under one name, before and when they are served.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use reknit_protocol::CapabilityName;
use tokio::net::TcpListener;

use crate::routes::Open;
use crate::{Capability, KeyLimits, Running};

/// What one request may take. Beyond a limit the caller gets an error, never a wait without end.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How large a body may be; beyond, 413.
    pub body: usize,
    /// How long a body may take to arrive; beyond, 408.
    pub body_time: Duration,
    /// How long a handler may take; beyond, it is dropped and the answer is 503 `REQUEST_TIMEOUT`.
    pub call: Duration,
    /// How many calls may run at once; beyond, 503.
    pub at_once: usize,
    /// How long [`Running::shutdown`] waits for calls that still run.
    pub drain: Duration,
}

impl Default for Limits {
    /// 1 MiB within 10 seconds, 60 seconds to a call, 1,024 at once, 10 seconds to drain.
    fn default() -> Self {
        Self {
            body: 1024 * 1024,
            body_time: Duration::from_secs(10),
            call: Duration::from_mins(1),
            at_once: 1024,
            drain: Duration::from_secs(10),
        }
    }
}

/// A tool: capabilities under one name, ready to be served.
///
/// | path | answer |
/// |---|---|
/// | `GET /health` | `{"status":"healthy",...}` |
/// | `GET /api/capabilities` | what there is, with effects and field hints |
/// | `GET /api/capabilities/<name>/schema` | the full JSON Schema of the arguments |
/// | `POST /api/capabilities/<name>` | the call |
#[derive(Debug)]
pub struct Service {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) capabilities: Vec<Capability>,
    pub(crate) limits: Limits,
    pub(crate) keys: KeyLimits,
}

/// Why a service cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Two capabilities have one name.
    #[error("there are two capabilities called `{name}`")]
    SameName {
        /// The name.
        name: CapabilityName,
    },
    /// A name that does not fit into a path as it is.
    #[error("`{name}` is no name for a capability: use letters, digits, `_`, `-` and `.`")]
    BadName {
        /// The name.
        name: CapabilityName,
    },
}

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It cannot be built.
    #[error("the service is not put together right")]
    Build(#[from] BuildError),
    /// The address cannot be used.
    #[error("the service cannot listen")]
    Listen(#[from] io::Error),
}

impl Service {
    /// A service without capabilities.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            capabilities: Vec::new(),
            limits: Limits::default(),
            keys: KeyLimits::default(),
        }
    }

    /// Says what the tool is for.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a capability.
    #[must_use]
    pub fn capability(mut self, capability: Capability) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Sets what one request may take.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long and how much is remembered for `keyed` capabilities.
    #[must_use]
    pub fn remember(mut self, keys: KeyLimits) -> Self {
        self.keys = keys;
        self
    }

    /// What the service is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The service as a router, to be nested into another server. It answers every path below its own, so it cannot be
    /// merged with a router that has a fallback.
    pub fn router(self) -> Result<Router, BuildError> {
        Ok(Arc::new(self.open()?).router())
    }

    /// Serves on a listener until [`Running::shutdown`], or until the handle is dropped.
    ///
    /// Must be called within a tokio runtime.
    pub fn serve(self, listener: TcpListener) -> Result<Running, StartError> {
        let drain = self.limits.drain;
        Ok(Running::start(Arc::new(self.open()?), listener, drain)?)
    }

    /// Serves on a free port of the loopback interface.
    pub async fn start(self) -> Result<Running, StartError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        self.serve(listener)
    }

    fn open(self) -> Result<Open, BuildError> {
        for (index, capability) in self.capabilities.iter().enumerate() {
            let name = capability.name();
            if !is_plain(name.as_str()) {
                return Err(BuildError::BadName { name: name.clone() });
            }
            if self.capabilities.iter().skip(index + 1).any(|other| other.name() == name) {
                return Err(BuildError::SameName { name: name.clone() });
            }
        }
        Ok(Open::new(self))
    }
}

/// Whether a name stands in a path as it is. A point alone would be taken for a folder.
fn is_plain(name: &str) -> bool {
    let has_word = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    has_word && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}
