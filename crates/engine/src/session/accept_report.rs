//! Ends a session with a report that its author was able to write.

use reknit_mend::Rung;
use reknit_model_api::Message;
use reknit_protocol::{Object, Value};

use super::Session;
use super::report_draft::{FallbackReport, ReportDraft};
use super::state::{AbortReason, Phase};
use crate::internal_error::InternalError;
use crate::record::SessionRecord;
use crate::report::{
    FinalTurnReason, MendedCall, Report, ReportSource, ReportStatus, SessionExit, Shortcomings, SyntheticReason,
};
use crate::session_texts::REPORT_TOOL;
use crate::synthesis::numbers_in_text::doubt_about_text;

impl Session {
    /// Ends with a report of the model. The draft has passed its checks.
    pub(super) fn commit_report(&mut self, source: ReportSource, draft: ReportDraft) {
        let exit = match self.state.ending.final_turn_reason {
            None | Some(FinalTurnReason::RetryExhaustion | FinalTurnReason::Budget) => SessionExit::FinalAnswer,
            Some(FinalTurnReason::MaxTurns) => SessionExit::MaxTurnsWithResponse,
            Some(FinalTurnReason::Context) => SessionExit::TokenLimit,
            Some(FinalTurnReason::UserStop) => SessionExit::UserStop,
            Some(FinalTurnReason::TimeLimit) => SessionExit::TimeLimit,
        };
        self.end(source, draft, None, exit);
    }

    /// Ends because no model can be asked any more. A report that was kept is no success then: its author was not heard to the end.
    pub(super) fn end_without_model(&mut self, reason: SyntheticReason) {
        if self.state.ending.fallback_report.is_some() {
            let (_, words) = reason.exit_and_message();
            let error = self.state.ending.last_error.as_deref().unwrap_or_default();
            self.state.ending.no_model = Some(format!("the session ended early: {words}: {error}"));
        }
        self.end_with_pending_report(reason);
    }

    /// Ends with the fallback report if there is one.
    fn end_with_pending_report(&mut self, reason: SyntheticReason) {
        match self.state.ending.fallback_report.take() {
            Some(FallbackReport { source, draft, .. }) => self.commit_report(source, draft),
            None => self.end_synthetic(reason),
        }
    }

    /// Ends a session whose final turn has no report: with the fallback report, or else with a synthetic one.
    pub(super) fn end_with_fallback_report(&mut self) {
        let reason = match (self.state.ending.abort_reason, self.state.ending.final_turn_reason) {
            (Some(AbortReason::Cancelled), _) => SyntheticReason::Cancelled,
            (Some(AbortReason::TimeLimit), _) | (None, Some(FinalTurnReason::TimeLimit)) => SyntheticReason::TimeLimit,
            (None, Some(FinalTurnReason::MaxTurns)) => SyntheticReason::MaxTurnsExhausted,
            (None, Some(FinalTurnReason::Context)) => SyntheticReason::ContextLimit,
            (None, Some(FinalTurnReason::RetryExhaustion)) => SyntheticReason::RetriesExhausted,
            (None, Some(FinalTurnReason::UserStop)) => SyntheticReason::UserStop,
            (None, Some(FinalTurnReason::Budget) | None) => SyntheticReason::BudgetExhausted,
        };
        if reason == SyntheticReason::Cancelled {
            self.state.ending.fallback_report = None;
        }
        self.end_with_pending_report(reason);
    }

    /// Ends with a report that the machine writes: it says why no model gave one.
    pub(super) fn end_synthetic(&mut self, reason: SyntheticReason) {
        let text_or_null = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
        let metadata = Object::from([
            ("reason", Value::from(reason.as_str())),
            ("turns_completed", Value::from(u64::from(self.state.turns_completed))),
            ("final_report_attempts", Value::from(u64::from(self.state.ending.final_report_attempts))),
            ("last_stop_reason", text_or_null(&self.state.ending.last_stop_reason)),
            ("last_error", text_or_null(&self.state.ending.last_error)),
        ]);
        let (exit, message) = reason.exit_and_message();
        let mut content =
            format!("The session ended without an answer in turn {}: {message}.", self.state.current.number);
        if let Some(error) = &self.state.ending.last_error {
            content = format!("{content}\n\nThe last error: {error}");
        }
        if let Some(text) = &self.state.ending.last_text {
            content = format!("{content}\n\nThe last text of the model, which nothing confirms:\n\n{text}");
        }
        let (status, changes) = (ReportStatus::Failure, Vec::new());
        let draft = ReportDraft { content, content_json: None, metadata, status, changes };
        self.end(ReportSource::Synthetic, draft, Some(reason), exit);
    }

    /// Ends after an error in the machine itself; the report describes the error.
    pub(super) fn end_on_internal_error(&mut self, message: &str) {
        self.state.ending.last_error = Some(InternalError::new(message).to_string());
        self.end_synthetic(SyntheticReason::InternalError);
    }

    fn end(
        &mut self,
        source: ReportSource,
        draft: ReportDraft,
        synthetic_reason: Option<SyntheticReason>,
        exit: SessionExit,
    ) {
        if matches!(self.state.phase, Phase::Ended(_)) {
            return;
        }
        self.state.account.spent.release(std::mem::take(&mut self.state.account.report_reserve));
        let mut doubts = if source == ReportSource::Synthetic { Vec::new() } else { self.doubts(&draft.content) };
        let (status, not_done) = self.judge(draft.status, &mut doubts);
        let turn = self.state.current.number;
        let fixed = draft.changes.into_iter().map(|change| MendedCall {
            turn,
            call: "report".to_owned(),
            tool: REPORT_TOOL.to_owned(),
            rung: Rung::Schema,
            change,
        });
        self.state.calls.mended.extend(fixed);
        let report = Report {
            format: self.started.rules.report.format,
            content: draft.content,
            content_json: draft.content_json,
            metadata: draft.metadata,
            status,
            source,
            forced_final_reason: self.state.ending.final_turn_reason,
            synthetic_reason,
            exit,
            turn,
            final_report_attempts: self.state.ending.final_report_attempts,
            spent: self.spent(),
            totals: self.state.totals.clone(),
            successful_calls: self.state.calls.successful,
            shortcomings: Shortcomings { doubts, in_doubt: self.state.calls.in_doubt.clone(), not_done },
            mended: self.state.calls.mended.clone(),
            tried: self.state.calls.tried.clone(),
            approved: self.state.calls.approved.clone(),
            repeated: self.state.calls.repeated.clone(),
            children: self.state.children.clone(),
        };
        let report = Box::new(report);
        self.record(SessionRecord::Reported(report.clone()));
        self.call_run = None;
        self.children.clear();
        self.state.notices.clear();
        self.state.phase = Phase::Ended(report);
    }

    /// The doubts about the text of a report. What was sent with a call that succeeded and changed something is a fact.
    pub(super) fn doubts(&self, content: &str) -> Vec<String> {
        let sent = self.state.calls.completed.iter().map(|call| Value::from(call.sent.parameters.clone()).to_string());
        let sent: Vec<String> = sent.collect();
        let known = self.state.history.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
        let known = known.map(Message::text).chain(self.state.stored_results.texts());
        let counted = usize::try_from(self.state.calls.successful).unwrap_or(usize::MAX);
        let known: Vec<&str> = known.chain(sent.iter().map(String::as_str)).collect();
        doubt_about_text("report", content, &known, counted).into_iter().collect()
    }
}
