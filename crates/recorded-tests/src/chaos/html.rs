//! The report as an HTML page.

use std::fmt::Write as _;

use reknit_protocol::markup_text;

use super::judge::ChaosVerdict;
use super::report::{ChaosReport, seconds};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;width:100%;margin:1rem 0}td,th{border-bottom:1px solid #ddd;padding:.3rem .5rem;text-align:left;\
vertical-align:top}td.n{text-align:right}.mended{color:#176b2c}.reported{color:#7a5b00}.open{color:#555}.silent{color:#a80000;\
font-weight:600}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}td,th{border-color:#333}.mended{color:#7ddc95}\
.reported{color:#e5c35c}.open{color:#aaa}.silent{color:#ff8080}}";

pub(super) fn page(report: &ChaosReport, title: &str) -> String {
    let mut text = String::new();
    let title = markup_text(title);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style><h1>{title}</h1><p>{} cases at {} calls and questions. Without a fault the run \
         is {}. Our own process is killed {}.</p>\n<table><tr><th>fault<th>mended<th>reported<th>open<th>wrong and silent<th>cannot go on<th>effects twice<th>most extra calls\
         <th>most extra time</tr>\n",
        report.outcomes.len(),
        report.effects,
        markup_text(&report.baseline.status),
        report.kills
    );
    for (class, counts) in report.by_class() {
        let _ = write!(text, "<tr><td>{}", markup_text(class));
        for verdict in ChaosVerdict::ALL {
            let _ = write!(text, "<td class=n>{}", counts.of(*verdict));
        }
        let _ = writeln!(
            text,
            "<td class=n>{}<td class=n>{}<td class=n>{}</tr>",
            counts.duplicates,
            counts.extra_calls,
            seconds(counts.extra_ms)
        );
    }
    text.push_str("</table>\n<table><tr><th>at<th>of<th>fault<th>verdict<th>why<th>calls<th>time</tr>\n");
    for outcome in &report.outcomes {
        let class = match outcome.verdict {
            ChaosVerdict::Mended => "mended",
            ChaosVerdict::Reported => "reported",
            ChaosVerdict::Open => "open",
            ChaosVerdict::Silent | ChaosVerdict::Stuck => "silent",
        };
        let case = &outcome.case;
        let _ = writeln!(
            text,
            "<tr><td>{}<td>{}<td>{}<td class={class}>{}<td>{}<td class=n>{:+}<td class=n>{}</tr>",
            markup_text(&case.effect),
            markup_text(&case.of),
            markup_text(&case.fault.name()),
            outcome.verdict,
            markup_text(&outcome.reason),
            outcome.extra_calls,
            seconds(outcome.extra_ms)
        );
    }
    text.push_str("</table></html>\n");
    text
}
