//! What the handlers of pages share: what they take from a request, the frame and headers of a page, and errors that people can read.

use std::collections::BTreeMap;

use axum::body::to_bytes;
use axum::extract::{Form, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use reknit_journal::{Journal, RunReadError, RunSummary};
use reknit_protocol::{RunId, percent_encoded};
use reknit_runtime::{Runtime, system_ms};
use reknit_web::{AskedQuestion, Markup, PageFrame, Theme, error_page};
use serde::Deserialize;

use super::UiState;
use super::open_questions::open_questions;
use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::page_request::{cookie, is_page};
use crate::token::Scope;

/// Only style sheets, scripts, pictures and streams of this server; nothing written in the page itself; no frame around it.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                              form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// An error of the API has no more than this.
const MAX_ERROR: usize = 1 << 20;

pub(super) const THEME: &str = "reknit-theme";

/// Who asks for a page, and how they want it.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    theme: Theme,
    here: String,
    pub(super) caller: Option<Caller>,
}

impl Reader {
    pub(super) fn of(parts: &Parts) -> Self {
        Self {
            theme: cookie(&parts.headers, THEME).and_then(Theme::from_word).unwrap_or_default(),
            here: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            caller: parts.extensions.get::<Caller>().cloned(),
        }
    }

    pub(super) fn frame(&self, questions: usize) -> PageFrame<'_> {
        let may = |scope| self.caller.as_ref().is_some_and(|caller| caller.may(scope));
        PageFrame {
            theme: self.theme,
            here: &self.here,
            caller: self.caller.as_ref().filter(|caller| caller.token.is_some()).map(Caller::name),
            questions,
            now_ms: system_ms(),
            may_run: may(Scope::Run),
            may_approve: may(Scope::Approve),
            may_administer: self.is_owner(),
        }
    }

    /// Whether the reader may see everything that is stored. Without tokens every reader may.
    pub(super) fn is_owner(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.may(Scope::Admin))
    }
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(parts))
    }
}

pub(super) fn show(page: Markup) -> Response {
    html(StatusCode::OK, page)
}

pub(super) fn html(status: StatusCode, page: Markup) -> Response {
    let mut response = (status, page.into_string()).into_response();
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", CONTENT_POLICY),
        // A browser hides the origin of a form from the server itself if it must send no referrer at all.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

pub(super) type PageResult = Result<Response, ApiError>;

/// Shows the errors of pages as pages. A reader who must sign in is redirected.
pub(crate) async fn errors_as_pages(request: Request, next: Next) -> Response {
    if !is_page(request.uri().path()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let reader = Reader::of(&parts);
    let response = next.run(Request::from_parts(parts, body)).await;
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || !is_json(response.headers()) {
        return response;
    }
    if status == StatusCode::UNAUTHORIZED {
        return Redirect::to(&format!("/sign-in?back={}", percent_encoded(&reader.here))).into_response();
    }
    let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
    let bytes = to_bytes(response.into_body(), MAX_ERROR).await.unwrap_or_default();
    let error = serde_json::from_slice(&bytes).map(|ErrorBody { error }| (error.message, error.problems));
    let (message, problems) = error.unwrap_or_else(|_| ("the request failed".to_owned(), Vec::new()));
    let mut page = html(status, error_page(&reader.frame(0), status.as_u16(), &message, &problems));
    if let Some(seconds) = retry_after {
        page.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    page
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

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
        Ok(self.reader.frame(self.open_questions().await?.len()))
    }

    /// The undecided questions of all unfinished runs of the caller, the newest run first.
    pub(super) async fn open_questions(&self) -> Result<Vec<AskedQuestion>, ApiError> {
        open_questions(self.runtime(), self.journal(), &self.ui.digests).await
    }

    /// A run that the caller may see, by its id or by a part of it that means no other run.
    pub(super) async fn find_run(&self, run: &str) -> Result<RunSummary, ApiError> {
        let run = RunId::new(run);
        match self.runtime().summary(&run).await {
            Ok(summary) => return Ok(summary),
            Err(RunReadError::NoSuchRun(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let missing = || ApiError::no_such_run(&run);
        let whole = self.runtime().run_meant_by(run.as_str()).await?.ok_or_else(missing)?;
        self.runtime().summary(&whole).await.map_err(|_| missing())
    }
}

impl FromRequestParts<UiState> for PageContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, ui: &UiState) -> Result<Self, Self::Rejection> {
        let caller = Caller::from_request_parts(parts, ui).await?;
        Ok(Self { ui: ui.clone(), reader: Reader::of(parts), caller })
    }
}

/// The fields of a form or of a query.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Fields(pub(super) BTreeMap<String, String>);

impl Fields {
    /// The text of a field; empty for a missing one.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let form = Form::<Self>::from_request(request, state).await;
        form.map(|Form(fields)| fields).map_err(|error| ApiError::invalid(error.body_text()))
    }
}
