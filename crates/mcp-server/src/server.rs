//! The MCP server: lists the tools, and makes their calls.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reknit::runtime::{NamedAgent, RefusalCode, Runtime};
use reknit::{Reknit, RunHandle};
use reknit_engine::{ClientCall, GuardLevel, take_repeat_reason};
use reknit_plan::Catalogue;
use reknit_protocol::{Object, RunId, Sha256, Value, hex};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ErrorData, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::approval::{ask, can_ask};
use crate::call::{STEP, start_of_call};
use crate::conversations::{Conversation, Conversations};
use crate::known_calls::{CallRun, KnownCalls, NoLimit, RunLimit};
use crate::offer::{Offer, Offered, OfferedCapability, Offering};
use crate::own_tools::OwnTool;
use crate::result::{earlier_result, error_text, result_of_call, result_of_run, waiting};
use crate::sessions::{SessionLimit, Sessions};

/// The header of an HTTP request that names its caller. The server that mounts [`McpServer::http_service`] sets it.
pub const CALLER_HEADER: &str = "x-reknit-caller";

const PAGE: usize = 500;

/// The longest time between two reports to a client that asks for progress.
const MAX_PROGRESS_WAIT: Duration = Duration::from_secs(5);

/// How long calls that change something may go on after the client is gone.
const DRAIN: Duration = Duration::from_secs(20);

/// Offers the tools of a [`Reknit`] to one MCP client. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct McpServer {
    pub(crate) reknit: Reknit,
    offering: Offering,
    /// Sorted by name.
    pub(crate) agents: Arc<[NamedAgent]>,
    /// Whether the user of the client may decide questions.
    may_approve: bool,
    offer: Arc<Mutex<Option<KnownOffer>>>,
    known: Arc<KnownCalls>,
    conversations: Arc<Conversations>,
    limit: Arc<dyn RunLimit>,
    /// The runs that may change something, until they end or wait for a person.
    running: TaskTracker,
}

type KnownOffer = (Arc<Catalogue>, Arc<Offer>);

/// Why serving ended before the client left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpServeError {
    #[error("the client did not begin as MCP asks for")]
    Begin(#[source] Box<ServerInitializeError>),
    #[error("the server failed")]
    Task(#[source] tokio::task::JoinError),
}

impl McpServer {
    pub fn new(reknit: Reknit, offering: Offering) -> Self {
        Self {
            reknit,
            offering,
            agents: Arc::new([]),
            may_approve: true,
            offer: Arc::default(),
            known: Arc::new(KnownCalls::of_one_client()),
            conversations: Arc::default(),
            limit: Arc::new(NoLimit),
            running: TaskTracker::new(),
        }
    }

    /// Whether the user of the client may decide the questions of runs; yes by default. Otherwise somebody else must.
    #[must_use]
    pub fn with_approvals(self, may_approve: bool) -> Self {
        Self { may_approve, ..self }
    }

    /// Offers agents, each as a tool of its own.
    #[must_use]
    pub fn with_agents(self, agents: impl IntoIterator<Item = NamedAgent>) -> Self {
        Self { agents: agents.into_iter().collect(), ..self }
    }

    /// Limits how many runs are in progress. There is no limit by default.
    #[must_use]
    pub fn with_run_limit(self, limit: Arc<dyn RunLimit>) -> Self {
        Self { limit, ..self }
    }

    /// Serves one client over standard input and output, until it closes them. Calls that change something and are under way then
    /// are waited for.
    pub async fn serve_stdio(self) -> Result<(), McpServeError> {
        self.serve_on(rmcp::transport::stdio()).await
    }

    /// Serves one client over a pair of streams, as [`serve_stdio`](Self::serve_stdio) does.
    pub async fn serve_on<R, W>(self, streams: (R, W)) -> Result<(), McpServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let running = self.running.clone();
        let service = self.serve(streams).await.map_err(|error| McpServeError::Begin(Box::new(error)))?;
        let ended = service.waiting().await.map(|_| ()).map_err(McpServeError::Task);
        running.close();
        // What is not done by then is in the journal, and can be resumed.
        let _ = tokio::time::timeout(DRAIN, running.wait()).await;
        ended
    }

    /// The same server over HTTP, for many clients. Whoever mounts it checks who may call it and from which host, and names the
    /// caller in the header [`CALLER_HEADER`], and handles requests in [`unless_refused`](crate::unless_refused).
    pub fn http_service(self, limit: SessionLimit) -> StreamableHttpService<Self, Sessions> {
        let config = StreamableHttpServerConfig::default().disable_allowed_hosts().disable_allowed_origins();
        let shared = Self { known: Arc::default(), conversations: Arc::default(), ..self };
        StreamableHttpService::new(move || Ok(shared.clone()), Arc::new(Sessions::new(limit)), config)
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.reknit.runtime()
    }

    /// The tools for the current catalogue, which can change while the server runs.
    fn offer(&self) -> Arc<Offer> {
        let catalogue = self.runtime().current_catalogue();
        let mut kept = self.offer.lock();
        if let Some((known, offer)) = &*kept
            && Arc::ptr_eq(known, &catalogue)
        {
            return Arc::clone(offer);
        }
        let effects = &self.runtime().policy.effects;
        let mut own = OwnTool::all(!self.runtime().targets.is_empty());
        own.retain(|tool| match self.offering {
            Offering::EveryTool => true,
            // For catalogues that do not fit into a prompt, every tool counts.
            Offering::Plans => *tool != OwnTool::ExplainRun,
            Offering::OwnNames => *tool == OwnTool::ContinueRun,
        });
        let offer = Arc::new(Offer::new(
            &catalogue,
            |tool, entry| effects.class(tool.name.as_str(), entry.capability.name.as_str(), entry.capability.effect),
            (&own, &self.agents),
            self.offering,
        ));
        *kept = Some((catalogue, Arc::clone(&offer)));
        offer
    }

    async fn call_capability(
        &self,
        called: &OfferedCapability,
        mut arguments: Object,
        (context, conversation): (&RequestContext<RoleServer>, &Mutex<Conversation>),
    ) -> CallToolResult {
        let reason = called.repeat_argument.as_deref().map(|name| take_repeat_reason(&mut arguments, name));
        let mut started = start_of_call(self.runtime(), called, &arguments);
        let (tool, capability) = (called.tool.as_str(), called.capability.as_str());
        let call = ClientCall { step: STEP, tool, capability, arguments: &arguments, is_loop: false };
        {
            let Conversation { reads, asked } = &mut *conversation.lock();
            reads.judge(&[call], asked, &mut started);
        }
        let Some(None) = reason else {
            return match self.start_run(|| self.reknit.start(started)) {
                Ok(handle) if called.only_reads => self.follow(&handle, context, result_of_call).await,
                Ok(handle) => self.follow(&self.waited_for(handle), context, result_of_call).await,
                Err(result) => result,
            };
        };
        let call = format!("{}/{} {}", called.tool, called.capability, Value::Object(arguments.clone()).canonical());
        match self.known.start((&self.reknit, &*self.limit), (&self.caller(context), &call), started).await {
            Ok(CallRun::First(handle)) => self.follow(&self.waited_for(handle), context, result_of_call).await,
            Ok(CallRun::Repeated(handle)) => {
                let result = self.follow(&handle, context, result_of_call).await;
                earlier_result(result, called.repeat_argument.as_deref())
            }
            Err(error) => error_text(format!("Not sent: {error}")),
        }
    }

    /// Who makes a call: the owner of its run, the caller that the HTTP server names, and the name that the client gives itself.
    fn caller(&self, context: &RequestContext<RoleServer>) -> String {
        let parts = context.extensions.get::<http::request::Parts>();
        let named = parts.and_then(|parts| parts.headers.get(CALLER_HEADER)?.to_str().ok()).unwrap_or_default();
        let client = context.peer.peer_info().map(|info| info.client_info.name.clone()).unwrap_or_default();
        match self.runtime().owner().map(|owner| hex(&Sha256::digest(&owner.name))) {
            // The server of `reknit serve` names the owner in this form.
            Some(owner) if owner != named => format!("{owner}\0{named}\0{client}"),
            Some(_) | None => format!("{named}\0{client}"),
        }
    }

    fn start_run(&self, start: impl FnOnce() -> RunHandle) -> Result<RunHandle, CallToolResult> {
        self.limit.start(Box::new(start)).map_err(|reason| error_text(format!("Not sent: {reason}")))
    }

    /// Starts a run that is waited for when the client leaves, and follows it.
    pub(crate) async fn run(
        &self,
        context: &RequestContext<RoleServer>,
        start: impl FnOnce() -> RunHandle,
    ) -> CallToolResult {
        match self.start_run(start) {
            Ok(handle) => self.follow(&self.waited_for(handle), context, result_of_run).await,
            Err(result) => result,
        }
    }

    /// A run that is waited for when the client leaves.
    pub(crate) fn waited_for(&self, handle: RunHandle) -> RunHandle {
        let run = handle.clone();
        self.running.spawn(async move { run.questions().await });
        handle
    }

    /// Waits for the end of a run. Asks the user of the client what the run asks, tells the client about the progress, and cancels the
    /// run when the client gives the call up.
    pub(crate) async fn follow(
        &self,
        handle: &RunHandle,
        context: &RequestContext<RoleServer>,
        result_of: fn(&RunId, &Result<reknit::RunAnswer, reknit::RunError>) -> CallToolResult,
    ) -> CallToolResult {
        let started = Instant::now();
        let mut wait = Duration::from_secs(1);
        loop {
            tokio::select! {
                outcome = handle.outcome() => return result_of(&handle.id, &outcome),
                questions = handle.questions() => {
                    let questions = match questions {
                        Ok(questions) if questions.is_empty() => continue,
                        Ok(questions) => questions,
                        Err(error) => return result_of(&handle.id, &Err(error)),
                    };
                    let wait_for_person = || waiting(&handle.id, &questions, self.offer().name_of(OwnTool::ContinueRun));
                    if !self.may_approve || !can_ask(&context.peer) {
                        return wait_for_person();
                    }
                    for question in &questions {
                        let decided = match ask(&context.peer, question).await {
                            // If somebody else was faster, the run goes on with that decision.
                            Ok(Some(decision)) => !matches!(
                                handle.decide(question, decision).await,
                                Err(refusal) if refusal.code() != RefusalCode::AlreadyDecided
                            ),
                            Ok(None) | Err(_) => false,
                        };
                        if !decided {
                            return wait_for_person();
                        }
                    }
                }
                () = context.ct.cancelled() => {
                    // The client does not read the result any more; what the run did is in the journal.
                    let _ = handle.cancel().await;
                    return error_text("cancelled");
                }
                () = tokio::time::sleep(wait) => {
                    wait = (wait + Duration::from_secs(1)).min(MAX_PROGRESS_WAIT);
                    report_progress(context, started.elapsed()).await;
                }
            }
        }
    }
}

/// Tells a client that asked for it that its call is still under way.
async fn report_progress(context: &RequestContext<RoleServer>, elapsed: Duration) {
    if let Some(token) = context.meta.get_progress_token() {
        let seconds = elapsed.as_secs_f64();
        let message = format!("under way for {seconds:.0} s");
        let progress = ProgressNotificationParam::new(token, seconds).with_message(message);
        // A client that is gone needs no progress.
        let _ = context.peer.notify_progress(progress).await;
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let instructions = "Every call is fitted to its schema, mended where that is safe, and journalled. A result says what was changed. \
            A call that may have taken effect is never repeated by itself: do not repeat it either.";
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("reknit", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let from: usize = match cursor.as_deref().map(str::parse) {
            None => 0,
            Some(Ok(from)) => from,
            Some(Err(_)) => return Err(ErrorData::invalid_params("the cursor is not one of this server", None)),
        };
        let offer = self.offer();
        let tools: Vec<_> = offer.tools.iter().skip(from).take(PAGE).cloned().collect();
        let end = from.saturating_add(PAGE);
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = (end < offer.tools.len()).then(|| end.to_string());
        Ok(page)
    }

    /// The definition of a tool, with which the headers of an HTTP request are compared (`x-mcp-header`).
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offer().tools.iter().find(|tool| tool.name == name).cloned()
    }

    // Only tools are declared. The handlers of the library would answer these methods with empty results.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let offer = self.offer();
        let arguments = arguments_of(&request)?;
        let conversation = self.conversations.of(&context, &self.caller(&context));
        conversation.lock().hear(&context)?;
        let (mut source, sent) = (None, arguments.clone());
        let result = match offer.find(&request.name) {
            Some(Offered::Capability(called)) => {
                source = Some((called.tool.as_str(), called.capability.as_str()));
                Box::pin(self.call_capability(called, arguments, (&context, &*conversation))).await
            }
            Some(Offered::Own(tool)) => Box::pin(self.call_own(*tool, &arguments, (&context, &*conversation))).await,
            Some(Offered::Agent(name)) => self.call_agent(name, &arguments, &context).await,
            None => return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None)),
        };
        let changes = matches!(offer.find(&request.name), Some(Offered::Capability(called)) if !called.only_reads);
        if self.runtime().policy_with_rules().effects.guard != GuardLevel::Off {
            conversation.lock().note((source, &sent), changes, &result);
        }
        Ok(result.into())
    }
}

fn arguments_of(request: &CallToolRequestParams) -> Result<Object, ErrorData> {
    let Some(arguments) = &request.arguments else { return Ok(Object::new()) };
    let text = serde_json::to_string(arguments).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    let value = Value::parse(&text).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    value.as_object().cloned().ok_or_else(|| ErrorData::invalid_params("the arguments are no object", None))
}
