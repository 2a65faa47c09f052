//! The page of a run.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect};
use reknit_engine::{Event, HistoryEntry, HistoryKind, Overview};
use reknit_journal::{Journal, RunReadError, RunSummary};
use reknit_protocol::{RunId, percent_encoded};
use reknit_runtime::{ExportFilter, Runtime, export};
use reknit_telemetry::{Interaction, interactions, owner_interactions};
use reknit_web::{PagePart, RunFacts, run_page};
use serde::Deserialize;

use super::UiState;
use super::page::{PageResult, Reader, html};
use super::run_digests::{load, questions};
use crate::access::Caller;
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
pub(super) async fn page(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    Query(query): Query<RunQuery>,
) -> PageResult {
    let (runtime, journal) = (caller.reknit.runtime(), ui.server.journal());
    let run = RunId::new(run);
    let summary = match runtime.summary(&run).await {
        Ok(summary) => summary,
        Err(RunReadError::NoSuchRun(_)) => return redirect_to_whole_id(runtime, &run).await,
        Err(error) => return Err(error.into()),
    };
    let loaded = load(journal, &summary).await?;
    let digest = ui.digests.of(journal, &summary).await?;
    let asked = questions(journal, &summary, &digest).await?;
    let exchanges = exchanges(journal, &summary, &loaded.overview, reader.is_owner()).await?;
    let facts = RunFacts {
        overview: &loaded.overview,
        run: run.as_str(),
        status: digest.status(&summary),
        created_ms: summary.created_ms,
        updated_ms: summary.updated_ms,
        questions: &asked,
        interactions: exchanges.as_deref(),
        step: query.step.as_deref(),
        only: query.only.as_deref(),
        from: query.from,
    };
    let part = if query.part == "panel" { PagePart::Panel } else { PagePart::Whole };
    let count = if part == PagePart::Whole { super::runs::open_questions(&ui, runtime).await?.len() } else { 0 };
    Ok(html(StatusCode::OK, run_page(&reader.frame(count), &facts, part)))
}

/// The first characters of an id are enough if only one run has them.
async fn redirect_to_whole_id(runtime: &Runtime, run: &RunId) -> PageResult {
    match runtime.journal.runs_with_prefix(run.as_str(), 2).await?.as_slice() {
        [whole] if runtime.summary(whole).await.is_ok() => {
            Ok(Redirect::to(&format!("/runs/{}", percent_encoded(whole.as_str()))).into_response())
        }
        _ => Err(ApiError::not_found(format!("there is no run `{run}`"))),
    }
}

/// What models were asked and answered; `None` if the reader may not see it. Reading it replays the run, so a run that asked no
/// model is not read.
async fn exchanges(
    journal: &Journal,
    summary: &RunSummary,
    overview: &Overview,
    is_owner: bool,
) -> Result<Option<Vec<Interaction>>, ApiError> {
    let asks = |entries: &[HistoryEntry]| entries.iter().any(|entry| matches!(entry.kind, HistoryKind::Asked { .. }));
    let has_asked = match overview {
        Overview::Run(run) => asks(&run.run_history) || run.history.values().any(|entries| asks(entries)),
        Overview::Session(_) => true,
        Overview::Bare(_) => false,
    };
    if !has_asked {
        return Ok(Some(Vec::new()));
    }
    let stored = journal.events(&summary.run, 0).await?;
    let events: Result<Vec<Event>, _> = stored.iter().map(|stored| serde_json::from_str(&stored.body)).collect();
    // A run of an older build is shown without its questions.
    let Ok(events) = events else { return Ok(Some(Vec::new())) };
    let found = if is_owner { owner_interactions(&events).map(Some) } else { interactions(&events) };
    Ok(found.unwrap_or_else(|_| Some(Vec::new())))
}

/// The events of a run as a file: everything for the owner, for others as `reknit runs export` writes it.
pub(super) async fn events(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> PageResult {
    let run = RunId::new(run);
    let journal = ui.server.journal();
    caller.reknit.runtime().summary(&run).await?;
    let (is_owner, mut filter, mut text) = (reader.is_owner(), ExportFilter::default(), String::new());
    export::<ApiError>(journal, &run, false, |line| {
        text.push_str(&if is_owner { line } else { filter.line(&line) });
        text.push('\n');
        Ok(())
    })
    .await?;
    let headers = [(CONTENT_TYPE, "application/jsonl"), (CONTENT_DISPOSITION, "attachment; filename=\"run.jsonl\"")];
    Ok((headers, text).into_response())
}
