//! The page of a run.

use axum::extract::{Path, Query};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect};
use reknit_protocol::{RunId, percent_encoded};
use reknit_runtime::{ExportFilter, export};
use reknit_web::{PagePart, RunFacts, run_page};
use serde::Deserialize;

use super::page::{PageResult, show};
use super::page_context::PageContext;
use super::run_digests::questions;
use crate::api_error::ApiError;

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
        return Ok(Redirect::to(&format!("/runs/{}", percent_encoded(summary.run.as_str()))).into_response());
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
