//! Every setting changes behaviour. Each has a case here that plays the same scene without the setting and with it; a
//! setting without a case fails the test, and so does one that has no effect.
#![cfg(test)]

mod case;
mod limits;
mod log_and_journal;
mod mending;
mod models;
mod scene;
mod scripted_transport;
mod sessions;

use std::collections::BTreeSet;

use reknit_runtime::config::SETTINGS;

use case::Case;

/// Settings that other tests cover: the system calls of a commit can only be observed from outside the process, only the
/// command line looks for a model, the webhook needs a server (`crates/reknit-cli/tests/work/approval_webhook.rs`), the catalogue needs
/// tools on the network (`tests/catalogue.rs`), discovery needs a Redis server (`crates/reknit-cli/tests/third_party/redis.rs`), and
/// callbacks need a listener (`crates/reknit-cli/tests/work/callbacks.rs`).
const TESTED_ELSEWHERE: [&str; 18] = [
    "approvals.webhook",
    "approvals.webhook-secret-env",
    "callbacks.secret-env",
    "callbacks.secret-file",
    "callbacks.url",
    "catalogue.folder",
    "catalogue.pin",
    "catalogue.refresh",
    "discovery.enabled",
    "discovery.exclude",
    "discovery.include",
    "discovery.namespace",
    "discovery.redis",
    "find-model",
    "journal.durability",
    "journal.keep-runs",
    "journal.keep-size",
    "journal.keep-time",
];

fn cases() -> Vec<Case> {
    [limits::cases(), mending::cases(), models::cases(), sessions::cases(), log_and_journal::cases()].concat()
}

#[test]
fn every_setting_has_a_case() {
    let listed: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    let cases = cases().into_iter().chain(log_and_journal::file_cases());
    let covered = cases.map(|case| case.name).chain(TESTED_ELSEWHERE);
    assert_eq!(covered.collect::<BTreeSet<&str>>(), listed);
}

#[tokio::test(start_paused = true)]
async fn every_setting_changes_behaviour() {
    play(cases()).await;
}

#[tokio::test]
async fn every_setting_about_files_changes_behaviour() {
    play(log_and_journal::file_cases()).await;
}

async fn play(cases: Vec<Case>) {
    let mut failures = Vec::new();
    for case in cases {
        assert_ne!(case.without, case.with, "{} would have no effect", case.name);
        let played = case.clone();
        let Ok((without, with)) = tokio::spawn(async move { played.play().await }).await else {
            failures.push(format!("{} = {}: the scene panicked", case.name, case.value));
            continue;
        };
        if (without.as_str(), with.as_str()) != (case.without, case.with) {
            let expected = (case.without, case.with);
            failures.push(format!("{} = {}: {:?}, not {expected:?}", case.name, case.value, (without, with)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
