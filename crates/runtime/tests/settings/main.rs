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

fn rows() -> Vec<Row> {
    [limits::rows(), mending::rows(), models::rows(), sessions::rows(), assembly::rows()].concat()
}

#[test]
fn every_setting_has_a_row() {
    let listed: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    let shown: BTreeSet<&str> = rows().iter().map(|row| row.name).collect();
    assert_eq!(shown, listed);
}

#[tokio::test(start_paused = true)]
async fn every_setting_changes_what_happens() {
    let mut wrong = Vec::new();
    for row in rows() {
        assert_ne!(row.usual, row.changed, "{} would do nothing", row.name);
        let (usual, changed) = row.play().await;
        if (usual.as_str(), changed.as_str()) != (row.usual, row.changed) {
            let expected = (row.usual, row.changed);
            wrong.push(format!("{} = {}: {:?}, not {expected:?}", row.name, row.value, (usual, changed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
