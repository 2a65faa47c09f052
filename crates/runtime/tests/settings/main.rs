//! Every setting changes what happens. Each has a row here that shows the same scene without it and with it; a setting
//! without a row fails, and so does one that changes nothing.
#![cfg(test)]

mod assembly;
mod edge;
mod limits;
mod mending;
mod models;
mod row;
mod scene;
mod sessions;

use std::collections::BTreeSet;

use reknit_runtime::config::SETTINGS;

use row::Row;

/// Settings whose rows are among the tests of the command line, in `settings.rs`: what the system is asked to do for a commit
/// can only be seen around a process, and only the command line looks for a model.
const OF_THE_COMMAND: [&str; 2] = ["find-model", "journal.durability"];

fn rows() -> Vec<Row> {
    [limits::rows(), mending::rows(), models::rows(), sessions::rows(), assembly::rows()].concat()
}

#[test]
fn every_setting_has_a_row() {
    let listed: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    let shown = rows().into_iter().chain(assembly::with_a_file()).map(|row| row.name).chain(OF_THE_COMMAND);
    assert_eq!(shown.collect::<BTreeSet<&str>>(), listed);
}

#[tokio::test(start_paused = true)]
async fn every_setting_changes_what_happens() {
    play(rows()).await;
}

#[tokio::test]
async fn every_setting_of_files_changes_what_happens() {
    play(assembly::with_a_file()).await;
}

async fn play(rows: Vec<Row>) {
    let mut wrong = Vec::new();
    for row in rows {
        assert_ne!(row.usual, row.changed, "{} would do nothing", row.name);
        let played = row.clone();
        let Ok((usual, changed)) = tokio::spawn(async move { played.play().await }).await else {
            wrong.push(format!("{} = {}: nothing could be seen", row.name, row.value));
            continue;
        };
        if (usual.as_str(), changed.as_str()) != (row.usual, row.changed) {
            let expected = (row.usual, row.changed);
            wrong.push(format!("{} = {}: {:?}, not {expected:?}", row.name, row.value, (usual, changed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
