//! Keeps what the calls of an answer say for the judgement of its report.

use reknit_mend::Fate;
use reknit_model_api::Message;
use reknit_protocol::{SideEffect, Value};

use super::Session;
use super::call::{Call, Callee, ToolOutput};
use super::call_facts::{CallFacts, FailedCall};
use super::state::{CallLog, State};
use crate::answer::{Outcome, StepReport};
use crate::business_key::UncertainCall;
use crate::gate::StatedText;
use crate::report::ReportStatus;
use crate::run::Run;
use crate::run::placeholders::placeholders_in;
use crate::verdict::{Fact, verdict};

impl Session {
    /// The status of a report, and what was not done.
    pub(super) fn judge(&self, claim: ReportStatus, doubts: &mut Vec<String>) -> (ReportStatus, Vec<String>) {
        let calls = &self.state.calls.facts;
        let has_tools = self.setup.toolbox.has_tools() || !self.started.unavailable.is_empty();
        let facts = [
            (Fact::FailedChange, calls.failed.iter().any(|failed| failed.changes)),
            (Fact::NothingSucceeded, calls.succeeded == 0 && !calls.failed.is_empty()),
            (Fact::UncertainCall, self.state.calls.in_doubt.len() > calls.in_doubt_before),
            (Fact::LostFilter, !calls.lost_filters.is_empty()),
            (Fact::InventedFigures, !doubts.is_empty() && calls.succeeded == 0 && has_tools),
            (Fact::UnfinishedChild, calls.unfinished.iter().any(|child| !child.is_complete)),
            (Fact::NoModelLeft, self.state.ending.no_model.is_some()),
        ];
        let of_children = calls.unfinished.iter().flat_map(|child| &child.doubts);
        for doubt in of_children.chain(&calls.placeholders).chain(&calls.lost_filters) {
            if !doubts.contains(doubt) {
                doubts.push(doubt.clone());
            }
        }
        let facts = facts.into_iter().filter_map(|(fact, holds)| holds.then_some(fact));
        let not_done = calls.not_done().into_iter().chain(self.state.ending.no_model.clone()).collect();
        (verdict(claim.into(), facts).into(), not_done)
    }

    /// A placeholder that a tool accepted, and that neither the user nor a result states.
    fn doubts_about_placeholders(&self, name: &str, sent: &UncertainCall) -> Vec<String> {
        let Some(schema) = self.setup.toolbox.schema_of(name) else { return Vec::new() };
        let told = self.state.history.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
        let told: Vec<&str> = told.map(Message::text).chain(self.state.stored_results.texts()).collect();
        let doubt = |(parameter, value): &(String, Value)| {
            format!(
                "`{}` of `{}` was sent `{parameter}: {value}`, which looks like a placeholder: nothing states it",
                sent.capability, sent.tool
            )
        };
        placeholders_in(schema, &sent.parameters, &told).iter().map(doubt).collect()
    }

    /// A report that is kept, and whose author has not seen the results of a turn, is no success.
    pub(super) fn lower_pending_report(&mut self) {
        if let Some(pending) = &mut self.state.ending.fallback_report {
            pending.draft.status = verdict(pending.draft.status.into(), [Fact::UnseenResults]).into();
        }
    }

    /// The facts of a new message are its own.
    pub(super) fn renew_call_facts(&mut self) {
        let in_doubt_before = self.state.calls.in_doubt.len();
        self.state.calls.facts = CallFacts { in_doubt_before, ..CallFacts::default() };
    }

    /// Keeps what became of the calls of a turn, which `run` has made.
    pub(super) fn add_call_facts(&mut self, calls: &[Call], run: &Run, reports: &[StepReport], results: &[ToolOutput]) {
        self.state.calls.facts.lost_filters.extend(run.lost_filters());
        let mut steps = reports.iter().zip(run.sent_parameters());
        let (mut done, mut failed, mut placeholders) = (Vec::new(), Vec::new(), Vec::new());
        let (turn, mut succeeded) = (self.state.current.number, 0);
        for (call, result) in calls.iter().zip(results) {
            let is_tool = !matches!(call.callee, Callee::StoredResult | Callee::EarlierResult(_) | Callee::SameTurn(_));
            succeeded += u32::from(is_tool && !result.is_error);
            let Some(written) = call.identity() else { continue };
            let Some((report, parameters)) = steps.next() else { continue };
            let sent = UncertainCall { parameters, ..written };
            match &report.outcome {
                Outcome::Done(_) => {
                    placeholders.extend(self.doubts_about_placeholders(&call.for_history.name, &sent));
                    done.push(sent);
                }
                // What may have happened has a sentence of its own, as has a call that was not made because of it.
                Outcome::Failed { fate: Fate::Unknown, .. } => {}
                _ if self.state.calls.uncertain.iter().any(|uncertain| uncertain.is_same_as(&sent)) => {}
                Outcome::Failed { reason, .. } | Outcome::Skipped { reason } | Outcome::Unconfirmed { reason, .. } => {
                    let changes = self.setup.toolbox.class_of(&call.for_history.name) != Some(SideEffect::Read);
                    failed.push(FailedCall { call: sent, turn, changes, reason: reason.clone() });
                }
            }
        }
        let request = StatedText::new([self.input()]);
        let State { calls: CallLog { facts, .. }, history, stored_results, .. } = &mut self.state;
        facts.succeeded += succeeded;
        // First the successes: the calls of one answer were made side by side, so none of them corrects another one.
        if !facts.failed.is_empty() && !done.is_empty() {
            let results = history.iter().filter(|message| matches!(message, Message::Tool { is_error: false, .. }));
            let results = StatedText::new(results.map(Message::text).chain(stored_results.texts()));
            for call in &done {
                facts.add_success(call, &request, &results);
            }
        }
        facts.placeholders.extend(placeholders);
        for call in failed {
            facts.add_failure(call);
        }
    }
}
