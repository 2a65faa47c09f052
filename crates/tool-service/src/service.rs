//! A service: capabilities under one name, with limits.

mod routes;
mod running_service;

pub use running_service::{RunningService, ShutdownError};

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use reknit_registry::{RecordError, RegistrationOptions, ServiceRecord};
use tokio::net::TcpListener;

use crate::{BuildError, CapabilityDefinition, IdempotencyLimits};
use routes::ServiceState;

/// What requests to a service may use. A caller beyond a limit gets an error.
#[derive(Debug, Clone, Copy)]
pub struct ServiceLimits {
    /// The largest body; a larger one is answered with 413.
    pub body_bytes: usize,
    /// How long a body may take to arrive; a slower one is answered with 408.
    pub body_timeout: Duration,
    /// How long a handler may take; a slower one is dropped and the call answered with 503 `REQUEST_TIMEOUT`.
    pub call_timeout: Duration,
    /// How many calls may run at once; further ones are answered with 503.
    pub concurrent_calls: usize,
    /// How long [`RunningService::shutdown`] waits for running calls.
    pub drain_timeout: Duration,
}

impl Default for ServiceLimits {
    /// 1 MiB within 10 seconds, 60 seconds per call, 1,024 concurrent calls, 10 seconds to drain.
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            body_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_mins(1),
            concurrent_calls: 1024,
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// A tool: capabilities under one name, served over HTTP.
///
/// | path | answer |
/// |---|---|
/// | `GET /health` | `{"status":"healthy",...}` |
/// | `GET /api/capabilities` | the capabilities, with side effects and field hints |
/// | `GET /api/capabilities/<name>/schema` | the full JSON Schema of the arguments |
/// | `POST /api/capabilities/<name>` | the answer of the handler to these parameters |
#[derive(Debug)]
pub struct Service {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) capabilities: Vec<CapabilityDefinition>,
    pub(crate) limits: ServiceLimits,
    pub(crate) idempotency: IdempotencyLimits,
    registration: Option<RegistrationOptions>,
}

/// Why a service cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The service cannot be built.
    #[error("the service cannot be built")]
    Build(#[from] BuildError),
    /// The service listens on all interfaces, and it is not known under which address others reach it.
    #[error(
        "the service cannot be registered: it listens on all interfaces; name its host, for example with `GOMIND_ADDRESS`"
    )]
    NoAddress,
    /// The service has a name or an address that cannot be registered.
    #[error("the service cannot be registered")]
    Record(#[from] RecordError),
    /// The service cannot listen on its address.
    #[error("the service cannot listen on its address")]
    Listen(#[from] io::Error),
}

impl Service {
    /// A service without capabilities.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            capabilities: Vec::new(),
            limits: ServiceLimits::default(),
            idempotency: IdempotencyLimits::default(),
            registration: None,
        }
    }

    /// Sets the description of the tool.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a capability.
    #[must_use]
    pub fn capability(mut self, capability: CapabilityDefinition) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Sets what requests may use.
    #[must_use]
    pub fn limits(mut self, limits: ServiceLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long and how much the service remembers for `keyed` capabilities.
    #[must_use]
    pub fn idempotency_limits(mut self, limits: IdempotencyLimits) -> Self {
        self.idempotency = limits;
        self
    }

    /// Registers the service while it is served, so that others find it. The registration is renewed and repeated in the
    /// background; [`RunningService::registration`] says how it goes.
    ///
    /// ```no_run
    /// use reknit_tool_service::{RegistrationOptions, Service};
    ///
    /// # fn example(service: Service) -> Result<Service, Box<dyn std::error::Error>> {
    /// // `REDIS_URL` and others; in Kubernetes also the address of the service.
    /// let options = RegistrationOptions::from_environment(&|name| std::env::var(name).ok())?;
    /// # Ok(
    /// match options {
    ///     Some(options) => service.register(options),
    ///     None => service,
    /// }
    /// # )
    /// # }
    /// ```
    #[must_use]
    pub fn register(mut self, options: RegistrationOptions) -> Self {
        self.registration = Some(options);
        self
    }

    /// The name of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The service as a router, to be nested into another server. It has a fallback for unknown paths, so it cannot be
    /// merged with a router that has one too.
    pub fn router(self) -> Result<Router, BuildError> {
        if self.registration.is_some() {
            return Err(BuildError::RegisteredRouter);
        }
        Ok(Arc::new(self.build()?).router())
    }

    /// Serves on a listener until [`RunningService::shutdown`], or until the handle is dropped.
    ///
    /// Must be called within a tokio runtime.
    pub fn serve(self, listener: TcpListener) -> Result<RunningService, ServeError> {
        let drain_timeout = self.limits.drain_timeout;
        let registration = match &self.registration {
            Some(options) => Some((options.clone(), self.record(options, listener.local_addr()?)?)),
            None => None,
        };
        let state = Arc::new(self.build()?);
        Ok(RunningService::start(state, listener, drain_timeout, registration)?)
    }

    /// Serves on a free port of the loopback interface.
    pub async fn start(self) -> Result<RunningService, ServeError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        self.serve(listener)
    }

    /// The record under which the service registers.
    fn record(&self, options: &RegistrationOptions, listens_on: SocketAddr) -> Result<ServiceRecord, ServeError> {
        let mut record = ServiceRecord::new(&self.name);
        record.description.clone_from(&self.description);
        record.capabilities = self.capabilities.iter().map(|capability| capability.announcement().to_value()).collect();
        record.metadata = options.address.metadata.clone();
        record.port = options.address.port.unwrap_or(listens_on.port());
        record.address = match &options.address.host {
            Some(host) => host.clone(),
            None if listens_on.ip().is_unspecified() => return Err(ServeError::NoAddress),
            None => listens_on.ip().to_string(),
        };
        record.base_url()?;
        Ok(record)
    }

    fn build(self) -> Result<ServiceState, BuildError> {
        for (index, capability) in self.capabilities.iter().enumerate() {
            let name = &capability.announcement().name;
            if !is_valid_name(name.as_str()) {
                return Err(BuildError::InvalidName { name: name.clone() });
            }
            if self.capabilities.iter().skip(index + 1).any(|other| other.announcement().name == *name) {
                return Err(BuildError::DuplicateName { name: name.clone() });
            }
        }
        ServiceState::new(self)
    }
}

/// Whether a name can be part of a path without escaping. `.` and `..` are not names but folders.
fn is_valid_name(name: &str) -> bool {
    let begins_with_word = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    begins_with_word && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}
