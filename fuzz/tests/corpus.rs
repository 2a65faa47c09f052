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

/// A test for each target.
macro_rules! targets {
    ($($target:ident)*) => {
        mod every_input_of_its_corpus_holds_for {
            $(
                #[test]
                fn $target() {
                    super::replay(stringify!($target), reknit_fuzz::$target);
                }
            )*
        }
    };
}

targets! {
    parse read read_as fit schema template expression plan
    chat responses anthropic gemini bedrock cohere ollama
}
