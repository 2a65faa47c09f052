//! What fails and what mends it, over many runs: by tool, class of failure and rung.

use std::collections::BTreeMap;

use reknit_mend::Rung;
use reknit_protocol::word_enum;
use serde::Serialize;

use crate::history::{HistoryEntry, HistoryKind};
use crate::overview::{Overview, RunOverview, SessionOverview};
use crate::run::StepState;
use crate::session_texts::REPORT_TOOL;

word_enum! {
    /// Why a call failed, as far as its reply tells.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FailureClass {
        /// It did not fail: values were changed before it was sent.
        BeforeCall = "before_call",
        NoReply = "no_reply",
        /// 401, 403 or 407.
        AccessDenied = "access_denied",
        /// 404 or 410.
        NotFound = "not_found",
        /// 429.
        RateLimited = "rate_limited",
        /// Another status from 400 to 499.
        Rejected = "rejected",
        /// A status from 500.
        ServerError = "server_error",
        /// The status of a success, with an error in the body.
        ErrorInSuccess = "error_in_success",
        /// A call of a session, whose status is not kept.
        InSession = "in_session",
    }
}

impl FailureClass {
    /// The class of a call that failed with this status, or without a reply.
    pub fn of_status(status: Option<u16>) -> Self {
        match status {
            None => Self::NoReply,
            Some(401 | 403 | 407) => Self::AccessDenied,
            Some(404 | 410) => Self::NotFound,
            Some(429) => Self::RateLimited,
            Some(400..=499) => Self::Rejected,
            Some(500..) => Self::ServerError,
            Some(_) => Self::ErrorInSuccess,
        }
    }

    /// Whether the call may have failed because of what was sent.
    fn may_be_about_parameters(self) -> bool {
        match self {
            Self::BeforeCall | Self::NotFound | Self::Rejected | Self::ErrorInSuccess | Self::InSession => true,
            Self::NoReply | Self::AccessDenied | Self::RateLimited | Self::ServerError => false,
        }
    }
}

/// What failed and what mended it, over many runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Statistics {
    /// How many runs and sessions were counted, by status.
    pub runs: BTreeMap<String, u64>,
    /// Every tool that was called.
    pub tools: BTreeMap<String, ToolStatistics>,
}

/// The calls of one capability.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ToolStatistics {
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// What failed, by class.
    pub failures: BTreeMap<FailureClass, FailureStatistics>,
}

/// The failures of one class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FailureStatistics {
    /// How many calls failed in this way.
    pub failed: u64,
    /// How many steps ended with such a failure, because nothing mended it.
    pub not_mended: u64,
    pub rungs: BTreeMap<String, RungStatistics>,
}

/// What a rung did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RungStatistics {
    /// How often it changed the call or sent it again.
    pub tried: u64,
    /// How often the next call then succeeded. A change before the first call helped if the call succeeded in the end and was never
    /// rejected for its parameters.
    pub mended: u64,
    /// How often it found nothing to do.
    pub no_help: u64,
}

impl RungStatistics {
    /// Adds what the rung did elsewhere.
    pub fn merge(&mut self, other: Self) {
        self.tried += other.tried;
        self.mended += other.mended;
        self.no_help += other.no_help;
    }
}

impl Statistics {
    /// Adds a run or a session, with the word for its status.
    pub fn add(&mut self, overview: &Overview, status: &str) {
        *self.runs.entry(status.to_owned()).or_default() += 1;
        match overview {
            Overview::Run(run) => self.add_run(run),
            Overview::Session(session) => self.add_session(session),
            Overview::Bare(_) => {}
        }
    }

    /// Adds what was counted over other runs.
    pub fn merge(&mut self, other: &Self) {
        for (status, count) in &other.runs {
            *self.runs.entry(status.clone()).or_default() += count;
        }
        for (name, tool) in &other.tools {
            self.tools.entry(name.clone()).or_default().merge(tool);
        }
    }

    fn add_run(&mut self, run: &RunOverview) {
        for step in &run.steps {
            let Some(entries) = run.history.get(&step.id) else { continue };
            let name = match step.tool.as_str() {
                "" => step.capability.to_string(),
                tool => format!("{tool}/{}", step.capability),
            };
            let tool = self.tools.entry(name).or_default();
            tool.add(entries, step.state == StepState::Done);
        }
        self.tools.retain(|_, tool| tool.calls > 0 || !tool.failures.is_empty());
    }

    fn add_session(&mut self, session: &SessionOverview) {
        for line in &session.conversation {
            let Some((label, rest)) = line.split_once(' ') else { continue };
            let name = rest.trim_start().split([' ', ':']).next().unwrap_or_default();
            // The report of an agent is its answer, not a call of a tool.
            if name == REPORT_TOOL {
                continue;
            }
            let name = name.replacen("__", "/", 1);
            match label {
                "call" => self.tools.entry(name).or_default().calls += 1,
                "failed" => {
                    let tool = self.tools.entry(name).or_default();
                    tool.failed += 1;
                    let failure = tool.failures.entry(FailureClass::InSession).or_default();
                    failure.failed += 1;
                    failure.not_mended += 1;
                }
                _ => {}
            }
        }
        let mended = session.mended.iter().map(|call| (call, 1));
        for (call, mended) in mended.chain(session.tried.iter().map(|call| (call, 0))) {
            let tool = self.tools.entry(call.tool.replacen("__", "/", 1)).or_default();
            let failure = tool.failures.entry(FailureClass::InSession).or_default();
            let rung = failure.rungs.entry(call.rung.as_str().to_owned()).or_default();
            rung.tried += 1;
            rung.mended += mended;
        }
    }
}

impl ToolStatistics {
    fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        for (class, failure) in &other.failures {
            let own = self.failures.entry(*class).or_default();
            own.failed += failure.failed;
            own.not_mended += failure.not_mended;
            for (name, rung) in &failure.rungs {
                own.rungs.entry(name.clone()).or_default().merge(*rung);
            }
        }
    }

    /// Adds the history of a step. What a rung did counts for the failure before it.
    fn add(&mut self, entries: &[HistoryEntry], is_done: bool) {
        let mut class = FailureClass::BeforeCall;
        // The rungs that changed the call since it last failed, and those that made its values fit before it was first sent.
        let mut applied: Vec<(FailureClass, Rung)> = Vec::new();
        for entry in entries {
            match &entry.kind {
                HistoryKind::Called { status, error, .. } => {
                    self.calls += 1;
                    if error.is_none() {
                        self.count_mended(&mut applied);
                        class = FailureClass::BeforeCall;
                    } else {
                        class = self.count_failed(FailureClass::of_status(*status), &mut applied);
                    }
                }
                HistoryKind::Interrupted => {
                    self.calls += 1;
                    class = self.count_failed(FailureClass::NoReply, &mut applied);
                }
                HistoryKind::Mended(mend) => {
                    let rungs = &mut self.failures.entry(class).or_default().rungs;
                    let rung = rungs.entry(mend.rung.as_str().to_owned()).or_default();
                    if mend.is_applied() {
                        rung.tried += 1;
                        applied.push((class, mend.rung));
                    } else {
                        rung.no_help += 1;
                    }
                }
                _ => {}
            }
        }
        // A settlement ends a step without another call.
        if is_done {
            self.count_mended(&mut applied);
        } else if class != FailureClass::BeforeCall {
            self.failures.entry(class).or_default().not_mended += 1;
        }
    }

    fn count_failed(&mut self, class: FailureClass, applied: &mut Vec<(FailureClass, Rung)>) -> FailureClass {
        applied.retain(|(of, _)| *of == FailureClass::BeforeCall && !class.may_be_about_parameters());
        self.failed += 1;
        self.failures.entry(class).or_default().failed += 1;
        class
    }

    fn count_mended(&mut self, applied: &mut Vec<(FailureClass, Rung)>) {
        for (class, rung) in applied.drain(..) {
            self.failures.entry(class).or_default().rungs.entry(rung.as_str().to_owned()).or_default().mended += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use reknit_mend::{Mend, MendEffect};
    use reknit_protocol::Object;

    use super::*;

    fn entry(kind: HistoryKind) -> HistoryEntry {
        HistoryEntry { at_ms: 0, took_ms: 0, kind }
    }

    fn called(status: u16) -> HistoryEntry {
        let error = (status >= 400).then(|| "no".to_owned());
        entry(HistoryKind::Called { parameters: Object::new(), status: Some(status), error, mended: Vec::new() })
    }

    #[test]
    fn statistics_that_are_merged_count_as_if_all_runs_were_added_to_one() {
        let tool = |statuses: &[u16]| {
            let mut tool = ToolStatistics::default();
            tool.add(&statuses.iter().copied().map(called).collect::<Vec<_>>(), statuses.last() == Some(&200));
            tool
        };
        let one = |tool: ToolStatistics| {
            let runs = [("complete".to_owned(), 1)].into();
            Statistics { runs, tools: [("shop/pay".to_owned(), tool)].into() }
        };
        let (first, second) = (tool(&[503, 200]), tool(&[404]));
        let mut both = first.clone();
        both.add(&[called(404)], false);
        let mut merged = one(first);
        merged.merge(&one(second));
        assert_eq!(merged.tools["shop/pay"], both);
        assert_eq!(merged.runs["complete"], 2);
    }

    #[test]
    fn a_change_before_the_call_has_mended_it_if_the_call_succeeds_and_is_not_rejected_for_its_parameters() {
        for (statuses, mended) in
            [(&[200][..], 1), (&[429, 200], 1), (&[503], 0), (&[403], 0), (&[400, 200], 0), (&[404], 0)]
        {
            let description = String::new();
            let fitted = Mend { rung: Rung::Schema, effect: MendEffect::Applied, description };
            let mut entries = vec![entry(HistoryKind::Mended(fitted))];
            entries.extend(statuses.iter().copied().map(called));
            let mut tool = ToolStatistics::default();
            tool.add(&entries, statuses.last() == Some(&200));
            let schema = tool.failures[&FailureClass::BeforeCall].rungs["schema"];
            assert_eq!((schema.tried, schema.mended), (1, mended), "{statuses:?}");
        }
    }
}
