//! Sessions and their turns.

use reknit_engine::{Ending, SessionRecord};
use reknit_protocol::{EffectOwner, ScopeLevel};

use super::session_lines::{log_lines, metrics};
use super::turn_events::turn_event;
use super::{OpenSpan, ROOT, RootInfo, Tracer};
use crate::signal::{Signal, SpanEvent, SpanKind, SpanStatus};
use crate::table::{self, spans};

impl Tracer {
    pub(super) fn map_session(&mut self, record: &SessionRecord) {
        self.signals.extend(metrics(record).into_iter().map(Signal::Metric));
        self.signals.extend(log_lines(record).into_iter().map(Signal::Log));
        match record {
            SessionRecord::Started { agent, input, metadata } => {
                self.module = table::AGENT;
                let info = RootInfo::Session { agent: agent.clone(), input: input.clone() };
                self.root = Some((OpenSpan::root(self.at_ms, metadata), info));
            }
            SessionRecord::FollowedUp { number, input, agent, metadata } => {
                self.retries = number.saturating_sub(1);
                let info = RootInfo::Session { agent: agent.clone(), input: input.clone() };
                self.root = Some((OpenSpan::root(self.at_ms, metadata), info));
            }
            SessionRecord::Resumed => self.restart_open_effects(),
            SessionRecord::TurnStarted(turn) => {
                let key = ScopeLevel::Turn(*turn).to_string();
                self.turn = Some((*turn, OpenSpan::new(key, self.at_ms)));
            }
            SessionRecord::Attempt(attempt) => self.end_attempt(attempt),
            SessionRecord::TurnEnded { turn, attempts, outcome, .. } => {
                let owner = EffectOwner::Turn(*turn);
                self.abandon(|id| *id.owner() == owner && id.scope().is_empty());
                self.end_turn(*attempts, outcome.as_str());
            }
            SessionRecord::Reported(report) => {
                self.end_session(report.turn, report.exit, Ending::Report(report).status(), &report.spent);
            }
            _ => {}
        }
        if let Some(event) = turn_event(self.at_ms, record) {
            self.add_turn_event(event);
        }
    }

    /// Adds an event to the span of the turn, or of the session if no turn is in progress.
    fn add_turn_event(&mut self, event: SpanEvent) {
        match &mut self.turn {
            Some((_, span)) => span.events.push(event),
            None => self.add_event(event),
        }
    }

    pub(super) fn end_turn(&mut self, attempts: u32, status: &'static str) {
        let Some((turn, span)) = self.turn.take() else { return };
        let values = [self.run_id(), turn.into(), attempts.into(), status.into()];
        let outcome = match status {
            "failed" => SpanStatus::Error("no attempt of the turn succeeded".to_owned()),
            _ => SpanStatus::Ok,
        };
        let parent = Some(self.retried_key(ROOT.to_owned()));
        self.close(span, (SpanKind::Internal, parent), (&spans::TURN, values), outcome);
    }
}
