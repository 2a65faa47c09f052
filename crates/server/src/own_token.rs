//! What a token may do, for its owner.

use axum::{Extension, Json};
use reknit_model_api::Money;
use reknit_runtime::{month_of, system_ms};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::api_error::ApiError;

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
pub(crate) async fn token(Extension(caller): Extension<Caller>) -> Result<Json<TokenView>, ApiError> {
    let runtime = caller.reknit.runtime();
    let Some(owner) = runtime.owner() else {
        let name = caller.name.to_string();
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
