//! Signing in: the token of a reader is kept in a cookie that only this server gets.

use axum::extract::{Query, State};
use axum::http::header::{ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_web::sign_in_page;

use super::UiState;
use super::page::{Fields, Reader, html};
use crate::page_request::{PLAIN_TOKEN, SECURE_TOKEN, own_address};

pub(super) async fn page(reader: Reader, Query(fields): Query<Fields>) -> Response {
    html(StatusCode::OK, sign_in_page(&reader.frame(0), own_address(fields.get("back")), None))
}

/// Keeps a token that is known.
pub(super) async fn sign_in(State(ui): State<UiState>, reader: Reader, headers: HeaderMap, form: Fields) -> Response {
    let (token, back) = (form.get("token").trim(), own_address(form.get("back")));
    let Some(name) = ui.gate.token_name(token) else {
        tracing::warn!(target: "reknit::audit", "refused to sign in with an unknown token");
        let problem = "This token is not known. A token begins with `rk-` and is printed once by `reknit tokens new`.";
        return html(StatusCode::FORBIDDEN, sign_in_page(&reader.frame(0), back, Some(problem)));
    };
    tracing::info!(target: "reknit::audit", caller = name, "signed in");
    ([(SET_COOKIE, token_cookie(&headers, token))], Redirect::to(back)).into_response()
}

/// The cookie with a token. It ends with the browser's session, no script reads it, and no page of another site sends it.
fn token_cookie(headers: &HeaderMap, token: &str) -> String {
    // The browser says how it reached the server, also through a proxy that speaks HTTPS.
    let is_secure = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let (name, secure) = if is_secure { (SECURE_TOKEN, "; Secure") } else { (PLAIN_TOKEN, "") };
    format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict{secure}")
}

pub(super) async fn sign_out() -> Response {
    let mut response = Redirect::to("/sign-in").into_response();
    for (name, secure) in [(SECURE_TOKEN, "; Secure"), (PLAIN_TOKEN, "")] {
        let cookie = format!("{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict{secure}");
        if let Ok(cookie) = cookie.parse() {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    response
}
