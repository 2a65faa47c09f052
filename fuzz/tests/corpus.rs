//! What the fuzzer has found, and where it starts from, holds.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// Replays every file of a target; names those that do not hold.
fn replay(target: &str, holds: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut count = 0;
    let mut failed = Vec::new();
    for entry in fs::read_dir(&folder).expect("the corpus can be listed") {
        let path = entry.expect("its entries can be read").path();
        let data = fs::read(&path).expect("a file of the corpus can be read");
        count += 1;
        if catch_unwind(|| holds(&data)).is_err() {
            failed.push(path.display().to_string());
        }
    }
    assert!(count >= 10, "only {count} files in {}", folder.display());
    assert!(failed.is_empty(), "these do not hold:\n{}", failed.join("\n"));
}

#[test]
fn parse_holds_for_its_corpus() {
    replay("parse", reknit_fuzz::parse);
}

#[test]
fn read_holds_for_its_corpus() {
    replay("read", reknit_fuzz::read);
}

#[test]
fn read_as_holds_for_its_corpus() {
    replay("read_as", reknit_fuzz::read_as);
}

#[test]
fn fit_holds_for_its_corpus() {
    replay("fit", reknit_fuzz::fit);
}

#[test]
fn template_holds_for_its_corpus() {
    replay("template", reknit_fuzz::template);
}

#[test]
fn expression_holds_for_its_corpus() {
    replay("expression", reknit_fuzz::expression);
}

#[test]
fn plan_holds_for_its_corpus() {
    replay("plan", reknit_fuzz::plan);
}

#[test]
fn stream_holds_for_its_corpus() {
    replay("stream", reknit_fuzz::stream);
}
