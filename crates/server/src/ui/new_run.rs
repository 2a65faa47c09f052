//! Starts a request, a plan or an agent, and checks plans while they are written.

use axum::extract::Query;
use axum::response::Response;
use reknit_plan::PlanProblem;
use reknit_protocol::Plan;
use reknit_web::{NewRunForm, NewRunKind, PlanFindings, findings, new_run_page};
use serde::de::DeserializeOwned;

use super::page::{Fields, PageContext, PageResult, show};
use super::run::page_of;
use crate::api_error::ApiError;
use crate::start_run::{self, NewRun, parse_id, problems_of, read_plan_text};

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
    let mut new = NewRun::default();
    match kind {
        NewRunKind::Plan => {
            let checked = check(&context, text);
            let found = checked.as_ref().map_or_else(Clone::clone, |(_, found)| found.clone());
            if form.get("do") == "check" || !found.problems.is_empty() {
                let run_id = form.get("run_id");
                let (answer, ask) = (form.get("answer"), form.get("ask"));
                let new = NewRunForm { kind, request, text, findings: Some(found), run_id, answer, ask, has_model };
                return Ok(show(new_run_page(&context.frame().await?, &new)));
            }
            new.plan = checked.ok().map(|(plan, _)| plan);
        }
        NewRunKind::Agent => new.agent = given(text),
        NewRunKind::Request => {}
    }
    if kind != NewRunKind::Plan {
        new.request = given(request);
    }
    new.options.answer = chosen("answer", form.get("answer"))?;
    new.options.ask = chosen("ask", form.get("ask"))?;
    begin(&context, new, form.get("run_id")).await
}

/// What a word of the API stands for; `None` for an empty one.
fn chosen<T: DeserializeOwned>(name: &str, word: &str) -> Result<Option<T>, ApiError> {
    let read = |word: String| serde_json::from_value(word.into());
    given(word).map(read).transpose().map_err(|error| ApiError::invalid(format!("`{name}`: {error}")))
}

fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Starts a run as the API does, and goes to its page.
pub(super) async fn begin(context: &PageContext, mut new: NewRun, run_id: &str) -> PageResult {
    new.options.id = given(run_id).map(|id| parse_id(&id)).transpose()?;
    let handle = start_run::begin(&context.ui.server, &context.caller, new).await?;
    handle.created().await?;
    Ok(page_of(&handle.id))
}

/// What is wrong with a plan, as a part of the page.
pub(super) async fn check_plan(context: PageContext, form: Fields) -> Response {
    let found = check(&context, form.get("text")).map_or_else(|found| found, |(_, found)| found);
    show(findings(Some(&found)))
}

/// The plan with what is wrong with it, or why it cannot be read.
fn check(context: &PageContext, text: &str) -> Result<(Plan, PlanFindings), PlanFindings> {
    let plan = read_plan_text(text).map_err(|error| {
        let problems = if error.problems.is_empty() { vec![error.message] } else { error.problems };
        PlanFindings { steps: 0, problems }
    })?;
    let problems = problems_of(&context.ui.server, context.runtime(), plan.clone());
    let line = |problem: &PlanProblem| match &problem.hint {
        Some(hint) => format!("{}: {} ({hint})", problem.location, problem.message),
        None => format!("{}: {}", problem.location, problem.message),
    };
    let found = PlanFindings { steps: plan.steps.len(), problems: problems.iter().map(line).collect() };
    Ok((plan, found))
}
