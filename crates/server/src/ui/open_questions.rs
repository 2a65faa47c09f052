//! The questions that wait for a person.

use reknit_journal::{Journal, RunFilter, StatusFilter};
use reknit_runtime::Runtime;
use reknit_web::AskedQuestion;

use super::run_digests::{RunDigests, questions};
use crate::api_error::ApiError;

/// The newest unfinished runs whose questions are shown.
const ASKING_RUNS: u32 = 200;

/// The undecided questions of all unfinished runs of a runtime, the newest run first.
pub(super) async fn open_questions(
    runtime: &Runtime,
    journal: &Journal,
    digests: &RunDigests,
) -> Result<Vec<AskedQuestion>, ApiError> {
    let mut open = Vec::new();
    for summary in runtime.runs(&RunFilter::of_status(StatusFilter::Unfinished, ASKING_RUNS)).await? {
        let digest = digests.of(journal, &summary).await?;
        let asked = questions(journal, &summary, &digest).await?;
        open.extend(asked.into_iter().filter(|question| question.decided.is_none()));
    }
    Ok(open)
}
