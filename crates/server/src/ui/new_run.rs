//! Starts a request, a plan or an agent, and checks plans while they are written.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_protocol::{Object, Value};
use reknit_web::{NewRunForm, NewRunKind, PlanFindings, findings, new_run_page};
use serde_json::value::to_raw_value;

use super::page::{PageResult, show};
use super::page_context::PageContext;
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::json_body::JsonBody;
use crate::plan_check::problems_of;
use crate::start_run::{self, read_plan};

pub(super) type Fields = BTreeMap<String, String>;

pub(super) fn field<'f>(fields: &'f Fields, name: &str) -> &'f str {
    fields.get(name).map(String::as_str).unwrap_or_default()
}

/// A new id for a form, so that it starts one run however often it is sent.
pub(super) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The page that starts a run.
pub(super) async fn page(context: PageContext, Query(fields): Query<Fields>) -> PageResult {
    let new = NewRunForm {
        kind: NewRunKind::of_name(field(&fields, "kind")),
        run_id: &new_id(),
        has_model: !context.runtime().targets.is_empty(),
        ..NewRunForm::default()
    };
    Ok(show(new_run_page(&context.frame().await?, &new)))
}

/// Starts what the form describes, or shows what is wrong with its plan.
pub(super) async fn start(context: PageContext, form: Result<Form<Fields>, FormRejection>) -> PageResult {
    let Form(form) = form.map_err(|error| ApiError::invalid(error.body_text()))?;
    let kind = NewRunKind::of_name(field(&form, "kind"));
    let (text, request) = (field(&form, "text"), field(&form, "request"));
    let has_model = !context.runtime().targets.is_empty();
    if kind == NewRunKind::Plan {
        let found = check(&context.caller, text);
        if field(&form, "do") == "check" || !found.problems.is_empty() {
            let run_id = field(&form, "run_id");
            let new = NewRunForm { kind, request, text, findings: Some(found), run_id, has_model };
            return Ok(show(new_run_page(&context.frame().await?, &new)));
        }
    }
    let body = match kind {
        NewRunKind::Request => vec![("request", request), ("run_id", field(&form, "run_id"))],
        NewRunKind::Plan => vec![("plan", text), ("run_id", field(&form, "run_id"))],
        NewRunKind::Agent => vec![("agent", text), ("request", request), ("run_id", field(&form, "run_id"))],
    };
    let body =
        body.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name.to_owned(), Value::from(text)));
    begin(context, body.collect()).await
}

/// Starts a run as the API does, and goes to its page.
pub(super) async fn begin(context: PageContext, mut body: Object) -> PageResult {
    body.insert("mode", "start");
    let body = serde_json::from_str(&body.to_string())
        .map_err(|error| ApiError::invalid(format!("the form is not as it should be: {error}")))?;
    let (server, caller) = (State(context.ui.server), Extension(context.caller));
    let started = start_run::start(server, caller, HeaderMap::new(), JsonBody(body)).await?;
    let address = started.headers().get(header::LOCATION).and_then(|address| address.to_str().ok()).unwrap_or_default();
    Ok(Redirect::to(address.strip_prefix("/v1").unwrap_or("/")).into_response())
}

/// What is wrong with a plan, as a part of the page.
pub(super) async fn check_plan(
    Extension(caller): Extension<Caller>,
    form: Result<Form<Fields>, FormRejection>,
) -> Result<Response, ApiError> {
    let Form(form) = form.map_err(|error| ApiError::invalid(error.body_text()))?;
    Ok(show(findings(Some(&check(&caller, field(&form, "text"))))))
}

fn check(caller: &Caller, text: &str) -> PlanFindings {
    let plan = to_raw_value(text).map_err(ApiError::unwritable).and_then(|raw| read_plan(&raw));
    match plan {
        Ok(plan) => {
            let (steps, problems) = (plan.steps.len(), problems_of(caller.reknit.runtime(), plan));
            let line = |problem: &reknit_plan::PlanProblem| match &problem.hint {
                Some(hint) => format!("{}: {} ({hint})", problem.location, problem.message),
                None => format!("{}: {}", problem.location, problem.message),
            };
            PlanFindings { steps, problems: problems.iter().map(line).collect() }
        }
        Err(error) if error.problems().is_empty() => PlanFindings { steps: 0, problems: vec![error.to_string()] },
        Err(error) => PlanFindings { steps: 0, problems: error.problems().to_vec() },
    }
}
