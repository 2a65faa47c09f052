//! There is no room left.

use reknit_journal::{Append, Holder};

use crate::child::Actor;
use crate::kit::{TERM, event, open, place, whole};

#[tokio::test]
async fn when_nothing_more_can_be_written_all_that_was_answered_is_there() {
    let (_directory, path) = place();
    let mut writer = Actor::start_with_small_files("write for ever", &path, 1000);
    let said = until_the_error(&mut writer);
    let (error, lengths) = said.split_last().unwrap();
    assert_eq!(*error, format!("the journal `{}` cannot be used", path.display()));
    let answered = lengths.len() as u64 + 1;
    assert!(answered > 10, "there was room for some: {said:?}");
    // Others read what is there while the one that found no room still has it open.
    assert_eq!(whole(&open(&path), "r").await, answered);
    writer.kill();

    let journal = open(&path);
    let lease = journal.acquire_or_inherit(&"r".into(), &Holder::this_process(), TERM).await.unwrap();
    assert_eq!(journal.append(&lease, Append::at(answered).event(event(answered))).await.unwrap(), answered + 1);
    assert_eq!(whole(&journal, "r").await, answered + 1);
}

/// What it says up to the first thing that is no number.
fn until_the_error(writer: &mut Actor) -> Vec<String> {
    let mut said = Vec::new();
    while said.last().is_none_or(|words: &String| words.parse::<u64>().is_ok()) {
        said.push(writer.says().expect("it writes until it cannot"));
    }
    said
}
