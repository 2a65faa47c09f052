//! HTTP clients for services: which connection a call uses, and why a request has no usable response.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reknit_protocol::{CallTool, Delivery, SideEffect, TransportFailure, TransportKind, redact_url};
use reqwest::{Certificate, Identity, Request, Response};

use super::body::{BodyError, ReadBodyError};
use super::direct::{DirectClient, Reuse};
use super::send_error::SendError;

const USER_AGENT: &str = concat!("reknit/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection may be idle for a call that changes something. Services keep idle ones for two seconds and longer.
const MAX_IDLE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct Client {
    /// For plain HTTP. `None` if there is a proxy.
    direct: Option<DirectClient>,
    http: reqwest::Client,
    recent: reqwest::Client,
    unpooled: reqwest::Client,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConnectionOptions {
    /// A file with certificates (PEM) of authorities that are trusted besides those of the system.
    pub ca_file: Option<PathBuf>,
    /// A file with the client's own certificate and key (PEM).
    pub certificate_file: Option<PathBuf>,
    /// The address of a proxy for all requests.
    pub proxy: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot create the HTTP client")]
    Build(#[from] reqwest::Error),
    #[error("cannot read `{}`: {problem}", .path.display())]
    File { path: PathBuf, problem: String },
    #[error("`{0}` is not the address of a proxy; write it like `http://127.0.0.1:3128`")]
    Proxy(String),
}

impl Client {
    /// Creates a client that does not follow redirects: a call must not silently go to another address than the plan names.
    pub fn new() -> Result<Self, ClientError> {
        Self::with_connection(&ConnectionOptions::default())
    }

    pub fn with_connection(options: &ConnectionOptions) -> Result<Self, ClientError> {
        // Fails if another part of the process has installed a provider before; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || options.client_builder();
        let direct = options.proxy.is_none().then(|| DirectClient::new(CONNECT_TIMEOUT, MAX_IDLE, USER_AGENT));
        Ok(Self {
            direct,
            http: builder()?.build()?,
            recent: builder()?.pool_idle_timeout(MAX_IDLE).build()?,
            unpooled: builder()?.pool_max_idle_per_host(0).build()?,
        })
    }

    pub(crate) async fn execute(&self, request: Box<Request>, side_effect: SideEffect) -> Result<Response, SendError> {
        let reuse = reuse_of(side_effect);
        let request = match &self.direct {
            None => request,
            Some(direct) => match direct.accept(request) {
                Ok(request) => return direct.send(request, reuse).await,
                Err(request) => request,
            },
        };
        let client = match reuse {
            Reuse::Any => &self.http,
            Reuse::Recent => &self.recent,
            Reuse::Never => &self.unpooled,
        };
        Ok(client.execute(*request).await?)
    }
}

fn reuse_of(side_effect: SideEffect) -> Reuse {
    match side_effect {
        SideEffect::Read => Reuse::Any,
        // Only shortly after the last call, before a service would close it. These calls may be sent again under the same key: their
        // outcome should be known, but need not.
        SideEffect::Idempotent | SideEffect::Keyed => Reuse::Recent,
        // If an idle connection breaks, it is unknown whether the tool had stopped before the call or while it worked; a call that
        // must not happen twice would have an unknown outcome without need.
        SideEffect::Undeclared | SideEffect::Unknown | SideEffect::Unsafe => Reuse::Never,
    }
}

impl ConnectionOptions {
    /// A client without redirects, with a time limit to connect. The caller installs a provider of cryptography.
    pub fn client_builder(&self) -> Result<reqwest::ClientBuilder, ClientError> {
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .no_proxy()
            .user_agent(USER_AGENT);
        if let Some(path) = &self.ca_file {
            let certificates = Certificate::from_pem_bundle(&read(path)?).map_err(|error| unusable(path, &error))?;
            if certificates.is_empty() {
                let problem = "there is no certificate in it".to_owned();
                return Err(ClientError::File { path: path.clone(), problem });
            }
            builder = builder.tls_certs_merge(certificates);
        }
        if let Some(path) = &self.certificate_file {
            builder = builder.identity(Identity::from_pem(&read(path)?).map_err(|error| unusable(path, &error))?);
        }
        if let Some(proxy) = &self.proxy {
            let invalid = |_| ClientError::Proxy(redact_url(proxy));
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(invalid)?);
        }
        Ok(builder)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ClientError> {
    std::fs::read(path).map_err(|error| ClientError::File { path: path.to_owned(), problem: error.to_string() })
}

fn unusable(path: &Path, error: &reqwest::Error) -> ClientError {
    let problem = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    ClientError::File { path: path.to_owned(), problem }
}

/// A call without a response. Only a connection that was never established proves that nothing was sent.
pub(crate) fn send_failure(call: &CallTool, error: &SendError) -> TransportFailure {
    let (kind, delivery) = match error {
        SendError::Reqwest(error) if error.is_builder() => (TransportKind::NotCallable, Delivery::NotSent),
        error if error.is_connect() => (TransportKind::Refused, Delivery::NotSent),
        SendError::Reqwest(error) if error.is_timeout() => (TransportKind::TimedOut, Delivery::Possible),
        _ => (TransportKind::Reset, Delivery::Possible),
    };
    let mut message = match kind {
        TransportKind::Refused => format!("`{}` cannot be reached", call.tool),
        _ => format!("`{}` broke the connection", call.tool),
    };
    if let Some(cause) = last_cause(error) {
        message = format!("{message}: {cause}");
    }
    TransportFailure { kind, delivery, message }
}

/// A response whose body cannot be used. The tool has received the call.
pub(crate) fn body_failure(call: &CallTool, status: u16, error: &BodyError) -> TransportFailure {
    let kind = match error {
        BodyError::Read(ReadBodyError::Broken(_)) => TransportKind::Reset,
        BodyError::Read(ReadBodyError::TooLarge(_)) => TransportKind::TooLarge,
        BodyError::Compressed(_) | BodyError::InvalidJson(_) => TransportKind::Unreadable,
    };
    TransportFailure {
        kind,
        delivery: Delivery::Possible,
        message: format!("`{}` answered {status}, but {error}", call.tool),
    }
}

/// The last error of the chain, the most specific one: `Connection refused (os error 111)`. It does not contain the URL.
pub fn last_cause(error: &dyn Error) -> Option<String> {
    std::iter::successors(error.source(), |cause| (*cause).source()).last().map(ToString::to_string)
}
