//! What stored runs used: calls, questions to models, tokens and time, by tool, model and week.

use std::collections::BTreeMap;

use reknit_engine::{HistoryEntry, HistoryKind, Overview, RunOverview, SessionOverview, SessionRecord, Statistics};

use crate::outside_text::one_line;

const WEEK_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// 1970 began on a Thursday; weeks begin on Mondays.
const FIRST_MONDAY_MS: i64 = 4 * 24 * 3_600 * 1_000;
/// A longer error is cut, so that errors that differ in their end only count as one.
const ERROR_CHARS: usize = 100;

/// What a tool used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// How long its calls took, in milliseconds.
    pub call_ms: u64,
    /// How many questions models were asked to mend its calls.
    pub questions: u64,
    /// The tokens of these questions and their answers.
    pub tokens: u64,
}

/// How a model did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// How often it was asked.
    pub asked: u64,
    /// How often it did not answer.
    pub failed: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// How long it took in all, in milliseconds.
    pub took_ms: u64,
    /// When it last failed, in milliseconds since 1970, and why.
    pub last_failure: Option<(i64, String)>,
}

/// What stored runs used.
#[derive(Debug, Clone, Default)]
pub struct RunUsage {
    /// What failed and what mended it.
    pub all: Statistics,
    /// The same by week, which is named by the time at which it begins.
    pub weeks: BTreeMap<i64, Statistics>,
    /// By capability, as `tool/capability`.
    pub tools: BTreeMap<String, ToolUse>,
    /// By model.
    pub models: BTreeMap<String, ModelUse>,
    /// How often each error happened.
    pub errors: BTreeMap<String, u64>,
    /// What models cost, in billionths of the currency of their prices.
    pub cost_nanos: u64,
}

impl RunUsage {
    /// Adds a run or a session, with the word for its status and the time at which it started.
    pub fn add(&mut self, overview: &Overview, status: &str, created_ms: i64) {
        let week = created_ms - (created_ms - FIRST_MONDAY_MS).rem_euclid(WEEK_MS);
        self.all.add(overview, status);
        self.weeks.entry(week).or_default().add(overview, status);
        match overview {
            Overview::Run(run) => self.add_run(run),
            Overview::Session(session) => self.add_session(session),
            Overview::Bare(_) => {}
        }
    }

    fn add_run(&mut self, run: &RunOverview) {
        self.cost_nanos = self.cost_nanos.saturating_add(run.spent.cost.nanos());
        run.run_history.iter().for_each(|entry| self.add_question(entry));
        for step in &run.steps {
            let entries = run.history.get(&step.id).map(Vec::as_slice).unwrap_or_default();
            let name = match step.agent.as_str() {
                "" => step.capability.to_string(),
                agent => format!("{agent}/{}", step.capability),
            };
            for entry in entries {
                self.add_question(entry);
                self.add_call(&name, entry);
            }
        }
    }

    fn add_call(&mut self, name: &str, entry: &HistoryEntry) {
        match &entry.kind {
            HistoryKind::Called { error, .. } => {
                let tool = self.tools.entry(name.to_owned()).or_default();
                tool.call_ms = tool.call_ms.saturating_add(entry.took_ms);
                if let Some(error) = error {
                    *self.errors.entry(format!("{name}: {}", one_line(error, ERROR_CHARS))).or_default() += 1;
                }
            }
            HistoryKind::Asked { usage, .. } => {
                let tool = self.tools.entry(name.to_owned()).or_default();
                tool.questions += 1;
                tool.tokens += usage.map_or(0, |usage| usage.input_tokens.saturating_add(usage.output_tokens));
            }
            _ => {}
        }
    }

    fn add_question(&mut self, entry: &HistoryEntry) {
        let HistoryKind::Asked { target, usage, error, .. } = &entry.kind else { return };
        let model = self.models.entry(target.to_string()).or_default();
        model.asked += 1;
        model.took_ms = model.took_ms.saturating_add(entry.took_ms);
        if let Some(usage) = usage {
            model.input_tokens = model.input_tokens.saturating_add(usage.input_tokens);
            model.output_tokens = model.output_tokens.saturating_add(usage.output_tokens);
        }
        if let Some(error) = error {
            model.failed += 1;
            let is_newer = model.last_failure.as_ref().is_none_or(|(at_ms, _)| *at_ms < entry.at_ms);
            if is_newer {
                model.last_failure = Some((entry.at_ms, error.clone()));
            }
        }
    }

    fn add_session(&mut self, session: &SessionOverview) {
        self.cost_nanos = self.cost_nanos.saturating_add(session.spent.cost.nanos());
        for record in &session.records {
            let SessionRecord::Attempt(attempt) = record else { continue };
            let model = self.models.entry(attempt.target.to_string()).or_default();
            model.asked += 1;
            model.took_ms = model.took_ms.saturating_add(attempt.latency_ms);
            if let Some(usage) = attempt.usage {
                model.input_tokens = model.input_tokens.saturating_add(usage.input_tokens);
                model.output_tokens = model.output_tokens.saturating_add(usage.output_tokens);
            }
            if let Some(error) = &attempt.error {
                model.failed += 1;
                model.last_failure = Some((session.now_ms, error.clone()));
            }
        }
    }
}
