//! An HTTP client.

use reknit_fakes::model::{RequestMatcher, Script, ScriptedModel};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::SideEffect;

/// reqwest needs a cryptography provider to build a client, even for plain HTTP.
pub(crate) fn client() -> reqwest::Client {
    // Fails if another test has installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// A chat request to a model.
pub(crate) fn ask(model: &ScriptedModel, system: &str, user: &str) -> reqwest::RequestBuilder {
    ask_with(model, &serde_json::json!({"model": "m", "messages": messages(system, user)}))
}

pub(crate) fn ask_streaming(model: &ScriptedModel, user: &str) -> reqwest::RequestBuilder {
    let options = serde_json::json!({"include_usage": true});
    ask_with(model, &serde_json::json!({"messages": messages("", user), "stream": true, "stream_options": options}))
}

fn ask_with(model: &ScriptedModel, body: &serde_json::Value) -> reqwest::RequestBuilder {
    client().post(model.base_url() + "/chat/completions").json(body)
}

fn messages(system: &str, user: &str) -> serde_json::Value {
    serde_json::json!([{"role": "system", "content": system}, {"role": "user", "content": user}])
}

/// The text of the answer.
pub(crate) async fn answer_text(request: reqwest::RequestBuilder) -> String {
    let body: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    body["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("no answer: {body}")).to_owned()
}

/// A model that always gives one reply.
pub(crate) async fn model_with(reply: Reply) -> ScriptedModel {
    ScriptedModel::start(Script::new().on(RequestMatcher::any(), reply)).await.unwrap()
}

/// A tool whose capability `wait` always gives one reply.
pub(crate) async fn tool_with(reply: Reply) -> RunningTool {
    let tool = ScriptedTool::new("tool").capability("wait", SideEffect::Read).on("wait", CallMatcher::any(), reply);
    tool.start().await.unwrap()
}
