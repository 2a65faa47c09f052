//! Forms that control a run: they do what the API does, and return to the page of the run.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_protocol::{Object, Value, percent_encoded};

use super::UiState;
use super::page::PageResult;
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::control;
use crate::json_body::JsonBody;

fn back_to(run: &str) -> Response {
    Redirect::to(&format!("/runs/{}", percent_encoded(run))).into_response()
}

/// Cancels a run.
pub(super) async fn cancel(
    State(ui): State<UiState>,
    caller: Extension<Caller>,
    Path(run): Path<String>,
) -> PageResult {
    let _view = control::cancel(State(ui.server), caller, Path(run.clone())).await?;
    Ok(back_to(&run))
}

/// Continues a run whose process has ended.
pub(super) async fn resume(
    State(ui): State<UiState>,
    caller: Extension<Caller>,
    Path(run): Path<String>,
) -> PageResult {
    let _view = control::resume(State(ui.server), caller, Path(run.clone())).await?;
    Ok(back_to(&run))
}

/// Tries again what failed.
pub(super) async fn retry(State(ui): State<UiState>, caller: Extension<Caller>, Path(run): Path<String>) -> PageResult {
    let _view = control::retry(State(ui.server), caller, Path(run.clone())).await?;
    Ok(back_to(&run))
}

/// Decides a question.
pub(super) async fn decide(
    State(ui): State<UiState>,
    caller: Extension<Caller>,
    Path((run, question)): Path<(String, String)>,
    form: Result<Form<BTreeMap<String, String>>, FormRejection>,
) -> PageResult {
    let Form(form) = form.map_err(|error| ApiError::invalid(error.body_text()))?;
    let body = decision_json(&form)?.to_string();
    let body = serde_json::from_str(&body)
        .map_err(|error| ApiError::invalid(format!("the form is not as it should be: {error}")))?;
    let _view = control::decide(State(ui.server), caller, Path((run.clone(), question)), JsonBody(body)).await?;
    Ok(back_to(&run))
}

/// The fields of the form as the API takes them. Parameters and results are written as JSON.
fn decision_json(form: &BTreeMap<String, String>) -> Result<Object, ApiError> {
    let mut body = Object::new();
    for name in ["hash", "decision", "reason"] {
        let text = form.get(name).filter(|text| !text.trim().is_empty());
        body.extend(text.map(|text| (name.to_owned(), Value::from(text.as_str()))));
    }
    for name in ["parameters", "result"] {
        if let Some(text) = form.get(name) {
            let value =
                Value::parse(text).map_err(|error| ApiError::invalid(format!("`{name}` is not JSON: {error}")))?;
            body.insert(name, value);
        }
    }
    Ok(body)
}
