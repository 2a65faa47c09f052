//! The plans in `examples/plans` have recorded tests, and no fault at any of their steps makes them wrong and silent.
//!
//! `REKNIT_RECORD_EXAMPLES=1 cargo test --workspace --test recorded` records them again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit_engine::Started;
use reknit_plan::{PlanText, load_plan_file};
use reknit_protocol::{Object, Plan, RunId};
use reknit_recorded_tests::{
    ChaosReport, RecordOptions, TestFile, propose_expectations, record_run, recorded_overview, run_chaos,
};
use reknit_runtime::Runtime;
use reknit_runtime::config::Config;

use crate::services::{Fault, Services, catalogue};

/// The plans, and the faults of the services with which they were recorded.
const PLANS: [(&str, &[Fault]); 8] = [
    ("customer-summary", &[]),
    ("deploy", &[]),
    ("monthly-report", &[Fault::RateLimited]),
    ("onboarding", &[]),
    ("payment-reminders", &[Fault::Unavailable]),
    ("price-update", &[]),
    ("refund-one-order", &[Fault::AnswerLost]),
    ("restock", &[]),
];

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn plans() -> PathBuf {
    examples().join("plans")
}

fn load(name: &str) -> Plan {
    let text = std::fs::read_to_string(plans().join(format!("{name}.yaml"))).expect("the plan can be read");
    let loaded = load_plan_file(&text, &mut |from, name| {
        let path = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
        let text = std::fs::read_to_string(plans().join(&path)).map_err(|error| error.to_string())?;
        Ok(PlanText { key: path.display().to_string(), text })
    });
    loaded.unwrap_or_else(|error| panic!("{name}: {error:?}")).plan
}

/// Runs a plan with the simulated services, and makes a test of the run.
fn record(name: &str, faults: &[Fault]) -> TestFile {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let (mut file, overview, deeds) = runtime.expect("a runtime").block_on(async {
        let services = Arc::new(Services::new(faults.to_vec()));
        let config = Config::builder().build().expect("the configuration is valid");
        let config = config.with("answer.by", "template", reknit_runtime::config::SettingOrigin::Program);
        let reknit = Runtime::with_transport(Arc::clone(&services) as _, catalogue(), config.expect("a setting"));
        let reknit = reknit.expect("it starts");
        let plan = load(name);
        let request = plan.original_request.clone();
        let run = RunId::new("recorded");
        let started =
            Started { run: run.clone(), inputs: Object::new(), seed: 7, ..reknit.started(&request, Some(plan)) };
        reknit.driver().start(started).await.expect("the run is driven");
        let options = RecordOptions { plan: Some(format!("../{name}.yaml")), ..RecordOptions::default() };
        let file = record_run(&reknit.journal, &run, &options).await.expect("the run is recorded");
        let overview = recorded_overview(&reknit.journal, &run).await.expect("the run can be shown");
        (file, overview, services.deeds())
    });
    assert!(!deeds.is_empty(), "{name} does something");
    // The time at which somebody records it does not matter.
    file.at_ms = 1_794_900_000_000;
    file.about = Some(format!("examples/plans/{name}.yaml, with simulated services"));
    let differences = propose_expectations(&mut file, &plans().join("tests"), &overview);
    assert_eq!(differences.expect("it runs"), [], "{name}: the test does what the run did");
    file
}

#[test]
fn the_recorded_tests_of_the_plans_pass_and_are_what_is_recorded() {
    for (name, faults) in PLANS {
        let path = plans().join("tests").join(format!("{name}.yaml"));
        let recorded = record(name, faults);
        if std::env::var_os("REKNIT_RECORD_EXAMPLES").is_some() {
            std::fs::write(&path, recorded.write()).expect("the test can be written");
        }
        let file = read(&path);
        let run = file.run(&plans().join("tests")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(file.mismatches(&run), [], "{name}");
        assert_eq!(file, recorded, "{name} is recorded in the same way");
    }
}

pub(crate) fn read(path: &Path) -> TestFile {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    TestFile::read(&text).unwrap_or_else(|problems| panic!("{}: {problems:?}", path.display()))
}

pub(crate) fn silent_cases(report: &ChaosReport) -> Vec<String> {
    let line = |outcome: &&reknit_recorded_tests::ChaosOutcome| {
        format!("{} at {} ({}): {}", outcome.case.fault.name(), outcome.case.effect, outcome.case.of, outcome.reason)
    };
    report.failures().iter().map(line).collect()
}

#[test]
fn no_fault_makes_a_plan_wrong_and_silent() {
    let mut silent = Vec::new();
    for (name, _) in PLANS {
        let file = read(&plans().join("tests").join(format!("{name}.yaml")));
        let report = run_chaos(&file, &plans().join("tests"), 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        silent.extend(silent_cases(&report).iter().map(|line| format!("{name}: {line}")));
    }
    assert_eq!(silent, Vec::<String>::new());
}
