//! Tool calls.

use std::sync::Arc;

use reknit_engine::CallEnd;
use reknit_mend::CallFault;
use reknit_protocol::{CallTool, EffectId, EffectKind, TransportKind};

use super::{OpenEffect, OpenKind, OpenSpan, StepKey, Tracer, elapsed_ms, id_in_turn};
use crate::attribute_value::AttributeValue;
use crate::signal::{SpanKind, SpanStatus};
use crate::table::{metrics, spans};

impl Tracer {
    pub(super) fn start_call(&mut self, turn: Option<u32>, call: &Arc<CallTool>) {
        let effect = OpenEffect { since_ms: self.at_ms, kind: OpenKind::Call(Arc::clone(call)) };
        self.open.entry(id_in_turn(turn, &call.id)).or_insert(effect);
    }

    pub(super) fn end_call(
        &mut self,
        turn: Option<u32>,
        call: &Arc<CallTool>,
        end: &CallEnd,
        fault: Option<&Arc<CallFault>>,
    ) {
        let own_call = call.id.kind() == EffectKind::Call;
        if let Some(step) = self.steps.get_mut(&StepKey::new(turn, &call.step)).filter(|_| own_call) {
            step.fault = fault.cloned();
        }
        let id = id_in_turn(turn, &call.id);
        if let Some(effect) = self.open.remove(&id) {
            self.close_call((&id, call), effect.since_ms, end, fault.map(AsRef::as_ref));
        }
    }

    /// Reports the span of a call. A reply with an error inside a 2xx status counts as an error.
    pub(super) fn close_call(
        &mut self,
        (id, call): (&EffectId, &CallTool),
        since_ms: i64,
        end: &CallEnd,
        fault: Option<&CallFault>,
    ) {
        let (status, code, error) = match end {
            CallEnd::Replied { status, .. } if *status < 400 && fault.is_none() => ("success", *status, String::new()),
            CallEnd::Replied { status, .. } if *status < 400 => ("error", *status, "tool_error".to_owned()),
            CallEnd::Replied { status, .. } => ("error", *status, status.to_string()),
            CallEnd::Failed { kind, .. } => ("failed", 0, transport_label(*kind).to_owned()),
            CallEnd::Interrupted => ("interrupted", 0, "interrupted".to_owned()),
        };
        let (tool, capability) = (&call.tool, &call.capability);
        let labels = [capability.to_string().into(), tool.to_string().into(), self.module(), status.into()];
        self.count(&metrics::TOOL_CALLS, labels.clone());
        self.measure(&metrics::TOOL_CALL_MS, elapsed_ms(since_ms, self.at_ms), labels);
        let values = [
            self.run_id(),
            call.step.as_str().into(),
            tool.as_str().into(),
            capability.as_str().into(),
            id.ordinal().into(),
            "POST".into(),
            u32::from(code).into(),
            error.as_str().into(),
        ];
        let message = match (end, fault) {
            (CallEnd::Failed { message, .. }, _) => AttributeValue::error(message).to_string(),
            (CallEnd::Replied { .. }, Some(fault)) => AttributeValue::error(&fault.to_string()).to_string(),
            (CallEnd::Replied { .. } | CallEnd::Interrupted, _) => error,
        };
        let status = if message.is_empty() { SpanStatus::Ok } else { SpanStatus::Error(message) };
        let span = OpenSpan::new(id.to_string(), since_ms);
        let parent = Some(self.effect_parent(id));
        self.close(span, (SpanKind::Client, parent), (&spans::HTTP_CLIENT_REQUEST, values), status);
    }
}

fn transport_label(kind: TransportKind) -> &'static str {
    match kind {
        TransportKind::Refused => "refused",
        TransportKind::Reset => "reset",
        TransportKind::TimedOut => "timed_out",
        TransportKind::TooLarge => "bad_answer",
        TransportKind::Unreadable => "unreadable",
        TransportKind::NotCallable => "unusable",
    }
}
