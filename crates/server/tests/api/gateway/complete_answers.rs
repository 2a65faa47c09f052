//! Answers that a provider may send, and that are passed on as they are, and answers of which nothing is made.

use reknit_models::Provider;
use serde_json::{Value as Json, json};

use super::upstream::{Answer, Upstream};
use super::{Gateway, header, json_of, question, weather_question};

fn chat(message: &str, finish: &str) -> String {
    format!(r#"{{"id":"x",  "choices":[{{"index":0,"finish_reason":"{finish}","message":{message}}}]}}"#)
}

fn messages(content: &str, reason: &str) -> String {
    format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m",  "content":{content},"stop_reason":"{reason}","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    )
}

fn claude_question() -> Json {
    let tool = &weather_question()["tools"][0]["function"];
    let tool = json!({"name": tool["name"], "input_schema": tool["parameters"]});
    json!({"model": "auto", "max_tokens": 100, "messages": [{"role": "user", "content": "How warm is it?"}], "tools": [tool]})
}

#[tokio::test]
async fn every_complete_answer_that_a_provider_may_send_passes_byte_for_byte_in_one_attempt() {
    let legacy = r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\": 1}"}}"#;
    let audio =
        r#"{"role":"assistant","content":null,"audio":{"id":"a","data":"UklG","transcript":"hi","expires_at":1}}"#;
    let (plain, tools) = (question(), weather_question());
    let mut with_format = question();
    with_format["response_format"] = json!({"type": "json_object"});
    let json_call = chat(legacy, "function_call");
    for (body, asked) in [
        (chat(legacy, "function_call"), &plain),
        (chat(legacy, "stop"), &plain),
        (json_call, &with_format),
        (chat(audio, "stop"), &plain),
        (chat(r#"{"role":"assistant","content":""}"#, "stop"), &tools),
        (chat(r#"{"role":"assistant","content":null}"#, "stop"), &tools),
        (chat(r#"{"role":"assistant","content":"  \n"}"#, "stop"), &plain),
        (chat(r#"{"role":"assistant","content":null,"refusal":"No."}"#, "stop"), &with_format),
    ] {
        let upstream = Upstream::start([Answer::json(200, body.clone())]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::Compatible).await;
        let response = gateway.chat(asked).await;
        assert_eq!(response.status().as_u16(), 200, "{body}");
        assert_eq!(response.text().await.expect("a body"), body);
        assert_eq!(upstream.received().len(), 1, "{body}");
    }
    let empty = messages("[]", "end_turn");
    let upstream = Upstream::start([Answer::json(200, empty.clone())]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::Anthropic).await;
    assert_eq!(gateway.post("/v1/messages", &claude_question()).await.text().await.expect("a body"), empty);
}

#[tokio::test]
async fn no_json_is_made_of_a_refusal() {
    let refusal = chat(r#"{"role":"assistant","content":"I cannot do that."}"#, "stop");
    let list = json!({"type": "array", "items": {"type": "string"}});
    for format in [
        json!({"type": "json_object"}),
        json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}),
        json!({"type": "json_schema", "json_schema": {"name": "a", "schema": list}}),
    ] {
        let upstream = Upstream::start([Answer::json(200, refusal.clone())]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::Compatible).await;
        let mut body = question();
        body["response_format"] = format.clone();
        let response = gateway.chat(&body).await;
        assert_eq!(response.status().as_u16(), 502, "{format}");
        let message = json_of(response).await["error"]["message"].to_string();
        assert!(message.contains("it is the text `I cannot do that.`"), "{message}");
    }
}

#[tokio::test]
async fn a_call_that_the_token_limit_cut_is_left_out_of_a_whole_answer() {
    let block = |input: &str| format!(r#"[{{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{input}}}]"#);
    for input in ["{}", r#"{"city":"Se"}"#] {
        let upstream = Upstream::start([Answer::json(200, messages(&block(input), "max_tokens"))]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::Anthropic).await;
        let response = gateway.post("/v1/messages", &claude_question()).await;
        assert!(header(&response, "x-reknit-mended").contains("is cut, and was left out"), "{input}");
        let answer = json_of(response).await;
        assert_eq!((&answer["content"], &answer["stop_reason"]), (&json!([]), &json!("max_tokens")), "{input}");
        assert_eq!(upstream.received().len(), 1);
    }
    let whole = messages(&block(r#"{"city":"Seoul","days":3}"#), "max_tokens");
    let upstream = Upstream::start([Answer::json(200, whole.clone())]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::Anthropic).await;
    assert_eq!(gateway.post("/v1/messages", &claude_question()).await.text().await.expect("a body"), whole);
}
