//! Answers and recorded requests of a scripted model.

use reknit_fakes::Reply;
use reknit_fakes::model::{RequestMatcher, Script, ScriptError, ScriptedModel};
use reknit_protocol::Value;

use crate::support::{answer_text, ask, ask_streaming, client, model_with};

#[tokio::test]
async fn the_first_active_rule_that_matches_gives_the_reply() {
    let script = Script::new()
        .once(RequestMatcher::any().purpose("plan_generation"), Reply::text("first plan"))
        .times(2, RequestMatcher::any().purpose("plan_generation"), Reply::text("another plan"))
        .on(RequestMatcher::any().purpose("plan_generation").lacks("hurry"), Reply::text("enough"))
        .on(RequestMatcher::any().says("capability: geocode").says("Seoul"), Reply::text("a place"))
        .on(RequestMatcher::any().nth(7), Reply::text("the seventh"))
        .on(RequestMatcher::any().passes(|request| request.model() == "m"), Reply::text("anything"));
    let model = ScriptedModel::start(script).await.unwrap();
    let plan = "purpose: plan_generation\nYou plan.";
    for expected in ["first plan", "another plan", "another plan", "enough"] {
        assert_eq!(answer_text(ask(&model, plan, "go")).await, expected);
    }
    assert_eq!(answer_text(ask(&model, plan, "hurry")).await, "anything");
    assert_eq!(answer_text(ask(&model, "", "capability: geocode\nlocation: Seoul")).await, "a place");
    assert_eq!(answer_text(ask(&model, "", "go")).await, "the seventh");
    assert_eq!(answer_text(ask(&model, "", "capability: geocode")).await, "anything");
    assert_eq!(model.unmatched(), []);
}

#[tokio::test]
async fn a_request_without_a_rule_is_answered_with_500_and_recorded() {
    let model = ScriptedModel::start(Script::new()).await.unwrap();
    let response = ask(&model, "purpose: synthesis", "what now?").send().await.unwrap();
    assert_eq!(response.status(), 500);
    insta::assert_snapshot!(response.text().await.unwrap(), @r#"
    {"error":{"message":"the script has no reply for request 1 (purpose: synthesis): purpose: synthesis\nwhat now?","type":"script_error"}}
    "#);
    let [request] = &model.unmatched()[..] else { panic!("one request was made") };
    assert_eq!(request.messages[1].content, "what now?");
}

#[tokio::test]
async fn a_request_is_recorded_with_purpose_text_and_headers() {
    let model = model_with(Reply::text("fine")).await;
    let request = ask(&model, "purpose: error_analysis\nBe brief.", "amount is 46828.50").bearer_auth("secret");
    answer_text(request).await;
    model.wait_for_requests(1).await;
    let [request] = &model.requests()[..] else { panic!("one request was made") };
    assert_eq!(request.purpose(), Some("error_analysis"));
    assert_eq!(request.text(), "purpose: error_analysis\nBe brief.\namount is 46828.50");
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
    assert!(request.matched);
}

#[tokio::test]
async fn an_answer_has_the_format_of_chat_completions() {
    let model = model_with(Reply::text("two words")).await;
    let response = ask(&model, "one", "two three").send().await.unwrap();
    insta::assert_snapshot!(response.text().await.unwrap(), @r#"
    {"id":"scripted-1","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"two words"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}
    "#);
    let model = model_with(Reply::text("cut").usage(10, 20).finish_reason("length")).await;
    let body: serde_json::Value = ask(&model, "", "").send().await.unwrap().json().await.unwrap();
    assert_eq!(body["usage"]["total_tokens"], 30);
    assert_eq!(body["choices"][0]["finish_reason"], "length");
    let model = model_with(Reply::text("quiet").without_usage()).await;
    let body: serde_json::Value = ask(&model, "", "").send().await.unwrap().json().await.unwrap();
    assert!(body.get("usage").is_none());
}

#[tokio::test]
async fn a_streamed_answer_comes_in_fragments_and_ends_with_usage_and_done() {
    let model = model_with(Reply::text("Grüße aus 서울!")).await;
    let response = ask_streaming(&model, "hello").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    insta::assert_snapshot!(response.text().await.unwrap().replace("\n\n", "\n"), @r#"
    data: {"id":"scripted-1","object":"chat.completion.chunk","created":0,"model":"scripted","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}
    data: {"id":"scripted-1","object":"chat.completion.chunk","created":0,"model":"scripted","choices":[{"index":0,"delta":{"content":"Grüße a"},"finish_reason":null}]}
    data: {"id":"scripted-1","object":"chat.completion.chunk","created":0,"model":"scripted","choices":[{"index":0,"delta":{"content":"us 서울!"},"finish_reason":null}]}
    data: {"id":"scripted-1","object":"chat.completion.chunk","created":0,"model":"scripted","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
    data: {"id":"scripted-1","object":"chat.completion.chunk","created":0,"model":"scripted","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":3,"total_tokens":4}}
    data: [DONE]
    "#);
}

#[tokio::test]
async fn an_answer_has_the_format_of_each_api() {
    let reply = Reply::text("yes").reasoning("hm").with_tool_call("f", "{\"x\":1}").usage(3, 2);
    let model = model_with(reply).await;
    let post = |path: &str| {
        let body = serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "well?"}],
            "contents": [{"role": "user", "parts": [{"text": "well?"}]}], "input": "well?"});
        client().post(format!("{}/{path}", model.base_url())).json(&body)
    };
    let mut bodies = String::new();
    for path in ["messages", "models/m:generateContent", "responses"] {
        bodies += &post(path).send().await.unwrap().text().await.unwrap();
        bodies.push('\n');
    }
    insta::assert_snapshot!(bodies, @r#"
    {"id":"scripted-1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":"scripted"},{"type":"text","text":"yes"},{"type":"tool_use","id":"scripted-1-call-1","name":"f","input":{"x":1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2}}
    {"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"yes"},{"functionCall":{"id":"scripted-2-call-1","name":"f","args":{"x":1}},"thoughtSignature":"scripted"}],"role":"model"},"index":0,"finishReason":"STOP"}],"modelVersion":"m","responseId":"scripted-2","usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}}
    {"id":"scripted-3","object":"response","created_at":0,"status":"completed","error":null,"incomplete_details":null,"model":"m","output":[{"id":"rs-1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"scripted"},{"id":"msg-1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"yes","annotations":[]}]},{"id":"fc-0","type":"function_call","call_id":"scripted-3-call-1","name":"f","arguments":"{\"x\":1}"}],"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}
    "#);
    for request in model.requests() {
        assert_eq!((request.text().as_str(), request.model()), ("well?", "m"), "{:?}", request.api);
    }
}

#[tokio::test]
async fn a_script_can_be_read_from_a_file() {
    let text = r#"{"rules": [
        {"when": {"purpose": "plan_generation", "says": ["Seoul"]}, "times": 1, "reply": {"status": 429, "retry_after": 2, "body": "slow down"}},
        {"when": {"nth": 2, "lacks": ["Paris"]}, "reply": {"text": "a plan", "finish_reason": "length"}},
        {"when": {"says": ["Rome"]}, "reply": {"calls": [{"name": "f", "arguments": "{"}], "reasoning": "hm"}},
        {"reply": {"text": "something else", "status": 203}}
    ]}"#;
    let script = Script::from_value(&Value::parse(text).unwrap()).unwrap();
    let model = ScriptedModel::start(script).await.unwrap();
    let refused = ask(&model, "purpose: plan_generation", "Seoul").send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"2".parse().unwrap()));
    assert_eq!(refused.text().await.unwrap(), "slow down");
    assert_eq!(answer_text(ask(&model, "purpose: plan_generation", "Seoul")).await, "a plan");
    assert_eq!(ask(&model, "", "Seoul").send().await.unwrap().status(), 203);
    let body: serde_json::Value = ask(&model, "", "Rome").send().await.unwrap().json().await.unwrap();
    assert_eq!(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{");
    assert_eq!(body["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_script_with_missing_or_conflicting_parts_is_refused() {
    for (text, problem) in [
        (
            r#"{"rules": [{"reply": {"text": "a", "body": "b"}}]}"#,
            "rule 1 cannot be used: a reply may have only one of `text`, `body` and `refusal`",
        ),
        (
            r#"{"rules": [{"reply": {"text": "a"}}, {"reply": {}}]}"#,
            "rule 2 cannot be used: a reply needs `text`, `body`, `refusal`, `status`, or the fault `reset` or `silence`",
        ),
        (
            r#"{"rules": [{"times": 1, "for_ms": 5, "reply": {"text": "a"}}]}"#,
            "rule 1 cannot be used: a rule may have only one of `times`, `for_ms`, `flapping` and `flapping_ms`",
        ),
    ] {
        assert_eq!(Script::from_value(&Value::parse(text).unwrap()).unwrap_err().to_string(), problem);
    }
    for text in [r#"{"rules": [{"reply": {"txt": "a"}}]}"#, r#"{"rule": []}"#, "[]"] {
        let error = Script::from_value(&Value::parse(text).unwrap()).unwrap_err();
        assert!(matches!(error, ScriptError::Shape(_)), "{text}: {error}");
    }
}
