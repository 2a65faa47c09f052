//! The steps of two runs, matched by their ids: parameters, results, attempts, questions and times that differ.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maud::{Markup, html};
use reknit_engine::{HistoryKind, RunOverview, StepView};
use reknit_protocol::{Path, StepId, Value, human_duration};

use super::{ComparedRun, Row, compare_table, takes_longer};
use crate::marks::{badge, mended_by, rung_chip, step_mark};
use crate::outside_text::{cut, exact_text, one_line};
use crate::parameter_diff::{ValueChange, changes, value_changes};
use crate::words::{capability_name, compare_path, count, step_path, with_query};

/// More changes of the parameters, or of the result, of a step are not shown.
const MAX_CHANGES: usize = 10;
/// A value is cut after so many characters.
const MAX_CHARS: usize = 160;
/// Steps are shown until the page has so many bytes; the others are on further pages.
const MAX_BYTES: usize = 80_000;
const MAX_NAMES: usize = 60;
const MAX_SINGLE: usize = 60;

struct StepPair<'r> {
    id: &'r StepId,
    left: Option<StepFacts<'r>>,
    right: Option<StepFacts<'r>>,
}

struct StepFacts<'r> {
    view: &'r StepView,
    result: Option<Arc<Value>>,
    calls: u64,
    failed: u64,
    questions: u64,
    tokens: u64,
    took_ms: u64,
}

impl<'r> StepFacts<'r> {
    fn of(run: &RunOverview, view: &'r StepView) -> Self {
        let mut facts =
            Self { view, result: run.result(&view.id), calls: 0, failed: 0, questions: 0, tokens: 0, took_ms: 0 };
        let entries = run.history.get(&view.id).map(Vec::as_slice).unwrap_or_default();
        for entry in entries {
            match &entry.kind {
                HistoryKind::Called { error, .. } => {
                    facts.calls += 1;
                    facts.failed += u64::from(error.is_some());
                }
                HistoryKind::Asked { usage, .. } => {
                    facts.questions += 1;
                    let tokens = usage.map_or(0, |usage| usage.input_tokens.saturating_add(usage.output_tokens));
                    facts.tokens = facts.tokens.saturating_add(tokens);
                }
                _ => {}
            }
        }
        let start_ms = entries.iter().map(|entry| entry.at_ms).min().unwrap_or(0);
        let end_ms = entries.iter().map(|entry| entry.at_ms.saturating_add_unsigned(entry.took_ms)).max();
        facts.took_ms = u64::try_from(end_ms.unwrap_or(start_ms).saturating_sub(start_ms)).unwrap_or(0);
        facts
    }

    fn tool(&self) -> String {
        one_line(&capability_name(self.view), 120)
    }

    fn attempts(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        format!("{}{failed}", count(self.calls, "call"))
    }

    fn asked(&self) -> String {
        match self.questions {
            0 => "none".to_owned(),
            questions => format!("{}, {} tokens", count(questions, "question"), self.tokens),
        }
    }
}

fn pairs<'r>(old: &'r RunOverview, new: &'r RunOverview) -> Vec<StepPair<'r>> {
    let known: BTreeMap<&StepId, &StepView> = new.steps.iter().map(|step| (&step.id, step)).collect();
    let both = old.steps.iter().map(|step| StepPair {
        id: &step.id,
        left: Some(StepFacts::of(old, step)),
        right: known.get(&step.id).map(|own| StepFacts::of(new, own)),
    });
    let before: BTreeSet<&StepId> = old.steps.iter().map(|step| &step.id).collect();
    let added = new.steps.iter().filter(|step| !before.contains(&step.id)).map(|step| StepPair {
        id: &step.id,
        left: None,
        right: Some(StepFacts::of(new, step)),
    });
    both.chain(added).collect()
}

/// The section, and how many steps differ or are in one run only.
pub(super) fn section(
    left: &ComparedRun<'_>,
    old: &RunOverview,
    right: &ComparedRun<'_>,
    new: &RunOverview,
    from: usize,
) -> (Markup, usize) {
    let pairs = pairs(old, new);
    let (both, single): (Vec<&StepPair<'_>>, Vec<_>) =
        pairs.iter().partition(|pair| pair.left.is_some() && pair.right.is_some());
    let rows: Vec<(&StepPair<'_>, Vec<Row>)> = both.into_iter().map(|pair| (pair, rows(pair))).collect();
    let differs = |rows: &[Row]| rows.iter().any(|row| row.differs);
    let same: Vec<String> =
        rows.iter().filter(|(_, rows)| !differs(rows)).map(|(pair, _)| one_line(pair.id.as_str(), 40)).collect();
    let different: Vec<_> = rows.iter().filter(|(_, rows)| differs(rows)).collect();
    let mut shown = Vec::new();
    let mut bytes = 0;
    for (pair, rows) in different.iter().skip(from) {
        let card = card(left.run, right.run, pair, rows);
        bytes += card.0.len();
        shown.push(card);
        if bytes > MAX_BYTES {
            break;
        }
    }
    let next = from + shown.len();
    let section = html! {
        section aria-labelledby="steps" {
            h2 #steps { "Steps" }
            p {
                @if rows.is_empty() { "No step is in both runs." }
                @else if different.is_empty() { "No step differs, of " (count(rows.len(), "step")) " that both have." }
                @else { (different.len()) " of " (count(rows.len(), "step")) " that both have differ." }
                @if !single.is_empty() { " " (count(single.len(), "step")) " are in one run only." }
            }
            @for card in &shown { (card) }
            @if next < different.len() {
                @let start = next.to_string();
                @let query = [("with", right.run), ("from", start.as_str())];
                p.more { a.button href=(with_query(&compare_path(left.run), &query)) { (different.len() - next) " more steps that differ" } }
            }
            @if !same.is_empty() && !different.is_empty() {
                p.muted {
                    "The same in both: " (same.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", "))
                    @if same.len() > MAX_NAMES { " and " (same.len() - MAX_NAMES) " more" } "."
                }
            }
            @if !single.is_empty() && next >= different.len() { (of_one_run(left.run, right.run, &single)) }
        }
    };
    (section, different.len() + single.len())
}

fn card(left: &str, right: &str, pair: &StepPair<'_>, rows: &[Row]) -> Markup {
    let states = [state(left, pair.id, pair.left.as_ref()), state(right, pair.id, pair.right.as_ref())];
    let [left, right] = states;
    compare_table(Some(&one_line(pair.id.as_str(), 80)), [html! { span.hidden { "What" } }, left, right], rows)
}

fn state(run: &str, id: &StepId, facts: Option<&StepFacts<'_>>) -> Markup {
    html! {
        @match facts {
            Some(facts) => { a href=(step_path(run, id.as_str())) { (badge(step_mark(facts.view))) } },
            None => { span.muted { "not in this run" } },
        }
    }
}

fn of_one_run(left: &str, right: &str, pairs: &[&StepPair<'_>]) -> Markup {
    let cell = |run: &str, pair: &StepPair<'_>, facts: Option<&StepFacts<'_>>| {
        html! { (state(run, pair.id, facts)) @if let Some(facts) = facts { " " (facts.tool()) } }
    };
    let row = |pair: &&StepPair<'_>| Row {
        about: html! { (one_line(pair.id.as_str(), 60)) },
        left: cell(left, pair, pair.left.as_ref()),
        right: cell(right, pair, pair.right.as_ref()),
        differs: true,
    };
    let rows: Vec<Row> = pairs.iter().take(MAX_SINGLE).map(row).collect();
    let heads = [html! { "Step" }, html! { (one_line(left, 40)) }, html! { (one_line(right, 40)) }];
    html! {
        (compare_table(Some("Steps that only one run has"), heads, &rows))
        @if pairs.len() > MAX_SINGLE { p.muted { (pairs.len() - MAX_SINGLE) " more steps are in one run only." } }
    }
}

fn rows(pair: &StepPair<'_>) -> Vec<Row> {
    let (Some(left), Some(right)) = (&pair.left, &pair.right) else { return Vec::new() };
    let states = [step_mark(left.view), step_mark(right.view)];
    let rungs = [mended_by(left.view), mended_by(right.view)];
    let chips = |rungs: &BTreeSet<reknit_mend::Rung>| {
        html! { @if rungs.is_empty() { "not mended" } @for rung in rungs { (rung_chip(rung.as_str())) " " } }
    };
    let mut rows = vec![
        Row { differs: states[0] != states[1], ..Row::of_texts("State", states[0].word, states[1].word) },
        Row::of_texts("Tool", &left.tool(), &right.tool()),
    ];
    rows.extend(parameter_rows(left, right));
    rows.push(Row::of_texts("Attempts", &left.attempts(), &right.attempts()));
    rows.push(Row {
        about: html! { "Mended by" },
        left: chips(&rungs[0]),
        right: chips(&rungs[1]),
        differs: rungs[0] != rungs[1],
    });
    rows.push(Row::of_texts("Models", &left.asked(), &right.asked()));
    rows.push(Row {
        differs: takes_longer(left.took_ms, right.took_ms),
        ..Row::of_texts("Took", &human_duration(left.took_ms), &human_duration(right.took_ms))
    });
    rows.extend(result_rows(left, right));
    // What is equal helps only beside what differs.
    let shown = |row: &Row| row.differs;
    if rows.iter().any(shown) { rows.into_iter().filter(shown).collect() } else { rows }
}

fn value(value: Option<&Value>) -> Markup {
    let none = || html! { span.muted { "none" } };
    value.map_or_else(none, |value| html! { code { (cut(&exact_text(&value.to_string()), MAX_CHARS)) } })
}

fn parameter_rows(left: &StepFacts<'_>, right: &StepFacts<'_>) -> Vec<Row> {
    let changes = changes(&left.view.parameters, &right.view.parameters);
    let more = changes.len().saturating_sub(MAX_CHANGES);
    let row = |change: &crate::parameter_diff::Change<'_>| Row {
        about: html! { "Parameter " code { (one_line(change.name, 40)) } },
        left: value(change.before),
        right: value(change.after),
        differs: true,
    };
    changes.iter().take(MAX_CHANGES).map(row).chain(more_row(more, "more parameters differ")).collect()
}

fn result_rows(left: &StepFacts<'_>, right: &StepFacts<'_>) -> Vec<Row> {
    let changes = value_changes(left.result.as_deref(), right.result.as_deref(), MAX_CHANGES);
    let row = |change: &ValueChange<'_>| Row {
        about: html! { "Result " @if change.path != Path::root() { code { (one_line(&change.path.to_string(), 60)) } } },
        left: value(change.left),
        right: value(change.right),
        differs: true,
    };
    let more = usize::from(changes.len() > MAX_CHANGES);
    changes.iter().take(MAX_CHANGES).map(row).chain(more_row(more, "more places of the result differ")).collect()
}

fn more_row(more: usize, words: &str) -> Option<Row> {
    let nothing = || html! {};
    (more > 0).then(|| Row { about: html! { (words) }, left: nothing(), right: nothing(), differs: true })
}
