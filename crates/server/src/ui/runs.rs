//! The list of runs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use axum::extract::Query;
use reknit_journal::{RunFilter, RunSummary};
use reknit_runtime::Runtime;
use reknit_web::{ListedRun, RunList, runs_page};
use serde::Deserialize;

use super::page::{PageContext, PageResult, show};
use crate::api_error::ApiError;
use crate::runs::{ListQuery, find};

const PAGE_RUNS: u32 = 50;
/// The newest runs, whose changes an open list is told of.
const RECENT_RUNS: u32 = 200;
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
    /// When the newest run that the reader knows of started.
    seen: Option<i64>,
}

pub(super) async fn page(context: PageContext, Query(query): Query<PageQuery>) -> PageResult {
    let chosen = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let asked = ListQuery {
        status: chosen(&query.status),
        search: chosen(&query.search),
        after: chosen(&query.after),
        limit: Some(PAGE_RUNS),
        since_ms: None,
    };
    // Before the runs are read: what changes meanwhile is noticed afterwards.
    let recent = recent(context.runtime()).await?;
    let (found, next) = find(context.runtime(), asked).await?;
    let mut runs = Vec::with_capacity(found.len());
    for summary in &found {
        runs.push(list_run(&context, summary).await?);
    }
    let is_hidden = |summary: &&RunSummary| !found.iter().any(|shown| shown.run == summary.run);
    let is_new = |summary: &&RunSummary| query.seen.is_some_and(|seen| summary.created_ms > seen);
    let open = context.open_questions().await?;
    let count = open.len();
    let list = RunList {
        runs,
        next,
        questions: open.into_iter().take(TOP_QUESTIONS).collect(),
        version: version(&recent),
        newest_ms: recent.iter().map(|summary| summary.created_ms).max().unwrap_or(0),
        hidden_new: recent.iter().filter(is_new).filter(is_hidden).count(),
        status: query.status,
        search: query.search,
        after: query.after,
    };
    Ok(show(runs_page(&context.reader.frame(count), &list)))
}

pub(super) async fn list_run(context: &PageContext, summary: &RunSummary) -> Result<ListedRun, ApiError> {
    let digest = context.ui.digests.of(context.journal(), summary).await?;
    Ok(ListedRun {
        run: summary.run.to_string(),
        status: digest.status(summary).to_owned(),
        request: summary.title.clone(),
        created_ms: summary.created_ms,
        updated_ms: summary.updated_ms,
        steps: digest.steps,
        mended_by: digest.mended_by.clone(),
        spent: digest.spent.clone(),
    })
}

/// The newest runs, whatever the list shows.
pub(super) async fn recent(runtime: &Runtime) -> Result<Vec<RunSummary>, ApiError> {
    Ok(runtime.runs(&RunFilter::newest(RECENT_RUNS)).await?)
}

/// A name for what the list shows: it changes when a run of it does.
pub(super) fn version(recent: &[RunSummary]) -> String {
    let mut hasher = DefaultHasher::new();
    for summary in recent {
        (summary.run.as_str(), summary.len, summary.state()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}
