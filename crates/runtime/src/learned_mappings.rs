//! Learned mappings: where earlier runs found the values of parameters that their plans left out.

use reknit_engine::{Machine, Run, Started};
use reknit_expressions::{MappingStatus, ParameterMapping};
use reknit_journal::{Journal, LearnedMapping, StorageError, StoredMapping};
use reknit_mend::Learning;

use crate::run_owner::RunOwner;

/// Maximum number of mappings that a run gets, the newest first. They are part of the run's first event, which this bounds.
const MAX_MAPPINGS: u32 = 500;

/// Adds the mappings that runs of the same owner learned to a new run, unless the caller has set some or learning is off.
pub(crate) async fn add(
    started: &mut Started,
    journal: &Journal,
    owner: Option<&RunOwner>,
) -> Result<(), StorageError> {
    if started.policy.mending.learning == Learning::On && started.mappings.is_empty() {
        let owner = owner.map(|owner| owner.name.as_str());
        let mapping = |learned: LearnedMapping| {
            let StoredMapping { producer, consumer, parameter, expression } = learned.mapping;
            let status = if learned.accepted_ms.is_some() { MappingStatus::Accepted } else { MappingStatus::Inferred };
            ParameterMapping { producer, consumer, parameter, expression, status }
        };
        started.mappings = journal.learned_mappings_of(owner, MAX_MAPPINGS).await?.into_iter().map(mapping).collect();
    }
    Ok(())
}

/// The mappings that a finished run found. A session finds none, because it has no plan.
pub(crate) fn of(machine: &Machine) -> Vec<StoredMapping> {
    let stored = |mapping: ParameterMapping| {
        let ParameterMapping { producer, consumer, parameter, expression, .. } = mapping;
        StoredMapping { producer, consumer, parameter, expression }
    };
    machine.as_run().map(Run::learned).unwrap_or_default().into_iter().map(stored).collect()
}
