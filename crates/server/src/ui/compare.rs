//! Two runs side by side, and the choice of the second one.

use axum::extract::{Path, Query};
use reknit_journal::{RunFilter, RunSummary};
use reknit_web::{ComparedRun, compare_choice_page, compare_page};
use serde::Deserialize;

use super::loaded_runs::LoadedRun;
use super::page::{PageContext, PageResult, show};
use super::run_digests::RunDigest;
use super::runs::list_run;

const CHOICES: u32 = 100;

#[derive(Debug, Deserialize)]
pub(super) struct CompareQuery {
    #[serde(default)]
    with: String,
    #[serde(default)]
    from: usize,
}

/// Compares a run with another, or asks with which.
pub(super) async fn page(
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
