//! The HTTP client for tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::CallTool;

use crate::address::ComponentType;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// An HTTP client for tools. Cloning is cheap.
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

/// The known tools. Makes their calls.
#[derive(Debug, Clone)]
pub struct Tools {
    pub(crate) client: Client,
    /// The route of each capability, by tool and capability name.
    pub(crate) routes: Arc<Routes>,
}

pub(crate) type Routes = HashMap<(String, String), Route>;

/// Where the calls of a capability go, and what serves them.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) url: reqwest::Url,
    pub(crate) component: ComponentType,
}

impl Tools {
    pub(crate) fn new(client: Client, routes: Routes) -> Self {
        Self { client, routes: Arc::new(routes) }
    }

    /// The route of the capability that is called.
    pub(crate) fn route(&self, call: &CallTool) -> Option<&Route> {
        self.routes.get(&(call.agent.as_str().to_owned(), call.capability.as_str().to_owned()))
    }
}
