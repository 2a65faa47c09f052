//! A request made ready for a wire format.

use reknit_dialogue::FormatUsed;
use reknit_protocol::{Object, Value};

/// A request made ready for a wire format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rendered {
    /// What is sent.
    pub(crate) body: Object,
    /// The form of answer that it asks for.
    pub(crate) format_used: FormatUsed,
    /// What the request wished for and this body does not say.
    pub(crate) left_out: Vec<&'static str>,
}

impl Rendered {
    /// An empty body that will ask for this form of answer.
    pub(crate) fn new(format_used: FormatUsed) -> Self {
        Self { body: Object::new(), format_used, left_out: Vec::new() }
    }

    /// Adds a field.
    pub(crate) fn insert(&mut self, field: &str, value: impl Into<Value>) {
        self.body.insert(field, value);
    }

    /// Adds a field if there is something to say.
    pub(crate) fn insert_some(&mut self, field: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.insert(field, value);
        }
    }

    /// Adds a field if the model takes it; else notes what was left out.
    pub(crate) fn insert_if(&mut self, field: &str, taken: bool, wish: &'static str, value: Option<Value>) {
        match value {
            Some(value) if taken => self.insert(field, value),
            Some(_) => self.leave_out(wish),
            None => {}
        }
    }

    /// Notes that something is not sent.
    pub(crate) fn leave_out(&mut self, wish: &'static str) {
        self.left_out.push(wish);
    }
}

/// An object of these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The arguments of a call as an object. Servers read them again, and many fail at what is none; so that what the model
/// wrote is not lost to it, it stands in a member.
pub(crate) fn arguments(raw: &str) -> Object {
    match Value::parse(raw) {
        Ok(Value::Object(arguments)) => arguments,
        _ if raw.trim().is_empty() => Object::new(),
        _ => object([("unreadable_arguments", raw.into())]),
    }
}
