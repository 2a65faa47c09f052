use reknit_engine::Effect;

use super::*;
use crate::advance::Consequences;
use crate::blobs::FileBlobs;
use crate::test_runs::{answered, chain_of, due_call, started};

/// Drives a run of so many steps as its object does. Returns what is kept after each event, and the size of all events.
async fn drive(steps: usize, blobs: &FileBlobs) -> (KeptRun, Machine, usize) {
    let first = started(&chain_of(steps)).await;
    let text = serde_json::to_string(&first).unwrap();
    let (mut machine, Consequences { due, .. }) = begin(&first).unwrap();
    let mut kept = KeptRun::new(&text);
    let mut bytes = text.len();
    kept.add(text, due, &machine, blobs).await.unwrap();
    for at in 0..steps - 1 {
        let event = answered(&due_call(&machine), 2_000 + i64::try_from(at).unwrap());
        let due = advance(&mut machine, &event).unwrap().due;
        let text = serde_json::to_string(&event).unwrap();
        bytes += text.len();
        kept.add(text, due, &machine, blobs).await.unwrap();
    }
    (kept, machine, bytes)
}

fn blobs() -> (tempfile::TempDir, FileBlobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::open(folder.path()).unwrap();
    (folder, blobs)
}

fn stored_bytes(folder: &std::path::Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().flat_map(|entry| std::fs::read_dir(entry.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_restored_from_its_pages_its_snapshot_and_its_tail() {
    let (_folder, blobs) = blobs();
    for steps in [1, 2, 40, 150] {
        let (kept, machine, _) = drive(steps, &blobs).await;
        let restored = kept.restore(&blobs).await.unwrap();
        assert_eq!(restored.event_count(), machine.event_count());
        let ids = |machine: &Machine| machine.pending().iter().map(Effect::digest).collect::<Vec<_>>();
        assert_eq!(ids(&restored), ids(&machine), "{steps} steps");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_entries_of_a_long_run_stay_small_and_its_blobs_grow_with_its_events() {
    let (folder, blobs) = blobs();
    let (kept, _, bytes) = drive(600, &blobs).await;
    let head = serde_json::to_string(&kept.head).unwrap().len();
    let tail = serde_json::to_string(&kept.tail).unwrap().len();
    assert!(head < 10_000 && tail < 2 * MAX_TAIL_BYTES, "head {head}, tail {tail}");
    let stored = stored_bytes(folder.path());
    assert!(stored < 8 * bytes as u64, "{stored} bytes are stored for events of {bytes} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_get_all_events_in_order_from_any_position() {
    let (_folder, blobs) = blobs();
    let (kept, ..) = drive(80, &blobs).await;
    let all = kept.events_from(0, &blobs).await.unwrap();
    assert_eq!(all.len(), 80);
    for from in [0, 1, 31, 32, 33, 64, 79, 80] {
        let events = kept.events_from(from, &blobs).await.unwrap();
        let texts = |rows: &[EventRow]| rows.iter().map(|row| row.body.get().to_owned()).collect::<Vec<_>>();
        assert_eq!(texts(&events), texts(&all[usize::try_from(from).unwrap()..]), "from {from}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_decides_otherwise_does_not_go_on() {
    let (_folder, blobs) = blobs();
    let (mut kept, ..) = drive(3, &blobs).await;
    let last = kept.tail.last_mut().unwrap();
    last.due[0].1 = "another digest".to_owned();
    let error = kept.restore(&blobs).await.unwrap_err();
    assert!(matches!(error, RestoreFailure::Mismatch { seq: 2 }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_snapshot_of_a_newer_build_is_refused_and_kept() {
    let (_folder, blobs) = blobs();
    let (mut kept, machine, _) = drive(3, &blobs).await;
    let text = StoredJson::store(machine.snapshot().unwrap(), &blobs).await.unwrap();
    let snapshot = |machine_version| Some(SnapshotRef { len: 3, machine_version, machine: text.clone() });
    kept.head.snapshot = snapshot(MACHINE_VERSION);
    assert_eq!(kept.restore(&blobs).await.unwrap().event_count(), 3);
    kept.head.snapshot = snapshot(MACHINE_VERSION + 1);
    let error = kept.restore(&blobs).await.unwrap_err();
    assert!(matches!(error, RestoreFailure::Migration(MigrationError::Newer(_))), "{error}");
}
