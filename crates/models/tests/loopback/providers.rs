//! One script in the wire format of each provider, streamed and not.

use reknit_fakes::model::{ModelApi, RequestMatcher, Script};
use reknit_fakes::{Cassette, Reply, ScriptedModel};
use reknit_model_api::{FinishReason, Message, ModelAnswer, ModelRequest, ToolCall, ToolChoice, ToolDefinition};
use reknit_models::{Models, Provider, Streaming, Target};
use reknit_protocol::Value;

use crate::without_timings;

const PROVIDERS: [(Provider, ModelApi); 5] = [
    (Provider::OpenAi, ModelApi::Chat),
    (Provider::OpenAiResponses, ModelApi::Responses),
    (Provider::Anthropic, ModelApi::Anthropic),
    (Provider::Gemini, ModelApi::Gemini),
    (Provider::Compatible, ModelApi::Chat),
];

fn target(model: &ScriptedModel, provider: Provider, streaming: Streaming) -> Target {
    Target {
        base_url: model.base_url(),
        streaming,
        key: Some("k-1".into()),
        ..Target::for_provider(provider, "a", "m-1")
    }
}

fn request() -> ModelRequest {
    let schema = Value::parse(r#"{"type":"object"}"#).unwrap();
    let tool = ToolDefinition { name: "f".into(), description: "Does it.".into(), schema };
    ModelRequest::new(vec![Message::system("purpose: synthesis"), Message::user("how much?")], 2_000)
        .with_tools(vec![tool], ToolChoice::Auto)
}

async fn ask(target: Target, request: &ModelRequest) -> ModelAnswer {
    let name = target.name.clone();
    let answer = Models::new(vec![target]).unwrap().ask(&name, request, &mut |_| {}).await;
    without_timings(answer).unwrap()
}

#[tokio::test]
async fn the_same_script_gives_the_same_answer_in_every_format_streamed_or_not() {
    let replies = [
        Reply::text("It is 46828.50, grüße aus 서울.").usage(12, 5),
        Reply::text("A moment.").with_tool_call("f", r#"{"x":1.5,"y":"ä\"b"}"#).with_tool_call("g", "{}").usage(12, 5),
        Reply::tool_call("f", r#"{"x":[1,2,3]}"#).reasoning("I have to look it up.").usage(12, 5),
        Reply::text("half").finish_reason("length").usage(12, 5),
    ];
    for reply in replies {
        let mut first: Option<ModelAnswer> = None;
        for (provider, _) in PROVIDERS {
            for streaming in [Streaming::On, Streaming::Off] {
                let model = ScriptedModel::start(Script::new().on(RequestMatcher::any(), reply.clone())).await.unwrap();
                let mut answer = ask(target(&model, provider, streaming), &request()).await;
                assert_eq!(model.unmatched(), []);
                // Fields that depend on the format.
                answer.omitted_options.clear();
                answer.reasoning.iter_mut().for_each(|thought| thought.provider_state = None);
                answer.tool_calls.iter_mut().for_each(|call| call.provider_state = None);
                match &first {
                    Some(first) => assert_eq!(answer, *first, "{provider} {streaming:?}"),
                    None => first = Some(answer),
                }
            }
        }
        let first = first.unwrap();
        assert_eq!((first.usage.input_tokens, first.model.as_str()), (12, "m-1"));
        assert_eq!(first.request_id.as_deref(), Some("scripted-1"));
    }
}

#[tokio::test]
async fn a_conversation_with_tools_continues_in_every_format() {
    for (provider, api) in PROVIDERS {
        let script = Script::new()
            .once(RequestMatcher::any().purpose("synthesis"), Reply::tool_call("f", r#"{"x":1}"#).reasoning("hm"))
            .on(RequestMatcher::any().says("the result is 7"), Reply::text("It is 7."));
        let model = ScriptedModel::start(script).await.unwrap();
        let target = target(&model, provider, Streaming::On);
        let mut request = request();
        let answer = ask(target.clone(), &request).await;
        assert_eq!(answer.finish, FinishReason::ToolCalls, "{provider}");
        let [ToolCall { name, arguments, .. }] = &answer.tool_calls[..] else { panic!("{answer:?}") };
        assert_eq!((name.as_str(), arguments.as_str()), ("f", r#"{"x":1}"#));
        request.messages.push(Message::from(&answer));
        request.messages.push(Message::tool_result(&answer.tool_calls[0], "the result is 7"));
        assert_eq!(ask(target, &request).await.text, "It is 7.", "{provider}");
        let [first, ..] = &model.requests()[..] else { panic!("a request was made") };
        assert_eq!((first.api, first.purpose(), first.model()), (api, Some("synthesis"), "m-1"));
        let header = first.header("authorization").or(first.header("x-api-key")).or(first.header("x-goog-api-key"));
        assert!(header.is_some_and(|value| value.ends_with("k-1")), "{provider}");
    }
}

#[tokio::test]
async fn a_replayed_answer_equals_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    for (provider, _) in PROVIDERS {
        let reply = Reply::text("A moment.").reasoning("hm").with_tool_call("f", r#"{"x":1.5}"#);
        let model = ScriptedModel::start(Script::new().on(RequestMatcher::any(), reply)).await.unwrap();
        let file = folder.path().join(format!("{provider}.json"));
        let at = |cassette: &Cassette| Target {
            base_url: cassette.base_url() + "/v1",
            ..target(&model, provider, Streaming::On)
        };
        let recording = Cassette::record(&file, model.base_url().trim_end_matches("/v1")).await.unwrap();
        let recorded = ask(at(&recording), &request()).await;
        let replaying = Cassette::replay(&file).await.unwrap();
        assert_eq!(ask(at(&replaying), &request()).await, recorded, "{provider}");
        assert_eq!((model.requests().len(), replaying.misses().len(), replaying.remaining()), (1, 0, 0));
    }
}
