//! The page of a run, and the forms on it that control the run.

use axum::extract::{Path, Query};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_protocol::{RunId, Value, percent_encoded};
use reknit_runtime::{ExportFilter, export};
use reknit_web::{PagePart, RunFacts, run_page};
use serde::Deserialize;

use super::page::{Fields, PageContext, PageResult, show};
use super::run_digests::questions;
use crate::api_error::ApiError;
use crate::control::{self, DecisionWord};
use crate::request::{Accepted, RunRequest};

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

pub(super) fn page_of(run: &RunId) -> Response {
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

/// The fields of the form are those of the API. Parameters and results are written as JSON.
pub(super) async fn decide(request: RunRequest, question: Path<(String, String)>, form: Fields) -> PageResult {
    let text = |name: &str| form.0.get(name).filter(|text| !text.trim().is_empty());
    let value = |name: &str| form.0.get(name).map(|text| Value::parse(text)).transpose();
    let invalid =
        |name: &str, error: &dyn std::fmt::Display| ApiError::invalid(format!("`{name}` is not JSON: {error}"));
    let parameters = value("parameters").map_err(|error| invalid("parameters", &error))?;
    let result = value("result").map_err(|error| invalid("result", &error))?;
    let word = DecisionWord::from_word(form.get("decision"))
        .ok_or_else(|| ApiError::invalid(format!("`{}` is not a decision", form.get("decision"))))?;
    let decision = word.decision(text("reason").cloned(), parameters, result)?;
    let _view = control::decide_question(&request, &question.1, form.get("hash"), decision).await?;
    Ok(page_of(&request.run))
}
