//! What a caller can use (tools, models, its own token), statistics, metrics, and whether the server works.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use reknit_engine::Statistics;
use reknit_journal::RunFilter;
use reknit_model_api::Money;
use reknit_runtime::{month_of, run_overview, system_ms};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use utoipa::{IntoParams, ToSchema};

use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::state::ServerState;
use crate::token::Scope;

/// The tools that plans can call.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolList {
    tools: Vec<ToolView>,
    /// Why configured tools cannot be used.
    problems: Vec<String>,
}

/// A tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolView {
    name: String,
    description: String,
    capabilities: Vec<CapabilityView>,
}

/// A capability of a tool.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CapabilityView {
    name: String,
    description: String,
    /// What a call changes: `read`, `idempotent`, `keyed`, `unsafe` or `undeclared`.
    effect: String,
    /// The JSON Schema of its parameters.
    #[schema(value_type = Option<Object>)]
    parameters: Option<Box<RawValue>>,
    /// Why it must not be called now.
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<String>,
}

/// Lists the tools that plans can call.
#[utoipa::path(get, path = "/v1/tools", tag = "tools", responses((status = 200, body = ToolList)))]
pub(crate) async fn tools(caller: Caller) -> Json<ToolList> {
    let runtime = caller.reknit.runtime();
    let catalogue = runtime.current_catalogue();
    let tools = catalogue.tools.iter().map(|tool| ToolView {
        name: tool.name.to_string(),
        description: tool.description.clone(),
        capabilities: tool
            .visible_capabilities()
            .map(|entry| CapabilityView {
                name: entry.capability.name.to_string(),
                description: entry.capability.description.clone(),
                effect: entry.capability.effect.as_str().to_owned(),
                parameters: entry.json_schema().and_then(|schema| RawValue::from_string(schema.to_string()).ok()),
                withheld: entry.withheld.clone(),
            })
            .collect(),
    });
    let problems = visible_problems(&caller);
    Json(ToolList { tools: tools.collect(), problems })
}

/// Why tools cannot be used. The texts have addresses, so callers without the scope `admin` see only the names of their tools.
pub(crate) fn visible_problems(caller: &Caller) -> Vec<String> {
    let runtime = caller.reknit.runtime();
    let problems = runtime.current_problems();
    if caller.may(Scope::Admin) {
        return problems.iter().map(ToString::to_string).collect();
    }
    let may_use = |tool: &str| runtime.owner().is_none_or(|owner| owner.may_use_tool(tool));
    let tools: BTreeSet<&str> =
        problems.iter().map(|problem| problem.tool.as_str()).filter(|tool| may_use(tool)).collect();
    tools.into_iter().map(|tool| format!("the tool `{tool}` cannot be used now, or only in part")).collect()
}

/// The models that runs ask, the preferred one first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TargetList {
    targets: Vec<String>,
}

/// Lists the models that runs ask.
#[utoipa::path(get, path = "/v1/targets", tag = "tools", responses((status = 200, body = TargetList)))]
pub(crate) async fn targets(State(server): State<ServerState>) -> Json<TargetList> {
    Json(TargetList { targets: server.reknit.runtime().targets.iter().map(ToString::to_string).collect() })
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// Only runs that started at this time or later, in milliseconds since 1970.
    since_ms: Option<i64>,
}

/// Counts what fails and what mends it, by tool, class of failure and rung.
#[utoipa::path(get, path = "/v1/stats", tag = "runs", params(StatsQuery),
    responses((status = 200, body = Object), (status = 400, body = ErrorBody)))]
pub(crate) async fn stats(
    caller: Caller,
    query: Result<Query<StatsQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Box<RawValue>>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::invalid(error.body_text()))?;
    let filter = RunFilter { since_ms: query.since_ms, ..RunFilter::newest(u32::MAX) };
    let mut statistics = Statistics::default();
    let runtime = caller.reknit.runtime();
    for run in runtime.runs(&filter).await? {
        statistics.add(&run_overview(&runtime.journal, &run.run).await?, run.state());
    }
    Ok(Json(to_raw_value(&statistics).map_err(ApiError::unwritable)?))
}

/// Whether the process works.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "healthy")]
    status: &'static str,
}

/// Says that the process works.
#[utoipa::path(get, path = "/health", tag = "operation", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "healthy" })
}

/// Says whether the server takes runs: the journal can be read, and the server does not stop.
#[utoipa::path(get, path = "/ready", tag = "operation",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(crate) async fn ready(State(server): State<ServerState>) -> (StatusCode, Json<Health>) {
    let unready = |status| (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status }));
    if server.is_stopping() {
        return unready("stopping");
    }
    match server.journal().run_count().await {
        Ok(_) => (StatusCode::OK, Json(Health { status: "ready" })),
        Err(error) => {
            tracing::error!("the journal cannot be read: {error}");
            unready("journal unreadable")
        }
    }
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// Its name; `local` if the server asks for no tokens.
    name: String,
    /// The tools that its runs may call; missing if all.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    /// Whether it sees the runs of all tokens.
    sees_all_runs: bool,
    /// Its budget and what it has spent; missing without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetView>,
}

/// What a token may spend in a month, in the currency of the prices.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BudgetView {
    /// The month: `2026-11`, in UTC.
    month: String,
    /// The limit, as a decimal number.
    limit: String,
    /// What was spent.
    spent: String,
    /// What runs and requests in progress may cost at most.
    reserved: String,
}

/// Shows what the token of the request may do, and what is left of its budget.
#[utoipa::path(get, path = "/v1/token", tag = "operation", responses((status = 200, body = TokenView)))]
pub(crate) async fn token(caller: Caller) -> Result<Json<TokenView>, ApiError> {
    let runtime = caller.reknit.runtime();
    let Some(owner) = runtime.owner() else {
        let name = caller.name().to_owned();
        return Ok(Json(TokenView { name, tools: None, sees_all_runs: true, budget: None }));
    };
    let budget = match owner.monthly_budget {
        None => None,
        Some(limit) => {
            let month = month_of(system_ms());
            let spending = runtime.journal.spending(&owner.name, &month).await?;
            let [spent, reserved] =
                [spending.spent, spending.reserved].map(|nanos| Money::from_nanos(nanos).to_string());
            Some(BudgetView { month, limit: limit.to_string(), spent, reserved })
        }
    };
    let (name, tools, sees_all_runs) = (owner.name.clone(), owner.tools.clone(), owner.sees_all_runs);
    Ok(Json(TokenView { name, tools, sees_all_runs, budget }))
}

/// Returns the metrics of the runs that this process drives, of the gateway and of the server, in the text format of Prometheus. They
/// count the runs of all tokens, so a token must see all runs.
#[utoipa::path(get, path = "/metrics", tag = "operation",
    responses((status = 200, content_type = "text/plain", body = String), (status = 403, body = ErrorBody)))]
pub(crate) async fn metrics(State(server): State<ServerState>, caller: Caller) -> Result<impl IntoResponse, ApiError> {
    if !caller.sees_all_runs() {
        let message = format!(
            "the metrics are those of all tokens, and the token `{}` sees only its own runs; `reknit tokens new NAME --scopes read \
             --all-runs` makes one that sees all",
            caller.name()
        );
        return Err(ApiError::forbidden(message));
    }
    let mut text = server.metrics.render();
    for (name, help, value) in [
        ("reknit_runs_in_progress", "Runs that this process drives.", server.runs.driven()),
        ("reknit_runs_limit", "Runs that this process drives at most.", server.max_runs),
        ("reknit_stopping", "1 while the server stops.", usize::from(server.is_stopping())),
    ] {
        // Writing to a string cannot fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}
