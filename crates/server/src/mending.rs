//! Mending for programs with a loop of their own: failed calls, and texts of models.

use axum::Json;
use axum::extract::State;
use reknit::{FailedCall, Mender, Mending};
use reknit_protocol::{SideEffect, Value};
use reknit_salvage::{Fix, ReadOptions, Schema, read, read_as};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::request::JsonBody;
use crate::state::ServerState;

/// A call that a tool refused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MendRequest {
    /// The name of the tool.
    tool: String,
    /// What the tool is for. Only a model reads it.
    #[serde(default)]
    description: String,
    /// The JSON Schema of its parameters.
    #[schema(value_type = Object)]
    schema: Box<RawValue>,
    /// What was sent.
    #[schema(value_type = Object)]
    parameters: Box<RawValue>,
    /// What the tool answered: text, or JSON.
    #[schema(value_type = Value)]
    error: Box<RawValue>,
    /// The HTTP status of the error.
    #[serde(default = "bad_request")]
    #[schema(default = 400, minimum = 100, maximum = 599)]
    status: u16,
    /// What the user wanted. A correction may take values from it.
    #[serde(default)]
    context: String,
    /// What the call changes: `read`, `idempotent`, `keyed` or `unsafe`. Of calls that change something, fewer corrections are made
    /// without a person.
    #[serde(default = "reading")]
    #[schema(value_type = String, default = "read")]
    effect: SideEffect,
}

fn bad_request() -> u16 {
    400
}

fn reading() -> SideEffect {
    SideEffect::Read
}

/// What to do about a failed call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(crate) enum MendResponse {
    /// Send the call with these parameters.
    Corrected {
        /// All parameters.
        #[schema(value_type = Object)]
        parameters: Box<RawValue>,
        /// What was changed.
        fixes: Vec<MendFix>,
        /// Why a person should approve the call before it is sent; missing if nobody needs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<String>,
    },
    /// Send the call again as it is, after this time.
    SendAgain {
        /// The time, in milliseconds.
        after_ms: u64,
    },
    /// Nothing that is allowed helps.
    NotMended {
        /// Why.
        reason: String,
    },
}

/// A change of a call.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MendFix {
    /// What made it: a rule, or the kind of question to a model.
    rung: String,
    /// What was changed, and why.
    description: String,
}

/// Says what to do about a call that failed. It makes no call itself. For a token with a budget no model is asked.
#[utoipa::path(post, path = "/v1/mend", tag = "mending", request_body = MendRequest,
    responses((status = 200, body = MendResponse), (status = 400, body = ErrorBody)))]
pub(crate) async fn mend(
    State(server): State<ServerState>,
    caller: Caller,
    JsonBody(body): JsonBody<MendRequest>,
) -> Result<Json<MendResponse>, ApiError> {
    let Value::Object(parameters) = value(&body.parameters, "parameters")? else {
        return Err(ApiError::invalid("`parameters` is not an object"));
    };
    if !(100..600).contains(&body.status) {
        return Err(ApiError::invalid("`status` is not the status of an HTTP response"));
    }
    let schema = value(&body.schema, "schema")?;
    if schema.as_object().is_none() {
        return Err(ApiError::invalid("`schema` is not an object"));
    }
    let error = match value(&body.error, "error")? {
        Value::String(text) => text,
        json => json.to_string(),
    };
    let call = FailedCall::new(body.tool, schema, parameters, &error)
        .status(body.status)
        .description(body.description)
        .context(body.context)
        .side_effect(body.effect);
    // Nothing of a budget is reserved for such a question to a model.
    let has_budget = caller.reknit.runtime().owner().is_some_and(|owner| owner.monthly_budget.is_some());
    let mending = if has_budget { Mender::new().mend(&call).await } else { server.mender.mend(&call).await };
    let mending = mending.map_err(|error| ApiError::invalid(error.to_string()))?;
    Ok(Json(match mending {
        Mending::Corrected(correction) => MendResponse::Corrected {
            parameters: raw(&Value::Object(correction.parameters))?,
            fixes: correction
                .fixes
                .iter()
                .map(|fix| MendFix { rung: fix.rung.as_str().to_owned(), description: fix.description.clone() })
                .collect(),
            approval: correction.approval,
        },
        Mending::SendAgain { after } => {
            MendResponse::SendAgain { after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX) }
        }
        Mending::NotMended { reason } => MendResponse::NotMended { reason },
        _ => MendResponse::NotMended { reason: "the call cannot be mended".to_owned() },
    }))
}

fn value(raw: &RawValue, name: &str) -> Result<Value, ApiError> {
    Value::parse(raw.get()).map_err(|error| ApiError::invalid(format!("`{name}`: {error}")))
}

fn raw(value: &Value) -> Result<Box<RawValue>, ApiError> {
    RawValue::from_string(value.to_string()).map_err(ApiError::unwritable)
}

/// A text that should be JSON.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepairRequest {
    /// What a model wrote.
    text: String,
    /// The JSON Schema that the value should fit.
    #[schema(value_type = Option<Object>)]
    schema: Option<Box<RawValue>>,
}

/// The value of a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RepairResponse {
    /// The value.
    #[schema(value_type = Value)]
    value: Box<RawValue>,
    /// What was repaired.
    fixes: Vec<RepairFix>,
}

/// A repair.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RepairFix {
    /// Where in the value.
    #[schema(example = "$.amount")]
    path: String,
    /// Which defect was repaired.
    #[schema(example = "missing_comma")]
    kind: String,
    before: String,
    after: String,
}

impl From<&Fix> for RepairFix {
    fn from(fix: &Fix) -> Self {
        let (before, after) = (fix.before.clone(), fix.after.clone());
        Self { path: fix.path.to_string(), kind: fix.kind.name().to_owned(), before, after }
    }
}

/// Reads JSON from a model's text, and fits it to a schema if there is one.
#[utoipa::path(post, path = "/v1/repair", tag = "mending", request_body = RepairRequest,
    responses((status = 200, body = RepairResponse), (status = 400, body = ErrorBody),
        (status = 422, body = ErrorBody, description = "The text contains no value that fits")))]
pub(crate) async fn repair(JsonBody(body): JsonBody<RepairRequest>) -> Result<Json<RepairResponse>, ApiError> {
    let schema = match &body.schema {
        None => None,
        Some(schema) => {
            let schema = Schema::compile(&value(schema, "schema")?);
            Some(schema.map_err(|error| ApiError::invalid(format!("`schema`: {error}")))?)
        }
    };
    let reading = match &schema {
        Some(schema) => read_as(&body.text, schema),
        None => read(&body.text, &ReadOptions::default()),
    };
    let unreadable = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
    let reading = reading.map_err(|error| ApiError::new(unreadable, "unreadable", error.to_string()))?;
    Ok(Json(RepairResponse { value: raw(&reading.value)?, fixes: reading.fixes.iter().map(RepairFix::from).collect() }))
}
