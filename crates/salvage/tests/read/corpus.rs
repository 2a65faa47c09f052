//! The kinds of damage of the benchmark are read as their authors meant them.

use std::fs;
use std::path::Path;

use reknit_protocol::Value;
use reknit_salvage::{ReadOptions, Reader, read};

/// Kinds with a text that can be read in two ways, which is refused.
const REFUSED: [&str; 1] = ["array closed too early"];

#[test]
fn damage_that_models_do_is_repaired_in_whole_texts_and_in_chunks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/salvage/cases/damage.jsonl");
    let cases = fs::read_to_string(&path).expect("the cases of the benchmark");
    for line in cases.lines() {
        let case = Value::parse(line).expect("a case");
        let part = |name| case.get(name).expect("every case has all parts");
        let (kind, text, expected) = (part("kind").as_str(), part("text").as_str().expect("text"), part("expect"));
        let reading = read(text, &ReadOptions::default());
        match &reading {
            Ok(reading) => assert_eq!(reading.value, *expected, "{kind:?}: {text}"),
            Err(error) => assert!(kind.is_some_and(|kind| REFUSED.contains(&kind)), "{kind:?}: {text}: {error}"),
        }
        for length in [1, 7] {
            let mut reader = Reader::default();
            for chunk in text.as_bytes().chunks(length) {
                reader.push(chunk);
            }
            assert_eq!(reader.finish().map(|finished| finished.reading), reading, "{kind:?}: {text}");
        }
    }
}
