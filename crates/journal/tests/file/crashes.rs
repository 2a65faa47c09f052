//! A process that writes is killed.

use std::fs;
use std::path::{Path, PathBuf};

use reknit_journal::{Append, Holder};

use crate::child::Actor;
use crate::kit::{TERM, event, open, place, whole};

fn log_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

fn length(said: &str) -> u64 {
    said.parse().unwrap_or_else(|_| panic!("{said}"))
}

#[tokio::test]
async fn after_a_kill_every_answered_append_is_there_and_the_run_goes_on_at_once() {
    let (_directory, path) = place();
    let mut writer = Actor::start("write for ever", &path);
    let mut answered = 1;
    while answered < 30 {
        answered = length(&writer.says().expect("it writes for ever"));
    }
    // Reading beside the writer of another process.
    let beside = open(&path);
    assert!(whole(&beside, "r").await >= 30);
    writer.kill();
    answered = std::iter::from_fn(|| writer.says()).map(|said| length(&said)).last().unwrap_or(answered);

    let journal = open(&path);
    let len = whole(&journal, "r").await;
    // The one that was under way may be there as well.
    assert!(len == answered || len == answered + 1, "{len} events, {answered} answered");
    let lease = journal.acquire_or_inherit(&"r".into(), &Holder::this_process(), TERM).await.unwrap();
    assert_eq!(lease.epoch(), 2);
    journal.append(&lease, Append::at(len).event(event(len))).await.unwrap();
    assert_eq!(whole(&beside, "r").await, len + 1);
}

#[tokio::test]
async fn a_log_that_breaks_off_loses_nothing_before_the_break() {
    let (_directory, path) = place();
    let mut writer = Actor::start("write without waiting for the disk", &path);
    writer.says().expect("it writes twenty events");
    writer.kill();
    let (file, log) = (fs::read(&path).unwrap(), fs::read(log_of(&path)).unwrap());
    let mut before = 0;
    // From the end of the tables on: that much was there before the first run.
    for cut in (1..=12).map(|twelfths| log.len() * twelfths / 12 + 100).chain([log.len()]) {
        let (_directory, path) = place();
        fs::write(&path, &file).unwrap();
        let mut rest = log[..cut.min(log.len())].to_owned();
        if cut > log.len() {
            // What was being written when the power went is no frame.
            rest.extend([0xa5; 5000]);
        }
        fs::write(log_of(&path), rest).unwrap();
        let journal = open(&path);
        let run = "r".into();
        let len = if journal.exists(&run).await.unwrap() { whole(&journal, "r").await } else { 0 };
        assert!(len >= before, "a longer log holds no less: {len} events, {before} before");
        assert_eq!(cut >= log.len(), len == 20, "{len} events of 20 with {cut} bytes of {}", log.len());
        before = len;
    }
}
