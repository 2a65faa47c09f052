//! HTTP clients for services.

use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// An HTTP client for services. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    /// Opens a new connection for each call. If a pooled connection breaks, it is unknown whether the tool had stopped before
    /// the call or while it worked; a call that must not happen twice would have an unknown outcome without need.
    pub(crate) unpooled: reqwest::Client,
}

/// The HTTP client cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the HTTP client")]
pub struct ClientError(#[from] reqwest::Error);

impl Client {
    /// Creates a client that does not follow redirects: a call must not silently go to another address than the plan names.
    pub fn new() -> Result<Self, ClientError> {
        // Fails if another part of the process has installed a provider before; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { http: builder().build()?, unpooled: builder().pool_max_idle_per_host(0).build()? })
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .no_proxy()
        .user_agent(concat!("reknit/", env!("CARGO_PKG_VERSION")))
}
