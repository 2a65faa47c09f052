//! Pages without a file of their own: all open questions, signing in with a token, and what went wrong.

use maud::{Markup, html};

use crate::frame::{PageFrame, Tab, framed};
use crate::outside_text::plain_text;
use crate::question_card::{AskedQuestion, question_card};
use crate::words::with_query;

/// The page with all open questions. `version` names what the list of runs shows.
pub fn questions_page(frame: &PageFrame<'_>, questions: &[AskedQuestion], version: &str) -> Markup {
    let content = html! {
        h1 { "Questions" }
        @if questions.is_empty() {
            section.empty {
                h2 { "Nothing waits for you" }
                p {
                    "A run asks before a call that a rule names, before a correction that nothing backs, and when a call may have taken \
                     effect. Rules are " code { "[[approve]]" } " in " code { "reknit.toml" } "."
                }
            }
        }
        @for question in questions { (question_card(frame, question, true)) }
    };
    framed(frame, "Questions", Tab::Questions, Some(&with_query("/ui/changes", &[("since", version)])), &content)
}

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

/// The page of a request that failed: its status, the message and the single problems.
pub fn error_page(frame: &PageFrame<'_>, status: u16, message: &str, problems: &[String]) -> Markup {
    let title = match status {
        400 => "The request cannot be understood",
        401 | 403 => "Not allowed",
        404 => "Not found",
        409 => "Not possible any more",
        429 | 503 => "Busy",
        _ => "Something went wrong",
    };
    let content = html! {
        section.narrow {
            h1 { (title) }
            p { (plain_text(message)) }
            @if !problems.is_empty() {
                ul.problems { @for problem in problems { li { (plain_text(problem)) } } }
            }
            p { a href="/" { "All runs" } }
        }
    };
    framed(frame, title, Tab::Other, None, &content)
}
