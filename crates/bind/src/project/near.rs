//! Which names are near to what is wanted.

use reknit_protocol::Value;
use reknit_protocol::spelling::folded;

/// A word of fewer letters says too little to be a sign of anything.
const SHORTEST: usize = 3;

/// How far inside a value a name that is wanted is looked for.
const LEVELS: usize = 3;

/// The names that are wanted, with their words.
#[derive(Debug)]
pub(crate) struct Wanted {
    names: Vec<(String, Vec<String>)>,
}

impl Wanted {
    pub(crate) fn new(names: &[&str]) -> Self {
        Self { names: names.iter().map(|name| (folded(name), words(name))).collect() }
    }

    /// How much more room a value may take than one that nobody asked for.
    pub(super) fn weight(&self, key: &str, value: &Value) -> usize {
        if self.names.is_empty() {
            1
        } else if self.is_near(key) {
            8
        } else if self.holds_near(value, LEVELS) {
            4
        } else {
            1
        }
    }

    /// Whether a key is one of the names but for its spelling, or has a word in common with one.
    pub(super) fn is_near(&self, key: &str) -> bool {
        let own = words(key);
        let name = folded(key);
        self.names.iter().any(|(wanted, words)| *wanted == name || words.iter().any(|word| own.contains(word)))
    }

    fn holds_near(&self, value: &Value, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        match value {
            Value::Object(object) => {
                object.iter().any(|(key, value)| self.is_near(key) || self.holds_near(value, levels))
            }
            Value::Array(items) => items.first().is_some_and(|item| self.holds_near(item, levels)),
            _ => false,
        }
    }
}

/// The words of a name, in lower case: `unitPrice`, `unit_price` and `unit price` all have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut()
            && letter.is_alphanumeric()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| word.chars().count() >= SHORTEST);
    words
}
