//! A request as the server wants it.

use reknit_dialogue::{Format, FormatUsed, Request};
use reknit_protocol::{Object, Value};

use super::strict::is_strict;
use crate::{Streaming, Target};

/// The body of the request, and the form of answer that it asks for.
pub(crate) fn body(target: &Target, request: &Request) -> (String, FormatUsed) {
    let format_used = target.format.reduce(&request.format);
    let mut body = Object::new();
    body.insert("model", target.model.as_str());
    body.insert("messages", messages(request));
    body.insert("temperature", request.temperature.to_number());
    body.insert("max_tokens", request.max_tokens);
    if let Some(format) = response_format(&request.format, format_used) {
        body.insert("response_format", format);
    }
    if target.streaming == Streaming::On {
        body.insert("stream", true);
        body.insert("stream_options", object([("include_usage", true.into())]));
    }
    (body.to_string(), format_used)
}

fn messages(request: &Request) -> Value {
    let message = |message: &reknit_dialogue::Message| {
        Value::from(object([("role", message.role.as_str().into()), ("content", message.text.as_str().into())]))
    };
    request.messages.iter().map(message).collect()
}

fn response_format(wish: &Format, used: FormatUsed) -> Option<Object> {
    match (used, wish) {
        (FormatUsed::Schema, Format::Schema { name, schema }) => {
            let json_schema = object([
                ("name", name.as_str().into()),
                ("strict", is_strict(schema).into()),
                ("schema", schema.clone()),
            ]);
            Some(object([("type", "json_schema".into()), ("json_schema", json_schema.into())]))
        }
        (FormatUsed::Json, _) => Some(object([("type", "json_object".into())])),
        (FormatUsed::Text | FormatUsed::Schema, _) => None,
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use reknit_dialogue::{Message, Temperature};

    use super::*;
    use crate::FormatSupport;

    fn target(format: FormatSupport, streaming: Streaming) -> Target {
        Target { format, streaming, ..Target::new("a", "http://localhost", "m-1") }
    }

    #[test]
    fn a_plain_question_sends_temperature_zero_as_zero() {
        let request = Request::new(vec![Message::system("be \"brief\""), Message::user("hi")], 500);
        let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
        insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[{"role":"system","content":"be \"brief\""},{"role":"user","content":"hi"}],"temperature":0,"max_tokens":500}"#);
        assert_eq!(used, FormatUsed::Text);
    }

    #[test]
    fn a_stream_asks_for_its_usage() {
        let request = Request::new(vec![], 5).with_temperature(Temperature::from_hundredths(30).unwrap());
        let (body, used) = body(&target(FormatSupport::Json, Streaming::On), &request.with_format(Format::Json));
        insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0.3,"max_tokens":5,"response_format":{"type":"json_object"},"stream":true,"stream_options":{"include_usage":true}}"#);
        assert_eq!(used, FormatUsed::Json);
    }

    #[test]
    fn a_schema_is_sent_digit_for_digit() {
        let schema = Value::parse(r#"{"type":"number","maximum":1234567890123456789012.50}"#).unwrap();
        let request = Request::new(vec![], 5).with_format(Format::Schema { name: "amount".into(), schema });
        let (body, used) = body(&target(FormatSupport::Schema, Streaming::Off), &request);
        insta::assert_snapshot!(body, @r#"{"model":"m-1","messages":[],"temperature":0,"max_tokens":5,"response_format":{"type":"json_schema","json_schema":{"name":"amount","strict":false,"schema":{"type":"number","maximum":1234567890123456789012.50}}}}"#);
        assert_eq!(used, FormatUsed::Schema);
    }
}
