//! What mends: each rung with how often it helped and what one mended failure cost.

use std::collections::BTreeMap;

use maud::{Markup, html};
use reknit_engine::{FailureStatistics, RungStatistics};

use super::charts::bar;
use crate::frame::table;
use crate::marks::{rung_chip, rung_class, rung_words};
use crate::run_usage::RunUsage;
use crate::words::money;

const COLUMNS: [&str; 8] =
    ["Rung", "=Mended, of all tries", "#Tried", "#Mended", "#No help", "#Questions", "#Cost", "#Per mended failure"];

/// What became of failures, by who mended them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MendedBy {
    pub(super) code: u64,
    pub(super) model: u64,
    pub(super) person: u64,
    pub(super) not_mended: u64,
}

impl MendedBy {
    pub(super) fn add(&mut self, failure: &FailureStatistics) {
        self.not_mended += failure.not_mended;
        for (name, rung) in &failure.rungs {
            match rung_class(name) {
                "rung-model" => self.model += rung.mended,
                "rung-person" => self.person += rung.mended,
                _ => self.code += rung.mended,
            }
        }
    }

    pub(super) fn all(self) -> u64 {
        self.code + self.model + self.person + self.not_mended
    }
}

pub(super) fn section(usage: &RunUsage) -> Markup {
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
                (table("plain", &COLUMNS, &html! { @for (name, rung) in &rungs { (row(usage, name, *rung, most)) } }))
            }
        }
    }
}

fn row(usage: &RunUsage, name: &str, rung: RungStatistics, most: u64) -> Markup {
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
