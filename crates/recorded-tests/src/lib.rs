//! Recorded tests of runs: a file with the answers of tools and models, played back to the real driver in virtual time.
//!
//! ```text
//! journal --record_run--> TestFile --write--> refund.yaml
//!                            |
//!                            '--run--> TestRun (ObservedRun) --mismatches--> expected, actual
//! ```
//!
//! ```
//! use std::path::Path;
//!
//! use reknit_recorded_tests::TestFile;
//!
//! let test = TestFile::read(r#"
//! plan:
//!   steps:
//!     - {id: pay, tool: bank/refund, with: {order: 7}}
//! policy: {synthesis: template}
//! tools:
//!   bank: [{name: refund, effect: keyed}]
//! calls:
//!   - {call: bank/refund, with: {order: 7}, status: 503}
//!   - {call: bank/refund, with: {order: 7}, reply: {id: r-7}}
//! expect:
//!   status: complete
//!   mended: [{step: pay, by: resend}]
//! "#).expect("the test can be read");
//! let run = test.run(Path::new("")).expect("the run can start");
//! assert_eq!(test.mismatches(&run), []);
//! ```
//!
//! A call or a question that no recording answers stops the run, and the nearest recorded one is shown. Nothing else differs from a
//! real run: the machine, the driver, the rules for repairs and the journal are the same.
//!
//! Where to go next: [`TestFile`] for the file, [`Expectations`] for what a test can say, [`record_run`] to make a test of a run.

mod chaos;
mod compare;
mod drive;
mod expectations;
mod facts;
mod json;
mod parallel;
mod people;
mod player;
mod record;
mod recording;
mod start;
mod test_file;
mod update;

pub use chaos::{
    ChaosCase, ChaosError, ChaosFault, ChaosOutcome, ChaosReport, ChaosVerdict, ChildProcesses, KillMethod, ModelFault,
    ProcessFault, ToolFault, drive_chaos_child, run_chaos, run_chaos_with,
};
pub use compare::{ExpectError, compare_runs, observe_run};
pub use drive::{PlayedRun, TestRun};
pub use expectations::{
    Expectations, ExpectedAnswer, ExpectedCall, ExpectedLimits, ExpectedRepair, ExpectedValue, Mismatch,
};
pub use facts::{AppliedRepair, MadeCall, ObservedRun, SentValue, WAITING};
pub use parallel::in_parallel;
pub use player::UnexpectedRequest;
pub use record::{RecordOptions, RecordRunError, propose_expectations, record_run, recorded_overview};
pub use recording::{CallRecording, DecisionRecording, ModelMatch, ModelRecording, PlayCount, prompt_digest};
pub use start::TestStartError;
pub use test_file::{AgentSource, PlanSource, TestAgent, TestFile, TestStart};
pub use update::{UpdateError, updated_text};
