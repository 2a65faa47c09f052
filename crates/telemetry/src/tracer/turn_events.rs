//! Decisions of a session as events of its turn's span.

use reknit_engine::{Attempt, SessionRecord};

use crate::attribute_value::{AttributeValue, MAX_ERROR};
use crate::signal::SpanEvent;
use crate::table::events;

/// The event of a decision; `None` for decisions that have a span or only a log line.
pub(super) fn turn_event(at_ms: i64, record: &SessionRecord) -> Option<SpanEvent> {
    let event = match record {
        SessionRecord::Attempt(attempt) => return directive_event(at_ms, attempt),
        SessionRecord::WaitStarted { turn, ms, reason } => {
            events::WAIT_STARTED.event_at(at_ms, [(*turn).into(), (*ms).into(), reason.as_str().into()])
        }
        SessionRecord::WaitEnded { turn, ms, end } => {
            events::WAIT_ENDED.event_at(at_ms, [(*turn).into(), (*ms).into(), end.as_str().into()])
        }
        SessionRecord::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
            let turns = ((*previous_max_turns).into(), (*new_max_turns).into());
            events::TURNS_COLLAPSED.event_at(at_ms, [(*turn).into(), reason.as_str().into(), turns.0, turns.1])
        }
        SessionRecord::CallInText { turn, tool, form } => {
            let tool = AttributeValue::excerpt(tool, MAX_ERROR);
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
        AttributeValue::excerpt(&directive.log_message, MAX_ERROR),
    ];
    Some(events::RETRY_DIRECTIVE.event_at(at_ms, values))
}
