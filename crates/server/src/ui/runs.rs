//! The list of runs, and the questions that wait for a person.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use reknit_journal::{RunFilter, RunSummary, StatusFilter};
use reknit_runtime::Runtime;
use reknit_web::{AskedQuestion, ListedRun, RunList, runs_page};
use serde::Deserialize;

use super::UiState;
use super::page::{PageResult, Reader, html};
use super::run_digests::{RunDigest, questions};
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::runs::{ListQuery, find};

/// The runs of one page.
const PAGE_RUNS: u32 = 50;
/// The newest unfinished runs whose questions are shown.
const ASKING_RUNS: u32 = 200;
/// The most questions that are shown above the list.
const TOP_QUESTIONS: usize = 5;

#[derive(Debug, Deserialize)]
pub(super) struct PageQuery {
    #[serde(default)]
    status: String,
    #[serde(default)]
    search: String,
    #[serde(default)]
    after: String,
}

/// The list of runs.
pub(super) async fn page(
    State(ui): State<UiState>,
    reader: Reader,
    Extension(caller): Extension<Caller>,
    Query(query): Query<PageQuery>,
) -> PageResult {
    let (runtime, journal) = (caller.reknit.runtime(), ui.server.journal());
    let chosen = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let asked = ListQuery {
        status: chosen(&query.status),
        search: chosen(&query.search),
        after: chosen(&query.after),
        limit: Some(PAGE_RUNS),
        since_ms: None,
    };
    // Before the runs are read: what changes meanwhile is noticed afterwards.
    let version = version(runtime).await?;
    let (found, next) = find(runtime, asked).await?;
    let mut runs = Vec::with_capacity(found.len());
    for summary in &found {
        runs.push(listed(summary, &*ui.digests.of(journal, summary).await?));
    }
    let open = open_questions(&ui, runtime).await?;
    let count = open.len();
    let list = RunList {
        runs,
        next,
        status: query.status,
        search: query.search,
        after: query.after,
        questions: open.into_iter().take(TOP_QUESTIONS).collect(),
        version,
    };
    Ok(html(StatusCode::OK, runs_page(&reader.frame(count), &list)))
}

fn listed(summary: &RunSummary, digest: &RunDigest) -> ListedRun {
    ListedRun {
        run: summary.run.to_string(),
        status: digest.status(summary).to_owned(),
        request: summary.title.clone(),
        created_ms: summary.created_ms,
        updated_ms: summary.updated_ms,
        steps: digest.steps,
        mended_by: digest.mended_by.clone(),
        spent: digest.spent.clone(),
    }
}

/// The questions of all unfinished runs that nobody has decided, the newest run first.
pub(super) async fn open_questions(ui: &UiState, runtime: &Runtime) -> Result<Vec<AskedQuestion>, ApiError> {
    let journal = ui.server.journal();
    let mut open = Vec::new();
    for summary in runtime.runs(&RunFilter::of_status(StatusFilter::Unfinished, ASKING_RUNS)).await? {
        let digest = ui.digests.of(journal, &summary).await?;
        let asked = questions(journal, &summary, &digest).await?;
        open.extend(asked.into_iter().filter(|question| question.decided.is_none()));
    }
    Ok(open)
}

/// A name for what the list shows: it changes when a run of it does.
pub(super) async fn version(runtime: &Runtime) -> Result<String, ApiError> {
    let mut hasher = DefaultHasher::new();
    for summary in runtime.runs(&RunFilter::newest(ASKING_RUNS)).await? {
        (summary.run.as_str(), summary.len, summary.state()).hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
