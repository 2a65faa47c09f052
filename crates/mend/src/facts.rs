//! What an error says: typed facts out of a status, a body, details and words.
//!
//! ```text
//! details, body --dialects--.
//!                           |--> facts --> rules: a change of the parameters, or nothing
//! message, texts --phrases--'
//! ```
//!
//! A dialect is a shape in which a framework writes its errors, a phrase a form of words. Both are tables. Nothing here
//! fails: a text that nobody understands states nothing. Work is bounded by the length of the text.

mod complaint;
mod dialect;
mod fact;
mod field;
mod phrase;
mod stated;

pub use fact::{Fact, Says, TypeName};
pub use field::Field;

use crate::fault::{Fault, headline};

/// More than any rule or any reader uses.
pub(crate) const MAX_FACTS: usize = 64;

/// Everything that a failure states, each thing once, in the order in which it is stated.
pub fn facts(fault: &Fault) -> Vec<Fact> {
    let field = stated::field_of(&fault.details);
    let mut facts: Vec<Fact> = Vec::new();
    let from_details = stated::stated(&fault.details, field.as_ref());
    // The message may be put together from the body: only what the tool itself wrote as a sentence is read as one.
    let is_own = fault.body.is_null() || fault.body.as_str().is_some() || fault.is_structured();
    let words = if is_own { fault.message.as_str() } else { headline(&fault.body).unwrap_or_default() };
    let from_words = phrase::facts_in(words, field.as_ref());
    let from_body = dialect::DIALECTS.iter().flat_map(|facts| facts(&fault.body));
    let from_text = fault.body.as_str().filter(|text| *text != fault.message).into_iter();
    let from_text = from_text.flat_map(|text| phrase::facts_in(text, None));
    let wait = fault.wait_ms.map(|ms| Fact::new(None, Says::RetryAfter { ms }));
    for fact in from_details.into_iter().chain(from_words).chain(from_body).chain(from_text).chain(wait) {
        // A fact that reads the same is the same: one may show the value that the other leaves out.
        let is_news = !fact.is_cut()
            && !facts.iter().any(|known| known.to_string() == fact.to_string())
            && !matches!(fact.says, Says::RetryAfter { .. } if fault.wait_ms.is_none());
        if is_news && facts.len() < MAX_FACTS {
            facts.push(fact);
        }
    }
    facts
}

/// The facts in a text alone.
pub(crate) fn facts_in(text: &str, context: Option<&Field>) -> Vec<Fact> {
    phrase::facts_in(text, context)
}

/// The facts as lines for a prompt.
pub fn as_lines(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return "none".to_owned();
    }
    facts.iter().map(|fact| format!("- {fact}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
