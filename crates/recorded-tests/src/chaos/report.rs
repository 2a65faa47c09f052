//! The report about all cases: a table, JSON, and a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reknit_protocol::{Object, Value, markup_text};

use super::judge::{ChaosOutcome, ChaosVerdict};
use super::killed_process::KillMethod;
use crate::facts::ObservedRun;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}\
table{border-collapse:collapse;width:100%;margin:1rem 0}td,th{border-bottom:1px solid #ddd;padding:.3rem .5rem;text-align:left;\
vertical-align:top}td.n{text-align:right}.mended{color:#176b2c}.reported{color:#7a5b00}.open{color:#555}.silent{color:#a80000;\
font-weight:600}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}td,th{border-color:#333}.mended{color:#7ddc95}\
.reported{color:#e5c35c}.open{color:#aaa}.silent{color:#ff8080}}";

/// What became of a run with each fault at each of its calls and questions.
#[derive(Debug, Clone)]
pub struct ChaosReport {
    /// The run without a fault.
    pub baseline: ObservedRun,
    /// How many calls and questions the run without a fault has.
    pub effects: usize,
    /// How our own process was killed.
    pub kills: KillMethod,
    /// The cases, in the order of the run.
    pub outcomes: Vec<ChaosOutcome>,
}

/// The cases of one class of faults.
#[derive(Debug, Clone, Copy, Default)]
struct ClassCounts {
    verdicts: [usize; ChaosVerdict::ALL.len()],
    duplicates: usize,
    extra_calls: i64,
    extra_ms: i64,
}

impl ClassCounts {
    fn of(&self, verdict: ChaosVerdict) -> usize {
        let place = ChaosVerdict::ALL.iter().position(|known| *known == verdict).unwrap_or_default();
        self.verdicts.get(place).copied().unwrap_or_default()
    }
}

impl ChaosReport {
    /// How many cases have this verdict.
    pub fn count(&self, verdict: ChaosVerdict) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict == verdict).count()
    }

    /// The cases that must not be: the run was wrong and silent, or could not go on.
    pub fn failures(&self) -> Vec<&ChaosOutcome> {
        let is_failure = |verdict| matches!(verdict, ChaosVerdict::Silent | ChaosVerdict::Stuck);
        self.outcomes.iter().filter(|outcome| is_failure(outcome.verdict)).collect()
    }

    fn by_class(&self) -> Vec<(&'static str, ClassCounts)> {
        let mut order: Vec<&'static str> = Vec::new();
        let mut counts: BTreeMap<&'static str, ClassCounts> = BTreeMap::new();
        for outcome in &self.outcomes {
            let class = outcome.case.fault.class();
            if !order.contains(&class) {
                order.push(class);
            }
            let count = counts.entry(class).or_default();
            let place = ChaosVerdict::ALL.iter().position(|known| *known == outcome.verdict).unwrap_or_default();
            if let Some(cell) = count.verdicts.get_mut(place) {
                *cell += 1;
            }
            count.duplicates += outcome.duplicates.len();
            count.extra_calls = count.extra_calls.max(outcome.extra_calls);
            count.extra_ms = count.extra_ms.max(outcome.extra_ms);
        }
        order.into_iter().map(|class| (class, counts.get(class).copied().unwrap_or_default())).collect()
    }

    /// A table with a row for each class of faults, and every case that is neither mended nor reported.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let header = ["fault", "mended", "reported", "open", "silent", "stuck", "twice", "calls +", "time +"];
        let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
        for (class, counts) in self.by_class() {
            let mut row = vec![class.to_owned()];
            row.extend(ChaosVerdict::ALL.iter().map(|verdict| counts.of(*verdict).to_string()));
            row.extend([counts.duplicates.to_string(), counts.extra_calls.to_string(), seconds(counts.extra_ms)]);
            rows.push(row);
        }
        let widths: Vec<usize> = (0..header.len())
            .map(|column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or_default())
            .collect();
        for row in &rows {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // Writing to a string cannot fail.
                let _ = if column == 0 { write!(text, "{cell:width$}") } else { write!(text, "  {cell:>width$}") };
            }
            text.push('\n');
        }
        for outcome in &self.outcomes {
            if !matches!(outcome.verdict, ChaosVerdict::Mended | ChaosVerdict::Reported) {
                let (case, verdict) = (&outcome.case, outcome.verdict);
                let _ = write!(
                    text,
                    "\n{verdict}: {} at {} ({})\n  {}\n",
                    case.fault.name(),
                    case.effect,
                    case.of,
                    outcome.reason
                );
            }
        }
        let _ = writeln!(
            text,
            "\n{} cases at {} calls and questions: {} mended, {} reported, {} open, {} wrong and silent, {} cannot go on",
            self.outcomes.len(),
            self.effects,
            self.count(ChaosVerdict::Mended),
            self.count(ChaosVerdict::Reported),
            self.count(ChaosVerdict::Open),
            self.count(ChaosVerdict::Silent),
            self.count(ChaosVerdict::Stuck)
        );
        let _ = writeln!(text, "killed: {}", self.kills);
        text
    }

    /// The report as JSON.
    pub fn to_value(&self) -> Value {
        let counts =
            ChaosVerdict::ALL.iter().map(|verdict| (verdict.as_str().replace(' ', "_"), self.count(*verdict).into()));
        let cases = self.outcomes.iter().map(|outcome| {
            let mut object = Object::from([
                ("effect", Value::from(outcome.case.effect.as_str())),
                ("of", outcome.case.of.as_str().into()),
                ("fault", outcome.case.fault.name().into()),
                ("verdict", outcome.verdict.as_str().replace(' ', "_").into()),
                ("status", outcome.status.as_str().into()),
            ]);
            if !outcome.reason.is_empty() {
                object.insert("reason", outcome.reason.as_str());
            }
            if !outcome.duplicates.is_empty() {
                let lines = outcome.duplicates.iter().map(|line| Value::from(line.as_str()));
                object.insert("duplicates", lines.collect::<Value>());
            }
            object.insert("extra_calls", outcome.extra_calls);
            object.insert("extra_questions", outcome.extra_questions);
            object.insert("extra_ms", outcome.extra_ms);
            object.insert("extra_cost", outcome.extra_cost.to_string());
            Value::Object(object)
        });
        Value::from([
            ("status", Value::from(self.baseline.status.as_str())),
            ("effects", self.effects.into()),
            ("kills", self.kills.key().into()),
            ("counts", Value::Object(counts.collect())),
            ("cases", cases.collect()),
        ])
    }

    /// The report as a page that needs nothing else.
    pub fn to_html(&self, title: &str) -> String {
        let mut text = String::new();
        let title = markup_text(title);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style><h1>{title}</h1><p>{} cases at {} calls and questions. Without a fault the run \
             is {}. Our own process is killed {}.</p>\n<table><tr><th>fault<th>mended<th>reported<th>open<th>wrong and silent<th>cannot go on<th>effects twice<th>most extra calls\
             <th>most extra time</tr>\n",
            self.outcomes.len(),
            self.effects,
            markup_text(&self.baseline.status),
            self.kills
        );
        for (class, counts) in self.by_class() {
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
        for outcome in &self.outcomes {
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
}

/// `1.5 s`.
fn seconds(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let ms = ms.unsigned_abs();
    format!("{sign}{}.{} s", ms / 1000, ms % 1000 / 100)
}
