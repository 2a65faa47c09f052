//! One connection to a server: the process or session, and the agreement on the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, JsonObject, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, ServerNotification, ServerPeerInfo, ServerResult, SubscriptionFilter,
    TASKS_EXTENSION_ID,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, Peer, PeerRequestOptions,
    RequestHandle, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::watch;

use crate::http::{HttpClient, HttpFault, describe_fault, status_of};
use crate::oauth::authorized;
use crate::options::{McpConnection, McpOptions, McpProgram, ProtocolEra};
use crate::process::ServerProcess;
use crate::stdio::{ReadError, ReadStop, StdioTransport};

#[derive(Debug, Clone)]
pub(crate) enum Unavailable {
    /// Nothing was sent, or nothing that matters.
    Down(String),
    /// The server refused the connection with a status of HTTP.
    Status { status: u16, retry_after_ms: Option<u64>, body: String },
    /// A person has to sign in; the text says how.
    NeedsSignIn(String),
}

impl Unavailable {
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Down(message) | Self::NeedsSignIn(message) => message.clone(),
            Self::Status { status, body, .. } => format!("it answered with status {status}: {body}"),
        }
    }
}

/// An open connection. Dropping it ends the process of the server or its session.
#[derive(Debug)]
pub(crate) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<ServerProcess>,
    stop: ReadStop,
    has_answered: AtomicBool,
    listener: Option<tokio::task::JoinHandle<()>>,
    /// What a refused request means, if a person can sign in.
    sign_in_needed: Option<String>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            listener.abort();
        }
    }
}

impl Connection {
    pub(crate) async fn open(
        options: &McpOptions,
        http: Option<&HttpClient>,
        era: ProtocolEra,
        generation: &watch::Sender<u64>,
    ) -> Result<Self, Unavailable> {
        let connecting = async {
            match (&options.connection, http) {
                (McpConnection::Stdio(program), _) => Self::start(options, program, era, generation).await,
                (McpConnection::Http(endpoint), Some(http)) => {
                    let handler = Handler { generation: generation.clone() };
                    let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str());
                    config.retry_config = Arc::new(StreamRetries);
                    config.max_sse_event_size = options.max_message;
                    let mode = lifecycle(era);
                    let service = if let Some(oauth) = &endpoint.oauth {
                        let refused = |error: AuthError| {
                            let again = options.sign_in_command();
                            Unavailable::Down(format!("its tokens cannot be used: {error}; sign in again: {again}"))
                        };
                        let http = authorized(endpoint, oauth, http).await.map_err(refused)?;
                        let transport = StreamableHttpClientTransport::with_client(http, config);
                        handler.serve_with_lifecycle(transport, mode).await
                    } else {
                        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
                        handler.serve_with_lifecycle(transport, mode).await
                    };
                    let refused = |error: ClientInitializeError| match (refusal(&error), options.sign_in_needed()) {
                        (Unavailable::Status { status: 401, .. }, Some(text)) => Unavailable::NeedsSignIn(text),
                        (refusal, _) => refusal,
                    };
                    service.map(|service| (service, None, ReadStop::default())).map_err(refused)
                }
                (McpConnection::Http(_), None) => Err(Unavailable::Down("there is no HTTP client".to_owned())),
            }
        };
        let limit = options.connect_limit;
        let late = |_| Unavailable::Down(format!("it did not get ready within {limit:?}"));
        let (service, process, stop) = tokio::time::timeout(limit, connecting).await.map_err(late)??;
        let listener = listen(&service, generation);
        let sign_in_needed = options.sign_in_needed();
        Ok(Self { service, process, stop, has_answered: AtomicBool::new(false), listener, sign_in_needed })
    }

    /// Starts a program. One that ends because it is asked for its protocol is started again with the handshake.
    async fn start(
        options: &McpOptions,
        program: &McpProgram,
        era: ProtocolEra,
        generation: &watch::Sender<u64>,
    ) -> Result<(RunningService<RoleClient, Handler>, Option<ServerProcess>, ReadStop), Unavailable> {
        let mut era = era;
        loop {
            let (process, input, output) = ServerProcess::start(program).map_err(Unavailable::Down)?;
            let stop = ReadStop::default();
            let last_output = process.output().clone();
            let transport = StdioTransport::new(input, output, options.max_message, last_output, Arc::clone(&stop));
            let handler = Handler { generation: generation.clone() };
            match handler.serve_with_lifecycle(transport, lifecycle(era)).await {
                Ok(service) => return Ok((service, Some(process), stop)),
                Err(_) if era == ProtocolEra::Detect => era = ProtocolEra::Handshake,
                Err(error) => {
                    let end = process.describe_end().await;
                    let refusal = refusal(&error).message();
                    return Err(Unavailable::Down(format!("it did not agree on the protocol: {refusal}; {end}")));
                }
            }
        }
    }

    pub(crate) fn peer_info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.service.peer().peer_info()
    }

    /// Which era of the protocol was agreed on, to be used for the next connection.
    pub(crate) fn era(&self) -> ProtocolEra {
        let version = self.peer_info().map(|info| info.protocol_version.clone());
        match version {
            Some(version) if version.has_initialize() => ProtocolEra::Handshake,
            Some(_) => ProtocolEra::Stateless,
            None => ProtocolEra::Detect,
        }
    }

    /// What a refused request means, if a person can sign in.
    pub(crate) fn sign_in_needed(&self) -> Option<&str> {
        self.sign_in_needed.as_deref()
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.service.peer().is_transport_closed()
    }

    /// Whether a call was ever answered on this connection.
    pub(crate) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    pub(crate) fn note_answer(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    /// Why the output of the program is not read any more, if it did not simply end.
    fn stop(&self) -> Option<Arc<ReadError>> {
        self.stop.lock().clone()
    }

    /// Whether the connection ended because a message was too large.
    pub(crate) fn is_overfull(&self) -> bool {
        matches!(self.stop().as_deref(), Some(ReadError::TooLarge(_)))
    }

    /// Why the connection is closed, for messages.
    pub(crate) async fn describe_end(&self) -> String {
        match (self.stop(), &self.process) {
            (Some(stop), _) => stop.to_string(),
            (None, Some(process)) => process.describe_end().await,
            (None, None) => "the connection is closed".to_owned(),
        }
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request.
    pub(crate) async fn request(
        &self,
        request: ClientRequest,
        options: PeerRequestOptions,
    ) -> Result<ServerResult, ServiceError> {
        let handle = self.service.peer().send_request_with_option(request, options).await?;
        let mut pending = PendingRequest(Some(handle));
        let Some(handle) = &mut pending.0 else { return Err(ServiceError::TransportClosed) };
        let answer = (&mut handle.rx).await;
        pending.0 = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }

    pub(crate) async fn list_page(&self, cursor: Option<String>) -> Result<ServerResult, ServiceError> {
        let mut request = ListToolsRequest::default();
        if cursor.is_some() {
            request.params = Some(PaginatedRequestParams::default().with_cursor(cursor));
        }
        self.request(ClientRequest::ListToolsRequest(request), PeerRequestOptions::no_options()).await
    }

    /// Ends the connection in good order: a program may finish its work for a moment.
    pub(crate) async fn close(mut self) {
        // A task that cannot be joined has ended all the same.
        let _ = self.service.close_with_timeout(Duration::from_secs(2)).await;
        if let Some(process) = &self.process {
            process.finish().await;
        }
    }
}

/// A request that was sent. Dropping it before the answer cancels it.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            // Nobody is left to hear that it failed.
            runtime.spawn(async move { drop(handle.cancel(Some("the caller gave up".to_owned())).await) });
        }
    }
}

/// How the connection to an interrupted event stream is tried again: four times, after 1, 2, 4 and 8 seconds.
#[derive(Debug)]
struct StreamRetries;

impl SseRetryPolicy for StreamRetries {
    fn retry(&self, times: usize) -> Option<Duration> {
        (times < 4).then(|| Duration::from_secs(1 << times))
    }
}

fn lifecycle(era: ProtocolEra) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match era {
        ProtocolEra::Handshake => ClientLifecycleMode::Initialize,
        ProtocolEra::Stateless => ClientLifecycleMode::Discover { preferred_versions },
        ProtocolEra::Detect => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}

/// Without a handshake, a server tells only those about changes who listen.
fn listen(
    service: &RunningService<RoleClient, Handler>,
    generation: &watch::Sender<u64>,
) -> Option<tokio::task::JoinHandle<()>> {
    let peer: Peer<RoleClient> = service.peer().clone();
    let info = peer.peer_info()?;
    let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) == Some(true);
    if info.protocol_version.has_initialize() || !tells {
        return None;
    }
    let generation = generation.clone();
    Some(tokio::spawn(async move {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut subscription) = peer.listen(filter).await else { return };
        while let Ok(Some(notification)) = subscription.next().await {
            if matches!(notification, ServerNotification::ToolListChangedNotification(_)) {
                tools_changed(&generation);
            }
        }
    }))
}

fn refusal(error: &ClientInitializeError) -> Unavailable {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal(fallback),
        ClientInitializeError::TransportError { error, .. } => {
            let Some(fault) = error.error.downcast_ref::<StreamableHttpError<HttpFault>>() else {
                return Unavailable::Down(error.error.to_string());
            };
            match status_of(fault) {
                Some((status, retry_after_ms, body)) => Unavailable::Status { status, retry_after_ms, body },
                None => Unavailable::Down(describe_fault(fault)),
            }
        }
        ClientInitializeError::JsonRpcError(error) => Unavailable::Down(error.message.to_string()),
        ClientInitializeError::ConnectionClosed(_) => Unavailable::Down("it closed the connection".to_owned()),
        other => Unavailable::Down(other.to_string()),
    }
}

/// Answers a server: it may only ping, and tell that its tools have changed. Progress is read and has no effect.
#[derive(Debug)]
struct Handler {
    generation: watch::Sender<u64>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("reknit", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        capabilities.extensions = Some([(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())].into());
        ClientConfig::new(capabilities, us).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        tools_changed(&self.generation);
    }
}

/// Notes that the list of tools may have changed.
pub(crate) fn tools_changed(generation: &watch::Sender<u64>) {
    generation.send_modify(|generation| *generation += 1);
}
