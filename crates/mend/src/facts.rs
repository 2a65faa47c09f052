//! Typed facts about what is wrong with a call, extracted from the details, the body and the message of its error.
//!
//! ```text
//! details, body --dialects--.
//!                           |--> facts --> rules: corrected parameters, or nothing
//! message, texts --phrases--'
//! ```
//!
//! A dialect is the JSON shape in which a framework writes its errors, a phrase is a pattern of words. Both are tables.
//! Extraction never fails: an error that matches no table states no facts. Its work is bounded by the length of the text.

pub(crate) mod dialect;
mod fact;
mod field;
mod field_error;
pub(crate) mod object_keys;
mod phrase;

pub use fact::Fact;
pub(crate) use fact::FactKind;
pub use field::Field;
pub(crate) use phrase::facts_in;

/// The most facts of one error: more than any rule or prompt uses.
pub(crate) const MAX_FACTS: usize = 64;

/// The facts as a list for a prompt, one per line.
pub fn facts_as_lines(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return "none".to_owned();
    }
    facts.iter().map(|fact| format!("- {fact}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
