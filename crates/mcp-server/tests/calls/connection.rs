//! A client that is connected to an MCP server with one tool.

use reknit::{ConfigBuilder, Reknit};
use reknit_engine::ApprovalRule;
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_mcp_server::{McpServeError, McpServer, Offering};
use reknit_protocol::{SideEffect, Value};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceError, ServiceExt};
use serde_json::json;

/// A client whose user answers every question in the same way; `None` if it cannot ask.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) answer: Option<(ElicitationAction, bool)>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.answer {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let (action, approve) = self.answer.clone().expect("only a client that can ask is asked");
        Ok(ElicitResult::new(action).with_content(json!({"approve": approve})))
    }
}

pub(crate) struct Connection {
    pub(crate) tool: RunningTool,
    pub(crate) reknit: Reknit,
    pub(crate) client: RunningService<RoleClient, Client>,
    pub(crate) server: tokio::task::JoinHandle<Result<(), McpServeError>>,
}

impl Connection {
    pub(crate) async fn open(tool: ScriptedTool, rules: Vec<ApprovalRule>, client: Client, offering: Offering) -> Self {
        Self::with_approvals(tool, rules, client, offering, true).await
    }

    pub(crate) async fn with_approvals(
        tool: ScriptedTool,
        rules: Vec<ApprovalRule>,
        client: Client,
        offering: Offering,
        may_approve: bool,
    ) -> Self {
        let configure = move |config: ConfigBuilder| rules.into_iter().fold(config, ConfigBuilder::approve);
        Self::configured(tool, (client, offering, may_approve), configure).await
    }

    pub(crate) async fn configured(
        tool: ScriptedTool,
        (client, offering, may_approve): (Client, Offering, bool),
        configure: impl FnOnce(ConfigBuilder) -> ConfigBuilder + Send + 'static,
    ) -> Self {
        let tool = tool.start().await.expect("the tool starts");
        let builder = Reknit::builder().tool_service("t", &tool.base_url()).configure(configure);
        let reknit = builder.start().await.expect("it starts");
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let server = McpServer::new(reknit.clone(), offering).with_approvals(may_approve);
        let server = tokio::spawn(async move { server.serve_on(tokio::io::split(ours)).await });
        let client = client.serve(theirs).await.expect("the client connects");
        Self { tool, reknit, client, server }
    }

    pub(crate) async fn new(tool: ScriptedTool) -> Self {
        Self::open(tool, Vec::new(), Client { answer: None }, Offering::EveryTool).await
    }

    pub(crate) async fn call(&self, name: &str, arguments: serde_json::Value) -> CallToolResult {
        self.call_with(name, arguments, None).await.expect("the server answers")
    }

    /// A call with metadata.
    pub(crate) async fn call_with(
        &self,
        name: &str,
        arguments: serde_json::Value,
        meta: Option<serde_json::Value>,
    ) -> Result<CallToolResult, ServiceError> {
        let arguments = arguments.as_object().cloned().expect("an object");
        let mut params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        params.meta = meta.map(|meta| serde_json::from_value(meta).expect("an object"));
        self.client.call_tool(params).await
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let tools = self.client.list_all_tools().await.expect("the server lists its tools");
        tools.into_iter().map(|tool| tool.name.to_string()).collect()
    }
}

pub(crate) fn texts(result: &CallToolResult) -> Vec<String> {
    let text = |content: &rmcp::model::ContentBlock| content.as_text().map(|text| text.text.clone());
    result.content.iter().filter_map(text).collect()
}

pub(crate) fn shop() -> ScriptedTool {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer"}, "memo": {"type": "string"}},
                     "required": ["amount"]}"#;
    ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .schema(Value::parse(schema).expect("valid JSON"))
        .on("pay", CallMatcher::any(), Reply::data("paid"))
        .capability("look", SideEffect::Read)
        .on("look", CallMatcher::any(), Reply::data(Value::parse(r#"{"price": 1.50}"#).expect("valid JSON")))
}

pub(crate) fn payments_are_approved() -> ApprovalRule {
    ApprovalRule { capability: Some("t/pay".to_owned()), ..ApprovalRule::default() }
}
