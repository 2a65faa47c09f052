//! The arguments of `reknit test`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{FileArguments, RunArgument};

pub(crate) const DETAILS: &str = "\
Examples:
  reknit test record last -o tests/refund.yaml    make a test of the last run
  reknit test                                     run all tests in the folder `tests`
  reknit test tests/refund.yaml --junit report.xml
  reknit test --update                            review changed expectations, and write them

A test is a file with the request, the recorded answers of tools and models, and what is expected. It needs no network and
no API key, and time is virtual. A call that is not recorded fails the test. See docs/testing.md.

JSON (--json):
  {\"passed\", \"failed\", \"tests\": [{\"file\", \"passed\", \"took_ms\", \"mismatches\": [{\"what\", \"expected\", \"actual\"}], \"problems\"}]}

Exit status: 0 all tests passed, 1 a test failed, 2 nothing was tested: bad usage, or a file is not a test.";

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    #[command(subcommand)]
    pub(crate) command: Option<TestCommand>,
    #[command(flatten)]
    pub(crate) run: RunTestsArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RunTestsArguments {
    /// Test files, and folders with test files [default: tests]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Show how the expectations of failed tests would have to change, and write them after a confirmation
    #[arg(long, conflicts_with_all = ["json", "junit"])]
    pub(crate) update: bool,
    /// Write without a confirmation
    #[arg(long, requires = "update")]
    pub(crate) yes: bool,
    /// Also write the results to a file in the format of `JUnit`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TestCommand {
    /// Make a test of a run or a session
    #[command(after_help = RECORD_DETAILS)]
    Record(RecordArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    #[command(flatten)]
    pub(crate) run: RunArgument,
    /// The file to write
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// The plan file of the run: the test refers to it instead of containing the plan
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "agent")]
    pub(crate) plan: Option<PathBuf>,
    /// The agent file of the session: the test refers to it instead of containing the agent
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agent: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) journal: FileArguments,
}

const RECORD_DETAILS: &str = "\
Examples:
  reknit test record last -o tests/refund.yaml
  reknit test record last --plan refund.yaml -o tests/refund.yaml    a changed plan is tested
  reknit test record last --agent clerk.md -o tests/clerk.yaml

The test is played once before it is written. What its run did is written as `expect`: edit it, and remove what does not
matter. Values with the name of a secret are replaced by `[redacted]`, as `reknit runs export` does.

Exit status: 0 the test is written and does what the run did, 1 it is written but differs from the run, 2 nothing is written.";
