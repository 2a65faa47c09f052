//! The calls of tools that Reknit has itself: requests, plans, agents, and what there is to know about tools and runs.

use reknit::runtime::run_overview;
use reknit_engine::{Started, explain};
use reknit_plan::{PlanAuthor, read_plan_file};
use reknit_protocol::{Object, RunId, Value};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;

use crate::call::without_written_answer;
use crate::own_tools::OwnTool;
use crate::result::{error_text, result_of_run};
use crate::server::McpServer;

/// How many tools a search returns.
const MAX_FOUND: usize = 20;

impl McpServer {
    pub(crate) async fn call_own(
        &self,
        tool: OwnTool,
        arguments: &Object,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let missing = |name: &str| error_text(format!("`{name}` is missing: it must be a text"));
        match tool {
            OwnTool::Ask => match text("request") {
                Some(request) => self.run(context, || self.reknit.ask(request)).await,
                None => missing("request"),
            },
            OwnTool::ContinueRun => match text("run").map(RunId::parse) {
                Some(Ok(run)) => match self.runtime().summary(&run).await {
                    // It goes on already, or was counted before.
                    Ok(_) => self.follow(&self.waited_for(self.reknit.resume(&run)), context, result_of_run).await,
                    Err(error) => error_text(error.to_string()),
                },
                Some(Err(error)) => error_text(error.to_string()),
                None => missing("run"),
            },
            OwnTool::RunPlan => self.run_plan(arguments, context).await,
            OwnTool::ExplainRun => match text("run").map(RunId::parse) {
                Some(Ok(run)) => self.explain(&run).await,
                Some(Err(error)) => error_text(error.to_string()),
                None => missing("run"),
            },
            OwnTool::SearchTools => text("query").map_or_else(|| missing("query"), |query| self.search(query)),
            OwnTool::DescribeTool => text("tool").map_or_else(|| missing("tool"), |name| self.describe(name)),
        }
    }

    /// Lets an agent work on a task, and returns its report.
    pub(crate) async fn call_agent(
        &self,
        name: &str,
        arguments: &Object,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Some(task) = arguments.get("task").and_then(Value::as_str).filter(|task| !task.trim().is_empty()) else {
            return error_text("`task` is missing: it must be a text");
        };
        let Some(agent) = self.agents.iter().find(|agent| agent.name == name) else {
            return error_text(format!("there is no agent `{name}`"));
        };
        match self.runtime().session_started(agent.clone(), task) {
            Ok(started) => self.run(context, || self.reknit.start(started)).await,
            Err(error) => error_text(error.to_string()),
        }
    }

    /// Runs a plan that the client's model wrote. Its problems are all found before the first call.
    async fn run_plan(&self, arguments: &Object, context: &RequestContext<RoleServer>) -> CallToolResult {
        let (plan, _) = match read_plan_file(&Value::Object(arguments.clone()).to_string()) {
            Ok(read) => read,
            Err(error) => return error_text(format!("the plan cannot be read: {error}")),
        };
        let request = plan.original_request.clone();
        let started = self.runtime().started(&request, Some(plan));
        let policy = without_written_answer(&started.policy);
        let started = Started { plan_author: PlanAuthor::Model, policy, ..started };
        self.run(context, || self.reknit.start(started)).await
    }

    /// Says in plain words what was done, mended and is missing.
    async fn explain(&self, run: &RunId) -> CallToolResult {
        let summary = match self.runtime().summary(run).await {
            Ok(summary) => summary,
            Err(error) => return error_text(error.to_string()),
        };
        let overview = match run_overview(&self.runtime().journal, run).await {
            Ok(overview) => overview,
            Err(error) => return error_text(format!("the run `{run}` cannot be read: {error}")),
        };
        let explanation = explain(&overview, summary.state());
        match serde_json::to_string_pretty(&explanation) {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => error_text(error.to_string()),
        }
    }

    fn search(&self, query: &str) -> CallToolResult {
        let catalogue = self.runtime().current_catalogue();
        let found = catalogue.matches(query);
        let line = |key: &String| {
            let (tool, name) = key.split_once('/')?;
            let description = &catalogue.entry(tool, name)?.capability.description;
            Some(format!("{key}: {}", description.lines().next().unwrap_or_default()))
        };
        let mut lines: Vec<String> = found.iter().take(MAX_FOUND).filter_map(line).collect();
        if lines.is_empty() {
            return error_text("no tool matches; try other words");
        }
        if found.len() > MAX_FOUND {
            lines.push(format!("({} more; add words to narrow it down)", found.len() - MAX_FOUND));
        }
        CallToolResult::success(vec![ContentBlock::text(lines.join("\n"))])
    }

    fn describe(&self, name: &str) -> CallToolResult {
        let catalogue = self.runtime().current_catalogue();
        let entry = name.split_once('/').and_then(|(tool, capability)| catalogue.entry(tool, capability));
        let Some(entry) = entry.filter(|entry| !entry.capability.internal) else {
            return error_text(format!("there is no tool `{name}`; `search_tools` finds one"));
        };
        let schema =
            entry.json_schema().map_or_else(|| "(it publishes no schema)".to_owned(), |schema| schema.to_string());
        let text = format!("{name}: {}\nparameters: {schema}", entry.capability.description);
        CallToolResult::success(vec![ContentBlock::text(text)])
    }
}
