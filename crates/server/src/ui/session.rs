//! What every reader gets: signing in, with a token that is kept in a cookie that only this server gets; the style sheet, the script and
//! the icon; and the choice of colours.

use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use reknit_web::{SCRIPT, STYLE, Theme, sign_in_page};

use super::UiState;
use super::page::{Fields, Reader, THEME, html};
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

/// A browser keeps them for a year: their addresses change with their content.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// A ring with a knot.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><circle cx=\"8\" cy=\"8\" r=\"5.5\" fill=\"none\" \
                    stroke=\"#0b57a4\" stroke-width=\"2.5\"/><circle cx=\"12\" cy=\"4\" r=\"3\" fill=\"#116b34\"/></svg>";

pub(super) async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, FOREVER)], STYLE)
}

pub(super) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, FOREVER)], SCRIPT)
}

pub(super) async fn icon() -> impl IntoResponse {
    ([(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, "public, max-age=86400")], ICON)
}

/// Keeps the choice of colours in a cookie.
pub(super) async fn set_theme(form: Fields) -> impl IntoResponse {
    let theme = Theme::from_word(form.get("to")).unwrap_or_default();
    let cookie = format!("{THEME}={theme}; Path=/; Max-Age=31536000; SameSite=Strict; HttpOnly");
    ([(SET_COOKIE, cookie)], Redirect::to(own_address(form.get("back"))))
}
