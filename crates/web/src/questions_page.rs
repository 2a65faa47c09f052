//! Everything that waits for a person.

use maud::{Markup, html};

use crate::frame::{PageFrame, Tab, framed};
use crate::links::with_query;
use crate::question_card::{AskedQuestion, question_card};

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
