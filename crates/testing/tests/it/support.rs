//! A client.

use reknit_testing::Reply;
use reknit_testing::model::{Script, ScriptedModel, When};

/// Clients are not built without a provider of cryptography, even if nothing is encrypted.
pub(crate) fn client() -> reqwest::Client {
    // The second test to come here finds it done.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// A question to a model.
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

/// What the model said, if it said something.
pub(crate) async fn said(request: reqwest::RequestBuilder) -> String {
    let body: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    body["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("no answer: {body}")).to_owned()
}

/// A model that always gives one reply.
pub(crate) async fn model_with(reply: Reply) -> ScriptedModel {
    ScriptedModel::start(Script::new().on(When::any(), reply)).await.unwrap()
}
