//! Faults at every step of a run: whether it mends them, reports them, or is wrong without a word.
//!
//! The recorded answers of a test become a double of its tools and models, which counts what takes effect. The run is driven once
//! without a fault, and once for each fault at each call and question.

mod case_run;
mod child;
mod double;
mod fault;
mod judge;
mod killed_process;
mod report;

use std::path::Path;

use crate::parallel::in_parallel;
use crate::start::{TestStartError, run_start};
use crate::test_file::TestFile;
use case_run::{CaseRun, run_case};
pub use child::drive_chaos_child;
use double::SentKind;
pub use fault::{ChaosFault, ModelFault, ProcessFault, ToolFault};
pub use judge::{ChaosOutcome, ChaosVerdict};
pub use killed_process::{ChildProcesses, KillMethod};
pub use report::ChaosReport;

/// A fault at one call or question of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChaosCase {
    /// The effect, as `pay/call/1`.
    pub effect: String,
    /// What it is: `bank/refund`, or the purpose of a question.
    pub of: String,
    pub fault: ChaosFault,
}

/// Why a test cannot be run with faults.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChaosError {
    #[error(transparent)]
    Start(#[from] TestStartError),
    /// It fails without any fault, so nothing can be compared.
    #[error("the run fails without a fault: {0}")]
    Baseline(String),
}

/// Runs a test with each fault at each of its calls and questions. `seed` chooses jitter, waits and the fields that are damaged. Paths
/// in the test are relative to `folder`.
pub fn run_chaos(file: &TestFile, folder: &Path, seed: u64) -> Result<ChaosReport, ChaosError> {
    run_chaos_with(file, folder, seed, None)
}

/// Runs a test as [`run_chaos`] does. With `processes`, the cases in which our own process is killed are run in such processes, in real
/// time and with a journal in a file.
pub fn run_chaos_with(
    file: &TestFile,
    folder: &Path,
    seed: u64,
    processes: Option<&ChildProcesses>,
) -> Result<ChaosReport, ChaosError> {
    let file = TestFile { seed: file.seed ^ seed, ..file.clone() };
    let start = run_start(&file, folder)?;
    let baseline = run_case(&file, &start, None);
    check_baseline(&file, &baseline)?;
    let cases = cases(&baseline, seed);
    let run = |case: &ChaosCase| match (&case.fault, processes) {
        (ChaosFault::Process(_), Some(processes)) => killed_process::run_case(processes, &file, folder, case),
        _ => run_case(&file, &start, Some(case)),
    };
    let outcomes = in_parallel(&cases, |case| judge::judge(case, &baseline, &run(case)));
    let kills = if processes.is_some() { KillMethod::Process } else { KillMethod::Tasks };
    Ok(ChaosReport { effects: baseline.done.effects.len(), baseline: baseline.facts, kills, outcomes })
}

/// The double must lead the run to where its recordings lead it.
fn check_baseline(file: &TestFile, baseline: &CaseRun) -> Result<(), ChaosError> {
    if let Some(failure) = &baseline.failure {
        return Err(ChaosError::Baseline(failure.clone()));
    }
    if baseline.done.asked_unrecorded || !baseline.done.unknown_calls.is_empty() {
        let what = baseline.done.unknown_calls.first().cloned().unwrap_or_else(|| "a question to a model".to_owned());
        return Err(ChaosError::Baseline(format!("{what} is not recorded; run `reknit test` first")));
    }
    match &file.expect.status {
        Some(status) if *status != baseline.facts.status => {
            let remarks = baseline.facts.remarks.join("; ");
            let message = format!("its status is {} and not {status}: {remarks}", baseline.facts.status);
            Err(ChaosError::Baseline(message))
        }
        _ => Ok(()),
    }
}

/// Every fault at every effect of the run without faults, in order.
fn cases(baseline: &CaseRun, seed: u64) -> Vec<ChaosCase> {
    let mut cases = Vec::new();
    for (index, effect) in baseline.done.effects.iter().enumerate() {
        let case = |fault| ChaosCase { effect: effect.id.clone(), of: effect.of.clone(), fault };
        let faults = match &effect.kind {
            SentKind::Call(reply) => ToolFault::at_call(reply.as_ref(), seed.wrapping_add(index as u64)),
            SentKind::Question => ModelFault::ALL.iter().copied().map(ChaosFault::Model).collect(),
        };
        cases.extend(faults.into_iter().map(case));
        cases.extend(ProcessFault::ALL.iter().copied().map(ChaosFault::Process).map(case));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_whose_fault_does_not_happen_is_not_mended() {
        let text = "plan: {steps: [{id: pay, tool: bank/refund, with: {order: 7}}]}\n\
                    policy: {synthesis: template}\n\
                    tools: {bank: [{name: refund, effect: keyed}]}\n\
                    calls: [{call: bank/refund, with: {order: 7}, reply: {id: r-7}}]\n\
                    expect: {status: complete}\n";
        let file = TestFile::read(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let start = run_start(&file, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
        let baseline = run_case(&file, &start, None);
        let verdict = |effect: &str| {
            let fault = ChaosFault::Process(ProcessFault::KilledBefore);
            let case = ChaosCase { effect: effect.to_owned(), of: "bank/refund".to_owned(), fault };
            let outcome = judge::judge(&case, &baseline, &run_case(&file, &start, Some(&case)));
            (outcome.verdict, outcome.reason)
        };
        assert_eq!(verdict("pay/call/1"), (ChaosVerdict::Mended, String::new()));
        let reason = "the fault did not happen, because `pay/call/9` was not sent";
        assert_eq!(verdict("pay/call/9"), (ChaosVerdict::Stuck, reason.to_owned()));
    }
}
