//! Tools and models that do as they are told, and everything they are asked.

use std::sync::Mutex;
use std::time::Duration;

use reknit_dialogue::{Answer, ErrorClass, Failure, ToolCall, Usage};
use reknit_engine::AskModel;
use reknit_protocol::Value;
use reknit_protocol::{CallTool, Delivery, ReplyBody, ToolReply, TransportFailure, TransportKind};
use reknit_runtime::{BoxFuture, Edge};
use tokio::time::Instant;

/// What a tool does with a call.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// Answers with a status and a body.
    Answers(u16, &'static str),
    /// Answers that it is at its limit, for so many milliseconds.
    Limits(u64),
    /// Answers well after so many milliseconds, if its call may take that long.
    Takes(u64),
    /// Fails after so many milliseconds.
    Breaks(u64),
    /// Answers with so many letters.
    Talks(usize),
}

/// What a model says to a question.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    Words(String),
    Calls(&'static str, &'static str),
    Fails(ErrorClass),
    /// It is at its limit, for so many milliseconds.
    Limits(u64),
    /// Words after so many milliseconds.
    Slowly(u64, &'static str),
}

pub(crate) type Tool = fn(&CallTool, usize) -> Does;
pub(crate) type Model = fn(&AskModel, usize) -> Says;

/// Everything that was asked, with the milliseconds since the beginning.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) calls: Vec<(u64, CallTool)>,
    pub(crate) asks: Vec<(u64, AskModel)>,
    calls_now: usize,
    asks_now: usize,
    pub(crate) most_calls: usize,
    pub(crate) most_asks: usize,
}

#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) log: Mutex<Log>,
    pub(crate) began: Instant,
    pub(crate) tool: Tool,
    pub(crate) model: Model,
}

impl Scripted {
    fn log<T>(&self, note: impl FnOnce(&mut Log, u64) -> T) -> T {
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).expect("it is not that long");
        note(&mut self.log.lock().expect("nobody panics with it"), at_ms)
    }
}

impl Edge for Scripted {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>> {
        Box::pin(async move {
            let nth = self.log(|log, at_ms| {
                log.asks.push((at_ms, ask.clone()));
                log.asks_now += 1;
                log.most_asks = log.most_asks.max(log.asks_now);
                log.asks.len()
            });
            let words = |text: &str| Ok(Answer::complete(text, "m", Usage::reported(10, 5)));
            let said = match (self.model)(ask, nth) {
                Says::Words(text) => words(&text),
                Says::Calls(name, arguments) => words("").map(|answer| Answer {
                    tool_calls: vec![ToolCall::new(format!("c{nth}").as_str(), name, arguments)],
                    ..answer
                }),
                Says::Fails(class) => Err(Failure::new(class, "it failed")),
                Says::Limits(ms) => Err(Failure::new(ErrorClass::RateLimit, "too many").with_retry_after_ms(ms)),
                Says::Slowly(ms, text) => {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    words(text)
                }
            };
            self.log(|log, _| log.asks_now -= 1);
            said
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
                log.calls_now += 1;
                log.most_calls = log.most_calls.max(log.calls_now);
                log.calls.len()
            });
            let reply = |status, retry_after_ms, body| Ok(ToolReply { status, retry_after_ms, body });
            let failure =
                |kind| TransportFailure { kind, delivery: Delivery::Possible, message: "it broke".to_owned() };
            let sleep = |ms| tokio::time::sleep(Duration::from_millis(ms));
            let done = match (self.tool)(call, nth) {
                Does::Answers(status, body) => {
                    reply(status, None, ReplyBody::Json(Value::parse(body).expect("the body is JSON")))
                }
                Does::Limits(ms) => reply(429, Some(ms), ReplyBody::Empty),
                Does::Takes(ms) if ms > call.timeout_ms => {
                    sleep(call.timeout_ms).await;
                    Err(failure(TransportKind::TimedOut))
                }
                Does::Takes(ms) => {
                    sleep(ms).await;
                    reply(200, None, ReplyBody::Empty)
                }
                Does::Breaks(ms) => {
                    sleep(ms).await;
                    Err(failure(TransportKind::Reset))
                }
                Does::Talks(letters) => reply(200, None, ReplyBody::Json("x".repeat(letters).into())),
            };
            self.log(|log, _| log.calls_now -= 1);
            done
        })
    }
}
