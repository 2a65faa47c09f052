//! Tools, models and statistics.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use reknit_journal::RunFilter;
use reknit_plan::CatalogueEntry;
use reknit_protocol::{Object, Value};
use reknit_runtime::{Runtime, run_overview};
use reknit_web::{
    ListedModel, ListedTool, RunUsage, ToolCapability, form_parameters, models_page, questions_page, stats_page,
    tool_page, tools_page,
};

use super::UiState;
use super::new_run::{Fields, begin, field, new_id};
use super::page::{PageResult, Reader, html};
use super::runs::{open_questions, version};
use crate::access::Caller;
use crate::api_error::ApiError;

/// The newest runs that are counted.
const COUNTED_RUNS: u32 = 500;

/// What the newest runs used, and how many they are.
async fn usage(runtime: &Runtime) -> Result<(RunUsage, usize), ApiError> {
    let mut usage = RunUsage::default();
    let runs = runtime.runs(&RunFilter::newest(COUNTED_RUNS)).await?;
    for summary in &runs {
        usage.add(&run_overview(&runtime.journal, &summary.run).await?, summary.state(), summary.created_ms);
    }
    Ok((usage, runs.len()))
}

/// All open questions.
pub(super) async fn questions(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
) -> PageResult {
    let runtime = caller.reknit.runtime();
    let version = version(runtime).await?;
    let open = open_questions(&ui, runtime).await?;
    Ok(html(StatusCode::OK, questions_page(&reader.frame(open.len()), &open, &version)))
}

/// All tools.
pub(super) async fn tools(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
) -> PageResult {
    let runtime = caller.reknit.runtime();
    let (usage, _) = usage(runtime).await?;
    let catalogue = runtime.current_catalogue();
    let tools: Vec<ListedTool> = catalogue
        .tools
        .iter()
        .map(|tool| ListedTool {
            name: tool.name.to_string(),
            description: tool.description.clone(),
            capabilities: tool.visible_capabilities().map(|entry| listed(&tool.key(entry), entry, &usage)).collect(),
        })
        .collect();
    let problems: Vec<String> = runtime.problems.iter().map(ToString::to_string).collect();
    let questions = open_questions(&ui, runtime).await?.len();
    Ok(html(StatusCode::OK, tools_page(&reader.frame(questions), &tools, &problems)))
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
    }
}

/// The capability of a tool.
fn capability(caller: &Caller, tool: &str, name: &str) -> Result<ToolCapability, ApiError> {
    let catalogue = caller.reknit.runtime().current_catalogue();
    let entry = catalogue.entry(tool, name);
    let entry = entry.ok_or_else(|| ApiError::not_found(format!("there is no capability `{tool}/{name}`")))?;
    Ok(listed("", entry, &RunUsage::default()))
}

/// A capability, with a form to call it.
pub(super) async fn tool(
    reader: Reader,
    Extension(caller): Extension<Caller>,
    Path((tool, name)): Path<(String, String)>,
) -> PageResult {
    let shown = capability(&caller, &tool, &name)?;
    Ok(html(StatusCode::OK, tool_page(&reader.frame(0), &tool, &shown, &new_id())))
}

/// Calls a capability: a run with one step.
pub(super) async fn call(
    State(ui): State<UiState>,
    caller: Extension<Caller>,
    Path((tool, name)): Path<(String, String)>,
    form: Result<Form<Fields>, FormRejection>,
) -> PageResult {
    let Form(form) = form.map_err(|error| ApiError::invalid(error.body_text()))?;
    let schema = capability(&caller, &tool, &name)?.schema;
    let fields = form.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters = form_parameters(fields, schema.as_ref()).map_err(ApiError::invalid)?;
    let step = Object::from([
        ("id", Value::from("call")),
        ("tool", format!("{tool}/{name}").into()),
        ("with", Value::Object(parameters)),
    ]);
    let plan = Object::from([
        ("request", Value::from(format!("Call {tool}/{name}"))),
        ("steps", Value::Array(vec![Value::Object(step)])),
    ]);
    let mut body = Object::from([("plan", Value::Object(plan))]);
    body.extend((!field(&form, "run_id").is_empty()).then(|| ("run_id".to_owned(), field(&form, "run_id").into())));
    begin(&ui, caller, body).await
}

/// All models.
pub(super) async fn models(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
) -> PageResult {
    let runtime = caller.reknit.runtime();
    let (usage, runs) = usage(runtime).await?;
    let prices: BTreeMap<_, _> = runtime.policy.prices.iter().collect();
    let models: Vec<ListedModel> = runtime
        .targets
        .iter()
        .map(|target| ListedModel {
            name: target.to_string(),
            prices: prices.get(target).map(|own| (per_million(own.input.micros()), per_million(own.output.micros()))),
        })
        .collect();
    let questions = open_questions(&ui, runtime).await?.len();
    Ok(html(StatusCode::OK, models_page(&reader.frame(questions), &models, &usage, runs)))
}

/// A price in millionths as people write it: `2.50`.
fn per_million(micros: u64) -> String {
    format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

/// Statistics over the newest runs.
pub(super) async fn stats(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
) -> PageResult {
    let runtime = caller.reknit.runtime();
    let (usage, runs) = usage(runtime).await?;
    let all = match runtime.owner() {
        // How many runs others have is not shown.
        Some(owner) if !owner.sees_all_runs => runs as u64,
        _ => runtime.journal.run_count().await?,
    };
    let questions = open_questions(&ui, runtime).await?.len();
    Ok(html(StatusCode::OK, stats_page(&reader.frame(questions), &usage, runs, all)))
}
