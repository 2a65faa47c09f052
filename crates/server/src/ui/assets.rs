//! The style sheet, the script and the icon, and the choice of colours.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE};
use axum::response::{IntoResponse, Redirect};
use reknit_web::{SCRIPT, STYLE, Theme};

use super::page::{Fields, THEME};
use crate::page_request::own_address;

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
