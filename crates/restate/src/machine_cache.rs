//! Machines of runs that have just done something, so that the next event of such a run does not replay it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use reknit_engine::Machine;

/// How many machines are kept.
const MAX_MACHINES: usize = 256;

/// Machines by run. The digest of its events says whether a machine is the one that is looked for: another worker may have gone on.
#[derive(Debug, Default)]
pub(crate) struct MachineCache {
    machines: Mutex<HashMap<String, CachedMachine>>,
}

#[derive(Debug)]
struct CachedMachine {
    chain: String,
    machine: Machine,
}

impl MachineCache {
    /// Takes the machine of a run, if it has applied exactly the events with this digest.
    pub(crate) fn take(&self, run: &str, chain: &str) -> Option<Machine> {
        let cached = self.machines.lock().unwrap_or_else(PoisonError::into_inner).remove(run)?;
        (cached.chain == chain).then_some(cached.machine)
    }

    /// Keeps the machine of a run. One that has ended, or waits for a person, is not kept: nobody knows when it is needed again.
    pub(crate) fn keep(&self, run: &str, chain: String, machine: Machine) {
        if machine.ending().is_some() || machine.is_idle() {
            return;
        }
        let mut machines = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        if machines.len() >= MAX_MACHINES
            && !machines.contains_key(run)
            && let Some(other) = machines.keys().next().cloned()
        {
            machines.remove(&other);
        }
        machines.insert(run.to_owned(), CachedMachine { chain, machine });
    }
}
