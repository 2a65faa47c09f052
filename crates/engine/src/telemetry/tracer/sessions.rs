//! Sessions: turns, and what a session has to tell of itself.

use super::{OpenSpan, Tracer};
use crate::session::{Record, Session};
use crate::telemetry::signal::{SpanKind, SpanStatus};
use crate::telemetry::table::spans;

impl Tracer {
    /// Tells what is new among the records of a session, and keeps the span of its turn.
    pub(super) fn look_at_records(&mut self, session: &Session, at_ms: i64) {
        let new = session.records().get(self.records..).unwrap_or_default();
        self.records = session.records().len();
        self.begin_turn(session, at_ms, new);
        for record in new {
            self.told.extend(record.metrics().into_iter().map(Into::into));
            self.told.extend(record.log_lines().into_iter().map(Into::into));
            if let Record::TurnEnded { attempts, outcome, .. } = record {
                self.end_turn(*attempts, outcome.as_str(), at_ms);
            }
        }
        self.begin_turn(session, at_ms, &[]);
    }

    /// Opens the span of the turn, unless that is still to end.
    fn begin_turn(&mut self, session: &Session, at_ms: i64, new: &[Record]) {
        let is_over = new.iter().any(|record| matches!(record, Record::TurnEnded { .. }));
        if self.turn.is_none() && !is_over && session.report().is_none() {
            let turn = session.view().turn;
            self.turn = Some((turn, OpenSpan::new(format!("turn-{turn}"), at_ms)));
        }
    }

    pub(super) fn end_turn(&mut self, attempts: u32, status: &'static str, at_ms: i64) {
        let Some((turn, span)) = self.turn.take() else { return };
        let values = [self.run_id(), turn.into(), attempts.into(), status.into()];
        let outcome = match status {
            "failed" => SpanStatus::Error("nothing came of the turn".to_owned()),
            _ => SpanStatus::Ok,
        };
        self.close(span, SpanKind::Internal, (&spans::TURN, values), outcome, at_ms);
    }
}
