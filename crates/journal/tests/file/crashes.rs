//! Crashes: a process is killed while it writes.

use std::fs;
use std::path::{Path, PathBuf};

use reknit_journal::{Append, Holder};

use crate::child_process::ChildProcess;
use crate::support::{TERM, checked_len, event, new_path, open};

fn log_path(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

fn parse_len(line: &str) -> u64 {
    line.parse().unwrap_or_else(|_| panic!("{line}"))
}

#[tokio::test]
async fn after_a_kill_every_answered_append_exists_and_the_run_can_be_taken_over_at_once() {
    let (_directory, path) = new_path();
    let mut writer = ChildProcess::start("append forever", &path);
    let mut answered = 1;
    while answered < 30 {
        answered = parse_len(&writer.next_line().expect("it appends forever"));
    }
    // Reads while another process writes.
    let reader = open(&path);
    assert!(checked_len(&reader, "r").await >= 30);
    writer.kill();
    answered = std::iter::from_fn(|| writer.next_line()).map(|line| parse_len(&line)).last().unwrap_or(answered);

    let journal = open(&path);
    let len = checked_len(&journal, "r").await;
    // The append that was under way may exist as well.
    assert!(len == answered || len == answered + 1, "{len} events, {answered} answered");
    let lease = journal.acquire_or_take_over(&"r".into(), &Holder::this_process(), TERM).await.unwrap();
    assert_eq!(lease.epoch(), 2);
    journal.append(&lease, Append::at(len).event(event(len))).await.unwrap();
    assert_eq!(checked_len(&reader, "r").await, len + 1);
}

#[tokio::test]
async fn a_truncated_log_keeps_every_event_before_the_cut() {
    let (_directory, path) = new_path();
    let mut writer = ChildProcess::start("append without syncing", &path);
    writer.next_line().expect("it appends twenty events");
    writer.kill();
    let (file, log) = (fs::read(&path).unwrap(), fs::read(log_path(&path)).unwrap());
    let mut before = 0;
    // The first cut comes after the part of the log that creates the tables.
    for cut in (1..=12).map(|twelfths| log.len() * twelfths / 12 + 100).chain([log.len()]) {
        let (_directory, path) = new_path();
        fs::write(&path, &file).unwrap();
        let mut rest = log[..cut.min(log.len())].to_owned();
        if cut > log.len() {
            // A power cut may leave bytes that are not a valid frame.
            rest.extend([0xa5; 5000]);
        }
        fs::write(log_path(&path), rest).unwrap();
        let journal = open(&path);
        let run = "r".into();
        let len = if journal.exists(&run).await.unwrap() { checked_len(&journal, "r").await } else { 0 };
        assert!(len >= before, "a longer log has at least as many events: {len}, {before} before");
        assert_eq!(cut >= log.len(), len == 20, "{len} events of 20 with {cut} bytes of {}", log.len());
        before = len;
    }
}
