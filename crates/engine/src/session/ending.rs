//! How a session ends: with one report, whatever happened.

use reknit_protocol::{Object, Value};

use super::Session;
use super::draft::Draft;
use super::exit::Exit;
use super::record::{ForcedReason, Record};
use super::report::{Report, ReportSource, ReportStatus, SyntheticReason};
use super::state::{Halt, Phase};

impl Session {
    /// Commits a report that was checked before.
    pub(super) fn commit(&mut self, source: ReportSource, draft: Draft) {
        let exit = match self.state.forced {
            None | Some(ForcedReason::RetryExhaustion | ForcedReason::Budget) => Exit::FinalAnswer,
            Some(ForcedReason::MaxTurns) => Exit::MaxTurnsWithResponse,
            Some(ForcedReason::Context) => Exit::TokenLimit,
            Some(ForcedReason::UserStop) => Exit::UserStop,
        };
        self.end(source, draft, None, exit);
    }

    /// The last turn brought no report: what was kept for this moment counts, else the machine says what happened.
    pub(super) fn end_without_report(&mut self) {
        let reason = match (self.state.halt, self.state.forced) {
            (Some(Halt::Cancelled), _) => SyntheticReason::Cancelled,
            (Some(Halt::TimeOver), _) => SyntheticReason::TimeLimit,
            (None, Some(ForcedReason::MaxTurns)) => SyntheticReason::MaxTurnsExhausted,
            (None, Some(ForcedReason::Context)) => SyntheticReason::ContextLimit,
            (None, Some(ForcedReason::RetryExhaustion)) => SyntheticReason::RetriesExhausted,
            (None, Some(ForcedReason::UserStop)) => SyntheticReason::UserStop,
            (None, Some(ForcedReason::Budget) | None) => SyntheticReason::BudgetExhausted,
        };
        match self.state.pending_report.take() {
            Some(pending) if self.state.halt != Some(Halt::Cancelled) => self.commit(pending.source, pending.draft),
            _ => self.end_with(reason),
        }
    }

    /// Ends with a report that says that there is none.
    pub(super) fn end_with(&mut self, reason: SyntheticReason) {
        let turns_completed = self.turns_completed();
        let mut metadata = Object::from([
            ("reason", Value::from(reason.as_str())),
            ("turns_completed", Value::from(u64::from(turns_completed))),
            ("final_report_attempts", Value::from(u64::from(self.state.final_report_attempts))),
            ("last_stop_reason", text_or_null(self.state.last_stop_reason.as_deref())),
        ]);
        metadata.insert("last_error", text_or_null(self.state.last_error.as_deref()));
        let mut content =
            format!("The session ended without an answer in turn {}: {}.", self.state.turn, reason.words());
        if let Some(error) = &self.state.last_error {
            content = format!("{content}\n\nThe last thing that went wrong: {error}");
        }
        let draft = Draft { content, content_json: None, metadata, status: ReportStatus::Failure };
        self.end(ReportSource::Synthetic, draft, Some(reason), reason.exit());
    }

    fn end(&mut self, source: ReportSource, draft: Draft, synthetic_reason: Option<SyntheticReason>, exit: Exit) {
        if matches!(self.state.phase, Phase::Ended(_)) {
            return;
        }
        self.state.spent.release(std::mem::take(&mut self.state.kept));
        let report = Report {
            format: self.started.rules.report.format,
            content: draft.content,
            content_json: draft.content_json,
            metadata: draft.metadata,
            status: draft.status,
            source,
            forced_final_reason: self.state.forced,
            synthetic_reason,
            exit,
            turn: self.state.turn,
            final_report_attempts: self.state.final_report_attempts,
            spent: self.spent(),
            totals: self.state.totals.clone(),
            children: self.state.children.clone(),
        };
        self.state.records.push(Record::Reported {
            turn: report.turn,
            source,
            status: report.status,
            forced_final_reason: report.forced_final_reason,
            synthetic_reason,
            final_report_attempts: report.final_report_attempts,
        });
        self.calls = None;
        self.children.clear();
        self.state.notices.clear();
        self.state.phase = Phase::Ended(Box::new(report));
    }
}

fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}
