//! The facts that the details, the body and the message of an error state.

use super::{CallFault, headline};
use crate::facts::dialect::{DIALECTS, declared};
use crate::facts::{Fact, FactKind, MAX_FACTS, facts_in, object_keys};

/// The facts that an error states, each once, in the order in which the error states them.
pub fn extract_facts(fault: &CallFault) -> Vec<Fact> {
    let field = object_keys::named_field(&fault.details);
    let mut facts: Vec<Fact> = Vec::new();
    let from_details = object_keys::facts_in_object(&fault.details, field.as_ref());
    // The message may be assembled from the body. Only a sentence that the tool itself wrote is read as one.
    let is_tools_own = fault.body.is_null() || fault.body.as_str().is_some() || fault.uses_envelope();
    let message = if is_tools_own { fault.message.as_str() } else { headline(&fault.body).unwrap_or_default() };
    let from_message = facts_in(message, field.as_ref());
    let from_body = DIALECTS.iter().flat_map(|facts| facts(&fault.body));
    let from_declared = fault.error_fields.iter().flat_map(|fields| declared(&fault.body, fields));
    let from_text = fault.body.as_str().filter(|text| *text != fault.message).into_iter();
    let from_text = from_text.flat_map(|text| facts_in(text, None));
    let wait = fault.wait_ms.map(|ms| Fact::new(None, FactKind::RetryAfter { ms }));
    for fact in
        from_details.into_iter().chain(from_message).chain(from_body).chain(from_declared).chain(from_text).chain(wait)
    {
        // Facts are compared as text, because one of two equal facts may hold a value that the other leaves out.
        let is_new = !fact.is_shortened()
            && !facts.iter().any(|known| known.to_string() == fact.to_string())
            && !matches!(fact.kind, FactKind::RetryAfter { .. } if fault.wait_ms.is_none());
        if is_new && facts.len() < MAX_FACTS {
            facts.push(fact);
        }
    }
    facts
}
