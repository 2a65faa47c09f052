//! Replays the saved inputs of every fuzz target.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// A saved input.
#[derive(serde::Deserialize)]
struct Input {
    name: String,
    text: Option<String>,
    /// One character for each byte of an input that is not UTF-8.
    latin1: Option<String>,
}

impl Input {
    fn bytes(self) -> Vec<u8> {
        let byte = |char: char| u8::try_from(char).expect("a character for each byte");
        let text = self.text.map(String::into_bytes);
        text.or_else(|| Some(self.latin1?.chars().map(byte).collect())).expect("an input has a text")
    }
}

/// Replays every input of a target, and names those that violate its property.
fn replay(target: &str, property: fn(&[u8])) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(format!("{target}.jsonl"));
    let lines = fs::read_to_string(&file).expect("the corpus can be read");
    let mut count = 0;
    let mut failed = Vec::new();
    for line in lines.split_terminator('\n') {
        let input: Input = serde_json::from_str(line).expect("a saved input");
        let name = input.name.clone();
        let data = input.bytes();
        count += 1;
        if catch_unwind(|| property(&data)).is_err() {
            failed.push(name);
        }
    }
    assert!(count >= 10, "only {count} inputs in {}", file.display());
    assert!(failed.is_empty(), "these inputs of `{target}` violate the property:\n{}", failed.join("\n"));
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
