//! Replays the saved inputs of every fuzz target.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// Replays every input of a target, and names those that violate its property.
fn replay(target: &str, property: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut count = 0;
    let mut failed = Vec::new();
    for entry in fs::read_dir(&directory).expect("the corpus can be listed") {
        let path = entry.expect("its entries can be read").path();
        let data = fs::read(&path).expect("a file of the corpus can be read");
        count += 1;
        if catch_unwind(|| property(&data)).is_err() {
            failed.push(path.display().to_string());
        }
    }
    assert!(count >= 10, "only {count} files in {}", directory.display());
    assert!(failed.is_empty(), "these inputs violate the property:\n{}", failed.join("\n"));
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
fn schema_holds_for_its_corpus() {
    replay("schema", reknit_fuzz::schema);
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
fn chat_holds_for_its_corpus() {
    replay("chat", reknit_fuzz::chat);
}

#[test]
fn responses_holds_for_its_corpus() {
    replay("responses", reknit_fuzz::responses);
}

#[test]
fn anthropic_holds_for_its_corpus() {
    replay("anthropic", reknit_fuzz::anthropic);
}

#[test]
fn gemini_holds_for_its_corpus() {
    replay("gemini", reknit_fuzz::gemini);
}

#[test]
fn bedrock_holds_for_its_corpus() {
    replay("bedrock", reknit_fuzz::bedrock);
}

#[test]
fn cohere_holds_for_its_corpus() {
    replay("cohere", reknit_fuzz::cohere);
}

#[test]
fn ollama_holds_for_its_corpus() {
    replay("ollama", reknit_fuzz::ollama);
}
