//! Assertions about any run in a journal, in the words of a test file.

use reknit_journal::Journal;
use reknit_plan::FileProblem;
use reknit_protocol::RunId;
use reknit_runtime::{DriveError, recorded_calls, run_overview};

use crate::expectations::{Expectations, Mismatch};
use crate::facts::ObservedRun;
use crate::player::made_call;

/// Why a run is not as expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExpectError {
    /// What is expected cannot be read.
    #[error("what is expected cannot be read:\n{}", lines(.0))]
    Unreadable(Vec<FileProblem>),
    /// The run differs.
    #[error("the run is not as expected:\n{}", lines(.0))]
    Differs(Vec<Mismatch>),
}

fn lines(items: &[impl ToString]) -> String {
    items.iter().map(|item| format!("  {}", item.to_string())).collect::<Vec<_>>().join("\n")
}

/// What a run did, for assertions about it.
pub async fn observe_run(journal: &Journal, run: &RunId) -> Result<ObservedRun, DriveError> {
    let mut observed = ObservedRun::of(&run_overview(journal, run).await?);
    let calls = recorded_calls(journal, run).await?;
    observed.calls = calls.iter().map(|recorded| made_call(&recorded.call)).collect();
    let summary = journal.summary(run).await?;
    observed.time_ms = u64::try_from(summary.updated_ms.saturating_sub(summary.created_ms)).unwrap_or_default();
    Ok(observed)
}

impl ObservedRun {
    /// Fails unless the run is as expected. `expectations` are what a test file has under `expect`, as YAML or JSON: `status`, `steps`,
    /// `calls`, `values`, `mended`, `outputs`, `limits` and `answer`. What is not mentioned is not compared.
    pub fn check(&self, expectations: &str) -> Result<(), ExpectError> {
        let expectations = Expectations::read(expectations).map_err(ExpectError::Unreadable)?;
        let differences = expectations.compare(self);
        if differences.is_empty() { Ok(()) } else { Err(ExpectError::Differs(differences)) }
    }
}
