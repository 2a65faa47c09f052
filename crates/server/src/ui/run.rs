//! The page of a run, and the forms on it that control the run; and two runs side by side.

use axum::extract::{Path, Query};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_engine::DecidedBy;
use reknit_journal::{RunFilter, RunSummary};
use reknit_protocol::{RunId, Value, percent_encoded};
use reknit_runtime::operations::QuestionDecision;
use reknit_runtime::{ExportFilter, export};
use reknit_web::{ComparedRun, RunFacts, compare_choice_page, compare_page, run_page, run_panel};
use serde::Deserialize;

use super::page::{Fields, PageContext, PageResult, show};
use super::run_digests::{LoadedRun, RunDigest, questions};
use super::runs::list_run;
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
    match run_panel(&facts).filter(|_| query.part == "panel") {
        Some(panel) => Ok(show(panel)),
        None => Ok(show(run_page(&context.frame().await?, &facts))),
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
    let (question, hash) = (question.0.1, form.get("hash").to_owned());
    let decided = QuestionDecision { question, hash, decision, by: DecidedBy::Person };
    let _view = control::decide_question(&request, decided).await?;
    Ok(page_of(&request.run))
}

const CHOICES: u32 = 100;

#[derive(Debug, Deserialize)]
pub(super) struct CompareQuery {
    #[serde(default)]
    with: String,
    #[serde(default)]
    from: usize,
}

/// Compares a run with another, or asks with which.
pub(super) async fn compare(
    context: PageContext,
    Path(run): Path<String>,
    Query(query): Query<CompareQuery>,
) -> PageResult {
    let one = context.find_run(&run).await?;
    if query.with.trim().is_empty() {
        return choice(&context, &one).await;
    }
    let other = context.find_run(query.with.trim()).await?;
    let (ui, journal) = (&context.ui, context.journal());
    let (first, second) = (ui.loaded.of(journal, &one).await?, ui.loaded.of(journal, &other).await?);
    let digests = (ui.digests.of_loaded(&one, &first), ui.digests.of_loaded(&other, &second));
    let (one, other) = (compared(&one, &digests.0, &first), compared(&other, &digests.1, &second));
    Ok(show(compare_page(&context.frame().await?, &one, &other, query.from)))
}

fn compared<'a>(summary: &'a RunSummary, digest: &RunDigest, loaded: &'a LoadedRun) -> ComparedRun<'a> {
    ComparedRun {
        run: summary.run.as_str(),
        status: digest.status(summary),
        created_ms: summary.created_ms,
        updated_ms: summary.updated_ms,
        overview: &loaded.overview,
    }
}

async fn choice(context: &PageContext, run: &RunSummary) -> PageResult {
    let mut choices = Vec::new();
    for summary in context.runtime().runs(&RunFilter::newest(CHOICES)).await? {
        choices.push(list_run(context, &summary).await?);
    }
    let own = list_run(context, run).await?;
    Ok(show(compare_choice_page(&context.frame().await?, &own, &choices)))
}
