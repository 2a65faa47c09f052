//! Scripted tools and models, and a log of all calls.

use std::sync::Mutex;
use std::time::Duration;

use reknit_engine::AskModel;
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure, ToolCall, Usage};
use reknit_protocol::Value;
use reknit_protocol::{CallTool, Delivery, ReplyBody, ToolJob, ToolReply, TransportFailure, TransportKind};
use reknit_runtime::{BoxFuture, Transport};
use tokio::time::Instant;

/// What a tool does with a call. All times are in milliseconds.
#[derive(Debug, Clone)]
pub(crate) enum ToolBehavior {
    /// Responds with a status and a body.
    Respond(u16, &'static str),
    /// Responds with status 429 and a `Retry-After`.
    RateLimit(u64),
    /// Succeeds after this time, or times out.
    SucceedAfter(u64),
    /// Fails after this time.
    FailAfter(u64),
    /// Works on a job that never ends.
    WorkOnJob,
    /// Responds with a text of this length.
    RespondWithText(usize),
}

/// What a model replies. All times are in milliseconds.
#[derive(Debug, Clone)]
pub(crate) enum ModelReply {
    Text(String),
    /// The name of the tool and its arguments.
    ToolCall(&'static str, &'static str),
    Error(ErrorClass),
    /// A rate limit with the time to wait.
    RateLimit(u64),
    /// Text after this time.
    TextAfter(u64, &'static str),
}

pub(crate) type ToolScript = fn(&CallTool, usize) -> ToolBehavior;
pub(crate) type ModelScript = fn(&AskModel, usize) -> ModelReply;

/// All calls with the milliseconds since the start of the scene.
#[derive(Debug, Default)]
pub(crate) struct CallLog {
    pub(crate) calls: Vec<(u64, CallTool)>,
    pub(crate) asks: Vec<(u64, AskModel)>,
    current_calls: usize,
    current_asks: usize,
    pub(crate) max_calls: usize,
    pub(crate) max_asks: usize,
}

#[derive(Debug)]
pub(crate) struct ScriptedTransport {
    pub(crate) log: Mutex<CallLog>,
    pub(crate) began: Instant,
    pub(crate) tool: ToolScript,
    pub(crate) model: ModelScript,
}

impl ScriptedTransport {
    fn log<T>(&self, note: impl FnOnce(&mut CallLog, u64) -> T) -> T {
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).expect("the test is short");
        note(&mut self.log.lock().expect("the lock is not poisoned"), at_ms)
    }
}

impl Transport for ScriptedTransport {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async move {
            let nth = self.log(|log, at_ms| {
                log.asks.push((at_ms, ask.clone()));
                log.current_asks += 1;
                log.max_asks = log.max_asks.max(log.current_asks);
                log.asks.len()
            });
            let answer = |text: &str| Ok(ModelAnswer::complete(text, "m", Usage::reported(10, 5)));
            let reply = match (self.model)(ask, nth) {
                ModelReply::Text(text) => answer(&text),
                ModelReply::ToolCall(name, arguments) => answer("").map(|answer| ModelAnswer {
                    tool_calls: vec![ToolCall::new(format!("c{nth}").as_str(), name, arguments)],
                    ..answer
                }),
                ModelReply::Error(class) => Err(ModelFailure::new(class, "it failed")),
                ModelReply::RateLimit(ms) => {
                    Err(ModelFailure::new(ErrorClass::RateLimit, "too many").with_retry_after_ms(ms))
                }
                ModelReply::TextAfter(ms, text) => {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    answer(text)
                }
            };
            self.log(|log, _| log.current_asks -= 1);
            reply
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move {
            let nth = self.log(|log, at_ms| {
                log.calls.push((at_ms, call.clone()));
                log.current_calls += 1;
                log.max_calls = log.max_calls.max(log.current_calls);
                log.calls.len()
            });
            let reply = |status, retry_after_ms, body| Ok(ToolReply { status, retry_after_ms, body, job: None });
            let failure =
                |kind| TransportFailure { kind, delivery: Delivery::Possible, message: "it broke".to_owned() };
            let sleep = |ms| tokio::time::sleep(Duration::from_millis(ms));
            let result = match (self.tool)(call, nth) {
                ToolBehavior::Respond(status, body) => {
                    reply(status, None, ReplyBody::Json(Value::parse(body).expect("the body is JSON")))
                }
                ToolBehavior::RateLimit(ms) => reply(429, Some(ms), ReplyBody::Empty),
                ToolBehavior::SucceedAfter(ms) if ms > call.timeout_ms => {
                    sleep(call.timeout_ms).await;
                    Err(failure(TransportKind::TimedOut))
                }
                ToolBehavior::SucceedAfter(ms) => {
                    sleep(ms).await;
                    reply(200, None, ReplyBody::Empty)
                }
                ToolBehavior::FailAfter(ms) => {
                    sleep(ms).await;
                    Err(failure(TransportKind::Reset))
                }
                ToolBehavior::WorkOnJob => {
                    let job = Some(ToolJob::Ask { handle: "7".to_owned() });
                    reply(202, None, ReplyBody::Empty).map(|reply| ToolReply { job, ..reply })
                }
                ToolBehavior::RespondWithText(length) => reply(200, None, ReplyBody::Json("x".repeat(length).into())),
            };
            self.log(|log, _| log.current_calls -= 1);
            result
        })
    }
}
