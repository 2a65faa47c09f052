//! What a wrong value of a parameter would do.

use reknit_protocol::{Object, Value};

use crate::is_listed;

/// What a wrong value of a parameter would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A text, such as a city: a wrong one is most likely not found.
    Text,
    /// A number, a switch, an address or an identifier: a wrong one means another sum, another action or another person.
    Exact,
}

/// Words in the names of parameters whose values identify a person, an account or a thing.
const IDENTIFYING_WORDS: &str = "id ids uuid guid recipient payee beneficiary account iban bic email mail phone \
    wallet card url uri host key token reference username user owner receiver sender acct cc bcc dest webhook \
    callback ssn msisdn mobile sku customer patient employee vendor supplier client tenant";

/// Formats of a schema whose values identify something.
const IDENTIFYING_FORMATS: &str = "email idn-email uuid uri url iri uri-reference hostname idn-hostname ipv4 ipv6 \
    iban phone account";

/// Words in the names of parameters that are sums of money.
const SUM_WORDS: &str = "amount sum total payment";

/// Words in the names of parameters that say how much or how many.
const QUANTITY_WORDS: &str = "amount sum total payment price quantity qty units shares value cost fee balance";

/// Whether the name of a parameter says that it is how much or how many.
pub fn names_quantity(name: &str) -> bool {
    words_of(name).iter().any(|word| is_listed(QUANTITY_WORDS, word))
}

/// What a wrong value of a parameter would do, by the value, the schema and the name of the parameter.
pub fn value_kind(name: &str, value: &Value, schema: Option<&Value>, siblings: &Object) -> ValueKind {
    let text = match value {
        Value::Null => return ValueKind::Text,
        // A switch such as `dry_run` decides what the call does.
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return ValueKind::Exact,
        Value::String(text) => text.trim(),
    };
    let format = schema.and_then(|schema| schema.get("format")).and_then(Value::as_str);
    let is_identified = format.is_some_and(|format| is_listed(IDENTIFYING_FORMATS, format));
    let is_number = reknit_protocol::Number::parse(text).is_ok();
    let named = words_of(name).iter().any(|word| is_listed(IDENTIFYING_WORDS, word));
    if is_identified || is_number || named || looks_like_identifier(text) || is_recipient(name, text, siblings) {
        ValueKind::Exact
    } else {
        ValueKind::Text
    }
}

/// Whether a text looks like an address or a code and not like a word: `maria@example.org`, `DE111`.
fn looks_like_identifier(text: &str) -> bool {
    let has = |is: fn(char) -> bool| text.chars().any(is);
    text.contains('@') || has(char::is_alphabetic) && has(|c| c.is_ascii_digit()) && !has(char::is_whitespace)
}

/// Whether `to` is who receives a sum. A currency beside an amount is not: `{"amount": 5, "to": "EUR"}`.
fn is_recipient(name: &str, text: &str, siblings: &Object) -> bool {
    let is_currency = text.len() == 3 && text.chars().all(|letter| letter.is_ascii_uppercase());
    name.eq_ignore_ascii_case("to") && !is_currency && siblings.keys().any(is_sum_of_money)
}

/// Whether the name of a parameter says that it is a sum of money.
fn is_sum_of_money(name: &str) -> bool {
    words_of(name).iter().any(|word| is_listed(SUM_WORDS, word))
}

/// The words of a name in snake case, kebab case or camel case, in lower case: `to`, `currency` of `to_currency`.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && after_lower {
            words.push(String::new());
        }
        after_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_addresses_and_identifiers_are_exact() {
        let siblings = Object::from([("amount", Value::from(5))]);
        let (none, email) = (None, Value::Object(Object::from([("format", Value::from("email"))])));
        for (name, value, schema, siblings, exact) in [
            ("city", Value::from("Tokyo"), none, None, false),
            ("amount", Value::from(5), none, None, true),
            ("amount", Value::from("5.50"), none, None, true),
            ("account", Value::from("maria"), none, None, true),
            ("customerId", Value::from("maria"), none, None, true),
            ("customer_id", Value::from("maria"), none, None, true),
            ("identity", Value::from("maria"), none, None, false),
            ("who", Value::from("maria"), Some(&email), None, true),
            ("to", Value::from("Paris"), none, None, false),
            ("to", Value::from("EUR"), none, Some(&siblings), false),
            ("to", Value::from("maria"), none, Some(&siblings), true),
            ("to", Value::from("maria@example.org"), none, None, true),
            ("dest", Value::from("maria"), none, None, true),
            ("customer", Value::from("Ann Lee"), none, None, true),
            ("vendorName", Value::from("Ann Lee"), none, None, true),
            ("place", Value::from("DE111"), none, None, true),
            ("when", Value::from("2026-11-17"), none, None, false),
            ("dry_run", Value::from(false), none, None, true),
        ] {
            let kind = value_kind(name, &value, schema, siblings.unwrap_or(&Object::new()));
            assert_eq!(kind == ValueKind::Exact, exact, "{name} {value}");
        }
    }
}
