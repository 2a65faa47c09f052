//! Attempts at real servers on loopback that behave well, badly, or not at all.
#![cfg(test)]

mod answers;
mod error_responses;
mod formats;
mod providers;
mod server;
mod timeouts;
mod truncated;

use reknit_model_api::{Delta, Message, ModelAnswer, ModelFailure, ModelRequest};
use reknit_models::{Models, Target};

use server::Server;

fn request() -> ModelRequest {
    ModelRequest::new(vec![Message::user("How much are 100 shares?")], 100)
}

/// The result of one attempt, and the deltas on the way.
async fn ask(target: Target) -> (Result<ModelAnswer, ModelFailure>, Vec<String>) {
    let name = target.name.clone();
    let models = Models::new(vec![target]).unwrap();
    let mut pieces = Vec::new();
    let mut on_delta = |delta: Delta<'_>| match delta {
        Delta::Text(text) => pieces.push(text.to_owned()),
        other => pieces.push(format!("{other:?}")),
    };
    let result = models.ask(&name, &request(), &mut on_delta).await;
    (result, pieces)
}

/// The answer without its timings, which differ in every run.
fn without_timings(answer: Result<ModelAnswer, ModelFailure>) -> Result<ModelAnswer, ModelFailure> {
    answer.map(|answer| {
        assert!(answer.timings.is_some_and(|timings| timings.first_byte_ms <= timings.total_ms), "{answer:?}");
        ModelAnswer { timings: None, ..answer }
    })
}

/// The failure of an attempt that must fail.
async fn failure(target: Target) -> ModelFailure {
    ask(target).await.0.expect_err("the attempt must fail")
}

/// The answer of a server that streams this.
async fn streamed_answer(stream: &str) -> ModelAnswer {
    ask(Server::streaming(stream).await.target()).await.0.unwrap()
}
