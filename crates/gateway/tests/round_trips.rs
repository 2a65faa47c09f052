//! Responses and streams are read back as they were written, in every API.
#![cfg(test)]

use proptest::prelude::*;
use reknit_gateway::{
    AnswerMender, Identity, MendedAnswer, StreamMender, StreamWriter, patch_response, read_request, write_response,
};
use reknit_model_api::{
    Api, Delta, FinishReason, Message, ModelAnswer, ModelRequest, ToolCall, ToolChoice, ToolDefinition, Usage,
};
use reknit_models::{Provider, decode_body, decode_stream};
use reknit_protocol::{Object, Value};

const APIS: [(Api, Provider); 3] = [
    (Api::ChatCompletions, Provider::Compatible),
    (Api::Responses, Provider::OpenAiResponses),
    (Api::Messages, Provider::Anthropic),
];

fn request() -> ModelRequest {
    let schema =
        Value::parse(r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#);
    let tool = ToolDefinition { name: "weather".into(), description: String::new(), schema: schema.unwrap() };
    ModelRequest::new(vec![Message::user("How warm is it?")], 100).with_tools(vec![tool], ToolChoice::Auto)
}

fn identity() -> Identity {
    Identity { id: "1".to_owned(), created: 7 }
}

fn answer(text: &str, calls: usize) -> ModelAnswer {
    let mut answer = ModelAnswer::complete(text, "m", Usage::reported(5, 3));
    let call =
        |number| ToolCall::new(format!("id_{number}"), "weather", format!(r#"{{"city":"Seoul","days":{number}}}"#));
    answer.tool_calls = (1..=calls).map(call).collect();
    if calls > 0 {
        answer.finish = FinishReason::ToolCalls;
    }
    answer
}

/// What callers can see of an answer. A finish reason of `responses` does not tell calls from text.
fn seen(answer: &ModelAnswer) -> (String, Vec<(String, String, String)>, FinishReason) {
    let calls = answer.tool_calls.iter().map(|call| (call.id.to_string(), call.name.clone(), call.arguments.clone()));
    (answer.text.clone(), calls.collect(), answer.finish.clone())
}

/// Streams an answer in pieces through the mender, and reads the stream as a client does.
fn streamed((api, provider): (Api, Provider), answer: &ModelAnswer, pieces: &[&str]) -> (ModelAnswer, MendedAnswer) {
    let request = request();
    let mender = AnswerMender::new(&request);
    let mut stream = StreamMender::new(StreamWriter::new(api, identity(), "m", true), Some(&mender), false);
    let mut bytes: Vec<u8> = pieces.iter().flat_map(|piece| stream.delta(Delta::Text(piece))).collect();
    for (index, call) in answer.tool_calls.iter().enumerate() {
        bytes.extend(stream.delta(Delta::ToolCall { index, name: Some(&call.name), arguments: &call.arguments }));
    }
    let result =
        mender.mend(answer.clone()).unwrap_or_else(|unusable| *unusable.harmless.expect("the answer is harmless"));
    bytes.extend(stream.end(&result, false));
    let read = decode_stream(provider, &request, [&bytes[..]], &mut |_| {});
    (read.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes))), result)
}

fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut places: Vec<usize> =
        cuts.iter().map(|cut| cut % (text.len() + 1)).filter(|at| text.is_char_boundary(*at)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).filter_map(|pair| text.get(pair[0]..pair[1])).filter(|piece| !piece.is_empty()).collect()
}

proptest! {
    #[test]
    fn a_stream_says_what_the_answer_says_however_it_is_cut(
        text in r#"(a|b |\n|`|```|json|\{|\}|<|<tool_call>|</tool_call>|\[|"|é){1,20}x"#,
        calls in 0_usize..3,
        cuts in prop::collection::vec(0_usize..200, 0..8),
    ) {
        let answer = answer(&text, calls);
        for api in APIS {
            let (read, mended) = streamed(api, &answer, &pieces(&text, &cuts));
            prop_assert_eq!(seen(&read), seen(&mended.answer), "{}", api.0);
        }
    }

    #[test]
    fn a_response_says_what_the_answer_says(text in "[a-z {}\"\n]{1,30}", calls in 0_usize..3) {
        let answer = answer(&text, calls);
        for (api, provider) in APIS {
            let body = write_response(api, &answer, &identity()).to_string();
            let read = decode_body(provider, &request(), body.as_bytes()).unwrap();
            prop_assert_eq!(seen(&read), seen(&answer), "{}", api);
            prop_assert_eq!(read.usage.output_tokens, 3);
        }
    }

    #[test]
    fn no_request_makes_the_reader_panic(keys in prop::collection::vec((r"model|messages|input|tools|tool_choice|max_tokens|n|stop|text|system", r#"null|1|"a"|\[\]|\{\}|\[1\]|\[\{"role":"user","content":\[\{"type":"image_url"\}\]\}\]|\[\{"type":"function"\}\]"#), 0..8)) {
        let mut body = Object::new();
        for (key, value) in keys {
            body.insert(key, Value::parse(&value).unwrap());
        }
        for (api, _) in APIS {
            let _ = read_request(api, body.clone());
        }
    }
}

#[test]
fn a_call_written_as_text_is_taken_out_of_a_stream_however_it_is_cut() {
    let text = "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\", \"days\": \"2\"}}</tool_call>";
    for api in APIS {
        for size in [1, 3, 7, 200] {
            let cuts: Vec<usize> = (0..text.len()).step_by(size).collect();
            let (read, _) = streamed(api, &answer(text, 0), &pieces(text, &cuts));
            assert_eq!(read.text.trim(), "", "{api:?}");
            assert_eq!(read.tool_calls[0].arguments, r#"{"city":"Seoul","days":2}"#, "{api:?}");
        }
    }
}

#[test]
fn a_patched_response_keeps_the_fields_that_were_not_mended() {
    for (api, provider) in APIS {
        let mut response = write_response(api, &answer("so", 1), &identity());
        response.insert("unknown", 1.to_string());
        let mut mended = answer("so", 1);
        mended.tool_calls[0].arguments = r#"{"city":"Busan"}"#.to_owned();
        patch_response(api, &mut response, &mended);
        let read = decode_body(provider, &request(), response.to_string().as_bytes()).unwrap();
        assert_eq!(seen(&read), seen(&mended), "{api}");
        assert_eq!(response.get("unknown").and_then(Value::as_str), Some("1"));
    }
}
