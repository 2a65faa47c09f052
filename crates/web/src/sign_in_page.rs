//! Signing in with a token.

use maud::{Markup, html};

use crate::frame::{PageFrame, Tab, framed};
use crate::outside_text::plain_text;

/// The page that asks for a token. `back` is where the reader wanted to go, `problem` why an earlier try was refused.
pub fn sign_in_page(frame: &PageFrame<'_>, back: &str, problem: Option<&str>) -> Markup {
    let content = html! {
        section.narrow {
            h1 { "Sign in" }
            p { "This server takes tokens. " code { "reknit tokens new NAME --scopes read,run,approve" } " makes one." }
            @if let Some(problem) = problem { p.problem role="alert" { (plain_text(problem)) } }
            form.stack method="post" action="/sign-in" {
                input type="hidden" name="back" value=(back);
                label for="token" { "Token" }
                input #token type="password" name="token" autocomplete="current-password" required autofocus;
                button.main type="submit" { "Sign in" }
            }
            p.muted {
                "The token stays in a cookie that only this server reads, until you sign out or close the browser. \
                 What you may do follows from its scopes."
            }
        }
    };
    framed(frame, "Sign in", Tab::Other, None, &content)
}
