//! A run that this build cannot restore: what is known without its machine.

use maud::{Markup, html};
use reknit_engine::{BareOverview, Spent};

use super::RunFacts;
use super::{header, history};
use crate::frame::PageFrame;
use crate::outside_text::{block, one_line, plain_text};
use crate::sourced_value::tree;

/// More replies than this are not shown.
const MAX_REPLIES: usize = 50;

pub(super) fn page(frame: &PageFrame<'_>, facts: &RunFacts<'_>, bare: &BareOverview) -> Markup {
    html! {
        (header::head(frame, facts, &bare.title, None, &Spent::default()))
        section.card {
            h2 { "This build cannot continue the run" }
            @if let Some(problem) = &bare.problem { (block(problem)) }
            @if let Some(closed) = &bare.closed { p { "Closed by a person: " (plain_text(closed)) } }
            @for call in &bare.open_calls { p.problem { "The call " code { (one_line(call, 80)) } " may have been made; its outcome is unknown." } }
        }
        @for (step, entries) in &bare.history {
            section { h2 { (one_line(step.as_str(), 80)) } (history::entries(facts, Some(step.as_str()), entries)) }
        }
        @if !bare.replies.is_empty() {
            section {
                h2 { "Replies of tools" }
                @for reply in bare.replies.iter().take(MAX_REPLIES) { h3 { (one_line(&reply.effect, 80)) } (tree(&reply.reply)) }
            }
        }
    }
}
