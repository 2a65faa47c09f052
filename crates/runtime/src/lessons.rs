//! What runs learn from each other: where values are that plans leave open.

use reknit_bind::Mapping;
use reknit_engine::{Machine, Run, Started};
use reknit_journal::{Journal, Lesson, StorageError};
use reknit_mend::Learning;

/// The most that a run is told of what earlier ones found, the newest first: all of it is part of its first event.
const TOLD: u32 = 500;

/// Tells a run that is to begin what earlier ones found, unless somebody has told it already.
pub(crate) async fn tell(started: &mut Started, journal: &Journal) -> Result<(), StorageError> {
    if started.policy.mending.learning == Learning::On && started.mappings.is_empty() {
        let mapping = |lesson: Lesson| {
            let Lesson { producer, consumer, parameter, expression } = lesson;
            Mapping { producer, consumer, parameter, expression }
        };
        started.mappings = journal.lessons(TOLD).await?.into_iter().map(mapping).collect();
    }
    Ok(())
}

/// What a run that has ended found. A session has no plan that leaves anything open.
pub(crate) fn of(machine: &Machine) -> Vec<Lesson> {
    let lesson = |mapping: Mapping| {
        let Mapping { producer, consumer, parameter, expression } = mapping;
        Lesson { producer, consumer, parameter, expression }
    };
    machine.as_run().map(Run::learned).unwrap_or_default().into_iter().map(lesson).collect()
}
