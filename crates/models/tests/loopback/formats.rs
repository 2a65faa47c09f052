//! The addresses, headers, bodies and framing of the formats that only one provider speaks, and attachments.

use reknit_model_api::{Attachment, ErrorClass, FinishReason, Message, ModelAnswer, ModelFailure, ModelRequest};
use reknit_models::{Models, Provider, RequestDefaults, RequestExtras, Streaming, Target};
use reknit_protocol::Value;

use crate::server::{Server, ServerAction, response};

const JSON: &str = "content-type: application/json\r\n";

async fn ask(target: Target, request: &ModelRequest) -> Result<ModelAnswer, ModelFailure> {
    let name = target.name.clone();
    Models::new(vec![target]).unwrap().ask(&name, request, &mut |_| {}).await
}

fn question() -> ModelRequest {
    ModelRequest::new(vec![Message::system("Be brief."), Message::user("How much?")], 100)
}

/// A target of this provider at the server, below this path.
fn target(server: &Server, provider: Provider, path: &str, streaming: Streaming) -> Target {
    Target {
        base_url: format!("http://{}{path}", server.address),
        key: Some("k-1".into()),
        streaming,
        ..Target::for_provider(provider, "a", "m-1")
    }
}

/// The first line, the header with the key, and the body.
fn parts(request: &str) -> (String, String, String) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let first = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    let key = head.lines().find(|line| line.ends_with("k-1")).unwrap_or_default().to_owned();
    (first, key, body.to_owned())
}

#[tokio::test]
async fn each_format_has_its_address_its_key_and_its_answer() {
    let chat = r#"{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}"#;
    let anthropic = r#"{"content":[{"type":"text","text":"7"}],"stop_reason":"end_turn"}"#;
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"7"}]},"finishReason":"STOP"}]}"#;
    let bedrock = r#"{"output":{"message":{"content":[{"text":"7"}]}},"stopReason":"end_turn"}"#;
    let cohere = r#"{"id":"1","finish_reason":"COMPLETE","message":{"content":[{"type":"text","text":"7"}]}}"#;
    let ollama = r#"{"message":{"content":"7"},"done":true,"done_reason":"stop"}"#;
    let (project, bearer) = ("/v1/projects/p/locations/l/publishers", "authorization: Bearer k-1");
    for (provider, path, body, line, key) in [
        (Provider::Azure, String::new(), chat, "POST /openai/v1/chat/completions", "api-key: k-1"),
        (
            Provider::Azure,
            "/openai/deployments/d".to_owned(),
            chat,
            "POST /openai/deployments/d/chat/completions?api-version=2024-10-21",
            "api-key: k-1",
        ),
        (
            Provider::Vertex,
            format!("{project}/google"),
            gemini,
            "POST /v1/projects/p/locations/l/publishers/google/models/m-1:generateContent",
            bearer,
        ),
        (
            Provider::VertexAnthropic,
            format!("{project}/anthropic"),
            anthropic,
            "POST /v1/projects/p/locations/l/publishers/anthropic/models/m-1:rawPredict",
            bearer,
        ),
        (Provider::Bedrock, String::new(), bedrock, "POST /model/m-1/converse", bearer),
        (Provider::Cohere, "/v2".to_owned(), cohere, "POST /v2/chat", bearer),
        (Provider::Ollama, String::new(), ollama, "POST /api/chat", bearer),
    ] {
        let mut server = Server::responding("200 OK", JSON, body).await;
        let answer = ask(target(&server, provider, &path, Streaming::Off), &question()).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("7", FinishReason::Complete), "{provider}");
        let (first, sent_key, sent) = parts(&server.request().await);
        assert_eq!((first.as_str(), sent_key.as_str()), (line, key), "{provider}");
        assert!(sent.contains("How much?"), "{provider}: {sent}");
        if provider == Provider::VertexAnthropic {
            assert!(sent.starts_with(r#"{"anthropic_version":"vertex-2023-10-16","#) && !sent.contains(r#""model""#));
        }
    }
}

#[tokio::test]
async fn a_stream_of_lines_is_read_to_its_last_line() {
    let lines = "{\"model\":\"m-1\",\"message\":{\"content\":\"4\"},\"done\":false}\n{\"message\":{\"content\":\"2\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":5,\"eval_count\":2}\n";
    let mut server = Server::responding("200 OK", "content-type: application/x-ndjson\r\n", lines).await;
    let answer = ask(target(&server, Provider::Ollama, "", Streaming::On), &question()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.input_tokens, answer.usage.output_tokens), ("42", 5, 2));
    assert!(server.request().await.contains(r#""stream":true"#));
    let truncated = lines.lines().next().unwrap();
    let server = Server::responding("200 OK", "content-type: application/x-ndjson\r\n", truncated).await;
    let failure = ask(target(&server, Provider::Ollama, "", Streaming::On), &question()).await.unwrap_err();
    assert_eq!((failure.class, failure.partial.as_str()), (ErrorClass::InvalidResponse, "4"));
}

/// A frame of AWS with an event.
fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let checksum = |bytes: &[u8]| {
        let bit = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| bit(crc)))
    };
    let mut encoded = Vec::new();
    for (name, value) in headers {
        encoded.push(u8::try_from(name.len()).unwrap());
        encoded.extend_from_slice(name.as_bytes());
        encoded.push(7);
        encoded.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        encoded.extend_from_slice(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    let mut frame = [length(16 + encoded.len() + payload.len()), length(encoded.len())].concat();
    frame.extend_from_slice(&checksum(&frame).to_be_bytes());
    frame.extend_from_slice(&encoded);
    frame.extend_from_slice(payload.as_bytes());
    frame.extend_from_slice(&checksum(&frame).to_be_bytes());
    frame
}

fn event(kind: &str, payload: &str) -> Vec<u8> {
    frame(&[(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")], payload)
}

async fn framed(frames: Vec<u8>) -> Server {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nx-amzn-requestid: r-1\r\nconnection: close\r\n\r\n";
    Server::new([ServerAction::Send([head.as_bytes(), &frames].concat())]).await
}

#[tokio::test]
async fn a_stream_of_frames_is_read_and_signed_with_the_keys_of_an_account() {
    let frames = [
        event("messageStart", r#"{"role":"assistant"}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"42"}}"#),
        event("messageStop", r#"{"stopReason":"end_turn"}"#),
        event("metadata", r#"{"usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}}"#),
    ];
    let mut server = framed(frames.concat()).await;
    let bedrock = Target {
        key: Some("AKID:secret+key:session".into()),
        model: "anthropic.claude-sonnet-4-5-20250929-v1:0".into(),
        ..target(&server, Provider::Bedrock, "", Streaming::On)
    };
    let answer = ask(bedrock, &question()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.request_id.as_deref()), ("42", Some("r-1")));
    let request = server.request().await;
    assert!(request.starts_with("POST /model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream HTTP/1.1"));
    let signed = "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
    assert!(
        request.contains("authorization: AWS4-HMAC-SHA256 Credential=AKID/") && request.contains(signed),
        "{request}"
    );
    assert!(request.contains("x-amz-security-token: session") && !request.contains("secret+key"), "{request}");
}

#[tokio::test]
async fn an_exception_in_a_stream_of_frames_is_a_failure_of_its_class() {
    let exception = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    let frames = [
        event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"4"}}"#),
        frame(&exception, r#"{"message":"slow down"}"#),
    ];
    let server = framed(frames.concat()).await;
    let failure = ask(target(&server, Provider::Bedrock, "", Streaming::On), &question()).await.unwrap_err();
    assert_eq!((failure.to_string().as_str(), failure.partial.as_str()), ("rate limited: slow down", "4"));
    assert_eq!(failure.request_id.as_deref(), Some("r-1"));
}

#[tokio::test]
async fn a_failure_has_the_id_of_its_request() {
    let server = Server::responding("500 Internal Server Error", "x-request-id: req-7\r\n", "").await;
    assert_eq!(ask(server.target(), &question()).await.unwrap_err().request_id.as_deref(), Some("req-7"));
    let head = format!("{JSON}request-id: req-8\r\n");
    let server = Server::responding("200 OK", &head, "{}").await;
    let failure = ask(server.whole_target(), &question()).await.unwrap_err();
    assert_eq!((failure.class, failure.request_id.as_deref()), (ErrorClass::InvalidResponse, Some("req-8")));
}

#[tokio::test]
async fn the_reported_cost_counts_where_no_price_is_known() {
    let body = r#"{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"cost":0.25}}"#;
    let server = Server::responding("200 OK", JSON, body).await;
    let answer = ask(server.whole_target(), &question()).await.unwrap();
    assert_eq!((answer.cost.unwrap().to_string(), answer.cost), ("0.25".to_owned(), answer.reported_cost));
    let million = reknit_model_api::Price::from_micros(1_000_000);
    let prices = Some(reknit_model_api::Prices::new(million, million));
    let answer = ask(Target { prices, ..server.whole_target() }, &question()).await.unwrap();
    assert_eq!(
        (answer.cost.unwrap().to_string(), answer.reported_cost.unwrap().to_string()),
        ("0.00001".into(), "0.25".into())
    );
}

#[tokio::test]
async fn what_is_configured_for_a_model_is_part_of_every_request() {
    let body = r#"{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}"#;
    let mut server = Server::responding("200 OK", JSON, body).await;
    let Value::Object(extra) = Value::parse(r#"{"top_k":40,"max_tokens":5}"#).unwrap() else { panic!("an object") };
    let extras = RequestExtras {
        body: extra,
        without: vec!["stream_options".into()],
        headers: [("X-Title".to_owned(), "reknit".to_owned())].into(),
        query: [("api-version".to_owned(), "1 2".to_owned())].into(),
    };
    let defaults = RequestDefaults { top_p: 0.9.try_into().ok(), ..RequestDefaults::default() };
    ask(Target { extras, defaults, ..server.target() }, &question()).await.unwrap();
    let request = server.request().await;
    assert!(request.starts_with("POST /v1/chat/completions?api-version=1+2 HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("x-title: reknit\r\n"), "{request}");
    let (.., sent) = parts(&request);
    assert!(sent.contains(r#""top_p":0.9"#) && sent.contains(r#""max_tokens":5"#), "{sent}");
    assert!(sent.contains(r#""top_k":40"#) && !sent.contains("stream_options"), "{sent}");

    let broken = RequestExtras { headers: [("a b".to_owned(), "c".to_owned())].into(), ..RequestExtras::default() };
    let error = Models::new(vec![Target { extras: broken, ..server.target() }]).unwrap_err();
    assert_eq!(error.to_string(), "the header `a b` of model `a` has an invalid name or value");
}

#[tokio::test]
async fn an_attachment_is_sent_in_the_form_of_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chart.png");
    std::fs::write(&file, b"abc").unwrap();
    let from_file = Attachment::file(file.display().to_string()).unwrap();
    let request = ModelRequest::new(vec![Message::user("What is it?").with_attachments(vec![from_file])], 100);
    for (provider, expected) in [
        (Provider::Compatible, r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}}"#),
        (Provider::OpenAiResponses, r#"{"type":"input_image","image_url":"data:image/png;base64,YWJj"}"#),
        (Provider::Anthropic, r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"YWJj"}}"#),
        (Provider::Gemini, r#"{"inlineData":{"mimeType":"image/png","data":"YWJj"}}"#),
        (Provider::Bedrock, r#"{"image":{"format":"png","source":{"bytes":"YWJj"}}}"#),
        (Provider::Cohere, r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}}"#),
        (Provider::Ollama, r#""images":["YWJj"]"#),
    ] {
        let mut server = Server::new([ServerAction::Send(response("200 OK", JSON, "{}"))]).await;
        let _ = ask(target(&server, provider, "", Streaming::Off), &request).await;
        let (.., sent) = parts(&server.request().await);
        assert!(sent.contains(expected) && sent.contains("What is it?"), "{provider}: {sent}");
    }
}

#[tokio::test]
async fn documents_sound_and_the_attachments_of_results_have_their_place() {
    let call = reknit_model_api::ToolCall::new("c-1", "f", "{}");
    let with = |attachment: &Attachment| {
        let messages = vec![
            Message::user("?").with_attachments(vec![attachment.clone()]),
            Message::assistant_with_calls("", vec![call.clone()]),
            Message::tool_result(&call, "see").with_attachments(vec![attachment.clone()]),
            Message::user("go on"),
        ];
        ModelRequest::new(messages, 100)
    };
    let report = Attachment { name: Some("r.pdf".into()), ..Attachment::bytes("application/pdf", b"abc") };
    let sound = Attachment::bytes("audio/mpeg", b"abc");
    let linked = Attachment::url("image/png", "https://x/y.png");
    for (provider, attachment, expected) in [
        (
            Provider::Compatible,
            &report,
            r#"{"type":"file","file":{"filename":"r.pdf","file_data":"data:application/pdf;base64,YWJj"}}"#,
        ),
        (Provider::Compatible, &sound, r#"{"type":"input_audio","input_audio":{"data":"YWJj","format":"mp3"}}"#),
        (Provider::Compatible, &linked, r#"{"type":"image_url","image_url":{"url":"https://x/y.png"}}"#),
        (
            Provider::OpenAiResponses,
            &report,
            r#"{"type":"input_file","filename":"r.pdf","file_data":"data:application/pdf;base64,YWJj"}"#,
        ),
        (
            Provider::Anthropic,
            &report,
            r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"YWJj"},"title":"r.pdf"}"#,
        ),
        (Provider::Anthropic, &linked, r#"{"type":"image","source":{"type":"url","url":"https://x/y.png"}}"#),
        (Provider::Gemini, &sound, r#"{"inlineData":{"mimeType":"audio/mpeg","data":"YWJj"}}"#),
        (Provider::Gemini, &linked, r#"{"fileData":{"mimeType":"image/png","fileUri":"https://x/y.png"}}"#),
        (Provider::Bedrock, &report, r#"{"document":{"format":"pdf","name":"r-pdf","source":{"bytes":"YWJj"}}}"#),
    ] {
        let mut server = Server::responding("200 OK", JSON, "{}").await;
        // Only the configuration says what the models of some providers take.
        let inputs = Some(reknit_model_api::AttachmentKind::ALL.to_vec());
        let target = Target { inputs, ..target(&server, provider, "", Streaming::Off) };
        let _ = ask(target, &with(attachment)).await;
        let (.., sent) = parts(&server.request().await);
        assert_eq!(sent.matches(expected).count(), 2, "{provider}: {sent}");
    }
}

#[tokio::test]
async fn a_model_that_may_not_take_the_attachment_of_a_result_reads_about_it() {
    let call = reknit_model_api::ToolCall::new("c-1", "f", "{}");
    let result = Message::tool_result(&call, "a chart").with_attachments(vec![Attachment::bytes("image/png", b"abc")]);
    let request = ModelRequest::new(vec![Message::user("?"), result], 100);
    let mut server = Server::responding("200 OK", JSON, "{}").await;
    let _ = ask(target(&server, Provider::Compatible, "", Streaming::Off), &request).await;
    let (.., sent) = parts(&server.request().await);
    assert!(
        sent.contains(r#""content":"a chart\n(an attachment of type image/png is not shown to this model)""#),
        "{sent}"
    );
    assert!(!sent.contains("YWJj"), "{sent}");
}

#[tokio::test]
async fn an_attachment_that_cannot_be_sent_is_a_failure_before_any_request() {
    let mut server = Server::new([]).await;
    let sent = |attachment: Attachment, target: Target| {
        let request = ModelRequest::new(vec![Message::user("?").with_attachments(vec![attachment])], 100);
        async move { ask(target, &request).await.unwrap_err().to_string() }
    };
    let image = || Attachment::bytes("image/png", b"abc");
    let text_only = Target { inputs: Some(vec![]), ..server.target() };
    assert_eq!(
        sent(image(), text_only).await,
        "model error: not sent: model `a` takes no image (image/png); its `inputs` do not list it"
    );
    let missing = sent(Attachment::path("image/png", "/no/such/file"), server.target()).await;
    assert!(missing.starts_with("model error: not sent: attachment `/no/such/file`: No such file"), "{missing}");
    assert_eq!(server.requests(), 0);

    // What a server says that has loaded no part for images.
    let body = r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#;
    let server = Server::responding("500 Internal Server Error", JSON, body).await;
    let refused = sent(image(), server.target()).await;
    assert!(refused.starts_with("model error (HTTP 500): image input is not supported"), "{refused}");
}
