//! What fails: by tool, with its weeks, and by class of failure; and what mends it: each rung with how often it helped and at what cost.

use std::collections::BTreeMap;

use maud::{Markup, html};
use reknit_engine::{FailureClass, RungStatistics, ToolStatistics};

use super::charts::{WEEKS, bar, day};
use super::mended_by::MendedBy;
use crate::frame::table;
use crate::marks::{rung_chip, rung_class, rung_words};
use crate::outside_text::one_line;
use crate::run_usage::RunUsage;
use crate::words::money;

const TOOLS: usize = 50;

const CLASS_COLUMNS: [&str; 7] =
    ["Class", "=What became of it", "#Failed calls", "#Mended", "#Not mended", "#Model questions", "#Cost"];

/// What a class means, for a reader who sees it the first time.
fn class_words(class: FailureClass) -> (&'static str, &'static str) {
    match class {
        FailureClass::BeforeCall => ("before the call", "values were changed before they were sent"),
        FailureClass::NoReply => ("no reply", "the connection broke or the time was over"),
        FailureClass::AccessDenied => ("access denied", "401, 403 or 407; no model is asked"),
        FailureClass::NotFound => ("not found", "404 or 410"),
        FailureClass::RateLimited => ("rate limited", "429"),
        FailureClass::Rejected => ("rejected", "another status from 400 to 499"),
        FailureClass::ServerError => ("server error", "a status from 500"),
        FailureClass::ErrorInSuccess => ("error in success", "the status of a success, with an error in the body"),
        FailureClass::InSession => ("in a session", "a call of an agent; its status is not kept"),
    }
}

pub(super) fn by_tool(usage: &RunUsage) -> Markup {
    let mut tools: Vec<(&String, &ToolStatistics)> = usage.all.tools.iter().collect();
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.failed, tool.calls)));
    let most = tools.iter().map(|(_, tool)| tool.calls).max().unwrap_or(0);
    let rows = html! { @for (name, tool) in tools.iter().take(TOOLS) { (tool_row(usage, name, tool, most)) } };
    html! {
        section aria-labelledby="fails" {
            h2 #fails { "What fails, by tool" }
            @if tools.is_empty() { p.muted { "No tool was called." } } @else {
                (table("plain", &["Capability", "=Calls, failed in red", "#Calls", "#Failed", "How", "By week"], &rows))
                @if tools.len() > TOOLS { p.muted { (tools.len() - TOOLS) " more capabilities failed less often." } }
            }
        }
    }
}

fn tool_row(usage: &RunUsage, name: &str, tool: &ToolStatistics, most: u64) -> Markup {
    html! {
        tr {
            td { (one_line(name, 80)) }
            td { (bar(&[("failed", tool.failed), ("done", tool.calls.saturating_sub(tool.failed))], most)) }
            td.number { (tool.calls) } td.number { (tool.failed) }
            td {
                @for (class, failure) in tool.failures.iter().filter(|(_, failure)| failure.failed > 0) {
                    div {
                        (failure.failed) " " (class_words(*class).0)
                        @if failure.not_mended > 0 { ", " (failure.not_mended) " not mended" }
                    }
                }
            }
            td { (weekly(usage, name)) }
        }
    }
}

/// The calls and failures of each week, as small bars.
fn weekly(usage: &RunUsage, name: &str) -> Markup {
    let weeks: Vec<(i64, u64, u64)> = usage
        .weeks
        .iter()
        .rev()
        .take(WEEKS)
        .map(|(week, used)| {
            let tool = used.statistics.tools.get(name);
            (*week, tool.map_or(0, |tool| tool.calls), tool.map_or(0, |tool| tool.failed))
        })
        .collect();
    let most = weeks.iter().map(|(_, calls, _)| *calls).max().unwrap_or(0).max(1);
    let height = |count: u64| count.saturating_mul(24) / most;
    let words = weeks.iter().rev().map(|(week, calls, failed)| format!("{}: {failed} of {calls} failed", day(*week)));
    let words = words.collect::<Vec<_>>().join("; ");
    html! {
        svg.weeks width="96" height="24" viewBox="0 0 96 24" role="img" aria-label=(words) {
            title { (words) }
            @for (at, (_, calls, failed)) in weeks.iter().rev().enumerate() {
                rect.bar.waiting x=(at * 12) y=(24 - height(*calls)) width="9" height=(height(*calls)) {}
                rect.bar.failed x=(at * 12) y=(24 - height(*failed)) width="9" height=(height(*failed)) {}
            }
        }
    }
}

pub(super) fn by_class(usage: &RunUsage) -> Markup {
    let mut classes: BTreeMap<FailureClass, (u64, MendedBy)> = BTreeMap::new();
    for (class, failure) in usage.all.tools.values().flat_map(|tool| &tool.failures) {
        let (failed, by) = classes.entry(*class).or_default();
        *failed += failure.failed;
        by.add(failure);
    }
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, (failed, by))| std::cmp::Reverse((*failed, by.all())));
    let most = classes.iter().map(|(_, (_, by))| by.all()).max().unwrap_or(0);
    let rows = html! { @for (class, (failed, by)) in &classes { (class_row(usage, *class, *failed, *by, most)) } };
    html! {
        @if !classes.is_empty() {
            section aria-labelledby="classes" {
                h2 #classes { "What fails, by class" }
                p.muted {
                    span.key.rung-code { "mended by code" } " " span.key.rung-model { "by a model" } " "
                    span.key.rung-person { "settled by a check or a person" } " " span.key.failed { "not mended" }
                }
                (table("plain", &CLASS_COLUMNS, &rows))
            }
        }
    }
}

fn class_row(usage: &RunUsage, class: FailureClass, failed: u64, by: MendedBy, most: u64) -> Markup {
    let asked = usage.classes.get(&class).copied().unwrap_or_default();
    let (word, meaning) = class_words(class);
    html! {
        tr {
            td { (word) div.muted.small { (meaning) } }
            td { (bar(&[("rung-code", by.code), ("rung-model", by.model), ("rung-person", by.person), ("failed", by.not_mended)], most)) }
            td.number { (failed) } td.number { (by.code + by.model + by.person) } td.number { (by.not_mended) }
            td.number { (asked.questions) } td.number { (money(asked.nanos)) }
        }
    }
}

const RUNG_COLUMNS: [&str; 8] =
    ["Rung", "=Mended, of all tries", "#Tried", "#Mended", "#No help", "#Questions", "#Cost", "#Per mended failure"];

pub(super) fn by_rung(usage: &RunUsage) -> Markup {
    let mut rungs: BTreeMap<&str, RungStatistics> = BTreeMap::new();
    for failure in usage.all.tools.values().flat_map(|tool| tool.failures.values()) {
        for (name, own) in &failure.rungs {
            rungs.entry(name).or_default().merge(*own);
        }
    }
    let mut rungs: Vec<(&str, RungStatistics)> = rungs.into_iter().collect();
    rungs.sort_by_key(|(_, rung)| std::cmp::Reverse(rung.mended));
    let most = rungs.iter().map(|(_, rung)| rung.tried + rung.no_help).max().unwrap_or(0);
    html! {
        section aria-labelledby="mends" {
            h2 #mends { "What mends it, by rung" }
            @if rungs.is_empty() { p.muted { "Nothing had to be mended." } } @else {
                p.muted {
                    "Rungs of " span.rung.rung-code { "code" } " cost nothing; those of " span.rung.rung-model { "models" }
                    " cost a question. The coloured part of a bar mended the call."
                }
                (table("plain", &RUNG_COLUMNS, &html! { @for (name, rung) in &rungs { (rung_row(usage, name, *rung, most)) } }))
            }
        }
    }
}

fn rung_row(usage: &RunUsage, name: &str, rung: RungStatistics, most: u64) -> Markup {
    let asked = usage.rungs.get(name).copied().unwrap_or_default();
    let tries = rung.tried + rung.no_help;
    html! {
        tr {
            td { (rung_chip(name)) div.muted.small { (rung_words(name)) } }
            td { (bar(&[(rung_class(name), rung.mended), ("waiting", tries.saturating_sub(rung.mended))], most)) }
            td.number { (tries) } td.number { (rung.mended) } td.number { (rung.no_help) }
            td.number { (asked.questions) } td.number { (money(asked.nanos)) }
            td.number { (money(asked.nanos.checked_div(rung.mended).unwrap_or(0))) }
        }
    }
}
