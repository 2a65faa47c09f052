//! What most handlers of pages need: the server, who asks, and what they may use.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use reknit_journal::{Journal, RunReadError, RunSummary};
use reknit_protocol::RunId;
use reknit_runtime::Runtime;
use reknit_web::PageFrame;

use super::UiState;
use super::page::Reader;
use super::runs::open_questions;
use crate::access::Caller;
use crate::api_error::ApiError;

/// A request for a page.
#[derive(Debug)]
pub(super) struct PageContext {
    pub(super) ui: UiState,
    pub(super) reader: Reader,
    pub(super) caller: Caller,
}

impl PageContext {
    /// The runtime with the runs and tools of the caller.
    pub(super) fn runtime(&self) -> &Runtime {
        self.caller.reknit.runtime()
    }

    pub(super) fn journal(&self) -> &Journal {
        self.ui.server.journal()
    }

    /// The frame of a page, with the number of open questions.
    pub(super) async fn frame(&self) -> Result<PageFrame<'_>, ApiError> {
        Ok(self.reader.frame(open_questions(self).await?.len()))
    }

    /// A run that the caller may see, by its id or by its beginning if only one run has it.
    pub(super) async fn find_run(&self, run: &str) -> Result<RunSummary, ApiError> {
        let run = RunId::new(run);
        match self.runtime().summary(&run).await {
            Ok(summary) => return Ok(summary),
            Err(RunReadError::NoSuchRun(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let missing = || ApiError::not_found(format!("there is no run `{run}`"));
        match self.journal().runs_with_prefix(run.as_str(), 2).await?.as_slice() {
            [whole] => self.runtime().summary(whole).await.map_err(|_| missing()),
            _ => Err(missing()),
        }
    }
}

impl FromRequestParts<UiState> for PageContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, ui: &UiState) -> Result<Self, Self::Rejection> {
        let reader = Reader::of(parts);
        // Every page that needs one is behind the check that finds it.
        let missing = || ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "a token is needed");
        let caller = reader.caller.clone().ok_or_else(missing)?;
        Ok(Self { ui: ui.clone(), reader, caller })
    }
}
