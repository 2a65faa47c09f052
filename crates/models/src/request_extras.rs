//! What the configuration of a target adds to every request.

use std::collections::BTreeMap;

use reknit_model_api::{ModelRequest, TopP};
use reknit_protocol::{Object, Value};

/// Options for requests that do not set them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestDefaults {
    pub top_p: Option<TopP>,
    pub parallel_tool_calls: Option<bool>,
    pub thinking_tokens: Option<u32>,
}

impl RequestDefaults {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn apply(&self, request: &mut ModelRequest) {
        request.top_p = request.top_p.or(self.top_p);
        request.parallel_tool_calls = request.parallel_tool_calls.or(self.parallel_tool_calls);
        // A turn that asks for an effort has said how much it wants.
        if request.effort.is_none() {
            request.thinking_tokens = request.thinking_tokens.or(self.thinking_tokens);
        }
    }
}

/// Parts of a request that only this server knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestExtras {
    /// Fields of the body. They replace ours, except that objects are merged.
    pub body: Object,
    /// Fields at the top of the body that are not sent.
    pub without: Vec<String>,
    /// Headers, without secrets. They replace ours.
    pub headers: BTreeMap<String, String>,
    pub query: BTreeMap<String, String>,
}

impl RequestExtras {
    pub(crate) fn apply(&self, body: &mut Object) {
        merge(body, &self.body);
        for field in &self.without {
            body.remove(field);
        }
    }
}

fn merge(into: &mut Object, from: &Object) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            _ => {
                into.insert(key, value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_merged_replaced_and_removed() {
        let object = |text: &str| match Value::parse(text).unwrap() {
            Value::Object(object) => object,
            other => panic!("{other}"),
        };
        let extras = RequestExtras {
            body: object(r#"{"a":{"y":2},"b":[1],"c":{"z":1}}"#),
            without: vec!["d".into(), "absent".into()],
            ..RequestExtras::default()
        };
        let mut body = object(r#"{"a":{"x":1,"y":1},"b":{"k":1},"d":1}"#);
        extras.apply(&mut body);
        assert_eq!(body.to_string(), r#"{"a":{"x":1,"y":2},"b":[1],"c":{"z":1}}"#);
    }

    #[test]
    fn a_default_holds_only_where_the_request_says_nothing() {
        let defaults = RequestDefaults {
            top_p: TopP::try_from(0.5).ok(),
            parallel_tool_calls: Some(false),
            thinking_tokens: Some(2_000),
        };
        let mut request = ModelRequest::new(vec![], 9);
        defaults.apply(&mut request);
        assert_eq!((request.top_p, request.thinking_tokens), (defaults.top_p, Some(2_000)));
        let effort = Some(reknit_model_api::Effort::Low);
        let mut request = ModelRequest { parallel_tool_calls: Some(true), effort, ..ModelRequest::new(vec![], 9) };
        defaults.apply(&mut request);
        assert_eq!((request.parallel_tool_calls, request.thinking_tokens), (Some(true), None));
    }
}
