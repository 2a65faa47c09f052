//! What every page has: its frame, its headers, and errors that people can read.

use axum::body::to_bytes;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use reknit_protocol::percent_encoded;
use reknit_runtime::system_ms;
use reknit_web::{Markup, PageFrame, Theme, error_page};
use serde::Deserialize;

use crate::access::Caller;
use crate::api_error::ApiError;
use crate::page_request::{cookie, is_page};
use crate::token::Scope;

/// Only style sheets, scripts, pictures and streams of this server; nothing written in the page itself; no frame around it.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                              form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// An error of the API has no more than this.
const MAX_ERROR: usize = 1 << 20;

/// The name of the cookie with the colours.
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
            theme: Theme::of_name(cookie(&parts.headers, THEME).unwrap_or_default()),
            here: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            caller: parts.extensions.get::<Caller>().cloned(),
        }
    }

    /// The frame of a page for this reader.
    pub(super) fn frame(&self, questions: usize) -> PageFrame<'_> {
        let may = |scope| self.caller.as_ref().is_some_and(|caller| caller.may(scope));
        PageFrame {
            theme: self.theme,
            here: &self.here,
            caller: self.caller.as_ref().filter(|caller| caller.has_token).map(|caller| &*caller.name),
            questions,
            now_ms: system_ms(),
            may_run: may(Scope::Run),
            may_approve: may(Scope::Approve),
            may_administer: self.is_owner(),
        }
    }

    /// Whether the reader may see everything that is stored. Without tokens whoever reaches the server may do everything.
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

/// A page as an answer.
pub(super) fn show(page: Markup) -> Response {
    html(StatusCode::OK, page)
}

/// A page as a response.
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

/// What a page, or a part of it, answers.
pub(super) type PageResult = Result<Response, ApiError>;

#[derive(Deserialize)]
struct ErrorText {
    error: ErrorParts,
}

#[derive(Deserialize)]
struct ErrorParts {
    message: String,
    #[serde(default)]
    problems: Vec<String>,
}

/// Shows the errors of pages as pages. Whoever must sign in is sent there.
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
    let error = serde_json::from_slice::<ErrorText>(&bytes).map(|text| text.error);
    let error = error.unwrap_or(ErrorParts { message: "the request failed".to_owned(), problems: Vec::new() });
    let mut page = html(status, error_page(&reader.frame(0), status.as_u16(), &error.message, &error.problems));
    if let Some(seconds) = retry_after {
        page.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    page
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/json"))
}
