//! The page of a run, and the forms on it that control the run.

use axum::extract::{Path, Query};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_protocol::{Object, RunId, Value, percent_encoded};
use reknit_runtime::{ExportFilter, export};
use reknit_web::{PagePart, RunFacts, run_page};
use serde::Deserialize;

use super::page::{Fields, PageContext, PageResult, show};
use super::run_digests::questions;
use crate::api_error::ApiError;
use crate::control;
use crate::request::{Accepted, JsonBody, RunRequest, read_json};

#[derive(Debug, Deserialize)]
pub(super) struct RunQuery {
    step: Option<String>,
    only: Option<String>,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    part: String,
}

/// The page of a run, or the panel of a step.
pub(super) async fn page(context: PageContext, Path(run): Path<String>, Query(query): Query<RunQuery>) -> PageResult {
    let (journal, summary) = (context.journal(), context.find_run(&run).await?);
    // The first characters of an id are enough if only one run has them.
    if summary.run.as_str() != run {
        return Ok(page_of(&summary.run));
    }
    let loaded = context.ui.loaded.of(journal, &summary).await?;
    let digest = context.ui.digests.of_loaded(&summary, &loaded);
    let asked = questions(journal, &summary, &digest).await?;
    let facts = RunFacts {
        overview: &loaded.overview,
        run: &run,
        status: digest.status(&summary),
        created_ms: summary.created_ms,
        updated_ms: summary.updated_ms,
        questions: &asked,
        interactions: loaded.exchanges(journal, context.reader.is_owner()).await?,
        step: query.step.as_deref(),
        only: query.only.as_deref(),
        from: query.from,
    };
    match query.part.as_str() {
        "panel" => Ok(show(run_page(&context.reader.frame(0), &facts, PagePart::Panel))),
        _ => Ok(show(run_page(&context.frame().await?, &facts, PagePart::Whole))),
    }
}

/// The events of a run as a file: everything for the owner, for others as `reknit runs export` writes it.
pub(super) async fn events(context: PageContext, Path(run): Path<String>) -> PageResult {
    let run = RunId::new(run);
    context.runtime().summary(&run).await?;
    let (is_owner, mut filter, mut text) = (context.reader.is_owner(), ExportFilter::default(), String::new());
    export::<ApiError>(context.journal(), &run, false, |line| {
        text.push_str(&if is_owner { line } else { filter.line(&line) });
        text.push('\n');
        Ok(())
    })
    .await?;
    let headers = [(CONTENT_TYPE, "application/jsonl"), (CONTENT_DISPOSITION, "attachment; filename=\"run.jsonl\"")];
    Ok((headers, text).into_response())
}

fn page_of(run: &RunId) -> Response {
    Redirect::to(&format!("/runs/{}", percent_encoded(run.as_str()))).into_response()
}

pub(super) async fn change<F>(request: RunRequest, change: impl FnOnce(RunRequest) -> F) -> PageResult
where
    F: Future<Output = Accepted>,
{
    let page = page_of(&request.run);
    let _view = change(request).await?;
    Ok(page)
}

pub(super) async fn decide(request: RunRequest, question: Path<(String, String)>, form: Fields) -> PageResult {
    let body = read_json(decision_json(&form)?.to_string().as_bytes())?;
    change(request, |request| control::decide(request, question, JsonBody(body))).await
}

/// The fields of the form as the API takes them. Parameters and results are written as JSON.
fn decision_json(form: &Fields) -> Result<Object, ApiError> {
    let mut body = Object::new();
    for name in ["hash", "decision", "reason"] {
        let text = form.0.get(name).filter(|text| !text.trim().is_empty());
        body.extend(text.map(|text| (name.to_owned(), Value::from(text.as_str()))));
    }
    for name in ["parameters", "result"] {
        if let Some(text) = form.0.get(name) {
            let value =
                Value::parse(text).map_err(|error| ApiError::invalid(format!("`{name}` is not JSON: {error}")))?;
            body.insert(name, value);
        }
    }
    Ok(body)
}
