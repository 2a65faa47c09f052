//! Steps: their spans, from start to end.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use reknit_engine::{StepDescription, StepEnd};
use reknit_mend::{CallFault, ModelRung, Rung};

use super::{OpenSpan, StepKey, Tracer};
use crate::attribute_value::AttributeValue;
use crate::signal::{SpanEvent, SpanKind, SpanStatus};
use crate::table::{logs, metrics, spans};

#[derive(Debug, Clone)]
pub(super) struct StepTrace {
    pub(super) key: StepKey,
    /// The span; `None` once it was reported.
    span: Option<OpenSpan>,
    pub(super) description: StepDescription,
    pub(super) fault: Option<Arc<CallFault>>,
    /// The rungs that were reported to have started, and not to have ended.
    pub(super) open_rungs: BTreeSet<ModelRung>,
    /// The last rung that changed the parameters after a failed call.
    pub(super) corrected_by: Option<Rung>,
    pub(super) feedback_exhausted: bool,
    pub(super) feedback_uses: u32,
}

impl StepTrace {
    pub(super) fn id(&self) -> AttributeValue {
        self.description.step.as_str().into()
    }

    pub(super) fn tool(&self) -> AttributeValue {
        self.description.tool.as_str().into()
    }

    pub(super) fn capability(&self) -> AttributeValue {
        self.description.capability.as_str().into()
    }

    /// The HTTP status of the last failure; 0 if there was none.
    pub(super) fn status(&self) -> u32 {
        u32::from(self.fault.as_ref().and_then(|fault| fault.status()).unwrap_or(0))
    }

    pub(super) fn add_event(&mut self, event: SpanEvent) {
        if let Some(span) = &mut self.span {
            span.events.push(event);
        }
    }
}

impl Tracer {
    pub(super) fn labels(&self, step: &StepTrace) -> [Cow<'static, str>; 3] {
        let step = &step.description;
        [step.capability.to_string().into(), step.tool.to_string().into(), self.module()]
    }

    pub(super) fn labels_with(&self, step: &StepTrace, last: &'static str) -> [Cow<'static, str>; 4] {
        let [capability, tool, module] = self.labels(step);
        [capability, tool, module, last.into()]
    }

    /// The labels of metrics that do not tell tools apart.
    pub(super) fn short_labels(&self, step: &StepTrace) -> [Cow<'static, str>; 2] {
        [step.description.capability.to_string().into(), self.module()]
    }

    pub(super) fn start_step(&mut self, turn: Option<u32>, step: &StepDescription) {
        let key = StepKey::new(turn, &step.step);
        let trace = StepTrace {
            key: key.clone(),
            span: Some(OpenSpan::new(self.retried_key(key.span_key()), self.at_ms)),
            description: step.clone(),
            fault: None,
            open_rungs: BTreeSet::new(),
            corrected_by: None,
            feedback_exhausted: false,
            feedback_uses: 0,
        };
        self.steps.insert(key, trace);
    }

    pub(super) fn end_step(&mut self, key: &StepKey, end: &StepEnd, (calls, mends): (u32, usize)) {
        self.abandon(|id| StepKey::of(id).as_ref() == Some(key));
        self.stop_rungs(key);
        let Some(step) = self.steps.get_mut(key) else { return };
        let Some(span) = step.span.take() else { return };
        let step = step.clone();
        if let (StepEnd::Done, Some(rung)) = (end, step.corrected_by) {
            let values = ["step_execution".into(), step.id(), step.capability(), rung.as_str().into(), calls.into()];
            self.log(&logs::CORRECTION_SUCCEEDED, values);
        }
        let (status, message) = match end {
            StepEnd::Done => ("done", String::new()),
            StepEnd::Failed { error: Some(error), reason } => ("failed", format!("{error}; {reason}")),
            StepEnd::Failed { error: None, reason } => ("failed", reason.clone()),
            StepEnd::Unconfirmed { reason } => ("unconfirmed", reason.clone()),
            StepEnd::Skipped { reason } => ("skipped", reason.clone()),
        };
        let message = AttributeValue::error(&message);
        let span_status = match end {
            StepEnd::Failed { .. } | StepEnd::Unconfirmed { .. } => SpanStatus::Error(message.to_string()),
            StepEnd::Done | StepEnd::Skipped { .. } => SpanStatus::Ok,
        };
        let values = [
            self.run_id(),
            step.id(),
            step.tool(),
            step.capability(),
            AttributeValue::error(&step.description.instruction),
            status.into(),
            message.clone(),
            calls.into(),
            mends.into(),
        ];
        let parent = Some(self.step_parent());
        self.close(span, (SpanKind::Internal, parent), (&spans::STEP_EXECUTION, values), span_status);
        self.count(&metrics::STEPS, self.labels_with(&step, status));
        if let StepEnd::Failed { .. } | StepEnd::Unconfirmed { .. } = end {
            let values = ["step_execution".into(), step.id(), step.capability(), step.tool(), message];
            self.log(&logs::STEP_FAILED, values);
        }
    }
}
