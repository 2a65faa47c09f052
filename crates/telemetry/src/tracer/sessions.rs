//! Sessions and their turns: their spans, and decisions as events of the turn's span.

use reknit_engine::{Attempt, Ending, Metadata, SessionRecord};
use reknit_protocol::{EffectOwner, ScopeLevel};

use super::session_lines::{log_lines, metrics};
use super::{OpenSpan, ROOT, RootInfo, Tracer};
use crate::attribute_value::AttributeValue;
use crate::signal::{Signal, SpanEvent, SpanKind, SpanStatus};
use crate::table::{self, events, spans};

impl Tracer {
    pub(super) fn map_session(&mut self, record: &SessionRecord) {
        self.signals.extend(metrics(record).into_iter().map(Signal::Metric));
        self.signals.extend(log_lines(record).into_iter().map(Signal::Log));
        match record {
            SessionRecord::Started { agent, input, metadata } => {
                self.module = table::AGENT;
                self.start_session(agent, input, metadata);
            }
            SessionRecord::FollowedUp { number, input, agent, metadata } => {
                self.retries = number.saturating_sub(1);
                self.start_session(agent, input, metadata);
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

    fn start_session(&mut self, agent: &str, input: &str, metadata: &Metadata) {
        let info = RootInfo::Session { agent: agent.to_owned(), input: input.to_owned() };
        self.root = Some((OpenSpan::root(self.at_ms, metadata), info));
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

/// The event of a decision; `None` for decisions that have a span or only a log line.
fn turn_event(at_ms: i64, record: &SessionRecord) -> Option<SpanEvent> {
    let event = match record {
        SessionRecord::Attempt(attempt) => return directive_event(at_ms, attempt),
        SessionRecord::WaitStarted { turn, ms, reason, .. } => {
            events::WAIT_STARTED.event_at(at_ms, [(*turn).into(), (*ms).into(), reason.as_str().into()])
        }
        SessionRecord::WaitEnded { turn, ms, end, .. } => {
            events::WAIT_ENDED.event_at(at_ms, [(*turn).into(), (*ms).into(), end.as_str().into()])
        }
        SessionRecord::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
            let turns = ((*previous_max_turns).into(), (*new_max_turns).into());
            events::TURNS_COLLAPSED.event_at(at_ms, [(*turn).into(), reason.as_str().into(), turns.0, turns.1])
        }
        SessionRecord::CallInText { turn, tool, form } => {
            let tool = AttributeValue::error(tool);
            events::CALL_IN_TEXT.event_at(at_ms, [(*turn).into(), tool, form.as_str().into()])
        }
        SessionRecord::OutputLimitLearned { turn, target, max_tokens } => {
            let values = [(*turn).into(), target.as_str().into(), (*max_tokens).into()];
            events::OUTPUT_LIMIT_LEARNED.event_at(at_ms, values)
        }
        SessionRecord::FallbackReportFound { turn, source } => {
            events::FALLBACK_REPORT.event_at(at_ms, [(*turn).into(), source.as_str().into()])
        }
        _ => return None,
    };
    Some(event)
}

/// The event of what follows an attempt without a usable answer.
fn directive_event(at_ms: i64, attempt: &Attempt) -> Option<SpanEvent> {
    let directive = attempt.directive.as_ref()?;
    let values = [
        attempt.turn.into(),
        attempt.attempt.into(),
        directive.action.as_str().into(),
        directive.backoff_ms.unwrap_or(0).into(),
        AttributeValue::error(&directive.log_message),
    ];
    Some(events::RETRY_DIRECTIVE.event_at(at_ms, values))
}
