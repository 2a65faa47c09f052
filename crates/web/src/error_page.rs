//! What went wrong, as a page.

use maud::{Markup, html};

use crate::frame::{PageFrame, Tab, framed};
use crate::outside_text::plain_text;

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
