//! When each step began and ended, and which steps the run had to wait for.

use std::collections::{BTreeMap, BTreeSet};

use reknit_engine::{HistoryEntry, RunOverview, StepView};
use reknit_protocol::StepId;

/// When a step began and ended, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepTimes {
    pub(super) start_ms: i64,
    pub(super) end_ms: i64,
}

impl StepTimes {
    pub(super) fn took_ms(self) -> u64 {
        u64::try_from(self.end_ms.saturating_sub(self.start_ms)).unwrap_or(0)
    }
}

pub(super) fn end_of(entry: &HistoryEntry) -> i64 {
    entry.at_ms.saturating_add_unsigned(entry.took_ms)
}

/// The times of all steps to which anything happened.
pub(super) fn step_times(run: &RunOverview) -> BTreeMap<&StepId, StepTimes> {
    let times = |step: &StepId| {
        let entries = run.history.get(step)?;
        let start_ms = entries.iter().map(|entry| entry.at_ms).min()?;
        Some(StepTimes { start_ms, end_ms: entries.iter().map(end_of).max()? })
    };
    run.steps.iter().filter_map(|step| Some((&step.id, times(&step.id)?))).collect()
}

/// The steps that decided how long the run took: from the one that ended last back to the needed step that ended last, and so on.
pub(super) fn critical_path<'r>(run: &'r RunOverview, times: &BTreeMap<&StepId, StepTimes>) -> BTreeSet<&'r StepId> {
    let steps: BTreeMap<&StepId, &'r StepView> = run.steps.iter().map(|step| (&step.id, step)).collect();
    let end = |step: &StepId| times.get(step).map(|times| times.end_ms);
    let mut path = BTreeSet::new();
    let mut at = run.steps.iter().filter(|step| end(&step.id).is_some()).max_by_key(|step| end(&step.id));
    while let Some(step) = at {
        if !path.insert(&step.id) {
            break;
        }
        let needed = step.needs.iter().filter_map(|need| steps.get(need).copied());
        at = needed.filter(|need| end(&need.id).is_some()).max_by_key(|need| end(&need.id));
    }
    // A run without a second step has nothing to choose from.
    if path.len() < 2 { BTreeSet::new() } else { path }
}
