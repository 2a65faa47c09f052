//! Starts a request, a plan or an agent, and checks plans while they are written.

use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_protocol::{Object, Value};
use reknit_web::{NewRunForm, NewRunKind, PlanFindings, findings, new_run_page};
use serde_json::value::to_raw_value;

use super::page::{Fields, PageContext, PageResult, show};
use crate::api_error::ApiError;
use crate::plan_check::problems_of;
use crate::request::{JsonBody, read_json};
use crate::start_run::{self, read_plan};

/// A new id for a form, so that it starts one run however often it is sent.
pub(super) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

pub(super) async fn page(context: PageContext, Query(fields): Query<Fields>) -> PageResult {
    let new = NewRunForm {
        kind: NewRunKind::from_word(fields.get("kind")).unwrap_or_default(),
        run_id: &new_id(),
        has_model: !context.runtime().targets.is_empty(),
        ..NewRunForm::default()
    };
    Ok(show(new_run_page(&context.frame().await?, &new)))
}

/// Starts what the form describes, or shows what is wrong with its plan.
pub(super) async fn start(context: PageContext, form: Fields) -> PageResult {
    let kind = NewRunKind::from_word(form.get("kind")).unwrap_or_default();
    let (text, request) = (form.get("text"), form.get("request"));
    let has_model = !context.runtime().targets.is_empty();
    if kind == NewRunKind::Plan {
        let found = check(&context, text);
        if form.get("do") == "check" || !found.problems.is_empty() {
            let run_id = form.get("run_id");
            let new = NewRunForm { kind, request, text, findings: Some(found), run_id, has_model };
            return Ok(show(new_run_page(&context.frame().await?, &new)));
        }
    }
    let (plan, agent, request) = match kind {
        NewRunKind::Request => ("", "", request),
        NewRunKind::Plan => (text, "", ""),
        NewRunKind::Agent => ("", text, request),
    };
    let body = [("plan", plan), ("agent", agent), ("request", request), ("run_id", form.get("run_id"))];
    let body = body.into_iter().filter(|(_, text)| !text.is_empty());
    begin(context, body.map(|(name, text)| (name.to_owned(), Value::from(text))).collect()).await
}

/// Starts a run as the API does, and goes to its page.
pub(super) async fn begin(context: PageContext, mut body: Object) -> PageResult {
    body.insert("mode", "start");
    let body = JsonBody(read_json(body.to_string().as_bytes())?);
    let started = start_run::start(State(context.ui.server), context.caller, HeaderMap::new(), body).await?;
    let address = started.headers().get(header::LOCATION).and_then(|address| address.to_str().ok()).unwrap_or_default();
    Ok(Redirect::to(address.strip_prefix("/v1").unwrap_or("/")).into_response())
}

/// What is wrong with a plan, as a part of the page.
pub(super) async fn check_plan(context: PageContext, form: Fields) -> Response {
    show(findings(Some(&check(&context, form.get("text")))))
}

fn check(context: &PageContext, text: &str) -> PlanFindings {
    let plan = to_raw_value(text).map_err(ApiError::unwritable).and_then(|raw| read_plan(&raw));
    match plan {
        Ok(plan) => {
            let (steps, problems) = (plan.steps.len(), problems_of(&context.ui.server, context.runtime(), plan));
            let line = |problem: &reknit_plan::PlanProblem| match &problem.hint {
                Some(hint) => format!("{}: {} ({hint})", problem.location, problem.message),
                None => format!("{}: {}", problem.location, problem.message),
            };
            PlanFindings { steps, problems: problems.iter().map(line).collect() }
        }
        Err(error) if error.problems.is_empty() => PlanFindings { steps: 0, problems: vec![error.message] },
        Err(error) => PlanFindings { steps: 0, problems: error.problems },
    }
}
