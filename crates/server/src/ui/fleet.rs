//! Questions, tools, models and statistics.

use axum::extract::Path;
use reknit_journal::RunFilter;
use reknit_model_api::TargetName;
use reknit_plan::{CatalogueEntry, CatalogueTool};
use reknit_protocol::{Plan, PlanMode, Step};
use reknit_runtime::EndpointHealth;
use reknit_web::{
    ListedHealth, ListedInstance, ListedModel, ListedTool, RunUsage, ToolCapability, form_parameters, models_page,
    questions_page, stats_page, tool_page, tools_page,
};

use super::new_run::{begin, new_id};
use super::page::{Fields, PageContext, PageResult, show};
use super::runs::{recent, version};
use crate::api_error::ApiError;
use crate::catalogue::visible_problems;
use crate::start_run::NewRun;

const COUNTED_RUNS: u32 = 500;

/// What the newest runs used. A run is read again only when it has changed.
async fn usage(context: &PageContext) -> Result<RunUsage, ApiError> {
    let mut usage = RunUsage::default();
    for summary in &context.runtime().runs(&RunFilter::newest(COUNTED_RUNS)).await? {
        usage.merge(&context.ui.digests.of(context.journal(), summary).await?.usage);
    }
    Ok(usage)
}

pub(super) async fn questions(context: PageContext) -> PageResult {
    let version = version(&recent(context.runtime()).await?);
    let open = context.open_questions().await?;
    Ok(show(questions_page(&context.reader.frame(open.len()), &open, &version)))
}

pub(super) async fn tools(context: PageContext) -> PageResult {
    let runtime = context.runtime();
    let usage = usage(&context).await?;
    let catalogue = runtime.current_catalogue();
    let tools: Vec<ListedTool> = catalogue.tools.iter().map(|tool| listed_tool(&context, tool, &usage)).collect();
    let problems = visible_problems(&context.caller);
    Ok(show(tools_page(&context.frame().await?, &tools, &problems, usage.runs)))
}

fn listed_tool(context: &PageContext, tool: &CatalogueTool, usage: &RunUsage) -> ListedTool {
    let (runtime, is_owner) = (context.runtime(), context.reader.is_owner());
    let instances = runtime.tool_instances().into_iter().filter(|instance| instance.tool == tool.name);
    ListedTool {
        name: tool.name.to_string(),
        description: tool.description.clone(),
        instances: instances
            .map(|one| ListedInstance {
                address: is_owner.then_some(one.address),
                problem: one.problem.map(|text| if is_owner { text } else { "it cannot be used now".to_owned() }),
            })
            .collect(),
        health: all_health(context, || runtime.tool_health(tool.name.as_str())),
        capabilities: tool.visible_capabilities().map(|entry| listed(&tool.key(entry), entry, usage)).collect(),
    }
}

/// How an endpoint does with the calls of all tokens; `None` for a reader who sees only the runs of one.
fn all_health(context: &PageContext, health: impl FnOnce() -> EndpointHealth) -> Option<ListedHealth> {
    let EndpointHealth { breaker, calls, max_calls, .. } = context.caller.sees_all_runs().then(health)?;
    Some(ListedHealth { breaker, calls, max_calls })
}

fn listed(key: &str, entry: &CatalogueEntry, usage: &RunUsage) -> ToolCapability {
    let calls = usage.all.tools.get(key).map_or((0, 0), |tool| (tool.calls, tool.failed));
    ToolCapability {
        name: entry.capability.name.to_string(),
        description: entry.capability.description.clone(),
        effect: entry.capability.effect.as_str().to_owned(),
        schema: entry.json_schema(),
        withheld: entry.withheld.clone(),
        calls,
        used: usage.tools.get(key).copied().unwrap_or_default(),
    }
}

fn capability(context: &PageContext, tool: &str, name: &str) -> Result<ToolCapability, ApiError> {
    let catalogue = context.runtime().current_catalogue();
    let entry = catalogue.entry(tool, name);
    let entry = entry.ok_or_else(|| ApiError::not_found(format!("there is no capability `{tool}/{name}`")))?;
    Ok(listed("", entry, &RunUsage::default()))
}

pub(super) async fn tool(context: PageContext, Path((tool, name)): Path<(String, String)>) -> PageResult {
    let shown = capability(&context, &tool, &name)?;
    Ok(show(tool_page(&context.frame().await?, &tool, &shown, &new_id())))
}

/// Calls a capability: a run with one step.
pub(super) async fn call(context: PageContext, Path((tool, name)): Path<(String, String)>, form: Fields) -> PageResult {
    let schema = capability(&context, &tool, &name)?.schema;
    let fields = form.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters = form_parameters(fields, schema.as_ref()).map_err(ApiError::invalid)?;
    // The values are in the step. A title is shown in lists and sent to telemetry, and they may be secret.
    let names = parameters.iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let with = if names.is_empty() { String::new() } else { format!(" with {names}") };
    let request = format!("Call {tool}/{name}{with}");
    let step = Step::new("call", tool, &name, "").with_parameters(parameters);
    let plan = Plan { mode: Some(PlanMode::Workflow), ..Plan::new("plan", request.as_str(), vec![step]) };
    begin(&context, NewRun { plan: Some(plan), ..NewRun::default() }, form.get("run_id")).await
}

pub(super) async fn models(context: PageContext) -> PageResult {
    let (runtime, usage) = (context.runtime(), usage(&context).await?);
    let models: Vec<ListedModel> = runtime.targets.iter().map(|name| listed_model(&context, name)).collect();
    Ok(show(models_page(&context.frame().await?, &models, &runtime.policy.rotation, &usage)))
}

fn listed_model(context: &PageContext, name: &TargetName) -> ListedModel {
    let runtime = context.runtime();
    let target = runtime.target(name);
    let is_remote = |target: &&reknit_models::Target| target.client.is_none();
    ListedModel {
        name: name.to_string(),
        model: target.filter(is_remote).map(|target| (target.provider.to_string(), target.model.clone())),
        context_window: target.and_then(|target| target.max_context),
        prices: runtime.policy.prices.get(name).copied(),
        health: all_health(context, || runtime.model_health(name)),
    }
}

pub(super) async fn stats(context: PageContext) -> PageResult {
    let (runtime, usage) = (context.runtime(), usage(&context).await?);
    let all = match runtime.owner() {
        // How many runs others have is not shown.
        Some(owner) if !owner.sees_all_runs => usage.runs as u64,
        _ => runtime.journal.run_count().await?,
    };
    Ok(show(stats_page(&context.frame().await?, &usage, all)))
}
