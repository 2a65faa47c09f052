//! A full disk.

use reknit_journal::{Append, Holder};

use crate::child_process::ChildProcess;
use crate::support::{TERM, checked_len, event, new_path, open};

#[tokio::test]
async fn when_the_disk_is_full_every_answered_append_exists() {
    let (_directory, path) = new_path();
    let mut writer = ChildProcess::start_with_file_limit("append forever", &path, 1000);
    let lines = read_until_error(&mut writer);
    let (error, lengths) = lines.split_last().unwrap();
    assert_eq!(*error, format!("cannot read or write the journal `{}`", path.display()));
    let answered = lengths.len() as u64 + 1;
    assert!(answered > 10, "the first appends fit: {lines:?}");
    // Another process can read while the failed writer still has the file open.
    assert_eq!(checked_len(&open(&path), "r").await, answered);
    writer.kill();

    let journal = open(&path);
    let lease = journal.acquire_or_take_over(&"r".into(), &Holder::this_process(), TERM).await.unwrap();
    assert_eq!(journal.append(&lease, Append::at(answered).event(event(answered))).await.unwrap(), answered + 1);
    assert_eq!(checked_len(&journal, "r").await, answered + 1);
}

/// The lines up to the first one that is not a number.
fn read_until_error(writer: &mut ChildProcess) -> Vec<String> {
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| line.parse::<u64>().is_ok()) {
        lines.push(writer.next_line().expect("it appends until the disk is full"));
    }
    lines
}
