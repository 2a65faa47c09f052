//! Runs as the journal has them.

use std::collections::BTreeMap;

use reknit_engine::{Event, Machine, Moment, history};
use reknit_journal::{Journal, Record, RunFilter};
use reknit_protocol::{RunId, StepId};

use crate::failure::Failure;

/// How many runs are named when the beginning of an id fits several.
const NAMED: u32 = 5;

/// The run that a person means: an id, the beginning of one, or `last`.
pub(super) async fn find(journal: &Journal, name: &str) -> Result<RunId, Failure> {
    if name == "last" {
        let newest = journal.runs(&RunFilter::newest(1)).await.map_err(|error| Failure::Journal(Box::new(error)))?;
        return newest.into_iter().next().map(|summary| summary.run).ok_or_else(|| Failure::Usage {
            what: "there is no run yet".to_owned(),
            hint: Some("make one: `reknit demo`".to_owned()),
        });
    }
    let found = journal.find(name, NAMED).await.map_err(|error| Failure::Journal(Box::new(error)))?;
    match found.as_slice() {
        [run] => Ok(run.clone()),
        [] => Err(Failure::Usage {
            what: format!("there is no run `{name}`"),
            hint: Some("see which there are with `reknit runs list`".to_owned()),
        }),
        several => {
            let names: Vec<&str> = several.iter().map(RunId::as_str).collect();
            Err(Failure::Usage {
                what: format!("several runs begin with `{name}`"),
                hint: Some(format!("write more of it: {}", names.join(", "))),
            })
        }
    }
}

/// A run read back from its events.
pub(crate) struct Saved {
    pub(crate) run: Machine,
    pub(super) records: Vec<Record>,
}

/// What happened to each step.
pub(super) type History = BTreeMap<StepId, Vec<Moment>>;

impl Saved {
    /// Its events.
    pub(super) fn events(&self) -> Result<Vec<Event>, Failure> {
        self.records.iter().map(event).collect()
    }

    /// What happened to each step, told from the events.
    pub(super) fn history(&self) -> Result<History, Failure> {
        history(&self.events()?).map_err(|error| Failure::Journal(Box::new(error)))
    }
}

fn event(record: &Record) -> Result<Event, Failure> {
    serde_json::from_str(&record.body).map_err(|error| Failure::Journal(Box::new(error)))
}

/// Reads a run back.
pub(crate) async fn read_back(journal: &Journal, run: &RunId) -> Result<Saved, Failure> {
    let records = journal.events(run, 0).await.map_err(|error| Failure::Journal(Box::new(error)))?;
    let Some((first, rest)) = records.split_first() else {
        return Err(Failure::Usage { what: format!("run `{run}` has no events"), hint: None });
    };
    let mut restored = Machine::begin(&event(first)?).map_err(|error| Failure::Journal(Box::new(error)))?;
    for record in rest {
        restored.apply(&event(record)?).map_err(|error| Failure::Journal(Box::new(error)))?;
    }
    Ok(Saved { run: restored, records })
}
