//! Checks plans without running them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use reknit_plan::{PlanAuthor, PlanProblem, check as check_steps, correct_plan};
use reknit_protocol::Plan;
use reknit_runtime::{NamedAgent, Runtime};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::request::JsonBody;
use crate::start_run::read_plan;
use crate::state::ServerState;

/// A plan to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckRequest {
    /// The text of a plan file, or the same as JSON.
    #[schema(value_type = Object)]
    plan: Box<RawValue>,
}

/// What is wrong with a plan.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckResponse {
    /// Whether it can be run.
    valid: bool,
    /// The number of its steps.
    steps: usize,
    /// What is wrong.
    problems: Vec<ProblemView>,
}

/// A problem of a plan.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemView {
    /// A word for programs.
    code: String,
    /// Where it is.
    location: String,
    /// What is wrong.
    message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<&PlanProblem> for ProblemView {
    fn from(problem: &PlanProblem) -> Self {
        Self {
            code: problem.code.to_string(),
            location: problem.location.to_string(),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        }
    }
}

/// Checks a plan against the tools, without running it.
#[utoipa::path(post, path = "/v1/plans/check", tag = "plans", request_body = CheckRequest,
    responses((status = 200, body = CheckResponse), (status = 400, body = ErrorBody)))]
pub(crate) async fn check(
    State(server): State<ServerState>,
    caller: Caller,
    JsonBody(body): JsonBody<CheckRequest>,
) -> Result<Json<CheckResponse>, ApiError> {
    let plan = read_plan(&body.plan)?;
    let steps = plan.steps.len();
    let problems: Vec<ProblemView> =
        problems_of(&server, caller.reknit.runtime(), plan).iter().map(ProblemView::from).collect();
    Ok(Json(CheckResponse { valid: problems.is_empty(), steps, problems }))
}

/// What is wrong with a plan for the tools of this server.
pub(crate) fn problems_of(server: &ServerState, runtime: &Runtime, mut plan: Plan) -> Vec<PlanProblem> {
    let catalogue = runtime.current_catalogue();
    let agents = server.agents_of(&plan);
    // Without a name for its agents, the catalogue has none, and the check says that they are missing.
    let with_agents = catalogue.with_agents(agents.iter().map(NamedAgent::announcement));
    let catalogue = with_agents.map_or(catalogue, Arc::new);
    correct_plan(&mut plan, &catalogue, PlanAuthor::Person);
    check_steps(&plan, &catalogue, PlanAuthor::Person).err().unwrap_or_default()
}
