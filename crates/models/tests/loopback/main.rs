//! What a caller gets from servers that behave well, badly, or not at all. Every server here is a real one on loopback.
#![cfg(test)]

mod answers;
mod cuts;
mod limits;
mod providers;
mod refusals;
mod server;

use reknit_dialogue::{Answer, Delta, Failure, Message, Request};
use reknit_models::{Models, Target};

fn question() -> Request {
    Request::new(vec![Message::user("How much are 100 shares?")], 100)
}

/// Asks one target, and gives the pieces that were shown on the way.
async fn ask(target: Target) -> (Result<Answer, Failure>, Vec<String>) {
    let name = target.name.clone();
    let models = Models::new(vec![target]).unwrap();
    let mut pieces = Vec::new();
    let mut show = |delta: Delta<'_>| match delta {
        Delta::Text(words) => pieces.push(words.to_owned()),
        other => pieces.push(format!("{other:?}")),
    };
    let result = models.ask(&name, &question(), &mut show).await;
    (result, pieces)
}

/// The answer without how long it took, which no test can know.
fn timeless(answer: Result<Answer, Failure>) -> Result<Answer, Failure> {
    answer.map(|answer| {
        assert!(answer.timings.is_some_and(|timings| timings.first_byte_ms <= timings.total_ms), "{answer:?}");
        Answer { timings: None, ..answer }
    })
}

/// Asks one target, which is going to fail.
async fn failure(target: Target) -> Failure {
    ask(target).await.0.expect_err("an answer, where there can be none")
}
