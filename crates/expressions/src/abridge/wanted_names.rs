//! Compares keys with the names that a caller wants.

use reknit_protocol::Value;
use reknit_protocol::spelling::folded;

/// Shorter words are too common to indicate a match.
const MIN_WORD: usize = 3;

/// How many levels inside a value are searched for a wanted name.
const MAX_LEVELS: usize = 3;

/// The wanted names, each folded and split into words.
#[derive(Debug)]
pub(super) struct WantedNames {
    names: Vec<(String, Vec<String>)>,
}

impl WantedNames {
    pub(super) fn new(names: &[&str]) -> Self {
        Self { names: names.iter().map(|name| (folded(name), words(name))).collect() }
    }

    /// The weight of an entry when space is distributed; 1 for an entry without wanted names.
    pub(super) fn weight(&self, key: &str, value: &Value) -> usize {
        if self.names.is_empty() {
            1
        } else if self.matches(key) {
            8
        } else if self.contains_match(value, MAX_LEVELS) {
            4
        } else {
            1
        }
    }

    /// Whether a key equals a wanted name except for spelling, or shares a word with one.
    fn matches(&self, key: &str) -> bool {
        let own = words(key);
        let name = folded(key);
        self.names.iter().any(|(wanted, words)| *wanted == name || words.iter().any(|word| own.contains(word)))
    }

    fn contains_match(&self, value: &Value, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        match value {
            Value::Object(object) => {
                object.iter().any(|(key, value)| self.matches(key) || self.contains_match(value, levels))
            }
            Value::Array(items) => items.first().is_some_and(|item| self.contains_match(item, levels)),
            _ => false,
        }
    }
}

/// The words of a name in lower case. `unitPrice`, `unit_price` and `unit price` have the same two words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if let Some(word) = words.last_mut()
            && character.is_alphanumeric()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| word.chars().count() >= MIN_WORD);
    words
}
