//! The calls of tools that Reknit has itself: requests, plans, agents, and what there is to know about tools and runs.

use parking_lot::Mutex;
use reknit::runtime::run_overview;
use reknit_engine::{ClientCall, Started, explain};
use reknit_journal::RunSummary;
use reknit_plan::{PlanAuthor, read_plan_file};
use reknit_protocol::{Object, RunId, Step, Value};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;

use crate::call::without_written_answer;
use crate::conversations::Conversation;
use crate::own_tools::OwnTool;
use crate::result::{error_text, result_of_run};
use crate::server::McpServer;

const MAX_FOUND: usize = 20;

/// Where the defaults of a plan's inputs are judged; no parameter has this name.
const DEFAULTS: &str = "{{inputs}}";

impl McpServer {
    pub(crate) async fn call_own(
        &self,
        tool: OwnTool,
        arguments: &Object,
        (context, conversation): (&RequestContext<RoleServer>, &Mutex<Conversation>),
    ) -> CallToolResult {
        let outcome = async {
            Ok(match tool {
                OwnTool::Ask => {
                    let request = text_of(arguments, "request")?;
                    self.run(context, || self.reknit.ask(request)).await
                }
                OwnTool::RunPlan => self.run_plan(arguments, (context, conversation)).await,
                OwnTool::ContinueRun => {
                    let (run, _) = self.summary(arguments).await?;
                    // It goes on already, or was counted before.
                    self.follow(&self.waited_for(self.reknit.resume(&run)), context, result_of_run).await
                }
                OwnTool::ExplainRun => self.explain(self.summary(arguments).await?).await,
                OwnTool::SearchTools => self.search(text_of(arguments, "query")?),
                OwnTool::DescribeTool => self.describe(text_of(arguments, "tool")?),
            })
        };
        outcome.await.unwrap_or_else(|problem: CallToolResult| problem)
    }

    /// The run that the arguments name. Fails with the result that says why there is none.
    async fn summary(&self, arguments: &Object) -> Result<(RunId, RunSummary), CallToolResult> {
        let run = RunId::parse(text_of(arguments, "run")?).map_err(|error| error_text(error.to_string()))?;
        let summary = self.runtime().summary(&run).await.map_err(|error| error_text(error.to_string()))?;
        Ok((run, summary))
    }

    pub(crate) async fn call_agent(
        &self,
        name: &str,
        arguments: &Object,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let task = match text_of(arguments, "task") {
            Ok(task) => task,
            Err(missing) => return missing,
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
    async fn run_plan(
        &self,
        arguments: &Object,
        (context, conversation): (&RequestContext<RoleServer>, &Mutex<Conversation>),
    ) -> CallToolResult {
        let (mut plan, _) = match read_plan_file(&Value::Object(arguments.clone()).to_string()) {
            Ok(read) => read,
            Err(error) => return error_text(format!("the plan cannot be read: {error}")),
        };
        if plan.original_request.trim().is_empty() {
            // What the client wants is all in the steps: a correction against them needs a person.
            let steps = arguments.get("steps").map(ToString::to_string).unwrap_or_default();
            plan.original_request = text_of(arguments, "request").map_or(steps, str::to_owned);
        }
        let request = plan.original_request.clone();
        let started = self.runtime().started(&request, Some(plan));
        let policy = without_written_answer(&started.policy);
        let mut started = Started { plan_author: PlanAuthor::Model, policy, ..started };
        judge_plan(conversation, &mut started);
        self.run(context, || self.reknit.start(started)).await
    }

    /// Says in plain words what was done, mended and is missing.
    async fn explain(&self, (run, summary): (RunId, RunSummary)) -> CallToolResult {
        let overview = match run_overview(&self.runtime().journal, &run).await {
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
        if let Some(reason) = &entry.withheld {
            // Not a word of its definition: nobody has accepted it.
            return error_text(format!("`{name}` is withheld: {reason}"));
        }
        let schema =
            entry.json_schema().map_or_else(|| "(it publishes no schema)".to_owned(), |schema| schema.to_string());
        let text = format!("{name}: {}\nparameters: {schema}", entry.capability.description);
        CallToolResult::success(vec![ContentBlock::text(text)])
    }
}

/// Says in the first event of a plan's run what its client had read when it wrote the plan.
fn judge_plan(conversation: &Mutex<Conversation>, started: &mut Started) {
    let (steps, inputs) = started.plan.clone().map(|plan| (plan.steps, plan.inputs)).unwrap_or_default();
    let defaults: Vec<Value> = inputs.into_iter().filter_map(|(_, input)| input.default).collect();
    let with_defaults = |step: &Step| {
        let mut arguments = step.parameters().cloned().unwrap_or_default();
        // A parameter may refer to them.
        arguments.insert(DEFAULTS, defaults.clone());
        arguments
    };
    let arguments: Vec<Object> = steps.iter().map(with_defaults).collect();
    let calls = steps.iter().zip(&arguments).filter_map(|(step, arguments)| {
        let (tool, capability, is_loop) = (step.tool.as_str(), step.capability()?, step.has_foreach());
        Some(ClientCall { step: step.step_id.as_str(), tool, capability, arguments, is_loop })
    });
    let calls: Vec<ClientCall<'_>> = calls.collect();
    let Conversation { reads, asked } = &mut *conversation.lock();
    reads.judge(&calls, asked, started);
}

/// The argument with this name. Fails with the result that says that it is missing.
fn text_of<'a>(arguments: &'a Object, name: &str) -> Result<&'a str, CallToolResult> {
    let text = arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| error_text(format!("`{name}` is missing: it must be a text")))
}
