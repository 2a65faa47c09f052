//! Filters that reads have lost: parameters that the request asks for and that are not sent. A rewritten plan loses them too, so its
//! reads are compared with the calls that it replaces.

use reknit_protocol::{Plan, SideEffect, Step, StepId, Value};

use super::Run;
use super::knowledge::Reports;
use super::replaced_call::ReplacedCall;
use super::stage::Stage;
use crate::gate::{GateRow, GateVerdict};
use crate::guard::plain_text;
use crate::synthesis::numbers_in_text::has_words;
use crate::synthesis::used_numbers::step_texts;

impl Run {
    /// Keeps the parameters that the reads of a new plan leave out of the calls that it replaces: those of plans that were rejected,
    /// and of the failed steps of the first plan.
    pub(super) fn note_dropped_filters(&mut self, plan: &Plan, is_new: impl Fn(&StepId) -> bool) {
        let mut replaced = std::mem::take(&mut self.state.planning.rejected_calls);
        let first = self.state.planning.plan.iter().flat_map(|plan| &plan.steps);
        let is_replaced = |step: &&Step| {
            let index = self.plan.index_of(step.step_id.as_str());
            index.and_then(|index| self.state.steps.get(index).ok()).is_some_and(|step| step.replaced)
        };
        replaced.extend(first.filter(is_replaced).filter_map(ReplacedCall::of));
        if replaced.is_empty() {
            return;
        }
        let new: Vec<&Step> = plan.steps.iter().filter(|step| is_new(&step.step_id)).collect();
        let outputs = plan.outputs.iter().map(|(_, output)| output.value.clone());
        let text: String = new.iter().flat_map(|step| step_texts(step)).chain(outputs).collect::<Vec<_>>().join("\n");
        let text = text.to_lowercase();
        // A value that stands elsewhere in the plan is a filter there.
        let is_gone = |(name, value): &(&str, &Value)| match value {
            Value::Bool(_) => !has_words(&text, &name.to_lowercase()),
            _ => !has_words(&text, &plain_text(value).to_lowercase()),
        };
        let reads = new.into_iter().filter(|step| self.known().only_reads(step));
        let lost = reads.map(|step| {
            let left_out = replaced.iter().filter_map(|call| call.left_out_by(step)).flatten().filter(is_gone);
            (step.step_id.clone(), left_out.map(|(name, value)| (name.to_owned(), value.clone())).collect::<Vec<_>>())
        });
        for (step, gone) in lost.collect::<Vec<_>>().into_iter().filter(|(_, gone)| !gone.is_empty()) {
            self.state.planning.lost_parameters.entry(step).or_default().0.extend(gone);
        }
    }
}

impl Reports<'_> {
    /// What reads left out although the request asks for it, one sentence for each parameter.
    pub(super) fn lost_filters(&self) -> Vec<String> {
        let judge = self.known.judge();
        let steps = self.known.plan.steps.iter().zip(self.known.steps.iter());
        let done = self.known.plan.indices().zip(steps).filter(|(_, (_, step))| matches!(step.stage(), Stage::Done(_)));
        let changed = done.filter(|(_, (planned, step))| !judge.is_read_as_planned(planned, step));
        let reads = changed.filter(|(_, (planned, _))| self.known.side_effect(planned) == SideEffect::Read);
        let findings = reads.filter_map(|(index, (planned, _))| match judge.judge_call(index) {
            Ok(GateVerdict::SendAndTell(_, findings)) => Some((&planned.id, findings)),
            _ => None,
        });
        let lines = findings.flat_map(|(step, findings)| {
            let lost = findings.into_iter().filter(|finding| finding.row == GateRow::DroppedFilter);
            lost.map(move |finding| format!("step `{step}`: {finding}"))
        });
        let mut lines: Vec<String> = lines.collect();
        lines.dedup();
        lines
    }
}
