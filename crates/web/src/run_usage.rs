//! What stored runs used: calls, questions to models, tokens, time and money, by tool, class of failure, rung, model and week.

use std::collections::{BTreeMap, BTreeSet};

use reknit_engine::{
    FailureClass, HistoryEntry, HistoryKind, Overview, RunOverview, SessionOverview, SessionRecord, Statistics,
    StepState,
};
use reknit_model_api::{Money, Prices, TargetName, Usage};
use reknit_protocol::{RunId, StepId};

use crate::outside_text::one_line;
use crate::words::capability_name;

const WEEK_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// 1970 began on a Thursday; weeks begin on Mondays.
const FIRST_MONDAY_MS: i64 = 4 * 24 * 3_600 * 1_000;
/// A longer error is cut, so that errors that differ in their end only count as one.
const ERROR_CHARS: usize = 100;

pub type ModelPrices = BTreeMap<TargetName, Prices>;

/// Questions to models, and what they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionCost {
    pub questions: u64,
    pub tokens: u64,
    /// What they cost at the prices that are configured now, in billionths of their currency.
    pub nanos: u64,
}

impl QuestionCost {
    fn add(&mut self, other: Self) {
        self.questions += other.questions;
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.nanos = self.nanos.saturating_add(other.nanos);
    }

    fn of(usage: Option<&Usage>, prices: Option<&Prices>) -> Self {
        let tokens = usage.map_or(0, |usage| usage.input_tokens.saturating_add(usage.output_tokens));
        let nanos = usage.zip(prices).map_or(0, |(usage, prices)| prices.cost(usage).nanos());
        Self { questions: 1, tokens, nanos }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// How long its calls took, in milliseconds.
    pub call_ms: u64,
    /// What models were asked to mend its calls.
    pub asked: QuestionCost,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelUse {
    pub asked: u64,
    pub failed: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// What that cost at the prices that are configured now, in billionths of their currency.
    pub nanos: u64,
    /// How long it took in all, in milliseconds.
    pub took_ms: u64,
    /// When it last failed, in milliseconds since 1970, and why.
    pub last_failure: Option<(i64, String)>,
}

impl ModelUse {
    fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.failed += other.failed;
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.took_ms = self.took_ms.saturating_add(other.took_ms);
        let at_ms = |model: &Self| model.last_failure.as_ref().map(|(at_ms, _)| *at_ms);
        if at_ms(other) > at_ms(self) {
            self.last_failure.clone_from(&other.last_failure);
        }
    }
}

/// How often an error happened, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorUse {
    pub times: u64,
    /// What was done before the next call succeeded, by rung.
    pub mended: BTreeMap<String, u64>,
    /// A step at which it happened, with its run.
    pub example: Option<(RunId, StepId)>,
}

impl ErrorUse {
    fn add(&mut self, other: &Self) {
        self.times += other.times;
        add_all(&mut self.mended, &other.mended, |own, count| *own += count);
        // The same example in whatever order runs are added.
        self.example = self.example.take().into_iter().chain(other.example.clone()).max();
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WeekUse {
    pub statistics: Statistics,
    pub asked: QuestionCost,
}

/// What stored runs used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunUsage {
    pub runs: usize,
    pub all: Statistics,
    /// By week, which is named by the time at which it begins.
    pub weeks: BTreeMap<i64, WeekUse>,
    /// By capability, as `tool/capability`.
    pub tools: BTreeMap<String, ToolUse>,
    /// Questions about calls that failed, by the class of the failure.
    pub classes: BTreeMap<FailureClass, QuestionCost>,
    /// Questions about calls that failed, by the rung that asked.
    pub rungs: BTreeMap<String, QuestionCost>,
    /// Questions for plans and answers, and the turns of agents.
    pub planning: QuestionCost,
    pub models: BTreeMap<String, ModelUse>,
    pub errors: BTreeMap<String, ErrorUse>,
    /// What models cost when they were asked, in billionths of the currency of their prices.
    pub cost_nanos: u64,
}

impl RunUsage {
    /// What a run or a session used, with the word for its status and the time at which it started.
    pub fn of(overview: &Overview, status: &str, created_ms: i64, prices: &ModelPrices) -> Self {
        let mut usage = Self { runs: 1, ..Self::default() };
        usage.all.add(overview, status);
        match overview {
            Overview::Run(run) => usage.add_run(run, prices),
            Overview::Session(session) => usage.add_session(session, prices),
            Overview::Bare(_) => {}
        }
        let mut asked = usage.planning;
        for rung in usage.rungs.values() {
            asked.add(*rung);
        }
        let week = created_ms - (created_ms - FIRST_MONDAY_MS).rem_euclid(WEEK_MS);
        usage.weeks.insert(week, WeekUse { statistics: usage.all.clone(), asked });
        usage
    }

    /// Adds what other runs used.
    pub fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.all.merge(&other.all);
        add_all(&mut self.weeks, &other.weeks, |own, used| {
            own.statistics.merge(&used.statistics);
            own.asked.add(used.asked);
        });
        add_all(&mut self.tools, &other.tools, |own, used| {
            own.call_ms = own.call_ms.saturating_add(used.call_ms);
            own.asked.add(used.asked);
        });
        add_all(&mut self.classes, &other.classes, |own, asked| own.add(*asked));
        add_all(&mut self.rungs, &other.rungs, |own, asked| own.add(*asked));
        self.planning.add(other.planning);
        add_all(&mut self.models, &other.models, ModelUse::add);
        add_all(&mut self.errors, &other.errors, ErrorUse::add);
        self.cost_nanos = self.cost_nanos.saturating_add(other.cost_nanos);
    }

    fn add_run(&mut self, run: &RunOverview, prices: &ModelPrices) {
        // Sessions of agents are counted as runs of their own.
        let own = run.spent.cost.minus(run.sessions_cost);
        self.cost_nanos = self.cost_nanos.saturating_add(own.nanos());
        for entry in &run.run_history {
            let asked = self.add_question(entry, prices);
            self.planning.add(asked.unwrap_or_default());
        }
        for step in &run.steps {
            let name = capability_name(step);
            let entries = run.history.get(&step.id).map(Vec::as_slice).unwrap_or_default();
            self.add_step(&name, entries, prices);
            for (error, mended) in errors_of(&name, entries, step.state == StepState::Done) {
                let mended = mended.into_iter().map(|rung| (rung, 1)).collect();
                let example = Some((run.run.clone(), step.id.clone()));
                self.errors.entry(error).or_default().add(&ErrorUse { times: 1, mended, example });
            }
        }
    }

    /// Adds what happened to a step. A question counts for the failure before it.
    fn add_step(&mut self, name: &str, entries: &[HistoryEntry], prices: &ModelPrices) {
        let mut class = FailureClass::BeforeCall;
        for entry in entries {
            match &entry.kind {
                HistoryKind::Called { status, error, .. } => {
                    let tool = self.tools.entry(name.to_owned()).or_default();
                    tool.call_ms = tool.call_ms.saturating_add(entry.took_ms);
                    if error.is_some() {
                        class = FailureClass::of_status(*status);
                    }
                }
                HistoryKind::Asked { rung, .. } => {
                    let asked = self.add_question(entry, prices).unwrap_or_default();
                    self.tools.entry(name.to_owned()).or_default().asked.add(asked);
                    self.classes.entry(class).or_default().add(asked);
                    self.rungs.entry(rung.clone()).or_default().add(asked);
                }
                _ => {}
            }
        }
    }

    /// Counts a question for its model; `None` if the entry is not one.
    fn add_question(&mut self, entry: &HistoryEntry, prices: &ModelPrices) -> Option<QuestionCost> {
        let HistoryKind::Asked { target, usage, error, .. } = &entry.kind else { return None };
        let asked = QuestionCost::of(usage.as_ref(), prices.get(target));
        let failure = error.as_ref().map(|error| (entry.at_ms, error.clone()));
        self.add_model(target, usage.as_ref(), asked, entry.took_ms, failure);
        Some(asked)
    }

    fn add_session(&mut self, session: &SessionOverview, prices: &ModelPrices) {
        self.cost_nanos = self.cost_nanos.saturating_add(session.spent.cost.nanos());
        for record in &session.records {
            let SessionRecord::Attempt(attempt) = record else { continue };
            let asked = QuestionCost::of(attempt.usage.as_ref(), prices.get(&attempt.target));
            // An attempt knows what it cost when it was made.
            let asked = QuestionCost { nanos: attempt.cost.map_or(asked.nanos, Money::nanos), ..asked };
            self.planning.add(asked);
            let failure = attempt.error.as_ref().map(|error| (session.now_ms, error.clone()));
            self.add_model(&attempt.target, attempt.usage.as_ref(), asked, attempt.latency_ms, failure);
        }
    }

    fn add_model(
        &mut self,
        target: &TargetName,
        usage: Option<&Usage>,
        asked: QuestionCost,
        took_ms: u64,
        last_failure: Option<(i64, String)>,
    ) {
        self.models.entry(target.to_string()).or_default().add(&ModelUse {
            asked: asked.questions,
            failed: u64::from(last_failure.is_some()),
            input_tokens: usage.map_or(0, |usage| usage.input_tokens),
            output_tokens: usage.map_or(0, |usage| usage.output_tokens),
            nanos: asked.nanos,
            took_ms,
            last_failure,
        });
    }
}

fn add_all<K: Ord + Clone, V: Default>(own: &mut BTreeMap<K, V>, other: &BTreeMap<K, V>, add: impl Fn(&mut V, &V)) {
    for (key, value) in other {
        add(own.entry(key.clone()).or_default(), value);
    }
}

/// The errors of the calls of a step, each with the rungs that made the next call succeed.
fn errors_of(name: &str, entries: &[HistoryEntry], is_done: bool) -> Vec<(String, BTreeSet<String>)> {
    let mut errors: Vec<(String, BTreeSet<String>)> = Vec::new();
    let mut applied = BTreeSet::new();
    let mut has_failed = false;
    for entry in entries {
        match &entry.kind {
            HistoryKind::Called { error, .. } => {
                if let (true, None, Some((_, mended))) = (has_failed, error, errors.last_mut()) {
                    mended.append(&mut applied);
                }
                applied.clear();
                has_failed = error.is_some();
                errors.extend(
                    error.iter().map(|error| (format!("{name}: {}", one_line(error, ERROR_CHARS)), BTreeSet::new())),
                );
            }
            HistoryKind::Mended(mend) if mend.is_applied() => {
                applied.insert(mend.rung.as_str().to_owned());
            }
            _ => {}
        }
    }
    // A settlement ends a step without another call.
    if let (true, true, Some((_, mended))) = (has_failed, is_done, errors.last_mut()) {
        mended.append(&mut applied);
    }
    errors
}
