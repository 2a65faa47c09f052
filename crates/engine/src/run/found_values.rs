//! Values that a model or a stored mapping found for parameters that the plan leaves open: which of them a person decides.

use std::sync::Arc;

use reknit_expressions::{Provenance, ResolvedBy};
use reknit_mend::CallFault;
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{Object, Path, SideEffect};

use super::Run;
use super::judge_correction::{ChangedValue, NewValue};
use super::repair_by_model::changed_text;
use super::state::Stage;
use super::step_events::{Approval, Correction};
use crate::effect::AskedBy;
use crate::internal_error::Decided;

impl Run {
    /// The found values among `provenance` that only a person may decide, each with the reason. The table of corrections
    /// applies: the parameter was missing, so it is the one that the error refers to.
    pub(super) fn found_for_person<'a>(
        &self,
        planned: &PlannedStep,
        parameters: &Object,
        provenance: impl IntoIterator<Item = &'a (String, Provenance)>,
    ) -> Vec<String> {
        let class = self.side_effect(planned);
        let found = provenance.into_iter().filter_map(|(name, origin)| {
            Some((name.as_str(), origin, finder(origin)?, parameters.get(name)?)).filter(|_| class != SideEffect::Read)
        });
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return Vec::new();
        }
        let known = self.known_values(planned, None);
        let properties = planned.schema.as_ref().and_then(|schema| schema.source().get("properties"));
        let reason = |(name, origin, finder, value)| {
            let schema = properties.and_then(|properties| properties.get(name));
            let whole = ChangedValue { path: Path::root().key(name), name, value, schema, siblings: parameters };
            let new = NewValue { whole, old: None, origin: Some(origin), referred: None };
            let reason = self.reason_to_ask(planned, &known, new)?.reason;
            Some(match (class, origin) {
                (SideEffect::Unsafe, _) => {
                    format!("`{name}` was found by {finder}, and a person approves such a value in an unsafe call")
                }
                (_, Provenance::Resolved { .. }) => format!("`{name}` was found by {finder}"),
                _ => format!("`{name}` was found by {finder}: {reason}"),
            })
        };
        found.into_iter().filter_map(reason).collect()
    }

    /// Queues a call whose parameters are bound, or asks a person about the values that stored mappings found.
    pub(super) fn send_bound(&mut self, index: StepIndex, planned: &PlannedStep) -> Decided {
        let step = self.state.steps.get(index)?;
        let held = self.found_for_person(planned, &step.parameters, &step.provenance);
        if held.is_empty() {
            return self.set_stage(index, Stage::Queued);
        }
        let mut given = step.parameters.clone();
        let found =
            step.provenance.iter().filter(|(_, origin)| finder(origin).is_some()).map(|(name, _)| name.as_str());
        let names: Vec<&str> = found.collect();
        for name in &names {
            given.remove(name);
        }
        let change = changed_text(&given, &step.parameters);
        let fault = Arc::new(CallFault::local(format!("the plan gives no value for {}", names.join(", "))));
        let correction = Correction { change, reason: held.join("; "), approval: Approval::Required };
        self.ask_about_correction(index, fault, correction, AskedBy::Correction)
    }
}

/// Who found a value; `None` if the plan or code gives it.
fn finder(origin: &Provenance) -> Option<&'static str> {
    match origin {
        Provenance::Resolved { by: ResolvedBy::Model, .. } | Provenance::Inferred => Some("a model"),
        Provenance::Resolved { by: ResolvedBy::Learned, .. } => {
            Some("a rule of an earlier run that no person has accepted (`reknit rules list`)")
        }
        Provenance::Resolved { by: ResolvedBy::Accepted, .. } => Some("an accepted rule"),
        Provenance::Literal
        | Provenance::Reference { .. }
        | Provenance::Expression { .. }
        | Provenance::Text { .. }
        | Provenance::Nested { .. }
        | Provenance::Wired { .. }
        | Provenance::Person
        | Provenance::Corrected { .. } => None,
    }
}
