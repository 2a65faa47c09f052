//! The report about all cases: a table, JSON, and a page.

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
    pub baseline: ObservedRun,
    /// How many calls and questions the run without a fault has.
    pub effects: usize,
    pub kills: KillMethod,
    /// The cases, in the order of the run.
    pub outcomes: Vec<ChaosOutcome>,
}

/// The cases of one class of faults.
#[derive(Debug, Clone, Default)]
struct ClassCounts {
    class: &'static str,
    /// In the order of [`ChaosVerdict::ALL`].
    verdicts: [usize; ChaosVerdict::ALL.len()],
    duplicates: usize,
    most_calls: i64,
    most_ms: i64,
}

impl ClassCounts {
    /// The name of the class, and its numbers.
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.class.to_owned()];
        cells.extend(self.verdicts.iter().map(ToString::to_string));
        cells.extend([self.duplicates.to_string(), self.most_calls.to_string(), seconds(self.most_ms)]);
        cells
    }
}

impl ChaosReport {
    pub fn count(&self, verdict: ChaosVerdict) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict == verdict).count()
    }

    /// The cases that must not be: the run was wrong and silent, or could not go on.
    pub fn failures(&self) -> Vec<&ChaosOutcome> {
        let is_failure = |verdict| matches!(verdict, ChaosVerdict::Silent | ChaosVerdict::Stuck);
        self.outcomes.iter().filter(|outcome| is_failure(outcome.verdict)).collect()
    }

    /// The counts of each class, in the order in which the classes first occur.
    fn by_class(&self) -> Vec<ClassCounts> {
        let mut classes: Vec<ClassCounts> = Vec::new();
        for outcome in &self.outcomes {
            let class = outcome.case.fault.class();
            let index = classes.iter().position(|counts| counts.class == class).unwrap_or_else(|| {
                classes.push(ClassCounts { class, ..ClassCounts::default() });
                classes.len() - 1
            });
            let Some(counts) = classes.get_mut(index) else { continue };
            for (count, verdict) in counts.verdicts.iter_mut().zip(ChaosVerdict::ALL) {
                *count += usize::from(*verdict == outcome.verdict);
            }
            counts.duplicates += outcome.duplicates.len();
            counts.most_calls = counts.most_calls.max(outcome.extra_calls);
            counts.most_ms = counts.most_ms.max(outcome.extra_ms);
        }
        classes
    }

    /// A table with a row for each class of faults, and every case that is neither mended nor reported.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let header = ["fault", "mended", "reported", "open", "silent", "stuck", "twice", "calls +", "time +"];
        let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.by_class().iter().map(ClassCounts::cells));
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
                let (fault, reason) = (case.fault.name(), &outcome.reason);
                let _ = write!(text, "\n{verdict}: {fault} at {} ({})\n  {reason}\n", case.effect, case.of);
            }
        }
        let _ = writeln!(
            text,
            "\n{} cases at {} calls and questions: {}\nkilled: {}",
            self.outcomes.len(),
            self.effects,
            ChaosVerdict::ALL
                .iter()
                .map(|verdict| format!("{} {verdict}", self.count(*verdict)))
                .collect::<Vec<_>>()
                .join(", "),
            self.kill_words()
        );
        text
    }

    fn kill_words(&self) -> &'static str {
        match self.kills {
            KillMethod::Tasks => "all tasks of the driver end at one moment, with a journal in memory",
            KillMethod::Process => "a process of its own, with SIGKILL and a journal in SQLite",
        }
    }

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
            ("kills", self.kills.as_str().into()),
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
            self.kill_words()
        );
        for counts in self.by_class() {
            let _ = writeln!(text, "<tr><td>{}</tr>", counts.cells().join("<td class=n>"));
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
