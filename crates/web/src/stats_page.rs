//! What fails, what mends it, and what that costs.

use std::collections::BTreeMap;

use maud::{Markup, html};
use reknit_engine::{RungStatistics, Statistics, ToolStatistics};
use reknit_protocol::{human_duration, timestamp_text};

use crate::frame::{PageFrame, Tab, framed};
use crate::links::with_query;
use crate::marks::{badge, run_mark, rung_chip, rung_class};
use crate::outside_text::one_line;
use crate::run_usage::RunUsage;

/// The weeks that are drawn.
const WEEKS: usize = 8;
/// The errors that are listed.
const ERRORS: usize = 10;
/// The tools that are listed.
const TOOLS: usize = 50;
/// The width of a bar, in units of its own.
const WIDTH: u64 = 1_000;

/// The page with statistics. `runs` is how many runs were read, `all` how many there are.
pub fn stats_page(frame: &PageFrame<'_>, usage: &RunUsage, runs: usize, all: u64) -> Markup {
    let content = html! {
        h1 { "Statistics" }
        @if runs == 0 {
            section.empty { h2 { "Nothing to count yet" } p { "Statistics follow from the runs in the journal." } }
        } @else {
            p.muted { "Over the newest " (runs) " of " (all) " runs." }
            (states(&usage.all))
            (failures(usage))
            (rungs(&usage.all))
            (costs(usage))
            (errors(usage))
        }
    };
    framed(frame, "Statistics", Tab::Statistics, None, &content)
}

fn states(statistics: &Statistics) -> Markup {
    html! {
        ul.figures {
            @for (status, count) in &statistics.runs {
                li { (badge(run_mark(status))) " " a href=(with_query("/", &[("status", status)])) { (count) } }
            }
        }
    }
}

/// A bar of parts, each with its class and its length of `whole`.
fn bar(parts: &[(&str, u64)], whole: u64) -> Markup {
    let mut left = 0;
    let mut drawn = Vec::new();
    for (class, count) in parts {
        let width = count.saturating_mul(WIDTH) / whole.max(1);
        drawn.push((*class, left, width));
        left += width;
    }
    html! {
        svg.bars.chart viewBox={"0 0 " (WIDTH) " 16"} preserveAspectRatio="none" aria-hidden="true" {
            @for (class, left, width) in drawn { rect class={"bar " (class)} x=(left) y="2" width=(width) height="12" {} }
        }
    }
}

/// The failures of each week, as small bars.
fn weekly(usage: &RunUsage, name: &str) -> Markup {
    let weeks: Vec<(i64, u64, u64)> = usage
        .weeks
        .iter()
        .rev()
        .take(WEEKS)
        .map(|(week, statistics)| {
            let tool = statistics.tools.get(name);
            (*week, tool.map_or(0, |tool| tool.calls), tool.map_or(0, |tool| tool.failed))
        })
        .collect();
    let most = weeks.iter().map(|(_, calls, _)| *calls).max().unwrap_or(0).max(1);
    let height = |count: u64| count.saturating_mul(24) / most;
    let day = |week: i64| timestamp_text(week).chars().take(10).collect::<String>();
    let label =
        weeks.iter().rev().map(|(week, calls, failed)| format!("week of {}: {failed} of {calls} failed", day(*week)));
    let label = label.collect::<Vec<_>>().join("; ");
    html! {
        svg.weeks width="96" height="24" viewBox="0 0 96 24" role="img" aria-label=(label) {
            title { (label) }
            @for (at, (_, calls, failed)) in weeks.iter().rev().enumerate() {
                rect.bar.waiting x=(at * 12) y=(24 - height(*calls)) width="9" height=(height(*calls)) {}
                rect.bar.failed x=(at * 12) y=(24 - height(*failed)) width="9" height=(height(*failed)) {}
            }
        }
    }
}

fn failures(usage: &RunUsage) -> Markup {
    let mut tools: Vec<(&String, &ToolStatistics)> = usage.all.tools.iter().collect();
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.failed, tool.calls)));
    let most = tools.iter().map(|(_, tool)| tool.calls).max().unwrap_or(0);
    html! {
        section aria-labelledby="fails" {
            h2 #fails { "What fails" }
            div.scroll {
                table.plain {
                    thead {
                        tr {
                            th scope="col" { "Capability" } th.chart-column scope="col" { "Calls, failed in red" }
                            th.number scope="col" { "Calls" } th.number scope="col" { "Failed" } th scope="col" { "How" } th scope="col" { "By week" }
                        }
                    }
                    tbody {
                        @for (name, tool) in tools.iter().take(TOOLS) {
                            tr {
                                td { (one_line(name, 80)) }
                                td { (bar(&[("failed", tool.failed), ("done", tool.calls.saturating_sub(tool.failed))], most)) }
                                td.number { (tool.calls) } td.number { (tool.failed) }
                                td {
                                    @for (class, failure) in &tool.failures {
                                        @if failure.failed > 0 { div { (failure.failed) " " (class.as_str().replace('_', " ")) @if failure.not_mended > 0 { ", " (failure.not_mended) " not mended" } } }
                                    }
                                }
                                td { (weekly(usage, name)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn rungs(statistics: &Statistics) -> Markup {
    let mut rungs: BTreeMap<&str, RungStatistics> = BTreeMap::new();
    for failure in statistics.tools.values().flat_map(|tool| tool.failures.values()) {
        for (name, own) in &failure.rungs {
            let sum = rungs.entry(name).or_default();
            sum.tried += own.tried;
            sum.mended += own.mended;
            sum.no_help += own.no_help;
        }
    }
    let mut rungs: Vec<(&str, RungStatistics)> = rungs.into_iter().collect();
    rungs.sort_by_key(|(_, rung)| std::cmp::Reverse(rung.mended));
    let most = rungs.iter().map(|(_, rung)| rung.tried + rung.no_help).max().unwrap_or(0);
    html! {
        section aria-labelledby="mends" {
            h2 #mends { "What mends it" }
            @if rungs.is_empty() { p.muted { "Nothing had to be mended." } } @else {
                p.muted { "Rungs of " span.rung.rung-code { "code" } " cost nothing; those of " span.rung.rung-model { "models" } " cost a question." }
                div.scroll {
                    table.plain {
                        thead {
                            tr {
                                th scope="col" { "Rung" } th.chart-column scope="col" { "Mended, of all tries" }
                                th.number scope="col" { "Tried" } th.number scope="col" { "Mended" } th.number scope="col" { "No help" }
                            }
                        }
                        tbody {
                            @for (name, rung) in &rungs {
                                tr {
                                    td { (rung_chip(name)) }
                                    td { (bar(&[(rung_class(name), rung.mended), ("waiting", (rung.tried + rung.no_help).saturating_sub(rung.mended))], most)) }
                                    td.number { (rung.tried) } td.number { (rung.mended) } td.number { (rung.no_help) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn costs(usage: &RunUsage) -> Markup {
    let mut tools: Vec<_> = usage.tools.iter().collect();
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.tokens, tool.call_ms)));
    let most = tools.iter().map(|(_, tool)| tool.tokens).max().unwrap_or(0);
    let cost = format!("{}.{:04}", usage.cost_nanos / 1_000_000_000, usage.cost_nanos % 1_000_000_000 / 100_000);
    html! {
        section aria-labelledby="costs" {
            h2 #costs { "What it costs" }
            p.muted {
                "The tokens that mending the calls of each capability took, the most expensive first. "
                @if usage.cost_nanos > 0 { "All models together cost " (cost) " in the currency of their prices." }
            }
            div.scroll {
                table.plain {
                    thead {
                        tr {
                            th scope="col" { "Capability" } th.chart-column scope="col" { "Tokens for mending" }
                            th.number scope="col" { "Tokens" } th.number scope="col" { "Model questions" } th.number scope="col" { "Time in calls" }
                        }
                    }
                    tbody {
                        @for (name, tool) in tools.iter().take(TOOLS) {
                            tr {
                                td { (one_line(name, 80)) }
                                td { (bar(&[("model", tool.tokens)], most)) }
                                td.number { (tool.tokens) } td.number { (tool.questions) } td.number { (human_duration(tool.call_ms)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn errors(usage: &RunUsage) -> Markup {
    let mut errors: Vec<(&String, u64)> = usage.errors.iter().map(|(error, count)| (error, *count)).collect();
    errors.sort_by_key(|(error, count)| (std::cmp::Reverse(*count), *error));
    html! {
        @if !errors.is_empty() {
            section aria-labelledby="errors" {
                h2 #errors { "The most frequent errors" }
                ol { @for (error, count) in errors.iter().take(ERRORS) { li { (crate::words::count(*count, "time")) ": " code { (one_line(error, 200)) } } } }
            }
        }
    }
}
