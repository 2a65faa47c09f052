//! Every plan in `examples/plans` is run against simulated services whose calls fail: the answer is right, and no side effect
//! happens twice. Time is virtual.
#![cfg(test)]

mod services;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit_engine::{Answer, Started, Status};
use reknit_plan::{PlanAuthor, PlanText, check, load_plan_file};
use reknit_protocol::{Object, Plan, Value};
use reknit_runtime::config::{Config, ConfigBuilder};
use reknit_runtime::{DriveOutcome, Runtime};

use services::{Fault, Services, catalogue};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans")
}

fn load(name: &str) -> Plan {
    let text = std::fs::read_to_string(folder().join(name)).expect("the plan can be read");
    let loaded = load_plan_file(&text, &mut |from, name| {
        let path = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
        let text = std::fs::read_to_string(folder().join(&path)).map_err(|error| error.to_string())?;
        Ok(PlanText { key: path.display().to_string(), text })
    });
    loaded.unwrap_or_else(|error| panic!("{name}: {error:?}")).plan
}

/// Runs a plan, and returns its answer and what the services did.
async fn run(name: &str, faults: &[Fault]) -> (Answer, Vec<String>) {
    let services = Arc::new(Services::new(faults.to_vec()));
    let config = Config::read("answer.by = \"template\"\n", name, &|_| None).expect("the configuration is valid");
    let config = ConfigBuilder::from(config).build().expect("the configuration is valid");
    let reknit = Runtime::with_transport(Arc::clone(&services) as _, catalogue(), config).expect("it starts");
    let started = Started { run: "r".into(), inputs: Object::new(), seed: 7, ..reknit.started(name, Some(load(name))) };
    match reknit.driver().start(started).await.expect("the run is driven") {
        DriveOutcome::Finished(answer) => (*answer, services.deeds()),
        other => panic!("{name} does not end: {other:?}"),
    }
}

/// A plan, its outputs, and the side effects of a run, in any order.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: [Case; 12] = [
    (
        "refund-lost-orders.yaml",
        r#"{"refunded":20}"#,
        &["bank/refund 1", "bank/refund 3", "mail/send desk@example.com: 2 of 2 lost orders were refunded"],
    ),
    (
        "refund-one-order.yaml",
        r#"{"amount":19.99}"#,
        &["bank/refund 1", "mail/send ann@example.com: Refunded: 19.99 EUR"],
    ),
    (
        "onboarding.yaml",
        r#"{"login":"ada","groups":2}"#,
        &[
            "hr/create_account ada",
            "hr/add_to_group ada staff",
            "hr/add_to_group ada code",
            "mail/send ada@example.com: Welcome! Your groups: staff, code",
        ],
    ),
    (
        "offboarding.yaml",
        r#"{"disabled":["ada","ada-admin"]}"#,
        &[
            "hr/disable_account ada",
            "hr/disable_account ada-admin",
            "mail/send it@example.com: 2 accounts of ada are disabled",
        ],
    ),
    (
        "incident-triage.yaml",
        r#"{"tickets":["web","db"]}"#,
        &["ops/open_ticket web", "ops/open_ticket db", "mail/send oncall@example.com: 3 critical alerts"],
    ),
    (
        "deploy.yaml",
        r#"{"url":"https://example.com/a-7"}"#,
        &["ci/start_build main", "ci/deploy a-7", "mail/send team@example.com: main: https://example.com/a-7"],
    ),
    (
        "monthly-report.yaml",
        r#"{"total":40.5,"customers":[{"customer":"ann","total":30.5},{"customer":"bob","total":10}]}"#,
        &["mail/send books@example.com: ann, bob owe 40.5 EUR"],
    ),
    ("payment-reminders.yaml", r#"{"reminded":1}"#, &["mail/send ann: 2 invoices over 30.5 EUR are overdue"]),
    (
        "data-migration.yaml",
        r#"{"copied":4}"#,
        &["db/write_row 1 Ann", "db/write_row 2 Bob", "db/write_row 3 Cid", "db/write_row 4 Dan"],
    ),
    ("price-update.yaml", r#"{"prices":[10.49,21]}"#, &["shop/set_price 1 10.49", "shop/set_price 2 21"]),
    (
        "restock.yaml",
        r#"{"ordered":17}"#,
        &["shop/order_stock 2 17", "mail/send warehouse@example.com: 1 orders are on their way"],
    ),
    ("customer-summary.yaml", r#"{"orders":2}"#, &["db/write_row 1 ann@example.com: 2 orders"]),
];

async fn assert_all(faults: &[Fault]) {
    for (name, outputs, deeds) in CASES {
        let (answer, mut done) = run(name, faults).await;
        assert_eq!(answer.status, Status::Complete, "{name} with {faults:?}: {}", answer.text);
        assert_eq!(
            Value::Object(answer.outputs.clone()),
            Value::parse(outputs).expect("JSON"),
            "{name} with {faults:?}"
        );
        let mut expected: Vec<String> = deeds.iter().map(|deed| (*deed).to_owned()).collect();
        done.sort();
        expected.sort();
        assert_eq!(done, expected, "each side effect of {name} happens once with {faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_plan_does_what_it_says() {
    assert_all(&[]).await;
}

#[tokio::test(start_paused = true)]
async fn every_plan_does_the_same_although_calls_fail_and_answers_are_lost() {
    for fault in [Fault::Unavailable, Fault::RateLimited, Fault::AnswerLost] {
        assert_all(&[fault]).await;
    }
    assert_all(&[Fault::AnswerLost, Fault::Unavailable]).await;
}

#[test]
fn every_plan_is_in_the_list_and_has_no_problem() {
    let files = std::fs::read_dir(folder()).expect("the folder exists");
    let names = files.map(|file| file.expect("a file").file_name().display().to_string());
    let mut names: Vec<String> =
        names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "yaml")).collect();
    names.sort();
    let mut listed: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
    for name in listed {
        let problems = check(&load(name), &catalogue(), PlanAuthor::Person).err().unwrap_or_default();
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
}
